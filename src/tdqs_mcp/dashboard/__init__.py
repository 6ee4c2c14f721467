"""The scores of a store in a browser: pages, badges and JSON for everybody, with all behind them for maintainers."""

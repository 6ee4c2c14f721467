"""The JSON contracts: what `--format json` prints and agents get; their JSON Schema is published beside them."""

"""The sweep of a registry: what has to be scored (pure), scoring it, and doing so on Dask."""

"""Past one machine: comparisons on the workers of a Dask cluster."""

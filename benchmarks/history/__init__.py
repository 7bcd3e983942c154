"""What a few core operations cost, commit by commit: `python -m benchmarks record`, `python -m benchmarks history`."""

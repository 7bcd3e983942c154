"""Side-by-side measurements: the same data, the same run, both libraries.

A topic is a file in `benchmarks/topics`; `python -m benchmarks TOPIC...` runs it. README.md says how, and
what came out.
"""

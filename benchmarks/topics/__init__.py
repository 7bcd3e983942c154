"""One file per topic: `run(settings)` yields tables, and the docstring says what is measured.

A topic with `LONG = True` takes many minutes and is left out by `--short`.
"""

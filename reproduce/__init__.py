"""Experiments of the papers, one script each; `python -m reproduce.NAME` writes a results page."""

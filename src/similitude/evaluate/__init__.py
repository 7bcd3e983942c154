"""Scores, cross-validation and learning curves."""

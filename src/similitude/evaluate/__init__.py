"""Scores, folds, cross-validation and learning curves."""

"""Squared distances of positions, and what a Laplacian of slopes makes of them: where numpy is enough.

The passes of a fit go through a `Backend`; what reads a fitted map (predictions, questions, intervals) comes here, so
that a squared distance is written once. `pair_sqdist` is numpy's and exact for close items; a table of all items is one
matrix product, symmetric and never negative.
"""

from __future__ import annotations

import numpy as np

from similitude.types import Array, Floats


def pair_sqdist(X: Floats, pairs: Array) -> Floats:
    """(p,) |x_i - x_j|² of each pair (i, j)."""
    return pair_squares(X, pairs).sum(1)


def pair_squares(X: Floats, pairs: Array) -> Floats:
    """(p, d) (x_i - x_j)² of each pair (i, j), dimension by dimension."""
    squares: Floats = (X[pairs[:, 0]] - X[pairs[:, 1]]) ** 2
    return squares


def head_sqdist(X: Floats, head: int) -> Floats:
    """(n,) |x_head - x_i|² for every item i."""
    return ((X - X[head]) ** 2).sum(1)


def sqdist_table(X: Floats) -> Floats:
    """(n, n) |x_i - x_j|² for every two items: symmetric, at least 0, and 0 on the diagonal."""
    square = (X**2).sum(1)
    table = square[:, None] + square - 2.0 * X @ X.T
    np.fill_diagonal(table, 0.0)
    return np.maximum(0.5 * (table + table.T), 0.0)


def cross_sqdist(X: Floats, Y: Floats) -> Floats:
    """(n, m) |x_i - y_j|² for every two rows: one matrix product, at least 0."""
    return np.maximum((X**2).sum(1)[:, None] + (Y**2).sum(1) - 2.0 * X @ Y.T, 0.0)


def mean_sqdist(X: Floats) -> float:
    """The mean of |x_i - x_j|² over all i and j, each with itself included: 2 · mean of |x_i - centre|²."""
    return 2.0 * float(((X - X.mean(0)) ** 2).sum(1).mean())

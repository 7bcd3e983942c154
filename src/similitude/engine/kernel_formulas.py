"""Formulas of kernels over rows of numbers, each written once: what a saved map of features needs, with numpy alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from similitude.engine.distances import cross_sqdist
from similitude.types import Floats


def polynomial(A: Floats, B: Floats, *, degree: float, offset: float) -> Floats:
    """(a'b + offset)^degree."""
    return (A @ B.T + offset) ** degree


def rbf(A: Floats, B: Floats, *, width: float) -> Floats:
    """exp(-|a - b|² / (2 width²)); from a point amid B, since distances lose digits far from the origin."""
    centre = B.mean(0)
    return np.exp(cross_sqdist(A - centre, B - centre) * (-0.5 / width**2))


def chi_square(A: Floats, B: Floats, *, gamma: float) -> Floats:
    """exp(-gamma · sum (a - b)² / (a + b)), with 0/0 = 0."""
    return np.exp(-gamma * chi_square_distance(A, B))


def chi_square_distance(A: Floats, B: Floats) -> Floats:
    """sum (a - b)² / (a + b), with 0/0 = 0; row by row, so that no table of three axes is made."""
    out = np.empty((len(A), len(B)))
    for row, values in zip(A, out, strict=True):
        both = row + B
        gap = row - B
        np.divide(gap * gap, both, out=gap, where=both > 0)  # where both are 0, so is the gap
        gap.sum(1, out=values)
    return out


FORMULAS: dict[str, Callable[..., Floats]] = {"polynomial": polynomial, "rbf": rbf, "chi_square": chi_square}
NON_NEGATIVE = ("chi_square",)
"""Formulas that are defined on counts or shares alone."""

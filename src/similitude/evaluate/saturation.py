"""Curves that rise ever more slowly: accuracy a - b · answers^-c, fitted to what was measured."""

from __future__ import annotations

import numpy as np

from similitude.types import Floats

# Once a map has its shape, what it lacks in accuracy falls as the squared error of its places does, with 1 / answers.
# Freer bounds (0.2) took the slow beginning for the end, and promised 1 to 2 points too much at four times the answers.
_STEEPNESS = (0.9, 1.5)


def fit_curves(size: Floats, values: Floats, weight: Floats, between: tuple[float, float]) -> Floats:
    """(rows, 3) a, b and c of a - b · size^-c, by weighted least squares: straight lines for each c of a fine grid.

    Parameters
    ----------
    size : (n,) numbers of answers
    values : (rows, n) accuracies, a curve in each row
    weight : (n,) of the points
    between : the least and the most that a may be; b is never negative, and c is from 0.9 to 1.5
    """
    least, most = between
    best, found = np.full(len(values), np.inf), np.empty((len(values), 3))
    for c in np.linspace(*_STEEPNESS, 131):
        x = (size / size[-1]) ** -c
        centre = np.average(x, weights=weight)
        mean = values @ weight / weight.sum()
        b = np.maximum(-(values - mean[:, None]) @ (weight * (x - centre)) / (weight @ (x - centre) ** 2), 0.0)
        a = mean + b * centre
        too_high = a > most  # then a is the bound, and b the best for that
        b = np.where(too_high, np.maximum((most - values) @ (weight * x) / (weight @ x**2), 0.0), b)
        a = np.clip(a, least, most)
        cost = ((values - a[:, None] + b[:, None] * x) ** 2) @ weight
        better = cost < best
        best[better] = cost[better]
        found[better] = np.stack([a, b * size[-1] ** c, np.full(len(a), c)], 1)[better]
    return found

"""Dimensions as columns of a table: copies of one put together, those of two fits matched, those that agree kept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import optimize

from similitude.types import Array, Floats

_SAME = 0.9  # the cosine of dimensions that are copies of one
_NOTHING = 1e-3  # the mean square of a dimension that moves the odds of answers by a thousandth
_AGREED = 0.8  # the mean correlation with its matches from which on a dimension comes from every start


def living(X: Floats) -> Floats:
    """Return the columns that weigh something, each once, from the heaviest to the lightest."""
    X = _merged(X)
    weight = (X**2).mean(0)
    order = np.argsort(-weight, kind="stable")
    return np.ascontiguousarray(X[:, order[weight[order] > _NOTHING]])


def _merged(X: Floats) -> Floats:
    """Return columns with copies of one put together.

    A ridge does not tell x from copies a x, b x with a² + b² = 1, since their products and prices are the same: where
    there are more columns than are needed, they are copies. Those that are nearly so give their leading direction.
    """
    length = np.linalg.norm(X, axis=0)
    found, left = [], [k for k in np.argsort(-length, kind="stable") if length[k] > 0.0]
    while left:
        alike = [k for k in left if X[:, k] @ X[:, left[0]] > _SAME * length[k] * length[left[0]]]
        if len(alike) == 1:
            found.append(X[:, alike[0]])
        else:
            u, size, _ = np.linalg.svd(X[:, alike], full_matrices=False)
            found.append(size[0] * np.abs(u[:, 0]))
        left = [k for k in left if k not in alike]
    return np.column_stack(found) if found else X[:, :0]


def agreed(X: Floats, others: Sequence[Floats]) -> Floats:
    """Return the columns of X that other fits have, too; all of them where there are no others, or no column is so."""
    if not others or not X.shape[1]:
        return X
    kept = np.mean([matches(X, other)[1] for other in others], axis=0) > _AGREED
    return np.ascontiguousarray(X[:, kept]) if kept.any() else X


def matches(X: Floats, other: Floats) -> tuple[Array, Floats]:
    """Match the columns of X with those of another table, each with one, so that their correlations are largest in sum.

    Returns
    -------
    (d,) the column of `other` for each of X, -1 for none, and (d,) their correlations, 0 for none
    """
    r = correlations(X, other)
    own, its = optimize.linear_sum_assignment(-r)
    place, found = np.full(X.shape[1], -1), np.zeros(X.shape[1])
    place[own], found[own] = its, r[own, its]
    return place, found


def correlations(X: Floats, other: Floats) -> Floats:
    """(d, e) correlation over the rows of each column of X with each of another table; 0 where one is constant."""
    return _standard(X).T @ _standard(other)


def _standard(X: Floats) -> Floats:
    away = X - X.mean(0)
    return away / np.maximum(np.linalg.norm(away, axis=0), 1e-300)


def dimension_names(count: int) -> tuple[str, ...]:
    """What dimensions are called before anybody names them."""
    return tuple(f"dimension {k + 1}" for k in range(count))

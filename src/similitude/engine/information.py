"""What answers tell about positions: the expected curvature of their losses (Fisher's information; Gauss and Newton's).

Each answer tells `shape.information(margin)` about its margin m = scale(d2_far) - scale(d2_near). With B the derivative
of the margins by the squared distances of their pairs, and D that of the distances by positions, J = B D and the
information on positions is J' diag(weight · information) J: never negative, and without the curvature of the margins.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from similitude.engine.distances import pair_sqdist
from similitude.engine.terms import ComparisonLoss, Formula
from similitude.types import Array, Floats

_ENOUGH_FOR_A_MAP = 100_000  # comparisons: a number of a map hears all of them
_NUMBERS_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Margins:
    """Margins of comparisons at positions, and how they depend on the two squared distances.

    Attributes
    ----------
    margin : (m,) scale(d2_far) - scale(d2_near)
    slope_near, slope_far : (m,) slope of the scale at the near and at the far pair
    shape : of the loss
    """

    margin: Floats
    slope_near: Floats
    slope_far: Floats
    shape: Formula

    @classmethod
    def of(cls, X: Floats, loss: ComparisonLoss, near: Array, far: Array, spread: Floats | None = None) -> Margins:
        """At positions X; with a `spread` (n,) of each item, slopes are those at the expected squared distances."""
        levels, slopes = [], []
        for pairs in (near, far):
            d2 = pair_sqdist(X, pairs)
            level, slope, _ = loss.scale(d2)
            levels.append(level)
            slopes.append(slope if spread is None else loss.scale(d2 + spread[pairs].sum(1))[1])
        return cls(levels[1] - levels[0], slopes[0], slopes[1], loss.shape)

    @cached_property
    def information(self) -> Floats:
        """(m,) what an answer tells about its margin."""
        return self.shape.information(self.margin)


def margin_slopes(X: Floats, at: Margins, near: Array, far: Array) -> Any:
    """J = B D, sparse (m × n·d): the derivative of each margin by all positions, item after item."""
    return _scaled(at.slope_far, _pair_slopes(X, far)) - _scaled(at.slope_near, _pair_slopes(X, near))


def information(X: Floats, loss: ComparisonLoss, near: Array, far: Array, weight: Floats) -> Floats:
    """(n·d, n·d) information of comparisons on all positions at once."""
    at = Margins.of(X, loss, near, far)
    J = margin_slopes(X, at, near, far)
    return (J.T @ _scaled(weight * at.information, J)).toarray()


def item_information(X: Floats, loss: ComparisonLoss, near: Array, far: Array, weight: Floats) -> Floats:
    """(n, d, d) information of comparisons on each item's position, the others taken as known: the diagonal blocks."""
    from similitude.engine.compiled import add_information

    at = Margins.of(X, loss, near, far)
    out = np.zeros((*X.shape, X.shape[1]))
    add_information(X, near, far, at.slope_near, at.slope_far, weight * at.information, out)
    return out


def mapped_information(
    X: Floats, features: Floats, loss: ComparisonLoss, near: Array, far: Array, weight: Floats
) -> Floats:
    """(q + n, d) information on each number of a map N and of rests E of positions X = F N + E, the others known.

    That on a map's is averaged over some of the comparisons, where there are very many.
    """
    every = max(1, len(near) // _ENOUGH_FOR_A_MAP)
    some = slice(None, None, every)
    on_map = np.zeros((features.shape[1], X.shape[1]))
    for rows in _blocks(len(near[some]), features.shape[1]):
        on_map += _map_information(X, features, loss, near[some][rows], far[some][rows], weight[some][rows])
    on_rests = np.zeros(X.size)
    for rows in _blocks(len(near), X.shape[1]):
        at = Margins.of(X, loss, near[rows], far[rows])
        on_rests += (margin_slopes(X, at, near[rows], far[rows]) ** 2).T @ (weight[rows] * at.information)
    return np.concatenate([on_map * (weight.sum() / weight[some].sum()), on_rests.reshape(X.shape)])


def _map_information(
    X: Floats, features: Floats, loss: ComparisonLoss, near: Array, far: Array, weight: Floats
) -> Floats:
    """(q, d) sum over comparisons of weight · information · (slope of the margin by N_kc)²."""
    at = Margins.of(X, loss, near, far)
    told = (weight * at.information)[:, None]
    a, b = features[near[:, 0]] - features[near[:, 1]], features[far[:, 0]] - features[far[:, 1]]
    by_near = 2.0 * at.slope_near[:, None] * (X[near[:, 0]] - X[near[:, 1]])
    by_far = 2.0 * at.slope_far[:, None] * (X[far[:, 0]] - X[far[:, 1]])
    both = (a * b).T @ (told * by_near * by_far)
    return (a**2).T @ (told * by_near**2) + (b**2).T @ (told * by_far**2) - 2.0 * both


def _blocks(count: int, width: int) -> list[slice]:
    """Comparisons, some at a time, with rows of so many numbers each."""
    step = max(1, _NUMBERS_AT_ONCE // width)
    return [slice(first, first + step) for first in range(0, count, step)]


def _pair_slopes(X: Floats, pairs: Array) -> Any:
    """Sparse (p × n·d): the derivative of each squared distance, 2 (x_i - x_j) at i and its opposite at j."""
    (n, d), step = X.shape, 2.0 * (X[pairs[:, 0]] - X[pairs[:, 1]])
    row = np.repeat(np.arange(len(pairs)), d)
    columns = [(d * pairs[:, side].astype(np.int64)[:, None] + np.arange(d)).ravel() for side in (0, 1)]
    value = np.concatenate([step.ravel(), -step.ravel()])
    return sparse.coo_array((value, (np.tile(row, 2), np.concatenate(columns))), shape=(len(pairs), n * d)).tocsr()


def _scaled(factor: Floats, rows: Any) -> Any:
    return sparse.diags_array(factor) @ rows

"""The ranking by confidence of CAMEL: hinges over all pairs of a class, without listing a pair.

A rounded hinge is a quadratic on an interval and linear beyond it, so that its sum over many items is known from how
many there are in either range, the sum of their scores and the sum of the squares. A tree of partial sums over the
scores gives these for one item in O(log n): n items cost O(n log n), not O(n²).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from similitude.jit import kernel
from similitude.types import Floats

if TYPE_CHECKING:
    from similitude.engine.confidence import Classes

_ROUNDING = 0.5  # of the margin: the width over which the hinge is rounded
_kernel = kernel()


@dataclass(frozen=True)
class ConfidenceRanking:
    """mean over pairs (a, b) of one class with c_a > c_b of [s_a - s_b + margin]_+, rounded.

    As printed there is no margin: then equal scores cost nothing, and an empty L is a perfect ranking.

    Attributes
    ----------
    confidence : (n,) how sure the rater was of the item's own label
    classes : the items by class
    margin : by how much scores should differ
    """

    confidence: Floats
    classes: Classes
    margin: float

    @cached_property
    def n_pairs(self) -> int:
        """Number of ranked pairs."""
        total = 0
        for start, stop in pairwise(self.classes.start):
            own = self.confidence[start:stop]
            ties = np.unique(own, return_counts=True)[1]
            total += (len(own) * (len(own) - 1) - int((ties * (ties - 1)).sum())) // 2
        return total

    def __call__(self, s: Floats) -> tuple[float, Floats]:
        """Return the mean hinge and its derivative by every s."""
        value, slope = 0.0, np.zeros(len(s))
        for start, stop in pairwise(self.classes.start):
            own, sure = s[start:stop] / self.margin, self.confidence[start:stop]
            cost, falls = hinges_above(own, sure, _ROUNDING)
            value += self.margin * cost
            slope[start:stop] = hinges_above(-own, -sure, _ROUNDING)[1] - falls  # the same pairs, seen from a
        count = max(self.n_pairs, 1)
        return value / count, slope / count


def hinges_above(x: Floats, order: Floats, rounding: float) -> tuple[float, Floats]:
    """Sum over b, and over all a with order_a > order_b, h(1 + x_a - x_b): the sum of all, and of h' for each b.

    h(z) is 0 below 0, z²/(2 rounding) up to the rounding, z - rounding/2 beyond (`engine.terms.hinge`).
    """
    by_value = np.argsort(x, kind="stable")
    place = np.empty(len(x), np.int64)
    place[by_value] = np.arange(len(x))
    low, high = (np.searchsorted(x[by_value], x - reach, "right") for reach in (1.0, 1.0 - rounding))
    value, slope = _sum_hinges(x, order, np.argsort(-order, kind="stable"), place, low, high, rounding)
    return float(value), slope


@_kernel
def _sum_hinges(
    x: Any, order: Any, descending: Any, place: Any, low: Any, high: Any, rounding: float
) -> tuple[float, Any]:
    """Walk from the highest order down: ask the tree of all above, then enter the items of this order."""
    n = len(x)
    tree, total = np.zeros((n + 1, 3)), np.zeros(3)
    value, slope = 0.0, np.zeros(n)
    first = 0
    while first < n:
        stop = first
        while stop < n and order[descending[stop]] == order[descending[first]]:
            b = descending[stop]
            below, within = _below(tree, low[b]), _below(tree, high[b])
            near, far = within - below, total - within
            gap = 1.0 - x[b]
            value += (near[0] * gap * gap + 2.0 * gap * near[1] + near[2]) / (2.0 * rounding)
            value += far[0] * (gap - 0.5 * rounding) + far[1]
            slope[b] = (near[0] * gap + near[1]) / rounding + far[0]
            stop += 1
        for k in range(first, stop):
            a = descending[k]
            entry = np.array([1.0, x[a], x[a] * x[a]])
            total += entry
            at = place[a] + 1
            while at <= n:
                tree[at] += entry
                at += at & -at
        first = stop
    return value, slope


@_kernel
def _below(tree: Any, count: int) -> Any:
    """Return number, sum and sum of squares of the entries among the `count` smallest places."""
    sums = np.zeros(3)
    while count > 0:
        sums += tree[count]
        count -= count & -count
    return sums

"""How far two similarities order the pairs of items the same way: Spearman's correlation, its interval, Mantel's test.

Up to `ALL_ITEMS` items every pair is looked at. Of more, `_PAIRS` pairs are drawn, and the figure says by how much that
may be off; Mantel's test then takes `ALL_ITEMS` items drawn, among which it is as exact as among all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy import stats

from similitude.engine.threads import over_chunks
from similitude.evaluate.compiled import matched_product, repeated_rank_correlation
from similitude.evaluate.validation import Progress
from similitude.evaluate.views import View
from similitude.types import Array, Floats

T = TypeVar("T")

ALL_ITEMS = 1000
"""Items up to which every pair is looked at."""

_PAIRS = 500_000
_BATCHES = 20  # of the drawn pairs, whose scatter tells the error of drawing
_GROUPS = 4096  # of ranks, while items are drawn again and again
_AT_A_TIME = 50  # draws between two words of progress


@dataclass(frozen=True, eq=False)
class PairSample:
    """Pairs of different items that both similarities know.

    Attributes
    ----------
    pairs : (p, 2) items
    distances : (2, p) by the first and by the second
    n_items : number of items
    complete : whether these are all the pairs
    """

    pairs: Array
    distances: Floats
    n_items: int
    complete: bool

    @classmethod
    def of(cls, one: View, two: View, rng: np.random.Generator) -> PairSample:
        """Take every pair where that is cheap, else draw some."""
        complete = one.n_items <= ALL_ITEMS
        pairs = every_pair(one.n_items) if complete else _drawn_pairs(one.n_items, rng)
        distances = np.stack([view.distances(pairs) for view in (one, two)])
        known = np.isfinite(distances).all(0)
        return cls(pairs[known], distances[:, known], one.n_items, complete)

    def correlation(self) -> float:
        """Spearman's rank correlation."""
        return _spearman(*self.distances)

    def error(self) -> float:
        """Standard error of the correlation by having drawn pairs: 0 where none were, else from batches of them."""
        if self.complete:
            return 0.0
        batches = [_spearman(*part) for part in np.array_split(self.distances, _BATCHES, axis=1)]
        return float(np.std(batches, ddof=1) / _BATCHES**0.5)

    def interval(self, draws: int, level: float, rng: np.random.Generator, tell: Progress) -> tuple[float, float]:
        """Percentiles of the correlation over items drawn with replacement, a pair of an item with itself left out."""
        first, second = (_rank_groups(own) for own in self.distances)
        pairs = np.ascontiguousarray(self.pairs, np.int32)

        def drawn(seed: int) -> float:
            items = np.random.default_rng(seed).integers(0, self.n_items, self.n_items)
            times = np.bincount(items, minlength=self.n_items).astype(float)
            return float(repeated_rank_correlation(pairs, first, second, times))

        low, high = np.nanpercentile(_each(drawn, draws, rng, tell), [50 - 50 * level, 50 + 50 * level])
        return float(low), float(high)


def mantel(one: View, two: View, draws: int, rng: np.random.Generator, tell: Progress) -> float:
    """Share of random matchings of the items that correlate as highly, the true one among them."""
    if one.n_items > ALL_ITEMS:
        some = rng.choice(one.n_items, ALL_ITEMS, replace=False)
        one, two = one.take(some), two.take(some)
    first, second = (_rank_table(view) for view in (one, two))
    own = matched_product(first, second, np.arange(one.n_items))

    def as_high(seed: int) -> bool:
        order = np.random.default_rng(seed).permutation(one.n_items)
        return bool(matched_product(first, second, order) >= own - 1e-12 * abs(own))

    return (1 + sum(_each(as_high, draws, rng, tell))) / (1 + draws)


def every_pair(n_items: int) -> Array:
    """(n (n - 1) / 2, 2) every pair of different items."""
    return np.stack(np.triu_indices(n_items, 1), axis=1)


def _drawn_pairs(n_items: int, rng: np.random.Generator) -> Array:
    """Pairs of different items, each with the same chance, drawn one by one with replacement."""
    first = rng.integers(0, n_items, _PAIRS)
    return np.stack([first, (first + rng.integers(1, n_items, _PAIRS)) % n_items], axis=1)


def _spearman(x: Floats, y: Floats) -> float:
    if len(x) < 3:
        return np.nan
    x, y = stats.rankdata(x), stats.rankdata(y)
    return float(np.corrcoef(x, y)[0, 1]) if np.ptp(x) > 0 and np.ptp(y) > 0 else np.nan


def _rank_groups(distances: Floats) -> Array:
    """Number the distances in ascending order, equal ones alike.

    Many are put into `_GROUPS` groups as large, which fit a core's cache: a correlation of ranks then changes in its
    fifth decimal, far less than from one set of draws to another.
    """
    rank = stats.rankdata(distances, "dense") - 1
    if rank.max(initial=0) >= _GROUPS:
        rank = stats.rankdata(distances) * _GROUPS // (len(distances) + 1)
    return rank.astype(np.int16)


def _rank_table(view: View) -> Floats:
    """Return the table of ranks of its pairs, centred; a pair that is unknown has rank 0, the middle."""
    pairs = every_pair(view.n_items)
    value = view.distances(pairs)
    known = np.isfinite(value)
    rank = stats.rankdata(value[known])
    out = np.zeros((view.n_items, view.n_items))
    out[tuple(pairs[known].T)] = rank - rank.mean()
    return out + out.T


def _each(work: Callable[[int], T], draws: int, rng: np.random.Generator, tell: Progress) -> list[T]:
    """Return the work of each draw, on threads: a draw has a seed of its own, so that any number gives the same."""
    seeds = rng.integers(0, 2**63, draws).tolist()
    found: list[T] = []
    while len(found) < draws:
        part = seeds[len(found) : len(found) + _AT_A_TIME]
        found += over_chunks(lambda k: work(part[k]), len(part))  # noqa: B023  done before `part` changes
        tell(len(found), draws)
    return found

"""Build the similarity graph of comparisons: its vertices are unordered pairs of items, its edges comparisons."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse

from similitude.feedback.comparisons import Comparisons
from similitude.types import Array, Floats, Ints

Indices = npt.NDArray[np.integer]

# Distances of distinct pairs are shared where comparisons repeat pairs often enough to pay for the index.
_MERGE_BELOW = 0.5
_TABLE_UP_TO = 4096  # items: a table of all their pairs is smaller than sorting is slow


@dataclass(frozen=True, eq=False)
class SimilarityGraph:
    """Comparisons as arrays for learning.

    Attributes
    ----------
    n_items : number of items
    near_pairs, far_pairs : (m, 2) the pairs of each comparison, as they came
    weight : (m,) weight of each comparison, positive
    merged : whether the vertices are distinct pairs; else every comparison has two vertices of its own
    """

    n_items: int
    near_pairs: Ints
    far_pairs: Ints
    weight: Floats
    merged: bool

    def __len__(self) -> int:
        return len(self.near_pairs)

    @property
    def total_weight(self) -> float:
        """Sum of the weights."""
        return float(self.weight.sum())

    @cached_property
    def _vertices(self) -> tuple[Ints, Indices, Indices]:
        both = np.concatenate([self.near_pairs, self.far_pairs])
        if not self.merged:
            every = np.arange(len(both))
            return both, every[: len(self)], every[len(self) :]
        pairs, index = distinct_pairs(both, self.n_items)
        return pairs, index[: len(self)], index[len(self) :]

    @property
    def pairs(self) -> Ints:
        """(P, 2) the vertices: pairs of items."""
        return self._vertices[0]

    @property
    def near(self) -> Indices:
        """(m,) vertex of the near pair of each comparison."""
        return self._vertices[1]

    @property
    def far(self) -> Indices:
        """(m,) vertex of the far pair of each comparison."""
        return self._vertices[2]

    @cached_property
    def occurrences(self) -> Ints:
        """How many comparisons' pairs each item stands in."""
        count = np.bincount(self.near_pairs.ravel(), minlength=self.n_items)
        return (count + np.bincount(self.far_pairs.ravel(), minlength=self.n_items)).astype(np.int32)

    @cached_property
    def components(self) -> Ints:
        """Connected component of each item, items being linked by the pairs compared; -1 for an item never compared."""
        both = np.concatenate([self.near_pairs, self.far_pairs])
        if self.n_items <= _TABLE_UP_TO:
            both = distinct_pairs(both, self.n_items)[0]
        links = sparse.coo_matrix((np.ones(len(both), np.int8), both.T), shape=(self.n_items, self.n_items))
        label = sparse.csgraph.connected_components(links, directed=False)[1]
        label[self.occurrences == 0] = -1
        return np.unique(label, return_inverse=True)[1].astype(np.int32) - int((label < 0).any())


_last: tuple[weakref.ref[Comparisons], SimilarityGraph] | None = None


def build_graph(comparisons: Comparisons) -> SimilarityGraph:
    """Return the similarity graph of comparisons, those of weight 0 left out, ordered for fast access.

    The last one is kept as long as its comparisons are: fits along a path of penalties all ask for the same. Both are
    frozen, so that nobody can tell.
    """
    global _last
    kept = _last
    if kept is not None and kept[0]() is comparisons:
        return kept[1]
    graph = _build(comparisons)
    _last = weakref.ref(comparisons, _forget), graph
    return graph


def _forget(gone: weakref.ref[Comparisons]) -> None:
    global _last
    if _last is not None and _last[0] is gone:
        _last = None


def _build(comparisons: Comparisons) -> SimilarityGraph:
    near, far, weight = comparisons.near, comparisons.far, comparisons.weight
    if (weight == 0).any():
        kept = np.flatnonzero(weight > 0)
        near, far, weight = near[kept], far[kept], weight[kept]
    heads = near[:, 0].astype(
        np.uint16 if comparisons.n_items <= 65536 else np.int32
    )  # short ones are sorted by digits
    order = np.argsort(heads, kind="stable")  # a head's position stays in the cache
    near, far = near[order], far[order]
    n_items = comparisons.n_items
    merged = _count_pairs(near, far, n_items) < _MERGE_BELOW * len(near)
    return SimilarityGraph(n_items, near, far, np.ascontiguousarray(weight[order]), merged)


def distinct_pairs(pairs: Array, n_items: int) -> tuple[Ints, Indices]:
    """Return the distinct unordered pairs (i < j) in sorted order, and for each given pair its place among them."""
    low, high = np.minimum(pairs[:, 0], pairs[:, 1]), np.maximum(pairs[:, 0], pairs[:, 1])
    code = low.astype(np.int64) * n_items + high
    if n_items <= _TABLE_UP_TO:
        seen = np.zeros(n_items * n_items, bool)
        seen[code] = True
        codes = np.flatnonzero(seen)
        place = np.empty(n_items * n_items, np.int32)
        place[codes] = np.arange(len(codes), dtype=np.int32)
        index: Indices = place[code]
    else:
        codes, index = np.unique(code, return_inverse=True)
    return np.stack([codes // n_items, codes % n_items], 1).astype(np.int32), index


def _count_pairs(near: Ints, far: Ints, n_items: int) -> float:
    """Number of distinct pairs, or the number expected of random pairs where counting would be slow."""
    possible = n_items * (n_items - 1) / 2
    if n_items > _TABLE_UP_TO:
        return float(possible * -np.expm1(-2 * len(near) / possible))
    return float(len(distinct_pairs(np.concatenate([near, far]), n_items)[0]))

"""Votes: the edges of the similarity graph, each with the weight of the comparisons on either side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from similitude.feedback.columns import Bools, Floats, Ints
from similitude.feedback.comparisons import Comparisons
from similitude.graph.build import distinct_pairs

Indices = npt.NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class Votes:
    """The similarity graph with its votes.

    Vertices are the distinct unordered pairs of items that were compared; an edge joins two vertices that were
    compared with each other, `low < high`.

    Attributes
    ----------
    pairs : (P, 2) the vertices
    low, high : (E,) the two vertices of each edge
    forward : (E,) total weight of the comparisons that call `low` more alike
    backward : (E,) total weight of those that call `high` more alike
    edge : (m,) the edge of each comparison
    is_forward : (m,) whether a comparison calls `low` more alike
    """

    pairs: Ints
    low: Indices
    high: Indices
    forward: Floats
    backward: Floats
    edge: Indices
    is_forward: Bools

    @property
    def contradicted(self) -> Bools:
        """(E,) edges with weight on both sides."""
        return (self.forward > 0) & (self.backward > 0)

    @property
    def side(self) -> Floats:
        """(m,) total weight of the comparisons that say the same as each comparison."""
        return np.where(self.is_forward, self.forward[self.edge], self.backward[self.edge])

    @property
    def other_side(self) -> Floats:
        """(m,) total weight of the comparisons that say the contrary of each comparison."""
        return np.where(self.is_forward, self.backward[self.edge], self.forward[self.edge])


def count_votes(comparisons: Comparisons) -> Votes:
    """Count what comparisons say, by weight; comparisons of weight 0 keep their edge and add nothing."""
    c = comparisons
    pairs, index = distinct_pairs(np.concatenate([c.near, c.far]), c.n_items)
    near, far = index[: len(c)].astype(np.int64), index[len(c) :].astype(np.int64)
    is_forward = near < far
    key = np.where(is_forward, near, far) * max(len(pairs), 1) + np.where(is_forward, far, near)
    keys, edge = np.unique(key, return_inverse=True)
    return Votes(
        pairs,
        keys // max(len(pairs), 1),
        keys % max(len(pairs), 1),
        np.bincount(edge, np.where(is_forward, c.weight, 0.0), len(keys)).astype(float),
        np.bincount(edge, np.where(is_forward, 0.0, c.weight), len(keys)).astype(float),
        edge,
        is_forward,
    )

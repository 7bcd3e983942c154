"""Votes: the edges of the similarity graph, each with the weight of the comparisons on either side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from similitude.feedback.comparisons import Comparisons
from similitude.graph.build import distinct_pairs
from similitude.types import Bools, Floats, Ints

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


def directed(votes: Votes) -> tuple[Indices, Indices, Floats, Indices]:
    """Return votes as directed edges from the nearer pair to the farther: tails, heads, weights; each row's edge.

    An edge with weight on both sides gives two directed edges, a cycle of length 2.
    """
    has_forward = np.zeros(len(votes.low), bool)
    has_forward[votes.edge[votes.is_forward]] = True
    has_backward = np.zeros(len(votes.low), bool)
    has_backward[votes.edge[~votes.is_forward]] = True
    forward_number, backward_number = np.cumsum(has_forward) - 1, np.cumsum(has_backward) - 1 + has_forward.sum()
    return (
        np.concatenate([votes.low[has_forward], votes.high[has_backward]]),
        np.concatenate([votes.high[has_forward], votes.low[has_backward]]),
        np.concatenate([votes.forward[has_forward], votes.backward[has_backward]]),
        np.where(votes.is_forward, forward_number[votes.edge], backward_number[votes.edge]),
    )

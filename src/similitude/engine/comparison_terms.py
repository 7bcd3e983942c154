"""Comparisons as terms of a problem: in memory or on a device, in shards, and with multipliers instead of a loss."""

from __future__ import annotations

from typing import Any

import numpy as np

from similitude.engine.backend import CPU, Backend
from similitude.engine.problem import OnePass, Problem, Term
from similitude.engine.terms import ComparisonLoss, hinge
from similitude.feedback.shards import Block, Shards, add
from similitude.graph.build import SimilarityGraph
from similitude.graph.counts import block_graph
from similitude.types import Array, Floats

_NONE = np.zeros(0)


class Compared(OnePass):
    """Comparisons with a loss, as a graph or as a device keeps them."""

    merged = True

    def __init__(self, graph: Any, loss: ComparisonLoss) -> None:
        self.graph, self.loss = graph, loss
        self.total = float(graph.total_weight)

    @property
    def pairs(self) -> Array:  # type: ignore[override]  # the graph makes them when they are asked for
        """The vertices of the graph."""
        return self.graph.pairs

    def evaluate(self, d2: Floats, own: Floats) -> tuple[float, Floats, Floats]:
        """Sum of weighted losses, and its derivative by each squared distance."""
        mean, slope = CPU().losses(self.loss, d2, self.graph)
        return self.total * mean, self.total * slope, _NONE

    def embedding(self, X: Floats, backend: Backend) -> tuple[float, Floats]:
        """Weighted mean loss of positions X, and L X."""
        return backend.embedding(self.loss, X, self.graph)

    def multipliers(self, d2: Floats) -> Floats:
        """(m,) -w_t/W · shape'(margin_t): how strongly each comparison pulls, which is a point of the dual."""
        margin = self.loss.margin(d2[self.graph.near], d2[self.graph.far])
        return -shares(self.graph) * self.loss.shape(margin)[1]

    def proves(self, multipliers: Floats) -> float:
        """The dual objective of multipliers that are feasible: their sum for a hinge, entropies for the logistic."""
        if self.loss.shape.expression is hinge:
            return float(multipliers.sum())
        share = shares(self.graph)
        return float(share @ _entropy(multipliers / share))


class ComparedInShards(OnePass):
    """Comparisons that do not fit in memory, with a loss; `total` is their weight.

    Each shard builds its own pairs, so that no index over all comparisons exists; the sums have a fixed order, so that
    one process and a cluster give the same bits.
    """

    listed = False

    def __init__(self, shards: Shards, loss: ComparisonLoss, total: float) -> None:
        self.shards, self.loss, self.total = shards, loss, total

    def evaluate(self, d2: Floats, own: Floats) -> tuple[float, Floats, Floats]:
        """Never called: there is no list of all pairs."""
        raise TypeError("comparisons in shards are taken in one pass over positions")

    def embedding(self, X: Floats, backend: Backend) -> tuple[float, Floats]:
        """Weighted mean loss of positions X, and L X, shard by shard."""
        value, product = self.shards.reduce(_loss_of_block, add, self.loss, X, backend)
        return value / self.total, product / self.total


def _loss_of_block(block: Block, loss: ComparisonLoss, X: Floats, backend: Backend) -> tuple[Any, ...]:
    """Sum of the weighted losses of a block, and L X for its slopes."""
    weight = float(block.weight.sum())
    if not weight:
        return 0.0, 0.0 * X
    value, product = backend.embedding(loss, X, block_graph(block))
    return value * weight, product * weight


class Hinges(Term):
    """sum_t max over 0 <= a <= cap_t of  a (1 - margin_t) - (a - a_t)² / 2 s_t:  hinges around multipliers a_t.

    The margins are differences of squared distances. See `solvers.rounds`.
    """

    merged, size, total = True, 0, 1.0

    def __init__(self, graph: SimilarityGraph, centre: Floats, caps: Floats, stiffness: Floats) -> None:
        self.graph, self.centre, self.caps, self.stiffness = graph, centre, caps, stiffness
        self.pairs = graph.pairs

    @classmethod
    def around(cls, graph: SimilarityGraph, multipliers: Floats, width: float, hard: bool) -> Hinges:
        """Hinges of a mean over comparisons, rounded over a width around the multipliers; hard ones have no cap."""
        share = shares(graph)
        return cls(graph, multipliers, np.full(len(share), np.inf) if hard else share, share / width)

    def evaluate(self, d2: Floats, own: Floats) -> tuple[float, Floats, Floats]:
        """See the class."""
        short = 1.0 - (d2[self.graph.far] - d2[self.graph.near])
        a = self._best(short)
        value = a @ short - 0.5 * float(((a - self.centre) ** 2 / self.stiffness).sum())
        return float(value), -pulled(self.graph, a), _NONE

    def multipliers(self, d2: Floats) -> Floats:
        """(m,) the maxima: those of the next round."""
        return self._best(1.0 - (d2[self.graph.far] - d2[self.graph.near]))

    def proves(self, multipliers: Floats) -> float:
        """The dual objective of multipliers that are feasible."""
        return float(multipliers.sum())

    def _best(self, short: Floats) -> Floats:
        return np.clip(self.centre + self.stiffness * short, 0.0, self.caps)


def shares(graph: SimilarityGraph) -> Floats:
    """(m,) the share of each comparison in the total weight."""
    return graph.weight / graph.weight.sum()


def pulled(graph: SimilarityGraph, multipliers: Floats) -> Floats:
    """(P,) the incidence matrix of a graph times multipliers: what the value of each pair is pulled up by."""
    count = len(graph.pairs)
    near, far = np.bincount(graph.near, multipliers, count), np.bincount(graph.far, multipliers, count)
    return (far - near).astype(float)


def compared(problem: Problem, who: str) -> Compared:
    """Return the lone term of comparisons that somebody needs; another problem is refused."""
    if len(problem.terms) == 1 and isinstance(problem.terms[0], Compared):
        return problem.terms[0]
    found = ", ".join(type(term).__name__ for term in problem.terms)
    raise TypeError(f"{who} needs comparisons in memory as the one term, found {found}; use lbfgs")


def _entropy(p: Floats) -> Floats:
    return -(p * np.log(np.maximum(p, 1e-300)) + (1.0 - p) * np.log(np.maximum(1.0 - p, 1e-300)))

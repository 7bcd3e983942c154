"""Sparse minibatches of Adam, for very many comparisons: a batch updates only the items that it names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from similitude.engine.backend import CPU, loss_codes
from similitude.engine.comparison_terms import ComparedInShards, compared
from similitude.engine.models import Positions
from similitude.engine.penalties import Ridge
from similitude.engine.problem import Problem
from similitude.engine.solvers.needs import Needs
from similitude.engine.solvers.result import Callback, Result
from similitude.engine.terms import ComparisonLoss
from similitude.feedback.files.dataset import ComparisonDataset
from similitude.graph.build import SimilarityGraph
from similitude.graph.counts import Counts
from similitude.types import Array, Floats

NEEDS = Needs("minibatch", ridge=True, free_positions=True)


def minibatch(
    problem: Problem,
    start: Floats,
    *,
    epochs: int = 10,
    batch: int = 2000,
    rate: float = 0.05,
    random_state: int | np.random.Generator | None = None,
    callback: Callback | None = None,
) -> Result:
    """Minimise over free positions with a ridge, in so many passes over the comparisons, the step falling as a cosine.

    The ridge strength · |X|²/n is spread over the occurrences of each item, strength · (sum of weights) / (n · its
    occurrences), so that the mean over comparisons is the ridge itself and only touched rows change.
    """
    model, ridge = free_positions(problem)
    term = compared(problem, "minibatch")
    graph = term.graph
    rng = np.random.default_rng(random_state)
    weight = graph.weight / graph.weight.mean()
    per_occurrence = ridge.rate * len(graph) / np.maximum(graph.occurrences, 1)
    steps = _Steps(model, start, term.loss, per_occurrence, batch, rate, epochs * -(-len(graph) // batch))
    for epoch in range(1, epochs + 1):
        total = steps.along(rng.permutation(len(graph)), graph.near_pairs, graph.far_pairs, weight)
        if callback is not None:
            callback(epoch, total / len(graph) + ridge.value(steps.X.ravel()))
    params = steps.X.ravel()
    return Result(params, problem.value(params), "planned", epochs, epochs, f"{epochs} passes over the comparisons")


def minibatch_from_disk(
    problem: Problem,
    counts: Counts,
    start: Floats,
    *,
    epochs: int,
    batch: int = 2000,
    rate: float = 0.05,
    random_state: int | np.random.Generator | None = None,
    callback: Callback | None = None,
) -> Result:
    """`minibatch` over a `ComparisonDataset`: each pass reads the row groups in another order, mixed."""
    model, ridge = free_positions(problem)
    term = problem.in_one_pass
    if not (isinstance(term, ComparedInShards) and isinstance(term.shards, ComparisonDataset)):
        found = ", ".join(type(getattr(one, "shards", one)).__name__ for one in problem.terms)
        raise TypeError(
            f"solver: minibatch reads a folder in one process, and nothing beside it, found {found}; use lbfgs"
        )
    dataset = term.shards
    rng = np.random.default_rng(random_state)
    mean_weight = counts.weight / len(dataset)
    per_occurrence = ridge.rate * len(dataset) / np.maximum(counts.occurrences, 1)
    planned = epochs * -(-len(dataset) // batch)
    steps = _Steps(model, start, term.loss, per_occurrence, batch, rate, planned)
    for epoch in range(1, epochs + 1):
        total = 0.0
        for block in dataset.mixed(rng):
            total += steps.along(rng.permutation(len(block)), block.near, block.far, block.weight / mean_weight)
        if callback is not None:
            callback(epoch, total / len(dataset) + ridge.value(steps.X.ravel()))
    params = steps.X.ravel()
    return Result(params, problem.value(params), "planned", epochs, epochs, f"{epochs} passes over the comparisons")


@dataclass
class _Steps:
    """Positions on their way, with Adam's moments and the room that a batch needs."""

    model: Positions
    start: Floats
    loss: ComparisonLoss
    per_occurrence: Floats
    batch: int
    rate: float
    planned: int

    def __post_init__(self) -> None:
        self.X = np.array(self.start, float).reshape(self.model.shape)
        self.room = [np.zeros_like(self.X) for _ in range(3)]
        self.touched = np.zeros(2 * len(self.X), np.int64)
        self.done = 0

    def along(self, order: Array, near: Array, far: Array, weight: Floats) -> float:
        """Step through comparisons in this order, and return the sum of their weighted losses."""
        from similitude.engine import compiled

        if not self.loss.named:
            batches = np.split(order, range(self.batch, len(order), self.batch))
            return sum(self._step(near[rows], far[rows], weight[rows]) for rows in batches)
        first, second, gradient = self.room
        total, self.done = compiled.minibatches(
            self.X, first, second, order, near, far, weight, self.per_occurrence,
            *loss_codes(self.loss), self.batch, self.rate, self.done, self.planned, gradient, self.touched,
        )  # fmt: skip
        return float(total)

    def _step(self, near: Array, far: Array, weight: Floats) -> float:
        """`compiled.minibatches` for one batch of a loss that the kernels do not know, and so with numpy."""
        graph = SimilarityGraph(len(self.X), near, far, weight, merged=False)
        value, product = CPU().embedding(self.loss, self.X, graph)
        total, share = float(weight.sum()), 2.0 / len(near)
        seen = np.bincount(np.concatenate([near, far]).ravel(), minlength=len(self.X))
        rows = np.flatnonzero(seen)
        gradient = share * (total * product[rows] + (seen * self.per_occurrence)[rows, None] * self.X[rows])
        self.done += 1
        step = self.rate * (0.5 + 0.5 * np.cos(np.pi * min(self.done / self.planned, 1.0)))
        step *= np.sqrt(1.0 - 0.999**self.done) / (1.0 - 0.9**self.done)
        first, second, _ = self.room
        first[rows] = 0.9 * first[rows] + 0.1 * gradient
        second[rows] = 0.999 * second[rows] + 0.001 * gradient * gradient
        self.X[rows] -= step * first[rows] / (np.sqrt(second[rows]) + 1e-12)
        return value * total


def free_positions(problem: Problem) -> tuple[Positions, Ridge]:
    """The model and penalty of a problem over free positions with a ridge; any other is refused."""
    NEEDS.check(problem)
    model, ridge = problem.model, problem.penalty
    assert isinstance(model, Positions)
    assert isinstance(ridge, Ridge)
    return model, ridge

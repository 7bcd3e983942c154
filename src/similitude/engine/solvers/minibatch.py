"""Sparse minibatches of Adam, for very many comparisons: a batch updates only the items that it names."""

from __future__ import annotations

import numpy as np

from similitude.engine.backend import loss_codes
from similitude.engine.models import Positions
from similitude.engine.penalties import Ridge
from similitude.engine.problem import Problem
from similitude.engine.solvers.result import Callback, Result
from similitude.feedback.columns import Floats


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
    from similitude.engine import compiled

    model, ridge = free_positions(problem)
    graph = problem.graph
    rng = np.random.default_rng(random_state)
    X = np.array(start, float).reshape(model.shape)
    weight = graph.weight / graph.weight.mean()
    per_occurrence = ridge.rate * len(graph) / np.maximum(graph.occurrences, 1)
    first, second, gradient = np.zeros_like(X), np.zeros_like(X), np.zeros_like(X)
    touched = np.zeros(2 * len(X), np.int64)
    planned, done, value = epochs * -(-len(graph) // batch), 0, np.inf
    for epoch in range(1, epochs + 1):
        total, done = compiled.minibatches(
            X, first, second, rng.permutation(len(graph)), graph.near_pairs, graph.far_pairs, weight, per_occurrence,
            *loss_codes(problem.loss), batch, rate, done, planned, gradient, touched,
        )  # fmt: skip
        value = total / len(graph) + ridge.value(X.ravel())
        if callback is not None:
            callback(epoch, value)
    params = X.ravel()
    return Result(params, problem.value(params), "planned", epochs, epochs, f"{epochs} passes over the comparisons")


def free_positions(problem: Problem) -> tuple[Positions, Ridge]:
    """The model and penalty of a problem over free positions with a ridge; any other is refused."""
    model, ridge = problem.model, problem.penalty
    free = isinstance(model, Positions) and model.features is None and model.fixed is None and model.beside is None
    if not isinstance(model, Positions) or not free:
        raise TypeError("minibatch needs free positions of the items; use lbfgs for this model")
    if not isinstance(ridge, Ridge):
        raise TypeError(f"minibatch needs a ridge, found {type(ridge).__name__}; use accelerated for this penalty")
    return model, ridge

"""The reference for convex kernel learning: accelerated projected gradient on whole matrices W_p."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import linalg

from similitude.engine.comparison_terms import Compared
from similitude.engine.models import Matrix, Model, Sum
from similitude.engine.penalties import Blocks, NonNegative, Trace
from similitude.engine.problem import Problem
from similitude.engine.solvers.accelerated import accelerated
from similitude.engine.solvers.certificate import Certificate, Certified
from similitude.engine.solvers.convex import KernelProblem, Point
from similitude.engine.solvers.result import Callback
from similitude.engine.terms import ComparisonLoss, hinge
from similitude.types import Floats

_SMOOTHING = (0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5)


def full_matrices(
    problem: KernelProblem, *, max_iter: int = 1000, tol: float = 1e-3, callback: Callback | None = None
) -> Certified[Point]:
    """Minimise with an eigendecomposition of every W_p in every step, a hinge ever less rounded."""
    models: list[Model] = [Matrix(problem.graph.n_items, features=part.features) for part in problem.parts]
    penalties = [(Trace(part.rate), model.size) for part, model in zip(problem.parts, models, strict=True)]
    sizes = [model.size for model in models]
    if problem.weights is not None:
        models.append(problem.weights)
    penalty = Blocks([*penalties, (NonNegative(problem.prices), len(problem.prices))])
    params = np.zeros(sum(sizes) + len(problem.prices))
    proof = Certificate(problem.zero(), tol)
    for smooth in _smoothed(problem.loss):
        whole = Problem(Sum(models), Compared(problem.graph, smooth), penalty)
        found = accelerated(whole, params, max_iter=max_iter, tol=tol * 1e-6, callback=callback)
        params = found.params
        *matrices, weights = np.split(params, np.cumsum(sizes))
        point = Point(tuple(_root(own) for own in matrices), weights)
        proof.count(found.n_iter)
        proof.offer(point, problem.value(point))
        if proof.proven(problem.bound(point, smooth).lower):
            break
    return proof.best


def _smoothed(loss: ComparisonLoss) -> Iterator[ComparisonLoss]:
    """A hinge ever less rounded; other losses once."""
    if loss.shape.expression is hinge:
        yield from (loss.smoothed(gamma) for gamma in _SMOOTHING)
    else:
        yield loss


def _root(flat: Floats) -> Floats:
    order = round(len(flat) ** 0.5)
    values, vectors = linalg.eigh(flat.reshape(order, order))
    return vectors * np.sqrt(np.maximum(values, 0.0))

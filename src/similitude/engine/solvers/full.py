"""The reference for convex problems: accelerated projected gradient on whole matrices, a hinge ever less rounded."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from similitude.engine.comparison_terms import Compared
from similitude.engine.problem import Problem
from similitude.engine.solvers.accelerated import accelerated
from similitude.engine.solvers.certificate import Certificate, Certified
from similitude.engine.solvers.convex import Convex, Point
from similitude.engine.solvers.result import Callback
from similitude.engine.terms import hinge
from similitude.types import Floats

_SMOOTHING = (0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5)


def full_matrices(
    problem: Problem, *, max_iter: int = 1000, tol: float = 1e-3, callback: Callback | None = None
) -> Certified[Point]:
    """Minimise a convex problem with an eigendecomposition of every W_p in every step."""
    convex = Convex(problem)
    proof = Certificate(convex.zero(), tol)
    return proof.over(_rounds(problem, convex, proof, max_iter, tol, callback))


def _rounds(
    problem: Problem,
    convex: Convex,
    proof: Certificate[Point],
    max_iter: int,
    tol: float,
    callback: Callback | None,
) -> Iterator[float]:
    params = np.zeros(problem.model.size)
    widths = _SMOOTHING if convex.loss.shape.expression is hinge else (0.0,)
    for width in widths:
        term = Compared(convex.graph, convex.loss.smoothed(width))
        whole = Problem(problem.model, term, problem.penalty)
        found = accelerated(whole, params, max_iter=max_iter, tol=tol * 1e-6, callback=callback)
        params, point = found.params, _point(convex, found.params)
        d2 = convex.sqdist(point)
        proof.count(found.n_iter)
        proof.offer(*convex.valued(point, d2))
        yield convex.bound(point, term, term.multipliers(d2)).lower


def _point(convex: Convex, params: Floats) -> Point:
    """Parameters with a factor in place of every matrix."""
    flat = np.split(params, np.cumsum([block.model.size for block in convex.blocks])[:-1])
    return Point(tuple(block.taken(own) for block, own in zip(convex.blocks, flat, strict=True)))

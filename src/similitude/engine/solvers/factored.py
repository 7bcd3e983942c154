"""Convex kernel learning without n × n variables: factors that grow until a certificate says that they are optimal.

With W_p = N_p N_p', a stationary point is globally optimal exactly when the conditions of `KernelProblem.feasible` hold
for the whole slopes (share 1); otherwise the violating eigenvectors are columns to append. It starts from nothing at
all: the first directions are those of the votes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from similitude.engine.solvers.convex import Certified, KernelProblem, Point
from similitude.engine.solvers.lbfgs import lbfgs
from similitude.engine.solvers.result import Callback

_MEMORY = 20
_FIRST_PRECISION, _LAST_PRECISION = 1e-7, 1e-14


def factored(
    problem: KernelProblem,
    start: Point | None = None,
    *,
    max_iter: int = 1000,
    tol: float = 1e-3,
    callback: Callback | None = None,
) -> Certified:
    """Minimise a problem with a smooth loss over factors with as many columns as it takes.

    Parameters
    ----------
    problem : the parts, weights and comparisons
    start : a point to start from (the solution at another penalty, say)
    max_iter : most L-BFGS iterations of one rank
    tol : stop at a gap of this share of the objective
    callback : called with the number of iterations so far and the objective
    """
    point = problem.zero() if start is None else start
    best, lower, precision = Certified(point, np.inf, np.inf, "stalled", 0), -np.inf, _FIRST_PRECISION
    while precision >= _LAST_PRECISION:
        smooth = problem.factored(point, problem.loss)
        if point.params.size:
            found = lbfgs(smooth, point.params, max_iter=max_iter, tol=precision, memory=_MEMORY)
            cut = "max_iter" if found.status == "max_iter" else "stalled"
            point, best = point.at(found.params), replace(best, status=cut, n_iter=best.n_iter + found.n_iter)
        value, bound = problem.value(point), problem.bound(point, problem.loss, 0.1 * tol)
        lower, before = max(lower, bound.lower), best.gap
        if value < best.value:
            best = replace(best, point=point, value=value)
        best = replace(best, gap=max(best.value - lower, 0.0))
        if callback is not None:
            callback(best.n_iter, best.value)
        if best.gap <= tol * abs(best.value):
            return replace(best, status="converged")
        if bound.improves:
            point = problem.widened(point, bound.directions)
        if not bound.improves or best.gap > 0.5 * before:
            precision *= 0.01
    return best

"""Convex kernel learning without n × n variables: factors that grow until a certificate says that they are optimal.

With W_p = N_p N_p', a stationary point is globally optimal exactly when the conditions of `KernelProblem.feasible` hold
for the whole slopes (share 1); otherwise the violating eigenvectors are columns to append. It starts from nothing at
all: the first directions are those of the votes.
"""

from __future__ import annotations

from similitude.engine.solvers.certificate import Certificate, Certified
from similitude.engine.solvers.convex import KernelProblem, Point
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
) -> Certified[Point]:
    """Minimise a problem with a smooth loss over factors with as many columns as it takes.

    Parameters
    ----------
    problem : the parts, weights and comparisons
    start : a point to start from (the solution at another penalty, say)
    max_iter : most L-BFGS iterations of one rank
    tol : stop at a gap of this share of the objective
    callback : called with the number of iterations so far and the objective
    """
    point, precision = problem.zero() if start is None else start, _FIRST_PRECISION
    proof = Certificate(point, tol, callback, status="stalled")
    while precision >= _LAST_PRECISION:
        smooth = problem.factored(point)
        if point.params.size:
            found = lbfgs(smooth, point.params, max_iter=max_iter, tol=precision, memory=_MEMORY)
            proof.count(found.n_iter, "max_iter" if found.status == "max_iter" else "stalled")
            point = point.at(found.params)
        bound = problem.bound(point, problem.loss, 0.1 * tol)
        proof.offer(point, problem.value(point))
        if proof.proven(bound.lower):
            break
        if bound.improves:
            point = problem.widened(point, bound.directions)
        if not bound.improves or proof.slow(0.5):
            precision *= 0.01
    return proof.best

"""Hinges, soft and hard, by the method of multipliers on factors: no rounding of the hinge, and multipliers that prove.

A hinge is a maximum over multipliers, max(0, 1 - m) = max over 0 <= a <= 1 of a (1 - m); with weights the cap of a_t is
w_t / sum(w), and for a hard margin there is none. Each round minimises by L-BFGS

    sum_p rate_p · trace(W_p) + prices · u + sum_t max over 0 <= a <= cap_t of  a (1 - margin_t) - (a - a_t)² / 2 s_t

which is smooth, and then sets a_t to the maximiser, a_t = min(cap_t, max(0, a_t + s_t (1 - margin_t))). Unlike a hinge
that is rounded ever less, the inner problems stay well-conditioned (s_t = cap_t / width at a fixed width), and the
multipliers converge to those of the optimum: every feasible share of them (`KernelProblem.feasible`) proves the lower
bound share · sum(a). With a hard margin, a point becomes feasible by growing until its least margin is 1.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from similitude.engine.comparison_terms import Hinges, pulled
from similitude.engine.problem import Problem
from similitude.engine.solvers.certificate import Certificate, Certified
from similitude.engine.solvers.convex import KernelProblem, Point
from similitude.engine.solvers.lbfgs import lbfgs
from similitude.engine.solvers.result import Callback
from similitude.types import Floats

_ROUNDS = 300
_FIRST_WIDTH, _LEAST_WIDTH = 0.3, 0.01
_LEAST_HARD_WIDTH = 1e-6  # without a cap, multipliers may have far to go
_FIRST_PRECISION, _LAST_PRECISION = 1e-6, 1e-13
_MEMORY = 20


def multipliers(
    problem: KernelProblem,
    start: Point | None = None,
    *,
    hard: bool = False,
    max_iter: int = 1000,
    tol: float = 1e-3,
    callback: Callback | None = None,
) -> Certified[Point]:
    """Minimise a problem with a hinge over factors with as many columns as it takes.

    Parameters
    ----------
    problem : the parts, weights and comparisons
    start : a point to start from (the solution at another penalty, say)
    hard : whether every margin must be at least 1; the value is then infinite while no such point was found
    max_iter : most L-BFGS iterations of one round
    tol : stop at a gap of this share of the objective
    callback : called with the number of iterations so far and the objective
    """
    least_width = _LEAST_HARD_WIDTH if hard else _LEAST_WIDTH
    a, width, precision = np.zeros(len(problem.graph)), _FIRST_WIDTH, _FIRST_PRECISION
    point = problem.zero() if start is None else start
    proof = Certificate(point, tol, callback, lower=0.0)
    for _ in range(_ROUNDS):
        hinges = Hinges.around(problem.graph, a, width, hard)
        this = problem.factored(point, hinges)
        if point.params.size:
            found = lbfgs(this, point.params, max_iter=max_iter, tol=precision, memory=_MEMORY)
            proof.count(found.n_iter)
            point = point.at(found.params)
        d2 = this.model.sqdist(point.params, problem.graph.pairs, this.backend)
        a = hinges.best(d2)
        share, directions = problem.feasible(point, -pulled(problem.graph, a), 0.1 * tol)
        if hard:
            proof.offer(*_grown(this, point, hinges.margins(d2)))
        else:
            proof.offer(point, problem.value(point))
        if proof.proven(share * float(a.sum())):
            break
        if any(new.shape[1] for new in directions):
            point = problem.widened(point, directions, partial(_value, problem, hinges))
        if proof.slow(0.7):
            width, precision = max(0.5 * width, least_width), max(0.3 * precision, _LAST_PRECISION)
    return proof.best


def _value(problem: KernelProblem, hinges: Hinges, point: Point) -> float:
    """Objective of a round at a point of any width."""
    return problem.factored(point, hinges).value(point.params)


def _grown(this: Problem, point: Point, margins: Floats) -> tuple[Point, float]:
    """A point grown until its least margin is 1, and its value; infinite where a margin is not positive."""
    least = float(margins.min()) if point.params.size else 0.0
    if least <= 0:
        return point, np.inf
    grown = Point(tuple(own / np.sqrt(least) for own in point.factors), point.weights / least)
    return grown, this.penalty.value(point.params) / least

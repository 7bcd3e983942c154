"""Convex problems in rounds of L-BFGS, until a bound proves that the point is as good as was asked for.

**Factors** W = N N' start without columns. A stationary point is optimal exactly when the whole slopes (share 1) are
feasible (`solvers.convex`); otherwise the eigenvectors that violate are columns to append: the first directions are
those of the votes.

**A logistic loss** is smooth as it is. What rounds change is the precision of L-BFGS.

**A hinge** is a maximum over multipliers, max(0, 1 - m) = max over 0 <= a <= 1 of a (1 - m); with weights the cap of
a_t is w_t / W, and for a hard margin there is none. Each round minimises

    penalty + sum_t max over 0 <= a <= cap_t of  a (1 - margin_t) - (a - a_t)² / 2 s_t

which is smooth, and then sets a_t to the maximiser (the method of multipliers). Unlike a hinge that is rounded ever
less, the inner problems stay well-conditioned (s_t = cap_t / width), and the multipliers converge to those of the
optimum, which is what proves it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from similitude.engine.comparison_terms import Hinges
from similitude.engine.problem import Problem
from similitude.engine.solvers.certificate import Certificate, Certified
from similitude.engine.solvers.convex import Convex, Point
from similitude.engine.solvers.lbfgs import lbfgs
from similitude.engine.solvers.result import Callback
from similitude.engine.terms import logistic

_ROUNDS = 300
_FIRST_WIDTH, _LEAST_WIDTH = 0.3, 0.1  # less is stiff: a missing direction grows too slowly to be seen
_LEAST_HARD_WIDTH = 1e-6  # without a cap, multipliers may have far to go
_MEMORY = 20


@dataclass(frozen=True)
class _Pace:
    """How rounds get finer: where one leaves more than the share `slow` of the gap, the next is.

    Attributes
    ----------
    slow : see above
    first, finest : precision of L-BFGS in the first round, and the finest
    finer : by which it is multiplied
    """

    slow: float
    first: float
    finest: float
    finer: float


_SMOOTH, _HINGE = _Pace(0.5, 1e-7, 1e-14, 0.01), _Pace(0.7, 1e-6, 1e-13, 0.3)


def certified(
    problem: Problem,
    start: Point | None = None,
    *,
    hard: bool = False,
    most: float = np.inf,
    max_iter: int = 1000,
    tol: float = 1e-3,
    callback: Callback | None = None,
) -> Certified[Point]:
    """Minimise a convex problem, with factors of as many columns as it takes.

    Parameters
    ----------
    problem : see `solvers.convex`
    start : a point to start from (the solution at another penalty, say)
    hard : whether every margin must be at least 1; the value is then infinite while no such point was found
    most : of a hard margin: give up when every point that meets it is proven to cost more
    max_iter : most L-BFGS iterations of one round
    tol : stop at a gap of this share of the objective
    callback : called with the number of iterations so far and the objective
    """
    convex = Convex(problem, hard)
    point = convex.zero() if start is None else start
    proof = Certificate(point, tol, callback, lower=0.0, most=most)
    return proof.over(_rounds(convex, point, proof, max_iter, 0.1 * tol))


def _rounds(convex: Convex, point: Point, proof: Certificate[Point], max_iter: int, doubt: float) -> Iterator[float]:
    """Improve a point and the multipliers in turn; a bound for each round."""
    smooth = convex.loss.shape.expression is logistic
    pace, least_width = _SMOOTH if smooth else _HINGE, _LEAST_HARD_WIDTH if convex.hard else _LEAST_WIDTH
    a, width, precision = np.zeros(len(convex.graph)), _FIRST_WIDTH, pace.first
    for _ in range(_ROUNDS):
        term = convex.term if smooth else Hinges.around(convex.graph, a, width, convex.hard)
        if point.params.size:
            found = lbfgs(convex.over(point, term), point.params, max_iter=max_iter, tol=precision, memory=_MEMORY)
            proof.count(found.n_iter, "max_iter" if found.status == "max_iter" else "stalled")
            point = point.at(found.params)
        d2 = convex.sqdist(point)
        a = term.multipliers(d2)
        bound = convex.bound(point, term, a, doubt)
        proof.offer(*convex.valued(point, d2))
        if bound.point is not None:
            proof.offer(*convex.valued(bound.point, convex.sqdist(bound.point)))
        yield bound.lower
        if bound.improves:
            point = convex.widened(point, bound.directions, term)
        if proof.slow(pace.slow) or (smooth and not bound.improves):
            if smooth and precision == pace.finest:
                return  # nothing would change any more; multipliers go on changing
            width, precision = max(0.5 * width, least_width), max(pace.finer * precision, pace.finest)

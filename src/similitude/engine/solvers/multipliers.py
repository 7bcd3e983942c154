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

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from similitude.engine.problem import Problem
from similitude.engine.solvers.convex import Certified, KernelProblem, Point
from similitude.engine.solvers.lbfgs import lbfgs
from similitude.engine.solvers.result import Callback
from similitude.feedback.columns import Floats

_ROUNDS = 300
_FIRST_WIDTH, _LEAST_WIDTH = 0.3, 0.01
_LEAST_HARD_WIDTH = 1e-6  # without a cap, multipliers may have far to go
_FIRST_PRECISION, _LAST_PRECISION = 1e-6, 1e-13
_MEMORY = 20


@dataclass(frozen=True)
class Round(Problem):
    """The problem of one round: comparisons enter by their multipliers instead of a loss."""

    multipliers: Floats = field(default_factory=lambda: np.zeros(0))
    caps: Floats = field(default_factory=lambda: np.zeros(0))
    stiffness: Floats = field(default_factory=lambda: np.ones(0))

    def data(self, params: Floats) -> tuple[float, Floats]:
        """Value and gradient of the maxima over multipliers."""
        short = 1.0 - self.margins(params)
        a = self._best(short)
        value = a @ short - 0.5 * float(((a - self.multipliers) ** 2 / self.stiffness).sum())
        return float(value), self.model.pullback(params, self.graph.pairs, self.slopes(a), self.backend)

    def best_multipliers(self, params: Floats) -> Floats:
        """The multipliers of the next round."""
        return self._best(1.0 - self.margins(params))

    def _best(self, short: Floats) -> Floats:
        return np.clip(self.multipliers + self.stiffness * short, 0.0, self.caps)

    def margins(self, params: Floats) -> Floats:
        """The margin of each comparison."""
        d2 = self.model.sqdist(params, self.graph.pairs, self.backend)
        return d2[self.graph.far] - d2[self.graph.near]

    def slopes(self, multipliers: Floats) -> Floats:
        """Derivative by each squared distance of -sum_t a_t · margin_t."""
        count = len(self.graph.pairs)
        near, far = np.bincount(self.graph.near, multipliers, count), np.bincount(self.graph.far, multipliers, count)
        return (near - far).astype(float)


def multipliers(
    problem: KernelProblem,
    start: Point | None = None,
    *,
    hard: bool = False,
    max_iter: int = 1000,
    tol: float = 1e-3,
    callback: Callback | None = None,
) -> Certified:
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
    weight = problem.graph.weight / problem.graph.weight.sum()
    caps = np.full(len(weight), np.inf) if hard else weight
    least_width = _LEAST_HARD_WIDTH if hard else _LEAST_WIDTH
    a, width, precision = np.zeros(len(weight)), _FIRST_WIDTH, _FIRST_PRECISION
    point = problem.zero() if start is None else start
    best, lower = Certified(point, np.inf, np.inf, "max_iter", 0), 0.0
    for _ in range(_ROUNDS):
        this = _round(problem, point, a, caps, weight / width)
        if point.params.size:
            found = lbfgs(this, point.params, max_iter=max_iter, tol=precision, memory=_MEMORY)
            point, best = point.at(found.params), replace(best, n_iter=best.n_iter + found.n_iter)
        a = this.best_multipliers(point.params)
        share, directions = problem.feasible(point, this.slopes(a), 0.1 * tol)
        lower, before = max(lower, share * float(a.sum())), best.gap
        best = _better(problem, best, this, point, lower, hard)
        if callback is not None:
            callback(best.n_iter, best.value)
        if np.isfinite(best.gap) and best.gap <= tol * abs(best.value):
            return replace(best, status="converged")
        if any(new.shape[1] for new in directions):
            point = problem.widened(point, directions, partial(_value, problem, this))
        if best.gap > 0.7 * before or not np.isfinite(best.gap):
            width, precision = max(0.5 * width, least_width), max(0.3 * precision, _LAST_PRECISION)
    return best


def _round(problem: KernelProblem, point: Point, a: Floats, caps: Floats, stiffness: Floats) -> Round:
    bare = problem.factored(point, problem.loss)
    return Round(bare.model, bare.graph, bare.loss, bare.penalty, multipliers=a, caps=caps, stiffness=stiffness)


def _better(problem: KernelProblem, best: Certified, this: Round, point: Point, lower: float, hard: bool) -> Certified:
    """Return the best point so far with its gap; for a hard margin, points grown until their least margin is 1."""
    if hard:
        least = float(this.margins(point.params).min()) if point.params.size else 0.0
        value = this.penalty.value(point.params) / least if least > 0 else np.inf
        if value < best.value:
            point = Point(tuple(own / np.sqrt(least) for own in point.factors), point.weights / least)
    else:
        value = problem.value(point)
    if value < best.value:
        best = replace(best, point=point, value=value)
    return replace(best, gap=max(best.value - lower, 0.0))


def _value(problem: KernelProblem, this: Round, point: Point) -> float:
    """Objective of a round at a point of any width."""
    wide = problem.factored(point, problem.loss)
    return replace(this, model=wide.model, penalty=wide.penalty).value(point.params)

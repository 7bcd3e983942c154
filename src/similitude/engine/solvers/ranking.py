"""Margins that are linear in the parameters, with a ridge: the support vector problem of ranking pairs, with its gap.

    min over p of   sum_t w_t max(0, 1 - margin_t(p)) / W + rate · |p|²,        margin_t(p) = z_t' p

and, for a hard margin, the least rate · |p|² with every margin at least 1. The dual is

    max over 0 <= a of   sum(a) - |Z'a|² / (4 rate),        a_t <= w_t / W (soft), or without that cap (hard)

with p = Z'a / (2 rate) at the optimum; Z' a is the pullback of the incidence matrix of the similarity graph times a.
Every a proves a lower bound, every p gives an upper one. Two ways to the optimum:

- `ranked_primal`: the method of multipliers (`solvers.multipliers`) over p by L-BFGS; a pass costs no more than the
  distances of all pairs, so it is the one for many comparisons.
- `ranked_dual`: coordinate descent over a, given the kernel matrix over distinct pairs; the function's value on every
  pair is kept, so that looking at a comparison costs nothing and moving its a_t costs one row.

Since Σ a <= Σ a_t margin_t = (Z'a)'p <= |Z'a| |p| for any p that meets every margin, such a p is at least
sum(a) / |Z'a| long: where that has no end, no p meets them all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from similitude.engine.backend import CPU
from similitude.engine.comparison_terms import Hinges, pulled
from similitude.engine.models import Model
from similitude.engine.penalties import Ridge
from similitude.engine.problem import Problem
from similitude.engine.solvers.certificate import Certificate, Certified
from similitude.engine.solvers.lbfgs import lbfgs
from similitude.engine.solvers.result import Callback
from similitude.graph.build import SimilarityGraph
from similitude.types import Floats

_ROUNDS = 200
_FIRST_WIDTH, _LEAST_WIDTH, _LEAST_HARD_WIDTH = 0.3, 1e-4, 1e-9
_FIRST_PRECISION, _LAST_PRECISION = 1e-6, 1e-15
_MEMORY = 20
_SWEEPS = 10  # between two looks at the gap
_LONGEST = 1e7  # of parameters that meet a hard margin, in units of the inverse of a comparison's typical |z|


@dataclass(frozen=True)
class Ranked:
    """A point of such a problem: (m,) multipliers a, and parameters p (none where they were not asked for)."""

    multipliers: Floats
    params: Floats


@dataclass(frozen=True)
class RankingProblem:
    """What both solvers share.

    Attributes
    ----------
    graph : the comparisons
    rate : of the ridge
    hard : whether every margin must be at least 1
    size : the typical length of a z_t: says what is long in `least_norm`
    """

    graph: SimilarityGraph
    rate: float
    hard: bool = False
    size: float = 1.0

    @property
    def share(self) -> Floats:
        """(m,) the share of each comparison in the total weight."""
        return self.graph.weight / self.graph.weight.sum()

    @property
    def caps(self) -> Floats:
        """(m,) the most that each multiplier may be."""
        return np.full(len(self.graph), np.inf) if self.hard else self.share

    def value(self, margins: Floats, square: float) -> tuple[float, float]:
        """Objective at parameters with these margins and squared length, and the growth that makes them feasible."""
        if not self.hard:
            return float(self.share @ np.maximum(0.0, 1.0 - margins)) + self.rate * square, 1.0
        least = float(margins.min())
        return (self.rate * square / least**2, 1.0 / least) if least > 0 else (np.inf, 1.0)

    def bound(self, total: float, square: float) -> float:
        """Return the best lower bound from shares of multipliers with this total and |Z'a|²."""
        if square == 0.0:
            return total if not self.hard else (np.inf if total > 0 else 0.0)
        best = 2.0 * self.rate * total / square
        share = best if self.hard else min(1.0, best)
        return share * total - share**2 * square / (4.0 * self.rate)

    def least_norm(self, lower: float) -> float:
        """A proven least length of parameters that meet a hard margin, from a bound of the optimum."""
        return float(np.sqrt(max(lower, 0.0) / self.rate))

    def given_up(self, best: Certified[Ranked]) -> bool:
        """Whether a hard margin was not met, and nothing that is not very long can meet it."""
        unmet = self.hard and not np.isfinite(best.value)
        return unmet and self.least_norm(best.lower) * self.size > _LONGEST

    def params(self, model: Model, multipliers: Floats) -> Floats:
        """Z'a / (2 rate): the parameters of a model that is linear in them, from multipliers."""
        pull = pulled(self.graph, multipliers)
        return model.pullback(np.zeros(model.size), self.graph.pairs, pull, CPU()) / (2.0 * self.rate)


def ranked_primal(
    problem: RankingProblem,
    model: Model,
    *,
    max_iter: int = 1000,
    tol: float = 1e-3,
    callback: Callback | None = None,
) -> Certified[Ranked]:
    """Minimise over the parameters of a model that is linear in them.

    Parameters
    ----------
    problem : the comparisons and the ridge
    model : gives each pair a number linear in its parameters
    max_iter : most L-BFGS iterations of one round
    tol : stop at a gap of this share of the objective
    callback : called with the number of iterations so far and the objective
    """
    graph, params, a = problem.graph, np.zeros(model.size), np.zeros(len(problem.graph))
    proof = Certificate(Ranked(a, params), tol, callback, lower=0.0)
    width, precision = _FIRST_WIDTH, _FIRST_PRECISION
    least_width = _LEAST_HARD_WIDTH if problem.hard else _LEAST_WIDTH
    for _ in range(_ROUNDS):
        hinges = Hinges.around(graph, a, width, problem.hard)
        this = Problem(model, hinges, Ridge(problem.rate))
        found = lbfgs(this, params, max_iter=max_iter, tol=precision, memory=_MEMORY)
        proof.count(found.n_iter)
        params, a = found.params, hinges.best(model.sqdist(found.params, graph.pairs, this.backend))
        from_multipliers = problem.params(model, a)
        for candidate in (params, from_multipliers):
            margins = hinges.margins(model.sqdist(candidate, graph.pairs, this.backend))
            value, growth = problem.value(margins, float(candidate @ candidate))
            proof.offer(Ranked(a, growth * candidate), value)
        square = (2.0 * problem.rate) ** 2 * float(from_multipliers @ from_multipliers)
        if proof.proven(problem.bound(float(a.sum()), square)):
            break
        if problem.given_up(proof.best):
            proof.count(0, "infeasible")
            break
        if proof.slow(0.5):
            width, precision = max(0.5 * width, least_width), max(0.1 * precision, _LAST_PRECISION)
    return proof.best


def ranked_dual(
    problem: RankingProblem,
    gram: Floats,
    *,
    max_iter: int = 1000,
    tol: float = 1e-3,
    callback: Callback | None = None,
) -> Certified[Ranked]:
    """Maximise over the multipliers, a coordinate at a time.

    Parameters
    ----------
    problem : the comparisons, over distinct pairs, and the ridge
    gram : (P, P) kernel over those pairs
    max_iter : most sweeps, in tens
    tol : stop at a gap of this share of the objective
    callback : called with the number of sweeps so far and the objective
    """
    from similitude.engine import compiled

    graph, scale, rng = problem.graph, 0.5 / problem.rate, np.random.default_rng(0)
    a, values, caps = np.zeros(len(graph)), np.zeros(len(gram)), problem.caps
    proof = Certificate(Ranked(a, np.zeros(0)), tol, callback, lower=0.0)
    for sweep in range(1, _SWEEPS * max_iter + 1):
        order = rng.permutation(len(graph))
        compiled.coordinate_sweep(gram, graph.near, graph.far, caps, scale, order, a, values)
        if sweep % _SWEEPS:
            continue
        pull = pulled(graph, a)
        values = scale * (gram @ pull)  # afresh: rounding adds up
        square = float(pull @ values) / scale
        value, growth = problem.value(values[graph.far] - values[graph.near], scale**2 * square)
        proof.count(_SWEEPS)
        proof.offer(Ranked(growth * a, np.zeros(0)), value)
        if proof.proven(problem.bound(float(a.sum()), square)):
            break
        if problem.given_up(proof.best):
            proof.count(0, "infeasible")
            break
    return proof.best

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

from dataclasses import dataclass, replace

import numpy as np

from similitude.engine.models import Model
from similitude.engine.penalties import Ridge
from similitude.engine.solvers.lbfgs import lbfgs
from similitude.engine.solvers.multipliers import Round
from similitude.engine.solvers.result import Callback
from similitude.engine.terms import ComparisonLoss, Formula, hinge, squared
from similitude.feedback.columns import Floats
from similitude.graph.build import SimilarityGraph

_ROUNDS = 200
_FIRST_WIDTH, _LEAST_WIDTH, _LEAST_HARD_WIDTH = 0.3, 1e-4, 1e-9
_FIRST_PRECISION, _LAST_PRECISION = 1e-6, 1e-15
_MEMORY = 20
_SWEEPS = 10  # between two looks at the gap
_LOSS = ComparisonLoss(Formula(squared), Formula(hinge, 1e-9))
_LONGEST = 1e7  # of parameters that meet a hard margin, in units of the inverse of a comparison's typical |z|


@dataclass(frozen=True)
class Ranked:
    """Where a solver ended: the optimum lies between `value - gap` and `value`.

    Attributes
    ----------
    multipliers : (m,) a of each comparison
    params : of `ranked_primal`: the parameters
    value, gap : the objective, infinite where a hard margin was not met, and its distance from the proven bound
    least_norm : of a hard margin: a proven least length of parameters that meet it
    status : "converged", "max_iter", or "infeasible": a hard margin that nothing shorter than `least_norm` meets
    """

    multipliers: Floats
    params: Floats
    value: float = np.inf
    gap: float = np.inf
    least_norm: float = 0.0
    status: str = "max_iter"
    n_iter: int = 0


@dataclass(frozen=True)
class RankingProblem:
    """What both solvers share.

    Attributes
    ----------
    graph : the comparisons
    rate : of the ridge
    hard : whether every margin must be at least 1
    size : the typical length of a z_t: says what is long in `Ranked.least_norm`
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

    def pull(self, multipliers: Floats) -> Floats:
        """(P,) the incidence matrix of the graph times multipliers: what each pair's value is pulled up by."""
        far = np.bincount(self.graph.far, multipliers, len(self.graph.pairs))
        return (far - np.bincount(self.graph.near, multipliers, len(self.graph.pairs))).astype(float)

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

    def judged(self, best: Ranked, lower: float, tol: float) -> Ranked:
        """Return the best so far with its gap to a lower bound, and with what that says."""
        best = replace(best, gap=max(best.value - lower, 0.0), least_norm=float(np.sqrt(lower / self.rate)))
        if np.isfinite(best.value) and best.gap <= tol * abs(best.value):
            return replace(best, status="converged")
        unmet = self.hard and not np.isfinite(best.value)
        return replace(best, status="infeasible") if unmet and best.least_norm * self.size > _LONGEST else best


def ranked_primal(
    problem: RankingProblem,
    model: Model,
    *,
    max_iter: int = 1000,
    tol: float = 1e-3,
    callback: Callback | None = None,
) -> Ranked:
    """Minimise over the parameters of a model that is linear in them.

    Parameters
    ----------
    problem : the comparisons and the ridge
    model : gives each pair a number linear in its parameters
    max_iter : most L-BFGS iterations of one round
    tol : stop at a gap of this share of the objective
    callback : called with the number of iterations so far and the objective
    """
    params, a = np.zeros(model.size), np.zeros(len(problem.graph))
    best, lower = Ranked(a, params), 0.0
    width, precision = _FIRST_WIDTH, _FIRST_PRECISION
    least_width = _LEAST_HARD_WIDTH if problem.hard else _LEAST_WIDTH
    for _ in range(_ROUNDS):
        this = Round(
            model,
            problem.graph,
            _LOSS,
            Ridge(problem.rate),
            multipliers=a,
            caps=problem.caps,
            stiffness=problem.share / width,
        )
        found = lbfgs(this, params, max_iter=max_iter, tol=precision, memory=_MEMORY)
        params, a = found.params, this.best_multipliers(found.params)
        pulled = model.pullback(params, problem.graph.pairs, this.slopes(a), this.backend)
        lower, before = max(lower, problem.bound(float(a.sum()), float(pulled @ pulled))), best.gap
        best = replace(best, n_iter=best.n_iter + found.n_iter)
        for candidate in (params, -pulled / (2.0 * problem.rate)):
            value, growth = problem.value(this.margins(candidate), float(candidate @ candidate))
            if value < best.value:
                best = replace(best, multipliers=a, params=growth * candidate, value=value)
        best = problem.judged(best, lower, tol)
        if callback is not None:
            callback(best.n_iter, best.value)
        if best.status != "max_iter":
            return best
        if best.gap > 0.5 * before or not np.isfinite(best.gap):
            width, precision = max(0.5 * width, least_width), max(0.1 * precision, _LAST_PRECISION)
    return best


def ranked_dual(
    problem: RankingProblem,
    gram: Floats,
    *,
    max_iter: int = 1000,
    tol: float = 1e-3,
    callback: Callback | None = None,
) -> Ranked:
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
    best, lower = Ranked(a, np.zeros(0)), 0.0
    for sweep in range(1, _SWEEPS * max_iter + 1):
        order = rng.permutation(len(graph))
        compiled.coordinate_sweep(gram, graph.near, graph.far, caps, scale, order, a, values)
        if sweep % _SWEEPS:
            continue
        pulled = problem.pull(a)
        values = scale * (gram @ pulled)  # afresh: rounding adds up
        square = float(pulled @ values) / scale
        lower = max(lower, problem.bound(float(a.sum()), square))
        value, growth = problem.value(values[graph.far] - values[graph.near], scale**2 * square)
        if value < best.value:
            best = replace(best, multipliers=growth * a, value=value)
        best = problem.judged(replace(best, n_iter=sweep), lower, tol)
        if callback is not None:
            callback(sweep, best.value)
        if best.status != "max_iter":
            return best
    return best

"""Convex problems as the solvers with a proof hold them: the exact value, and a bound of the optimum by duality.

    min over W_p ⪰ 0, u >= 0 and p of   mean loss + sum_p rate_p · trace(W_p) + prices · u + rate · |p|²

with a hinge or logistic loss of squared distances: a `Problem` over a `Matrix` with `Trace`, weights with
`NonNegative`, a linear model with a `Ridge`, or a `SumOfModels` of these with `Blocks` (`solvers.blocks`).

Let a_t >= 0 be multipliers: -w_t/W · shape'(margin_t) at a point, or any that a solver has. A share s of them is
*feasible* when every block allows it, and then proves a lower bound of the optimum (weak duality):

    sum of s a (hinge), or of w_t/W · the binary entropy of s a_t W/w_t (logistic), less s² · rate · |p(a)|²

For a hard margin, which costs nothing but the penalty and must be 1 at least, s has no end but that of the blocks. A
point becomes feasible there by growing until its least margin is 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from similitude.engine.comparison_terms import Compared, Hinges, compared, pulled
from similitude.engine.models import SumOfModels
from similitude.engine.penalties import Blocks
from similitude.engine.problem import Problem
from similitude.engine.solvers.blocks import stretch_of
from similitude.engine.terms import hinge, logistic, squared
from similitude.types import Floats

_SHARP = 1e-9
_LENGTHS = (1e-3, 1e-2, 1e-1, 0.5)  # of new columns beside those that are there
_NONE: Floats = np.zeros(0)


@dataclass(frozen=True)
class Point:
    """The numbers of each block: factors N_p (q × r) with W_p = N_p N_p', and vectors."""

    blocks: tuple[Floats, ...]

    @property
    def factors(self) -> tuple[Floats, ...]:
        """The factors."""
        return tuple(own for own in self.blocks if own.ndim == 2)

    @property
    def weights(self) -> Floats:
        """The numbers that are no factors, one after the other."""
        return np.concatenate([_NONE, *(own for own in self.blocks if own.ndim == 1)])

    @property
    def params(self) -> Floats:
        """All numbers, one after the other."""
        return np.concatenate([own.ravel() for own in self.blocks])

    def at(self, params: Floats) -> Point:
        """Return a point of the same shape with other numbers."""
        flat = np.split(params, np.cumsum([own.size for own in self.blocks])[:-1])
        return Point(tuple(new.reshape(own.shape) for new, own in zip(flat, self.blocks, strict=True)))


@dataclass(frozen=True)
class Bound:
    """A lower bound of the optimum, per block the directions by which it improves, and the point of the multipliers."""

    lower: float
    directions: list[Floats | None]
    point: Point | None

    @property
    def improves(self) -> bool:
        """Whether there is a direction that improves."""
        return any(new is not None for new in self.directions)


class Convex:
    """A convex problem: one term of comparisons in memory, and blocks whose dual is known.

    Parameters
    ----------
    problem : what to minimise; the width over which a hinge is rounded in it does not matter
    hard : whether every margin must be at least 1, instead of paying for what it lacks
    """

    def __init__(self, problem: Problem, hard: bool = False) -> None:
        self.term, self.hard = compared(problem, "a proof"), hard
        self.graph, self.loss = self.term.graph, self.term.loss
        if self.loss.scale.expression is not squared or self.loss.shape.expression not in (hinge, logistic):
            raise TypeError(
                "a bound is known for hinge and logistic on squared distances, found "
                f"{self.loss.scale.name} and {self.loss.shape.name}; fit such a loss by Embedding"
            )
        model, penalty = problem.model, problem.penalty
        stretches = [(model, penalty)]
        if isinstance(model, SumOfModels) and isinstance(penalty, Blocks):
            stretches = list(zip(model.parts, penalty.penalties, strict=True))
        self.blocks = [stretch_of(*stretch) for stretch in stretches]

    def zero(self) -> Point:
        """Return the point at which all distances are 0."""
        return Point(tuple(block.zero() for block in self.blocks))

    def over(self, point: Point, term: Compared | Hinges | None = None) -> Problem:
        """Return the smooth problem over numbers of a point's shape; a term may stand in for the comparisons' loss."""
        term = self._exact if term is None else term
        held = [block.held(own) for block, own in zip(self.blocks, point.blocks, strict=True)]
        if len(held) == 1:
            return Problem(held[0][0], term, held[0][1])
        penalties = [(penalty, own.size) for (_, penalty), own in zip(held, point.blocks, strict=True)]
        return Problem(SumOfModels([model for model, _ in held]), term, Blocks(penalties))

    @cached_property
    def _exact(self) -> Compared:
        """The comparisons, a hinge without its rounding."""
        return Compared(self.graph, self.loss.smoothed(_SHARP))

    def sqdist(self, point: Point) -> Floats:
        """Return the squared distance of each pair of the graph."""
        this = self.over(point)
        return this.model.sqdist(point.params, self.graph.pairs, this.backend)

    def mean_loss(self, d2: Floats) -> float:
        """Return the exact mean loss; a hard margin has none."""
        return 0.0 if self.hard else self._exact.evaluate(d2, _NONE)[0] / self.term.total

    def growth(self, d2: Floats) -> float:
        """Return by what distances must be multiplied to meet a hard margin: infinite where they never will."""
        least = float((d2[self.graph.far] - d2[self.graph.near]).min()) if self.hard else 1.0
        return 1.0 / least if least > 0 else np.inf

    def valued(self, point: Point, d2: Floats) -> tuple[Point, float]:
        """Return a point, grown where a margin is hard, and its objective."""
        growth = self.growth(d2)
        if not np.isfinite(growth):
            return point, np.inf
        if self.hard:
            held = zip(self.blocks, point.blocks, strict=True)
            point = Point(tuple(block.times(own, growth) for block, own in held))
        return point, self.mean_loss(d2) + self.over(point).penalty.value(point.params)

    def bound(self, point: Point, term: Compared | Hinges, multipliers: Floats, doubt: float = 0.0) -> Bound:
        """Return what multipliers prove, and where to go from a point; `doubt` as for `Stretch.asked`."""
        w = -pulled(self.graph, multipliers)
        held = zip(self.blocks, point.blocks, strict=True)
        asked = [block.asked(own, self.graph.pairs, w, doubt) for block, own in held]
        share = min([np.inf if self.hard else 1.0, *(one.share for one in asked)])
        cost = sum(one.cost for one in asked)
        best = [one.best for one in asked if one.best is not None]
        there = Point(tuple(best)) if len(best) == len(asked) else None
        return Bound(lower_bound(term, multipliers, share, cost), [one.directions for one in asked], there)

    def widened(self, point: Point, directions: list[Floats | None], term: Compared | Hinges) -> Point:
        """Return the point with improving directions appended to the factors, at the best of a few lengths."""
        held = list(zip(self.blocks, point.blocks, directions, strict=True))
        longer = [Point(tuple(block.widened(own, new, length) for block, own, new in held)) for length in _LENGTHS]
        return min(longer, key=lambda one: self.over(one, term).value(one.params))


def lower_bound(term: Compared | Hinges, multipliers: Floats, share: float, cost: float) -> float:
    """The best bound from up to a share of multipliers, of which the whole costs `cost` in ridges.

    A hinge's is share · total - share² · cost. Without any cost or end, multipliers prove that nothing is feasible.
    """
    total = float(multipliers.sum())
    if cost:
        share = min(share, 0.5 * total / cost)
    if not np.isfinite(share):
        return np.inf if total > 0 else 0.0
    return term.proves(share * multipliers) - share**2 * cost

"""Raters who weigh the dimensions differently, on top of a fit without: INDSCAL (Carroll & Chang 1970) from choices.

    d_r²(i, j) = sum_k w_rk (x_ik - x_jk)²,   s_r(i, j) = sum_k w_rk x_ik x_jk

A weight is e^v over its mean of all answers, v normal with a spread of its own: never negative, 1 on average, and the
same for all of whom few answers are known. Held-out answers say which spread, and whether weights are sure to help at
all; where they are not, all stay 1. So nobody is harmed by asking for weights but by the time they take.

Where raters differ, the weights fix the dimensions up to order and sign, whereas a map without weights may be turned.
Fits that begin at its principal axes find nearly the same as fits that begin at others, even at 45 degrees to the true
ones, where raters who see one dimension each seem to weigh both alike (simulated; turning the map first by joint
diagonalisation of what raters pull at brought nothing). Of 32 simulated sets a start ended a little worse than others
in eight: so the last fit has two, and the better is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from similitude.engine.choice_terms import Picked, set_losses, values_of
from similitude.engine.group_models import RaterWeights
from similitude.engine.measures import Measure
from similitude.engine.models import DotProducts, Positions
from similitude.engine.penalties import Blocks, Penalty
from similitude.engine.problem import Problem
from similitude.engine.solvers.result import Result
from similitude.engine.sources import normal_prior
from similitude.feedback.forms.alternatives import Alternatives
from similitude.methods.answering import Weighed
from similitude.types import Array, Floats

SPREADS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)  # of the logarithms of weights, as tried one after the other
_SURE = 2.0  # standard errors of the mean gain of held-out answers

Solve = Callable[[Problem, Floats], Result]


def as_raters_see(choices: Sequence[Alternatives], rater: Array, n_raters: int, n_items: int) -> list[Alternatives]:
    """Return choices among items of `RaterWeights`: item i as rater r sees it is item r · n + i."""
    if (n_raters + 1) * n_items > np.iinfo(np.int32).max:
        raise ValueError(f"raters: {n_raters:,} of them are too many to weigh the dimensions of {n_items:,} items each")
    place = np.where(rater < 0, n_raters, rater).astype(np.int32) * np.int32(n_items)
    return [replace(one, pairs=one.pairs + place[one.row][:, None, None, None]) for one in choices]


@dataclass(frozen=True, eq=False)
class WithoutWeights:
    """A fit of raters who weigh all dimensions alike, from which weights begin.

    Attributes
    ----------
    model : the map
    penalty : of the map's parameters
    term : what was said, among items `as_raters_see` them
    params : of the map, and then of the term
    """

    model: Positions | DotProducts
    penalty: Penalty
    term: Picked
    params: Floats

    @property
    def weighing(self) -> RaterWeights:
        """The map with weights of raters."""
        return RaterWeights(self.model, self.term.sources.share)

    def begin(self, turn: Floats | None = None) -> Floats:
        """Return parameters with weights of 1, and the map, turned where a rotation is given."""
        size, weighing = self.model.size, self.weighing
        rows = self.params[:size].reshape(weighing.vectors.shape)
        turned = rows if turn is None else rows @ turn
        return np.concatenate([turned.ravel(), np.zeros(weighing.size - size), self.params[size:]])

    def best(self, spread: float, solve: Solve, rng: np.random.Generator) -> Result:
        """Return the better of two fits: from the axes as they are, and from others."""
        dimensions = self.weighing.shape[1]
        turns = (None, np.linalg.qr(rng.normal(size=(dimensions, dimensions)))[0])
        return min((self.weighed(self.begin(turn), spread, solve) for turn in turns), key=lambda found: found.value)

    def weighed(self, start: Floats, spread: float, solve: Solve) -> Result:
        """Fit map, weights and what else is the term's at once."""
        weighing = self.weighing
        weights = normal_prior(spread, self.term.total)
        blocks = Blocks([(self.penalty, self.model.size), (weights, weighing.size - self.model.size)])
        return solve(Problem(weighing, self.term, blocks), start)

    def known(self, params: Floats) -> tuple[Floats, Weighed]:
        """Return the vectors, and who answers how, raters without names."""
        weighing, sources = self.weighing, self.term.sources
        own = params[weighing.size :]
        known = Weighed(
            (), sources.sharpness(own), sources.lapses(own), weights=weighing.weights(params[: weighing.size])
        )
        return weighing.vectors.positions(params[: self.model.size]), known


@dataclass(frozen=True, eq=False)
class HeldOutPart:
    """A fit without weights to some of the answers, and the others.

    Attributes
    ----------
    begun : the fit
    held_out : other choices, among the items themselves
    rater : (a,) who gave each answer, nobody known being the last
    measure : how unlike items are, by vectors
    """

    begun: WithoutWeights
    held_out: Sequence[Alternatives]
    rater: Array
    measure: Callable[[Floats], Measure]

    def lost(self, params: Floats) -> Floats:
        """(q,) the weighted loss of each held-out choice, to raters who do not lapse."""
        X, known = self.begun.known(params)
        measure, lost = self.measure(X), []
        for one in self.held_out:
            who = self.rater[one.row]
            unlike = known.seen(measure, one.pairs.reshape(-1, 2), np.repeat(who, one.pairs[0, ..., 0].size))
            value = known.sharpness[who, None] * values_of(one, self.begun.term.scale(unlike)[0])
            lost.append(one.weights * set_losses(value, one.picked)[0])
        return np.concatenate(lost)


def spread_asked_for(parts: Sequence[HeldOutPart], solve: Solve) -> float | None:
    """The spread of the raters' weights at which held-out answers are likeliest; None where weights do not surely help.

    Spreads are tried from the least on, until two in a row are no better, or the first three, which may be too small to
    turn the axes: raters who plainly differ gained nothing at the second, and five standard errors at the third.
    """
    if not parts:
        return None
    at = [part.begun.begin() for part in parts]
    lost = [np.concatenate([part.lost(start) for part, start in zip(parts, at, strict=True)])]
    for tried, spread in enumerate(SPREADS, 1):
        at = [part.begun.weighed(start, spread, solve).params for part, start in zip(parts, at, strict=True)]
        lost.append(np.concatenate([part.lost(params) for part, params in zip(parts, at, strict=True)]))
        least = int(np.argmin([one.sum() for one in lost]))
        if tried > (least + 1 if least else 2):
            break
    gain = lost[0] - lost[least]
    return SPREADS[least - 1] if gain.sum() > _SURE * np.sqrt(len(gain)) * gain.std() else None

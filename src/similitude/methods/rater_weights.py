"""Raters who weigh the dimensions differently, on top of a fit without: INDSCAL (Carroll & Chang 1970) from choices.

    d_r²(i, j) = sum_k w_rk (x_ik - x_jk)²,   s_r(i, j) = sum_k w_rk x_ik x_jk

A weight is e^v over its mean of all answers, v normal with a spread of its own: never negative, 1 on average, and the
same for all of whom few answers are known. Held-out answers say which spread, and whether weights are sure to help at
all; where they are not, all stay 1. So nobody is harmed by asking for weights but by the time they take.

Where raters differ, the weights fix the dimensions up to order and sign, whereas a map without weights may be turned.
From its principal axes a fit may end at a far worse optimum than from others: at 45 degrees to the true axes raters who
see one dimension each seem to weigh both alike (of four simulated sets of such raters one, with a log-loss of .60
instead of .45). So a fit goes on from those axes of nine from which it has come farthest after twenty steps.
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

SPREADS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)  # of the logarithms of weights
_TURNS, _FIRST_STEPS = 8, 20  # of the axes, beside those that the map has; iterations that tell which are likely
_USUAL = SPREADS[3]
_SURE = 3.0  # standard errors of the mean gain of held-out answers: that of the best of several spreads

Solve = Callable[[Problem, Floats, int | None], Result]


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

    def on_likely_axes(self, spread: float, solve: Solve, rng: np.random.Generator) -> Floats:
        """Return where a fit has come after a few steps, from those axes of several from which it has come farthest."""
        dimensions = self.weighing.shape[1]
        others = (np.linalg.qr(rng.normal(size=(dimensions, dimensions)))[0] for _ in range(_TURNS))
        begun = (self.weighed(self.begin(turn), spread, solve, _FIRST_STEPS) for turn in (None, *others))
        return min(begun, key=lambda found: found.value).params

    def weighed(self, start: Floats, spread: float, solve: Solve, steps: int | None = None) -> Result:
        """Fit map, weights and what else is the term's at once, in so many steps at most where a number is given."""
        weighing = self.weighing
        weights = normal_prior(spread, self.term.total)
        blocks = Blocks([(self.penalty, self.model.size), (weights, weighing.size - self.model.size)])
        return solve(Problem(weighing, self.term, blocks), start, steps)

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
    rival : the fit without weights that they must do better than, which may have fewer dimensions
    """

    begun: WithoutWeights
    held_out: Sequence[Alternatives]
    rater: Array
    measure: Callable[[Floats], Measure]
    rival: WithoutWeights

    def lost(self, params: Floats) -> Floats:
        """(q,) the weighted loss of each held-out choice, to raters who do not lapse."""
        X, known = self.begun.known(params)
        measure, lost = self.measure(X), []
        for one in self.held_out:
            who = self.rater[one.row]
            unlike = known.seen(measure, one.pairs.reshape(-1, 2), np.repeat(who, one.n_pairs))
            value = known.sharpness[who, None] * values_of(one, self.begun.term.scale(unlike)[0])
            lost.append(one.weights * set_losses(value, one.picked)[0])
        return np.concatenate(lost)

    def lost_alike(self) -> tuple[Floats, Floats]:
        """(q,) the same to raters who weigh all dimensions alike: by the rival, and by the fit where weights begin."""
        return replace(self, begun=self.rival).lost(self.rival.begin()), self.lost(self.begun.begin())


def spread_asked_for(parts: Sequence[HeldOutPart], solve: Solve, rng: np.random.Generator) -> float | None:
    """The spread of the raters' weights at which held-out answers are likeliest; None where weights do not surely help.

    More dimensions may help where weights do not: weights must do better than either. The usual spread is tried first,
    where weights are free enough to turn the axes, then others either way until it gets worse.
    """
    if not parts:
        return None
    tried: dict[float, Floats] = {}

    def walk(spreads: Sequence[float], at: Sequence[Floats]) -> Sequence[Floats]:
        least = np.inf
        for spread in spreads:
            at = [part.begun.weighed(start, spread, solve).params for part, start in zip(parts, at, strict=True)]
            tried[spread] = np.concatenate([part.lost(params) for part, params in zip(parts, at, strict=True)])
            if tried[spread].sum() > least:
                break
            least = tried[spread].sum()
        return at

    middle = walk([_USUAL], [part.begun.on_likely_axes(_USUAL, solve, rng) for part in parts])
    walk([spread for spread in SPREADS if spread > _USUAL], middle)
    walk([spread for spread in reversed(SPREADS) if spread < _USUAL], middle)
    best = min(tried, key=lambda spread: tried[spread].sum())
    alike = [np.concatenate(lost) for lost in zip(*(part.lost_alike() for part in parts), strict=True)]
    gain = min(alike, key=np.sum) - tried[best]
    return best if gain.sum() > _SURE * np.sqrt(len(gain)) * gain.std() else None

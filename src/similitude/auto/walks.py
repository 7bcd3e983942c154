"""Walks: the fits of one line on one fold, each from where the one before it ended.

A walk needs nothing of other lines, so it is what a worker does. It is handed what is left of the time when it begins,
and looks at it between fits.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from similitude.auto.candidates import STRONGER, WEAKER, Line
from similitude.auto.levels import AskedPairs, by_products, levels, unit, weighing
from similitude.evaluate.intervals import clustered_mean
from similitude.feedback.comparisons import Comparisons
from similitude.methods.answering import raters_of
from similitude.types import Array, Floats

ONE_ERROR = 0.6827  # the level of an interval that is one standard error either way
_KEPT_FOR_REFITS = 12.0  # mean fits' time that is not spent on the race


@dataclass
class TimeLeft:
    """What is left of the time limit. A copy, also one that was sent to another machine, goes on from where it was.

    Attributes
    ----------
    limit : seconds in all
    workers : how many fits run at once
    fits, fitting : number of fits so far, and the seconds that they took together
    """

    limit: float
    workers: int = 1
    fits: int = 0
    fitting: float = 0.0
    _before: float = 0.0
    _began: float = field(default_factory=time.monotonic)

    def spent(self) -> float:
        """Seconds since the beginning."""
        return self._before + time.monotonic() - self._began

    def count(self, seconds: float) -> None:
        """Note a fit."""
        self.fits += 1
        self.fitting += seconds

    def over(self) -> bool:
        """Whether there is no time for another fit and the final ones."""
        reserve = min(_KEPT_FOR_REFITS / self.workers * self.fitting / max(self.fits, 1), 0.5 * self.limit)
        return self.spent() + reserve >= self.limit

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_before": self.spent()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _began=time.monotonic())


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one fit predicted about held-out comparisons.

    Attributes
    ----------
    strength, penalty : where on its line, and the penalty there
    penalties : of all that the strength multiplies
    near, far : how unlike the held-out pairs are, in units of the fit (`levels`)
    level : the same of every pair that speaks for an alternative of a held-out answer
    products : whether the fit compares items by products of vectors
    weighed : whether its raters weigh the dimensions differently
    chance : probabilities of the held-out comparisons, or None
    seconds : of the fit
    """

    strength: float
    penalty: float
    penalties: dict[str, float]
    near: Floats
    far: Floats
    level: Floats
    products: bool
    weighed: bool
    chance: Floats | None
    seconds: float


@dataclass(frozen=True, eq=False)
class Walker:
    """Fits a line on one fold.

    Attributes
    ----------
    line, training, held_out, features : what is fitted to what, and what it must predict
    spoken : the pairs that speak for the alternatives of held-out answers
    clock : what is left of the time
    """

    line: Line
    training: Comparisons
    held_out: Comparisons
    spoken: AskedPairs
    features: Any
    clock: TimeLeft

    def outwards(self) -> Iterator[Outcome | None]:
        """Fit at strength 1, then each way until it gets worse."""
        auto, first = self.fit(1.0, {}, None)
        yield auto
        for way in (STRONGER, WEAKER) if self.line.penalties() else ():
            last, leader = first, auto
            for strength in way:
                if self.clock.over():
                    yield None
                    return
                outcome, last = self.fit(strength, auto.penalties, last)
                yield outcome
                mean, error = self._difference(outcome, leader)
                if mean < -error:  # likely worse, and farther out it gets worse
                    break
                leader = outcome if mean >= 0 else leader

    def along(self, strengths: Sequence[float], usual: Mapping[str, float]) -> Iterator[Outcome | None]:
        """Fit at some strengths, in order."""
        last = None
        for strength in strengths:
            if last is not None and self.clock.over():
                yield None
                return
            outcome, last = self.fit(strength, usual, last)
            yield outcome

    def fit(self, strength: float, usual: Mapping[str, float], start: Any) -> tuple[Outcome, Any]:
        """Fit at a strength, from where another fit ended; return what it predicts, and the fit."""
        before = time.perf_counter()
        model = self.line.fit(strength, usual, start, self.training, self.features)
        names, rater = raters_of(self.held_out)
        asked = (AskedPairs(pairs, rater, names) for pairs in (self.held_out.near, self.held_out.far))
        near, far, level = (levels(model, pairs) for pairs in (*asked, self.spoken))
        size = unit(model)
        chance = model.similarity_.loss.probability(size * near, size * far) if model.has_probability else None
        penalty, penalties = float(getattr(model, "penalty_", np.nan)), self.line.usual_penalties(model)
        kind = (by_products(model), weighing(model) is not None)
        seconds = time.perf_counter() - before
        self.clock.count(seconds)
        return Outcome(strength, penalty, penalties, near, far, level, *kind, chance, seconds), model

    def _difference(self, one: Outcome, other: Outcome) -> tuple[float, float]:
        gap = right(one.near, one.far) - right(other.near, other.far)
        return paired(gap, self.held_out.weight, self.held_out.answer)


def walk(
    training: Comparisons,
    held_out: Comparisons,
    spoken: AskedPairs,
    features: Any,
    clock: TimeLeft,
    line: Line,
    strengths: Sequence[float] | None,
    usual: Mapping[str, float],
) -> Iterator[Outcome | None]:
    """Give what the fits of a line predict, one after the other, and None where there is no time for the rest.

    `strengths` are those to fit; None is all of them, outwards from 1. `usual` are the penalties at strength 1.
    """
    walker = Walker(line, training, held_out, spoken, features, clock)
    return walker.outwards() if strengths is None else walker.along(strengths, usual)


def whole_walk(*arguments: Any) -> list[Outcome | None]:
    """Return a walk when it is over, for workers: what is on its way does not travel."""
    return list(walk(*arguments))


def right(near: Floats, far: Floats) -> Floats:
    """1 where the order is right, 0 where wrong, a half for a tie."""
    return 0.5 * (1.0 + np.sign(far - near))


def paired(gap: Floats, weight: Floats, answer: Array) -> tuple[float, float]:
    """Mean paired difference, and its standard error over answers."""
    if not gap.any():
        return 0.0, 0.0
    mean, low, _ = clustered_mean(gap, weight, answer, ONE_ERROR)
    return mean, mean - low

"""The race: every line on the first fold, those not hopeless on the next, and so on.

Two settings are compared on the same held-out answers. One is hopeless when its paired difference from the leader
lies three standard errors below zero. Of the others, the best few penalties of each line go on, fewer after each fold
(successive halving): within lines and not across them, since what is left is averaged, and an average gains from fits
that differ.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from similitude.auto.candidates import STRONGER, WEAKER, Line
from similitude.evaluate.intervals import clustered_mean
from similitude.feedback.columns import Array, Floats
from similitude.feedback.comparisons import Comparisons

Progress = Callable[[int, int], None]

_GO_ON = (2, 1)  # how many penalties of a line go on after the first, and any later fold
_SURE = 3.0  # standard errors by which a setting is hopeless: even the hindmost of dozens seldom is by chance
_ONE_ERROR = 0.6827  # the level of an interval that is one standard error either way
_KEPT_FOR_REFITS = 12.0  # mean fits' time that is not spent on the race


@dataclass(eq=False)
class Trial:
    """One setting: a line at a strength, and what it predicted on the folds that it ran.

    Attributes
    ----------
    line, strength : the setting
    penalty : its penalty
    near, far : per fold, the squared distances of the held-out pairs, in units of their mean over all items
    chance : per fold, the probabilities of the held-out comparisons, or None
    seconds : of its fits, together
    dropped : why it did not go on; empty while it is in the race
    """

    line: Line
    strength: float
    penalty: float = np.nan
    near: dict[int, Floats] = field(default_factory=dict)
    far: dict[int, Floats] = field(default_factory=dict)
    chance: dict[int, Floats | None] = field(default_factory=dict)
    seconds: float = 0.0
    dropped: str = ""

    def right(self, folds: Sequence[int]) -> Floats:
        """For each held-out comparison of some folds 1 where the order is right, 0 where wrong, a half for a tie."""
        return np.concatenate([0.5 * (1.0 + np.sign(self.far[k] - self.near[k])) for k in folds])


class Clock:
    """What is left of the time limit."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.began = time.monotonic()
        self.fits = 0
        self.fitting = 0.0

    def spent(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self.began

    def over(self) -> bool:
        """Whether there is no time for another fit and the final ones; the first fit always has time."""
        if not self.fits:
            return False
        reserve = min(_KEPT_FOR_REFITS * self.fitting / self.fits, 0.5 * self.limit)
        return self.spent() + reserve >= self.limit


class Race:
    """Runs settings on folds until all folds are done or time is over.

    Attributes
    ----------
    trials : every setting that was fitted
    folds : the folds that all settings still in the race have run
    ended : "finished", "time limit" or "interrupted"
    """

    def __init__(
        self,
        lines: Sequence[Line],
        c: Comparisons,
        folds: Sequence[tuple[Array, Array]],
        features: Any,
        clock: Clock,
        callback: Progress | None,
    ) -> None:
        self.c, self.features, self.clock, self.callback = c, features, clock, callback
        self.tests = [test for _, test in folds]
        self._training = [c[train] for train, _ in folds]
        self._held_out = [c[test] for test in self.tests]
        self.lines = list(lines)
        self.trials: list[Trial] = []
        self.folds: list[int] = []
        self._usual: dict[Line, dict[str, float]] = {}  # penalties at strength 1, of the first fold; folds are alike
        self.ended = "finished"

    def run(self) -> None:
        """Run fold after fold; an interrupt ends the race, and what was found until then stands."""
        try:
            for k in range(len(self.tests)):
                if not (self._first_fold() if k == 0 else self._next_fold(k)):
                    self.ended = "time limit"
                    return
                self.folds.append(k)
                self._drop(k)
        except KeyboardInterrupt:
            self.ended = "interrupted"

    def standing(self) -> list[Trial]:
        """Return the settings still in the race that ran all folds that count, best first."""
        folds = self.folds or [0]
        ran = [trial for trial in self.trials if not trial.dropped and all(k in trial.near for k in folds)]
        return sorted(ran, key=lambda trial: -self.smoothed(trial))

    def rows(self) -> Array:
        """Rows of the comparisons held out in the folds that count, in the order of `Trial.right`."""
        return np.concatenate([self.tests[k] for k in self.folds or [0]])

    def accuracy(self, trial: Trial) -> tuple[float, float]:
        """Weighted share of held-out comparisons ordered rightly, and its standard error over answers."""
        folds = sorted(trial.near)
        rows = np.concatenate([self.tests[k] for k in folds])
        mean, low, _ = clustered_mean(trial.right(folds), self.c.weight[rows], self.c.answer[rows], _ONE_ERROR)
        return mean, mean - low

    def smoothed(self, trial: Trial) -> float:
        """Accuracy averaged with that of neighbouring penalties: the best of many is partly lucky, a hill is not."""
        folds = self.folds or [0]
        place = _ORDER.index(trial.strength)
        beside = {_ORDER[k] for k in (place - 1, place + 1) if 0 <= k < len(_ORDER)}
        near = [
            t for t in self.trials if t.line is trial.line and t.strength in beside and all(k in t.near for k in folds)
        ]
        values = [(self._share(trial, folds), 2.0), *((self._share(other, folds), 1.0) for other in near)]
        return float(np.average([value for value, _ in values], weights=[weight for _, weight in values]))

    def _share(self, trial: Trial, folds: Sequence[int]) -> float:
        weight = self.c.weight[np.concatenate([self.tests[k] for k in folds])]
        return float(np.average(trial.right(folds), weights=weight))

    def _first_fold(self) -> bool:
        """Walk every line outwards from strength 1, each way until it gets worse; whether time sufficed."""
        for line in self.lines:
            if self.clock.over():
                return False
            auto, start = self._try(Trial(line, 1.0), 0, None)
            self._usual[line] = line.usual_penalties(start)
            for way in (STRONGER, WEAKER) if line.penalties() else ():
                last, leader = start, auto
                for strength in way:
                    if self.clock.over():
                        return False
                    trial, last = self._try(Trial(line, strength), 0, last)
                    if self._below(trial, leader, 1.0):  # likely, and farther out it gets worse
                        break
                    leader = max(trial, leader, key=lambda one: self._share(one, [0]))
        return True

    def _next_fold(self, k: int) -> bool:
        """Run what is left in the race on another fold; whether time sufficed."""
        going = self.standing()
        for line in dict.fromkeys(trial.line for trial in going):
            last = None
            for trial in sorted((one for one in going if one.line is line), key=lambda one: one.strength):
                if self.clock.over():
                    return False
                last = self._try(trial, k, last)[1]
        return True

    def _try(self, trial: Trial, k: int, start: Any) -> tuple[Trial, Any]:
        """Fit a setting on a fold and keep what it predicts."""
        before = time.perf_counter()
        model = trial.line.fit(trial.strength, self._usual.get(trial.line, {}), start, self._training[k], self.features)
        held_out, X = self._held_out[k], model.embedding_
        size = max(2.0 * float(((X - X.mean(0)) ** 2).sum(1).mean()), 1e-300)
        near, far = _sqdist(X, held_out.near), _sqdist(X, held_out.far)
        trial.chance[k] = model.similarity_.loss.probability(near, far) if model.has_probability else None
        trial.near[k], trial.far[k] = near / size, far / size
        trial.penalty = float(getattr(model, "penalty_", np.nan))
        if len(trial.near) == 1:
            self.trials.append(trial)
        self._count(trial, time.perf_counter() - before)
        return trial, model

    def _count(self, trial: Trial, seconds: float) -> None:
        trial.seconds += seconds
        self.clock.fits += 1
        self.clock.fitting += seconds
        if self.callback is not None:
            later = sum(_GO_ON[min(k, len(_GO_ON) - 1)] for k in range(len(self.tests) - 1))
            self.callback(self.clock.fits, len(self.lines) * (len(_ORDER) + later))

    def _below(self, trial: Trial, leader: Trial, errors: float = _SURE) -> bool:
        """Whether a setting is less accurate than another by so many standard errors."""
        mean, error = self.difference(trial, leader)
        return mean < -errors * error

    def difference(self, trial: Trial, leader: Trial) -> tuple[float, float]:
        """Mean paired difference of the accuracy from the leader's on the folds of both, and its standard error."""
        folds = sorted(set(trial.near) & set(leader.near))
        rows = np.concatenate([self.tests[k] for k in folds])
        gap = trial.right(folds) - leader.right(folds)
        if not gap.any():
            return 0.0, 0.0
        mean, low, _ = clustered_mean(gap, self.c.weight[rows], self.c.answer[rows], _ONE_ERROR)
        return mean, mean - low

    def _drop(self, k: int) -> None:
        """Take out of the race what is hopeless, and of each line all but its best penalties."""
        after = f"after fold {k + 1}"
        going = self.standing()
        for trial in going[1:]:
            if self._below(trial, going[0]):
                less = -self.difference(trial, going[0])[0]
                trial.dropped = f"{after}: surely worse than the best, by {less:.3f}"
        if k + 1 == len(self.tests):
            return
        most = _GO_ON[min(k, len(_GO_ON) - 1)]
        for line in {trial.line for trial in going}:
            own = [trial for trial in going if trial.line is line and not trial.dropped]
            for trial in own[most:]:
                trial.dropped = f"{after}: {most} other penalties did better"


_ORDER = (*reversed(WEAKER), 1.0, *STRONGER)


def _sqdist(X: Floats, pairs: Array) -> Floats:
    return ((X[pairs[:, 0]] - X[pairs[:, 1]]) ** 2).sum(1)

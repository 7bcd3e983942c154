"""The race: every line on the first fold, those not hopeless on the next, and so on.

Two settings are compared on the same held-out answers. One is hopeless when its paired difference from the leader
lies three standard errors below zero. Of the others, the best few penalties of each line go on, fewer after each fold
(successive halving): within lines and not across them, since what is left is averaged, and an average gains from fits
that differ.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from similitude.auto.candidates import STRONGER, WEAKER, Line
from similitude.auto.levels import AskedPairs
from similitude.auto.walks import ONE_ERROR, Outcome, TimeLeft, paired, right, walk, whole_walk
from similitude.display.words import counted
from similitude.engine.jobs import over_jobs, workers
from similitude.evaluate.intervals import clustered_mean
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.whole_answers import choices_of, has_wide_choices
from similitude.methods.answering import answerers
from similitude.types import Array, Floats

Progress = Callable[[int, int], None]

_GO_ON = (2, 1)  # how many penalties of a line go on after the first, and any later fold
_SURE = 3.0  # standard errors by which a setting is hopeless: even the hindmost of dozens seldom is by chance


@dataclass(eq=False)
class Trial:
    """One setting: a line at a strength, and what it predicted on the folds that it ran.

    Attributes
    ----------
    line, strength : the setting
    penalty : its penalty
    near, far : per fold, how unlike the held-out pairs are to their raters, in units of the fit (`levels`)
    level : the same of every pair that speaks for an alternative of a held-out answer (`Race.choices`)
    products : whether it compares items by products of vectors, which is no map
    weighed : whether its raters weigh the dimensions differently
    chance : per fold, the probabilities of the held-out comparisons, or None
    seconds : of its fits, together
    dropped : why it did not go on; empty while it is in the race
    """

    line: Line
    strength: float
    penalty: float = np.nan
    near: dict[int, Floats] = field(default_factory=dict)
    far: dict[int, Floats] = field(default_factory=dict)
    level: dict[int, Floats] = field(default_factory=dict)
    products: bool = False
    weighed: bool = False
    chance: dict[int, Floats | None] = field(default_factory=dict)
    seconds: float = 0.0
    dropped: str = ""

    def right(self, folds: Sequence[int]) -> Floats:
        """For each held-out comparison of some folds 1 where the order is right, 0 where wrong, a half for a tie."""
        return np.concatenate([right(self.near[k], self.far[k]) for k in folds])


class Race:
    """Runs settings on folds until all folds are done or time is over.

    Attributes
    ----------
    trials : every setting that was fitted
    wide : whether some answers chose from more than two, and are scored as wholes
    choices : per fold, its held-out answers as choices; none where they are plain comparisons
    names, rater : the raters, and for each answer the place of its rater, -1 where nobody knows
    folds : the folds that all settings still in the race have run
    ended : "finished", "time limit" or "interrupted"
    """

    def __init__(
        self,
        lines: Sequence[Line],
        c: Comparisons,
        folds: Sequence[tuple[Array, Array]],
        features: Any,
        clock: TimeLeft,
        callback: Progress | None,
        n_jobs: int | None = None,
    ) -> None:
        self.c, self.features, self.clock, self.callback, self.n_jobs = c, features, clock, callback, n_jobs
        self.tests = [test for _, test in folds]
        self._training = [c[train] for train, _ in folds]
        self._held_out = [c[test] for test in self.tests]
        self.names, self.rater = answerers(c)
        self.wide = has_wide_choices(c)
        known = choices_of(c) if self.wide else []
        self.choices = [[one.select(np.isin(one.row, c.answer[test])) for one in known] for test in self.tests]
        self.lines = list(lines)
        self.trials: list[Trial] = []
        self.folds: list[int] = []
        self._fits_before = 0
        self._usual: dict[Line, dict[str, float]] = {}  # penalties at strength 1, of the first fold; folds are alike
        self.ended = "finished"
        self._worthwhile: Callable[[Race], bool] | None = None
        self._in_vain = False

    def again(self, lines: Sequence[Line], worthwhile: Callable[[Race], bool]) -> Race:
        """Return a race of other lines over the same folds, with what is left of the time, not yet run.

        It ends where the first line, on the first fold, says that it is not worthwhile to go on.
        """
        other = copy.copy(self)
        other.lines, other.trials, other.folds, other._usual = list(lines), [], [], {}
        other._fits_before, other._worthwhile = self.clock.fits, worthwhile
        return other

    def run(self) -> None:
        """Run fold after fold; an interrupt ends the race, and what was found until then stands."""
        try:
            for k in range(len(self.tests)):
                if not self._fold(k):
                    self.ended = "time limit"
                    return
                if self._in_vain:
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
        """Weighted share of held-out comparisons ordered correctly, and its standard error over answers."""
        folds = sorted(trial.near)
        rows = np.concatenate([self.tests[k] for k in folds])
        mean, low, _ = clustered_mean(trial.right(folds), self.c.weight[rows], self.c.answer[rows], ONE_ERROR)
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

    def _fold(self, k: int) -> bool:
        """Walk the lines in the race on a fold; whether time sufficed for all."""
        if k:
            return self._walk_all(k, self._strengths())
        if self._worthwhile is None:
            return self._walk_all(k, dict.fromkeys(self.lines))
        if not self._walk_all(k, dict.fromkeys(self.lines[:1])):
            return False
        self._in_vain = not self._worthwhile(self)
        return self._in_vain or self._walk_all(k, dict.fromkeys(self.lines[1:]))

    def _walk_all(self, k: int, going: Mapping[Line, list[float] | None]) -> bool:
        """Walk lines on a fold, one or several at a time; whether time sufficed for all."""
        enough, begun = True, 0
        for found, line in zip(self._walks(k, going), going, strict=False):  # to the walks' end, lest workers are ended
            begun += 1
            for outcome in found:
                if outcome is None:
                    enough = False
                else:
                    self._keep(line, k, outcome)
        return enough and begun == len(going)

    def _strengths(self) -> dict[Line, list[float]]:
        """The lines still in the race, the best first, each with its strengths."""
        found: dict[Line, list[float]] = {}
        for trial in self.standing():
            found.setdefault(trial.line, []).append(trial.strength)
        return {line: sorted(strengths) for line, strengths in found.items()}

    def _walks(self, k: int, going: Mapping[Line, list[float] | None]) -> Iterator[Any]:
        """Give the outcomes of each line's walk, in order; here they come fit by fit, from workers all at once."""
        shared = (self._training[k], self._held_out[k], self._spoken(k), self.features)
        function: Callable[..., Any] = walk if workers(self.n_jobs) == 1 else whole_walk
        return over_jobs(function, self._begin(going), self.n_jobs, shared=shared, as_needed=True)

    def _spoken(self, k: int) -> AskedPairs:
        """The pairs that speak for the alternatives of a fold's held-out answers."""
        none, choices = [np.zeros(0, np.int32)], self.choices[k]
        pairs = np.concatenate([np.zeros((0, 2), np.int32), *(one.pairs.reshape(-1, 2) for one in choices)])
        rater = [np.repeat(self.rater[one.row], one.n_pairs) for one in choices]
        return AskedPairs(pairs, np.concatenate(rater or none), self.names)

    def _begin(self, going: Mapping[Line, list[float] | None]) -> Iterator[tuple[Any, ...]]:
        """Hand out lines as long as there is time; there always is for the first of all.

        A walk gets a copy of its line, so that chance inside an estimator is the same wherever the walk runs.
        """
        for line, strengths in going.items():
            first_of_all = line is self.lines[0] and strengths is None and not self._fits_before
            if self.clock.over() and not first_of_all:
                return
            yield copy.copy(self.clock), copy.deepcopy(line), strengths, self._usual.get(line, {})

    def _keep(self, line: Line, k: int, outcome: Outcome) -> None:
        """Keep what a fit predicted."""
        trial = next((t for t in self.trials if t.line is line and t.strength == outcome.strength), None)
        if trial is None:
            trial = Trial(line, outcome.strength)
            self.trials.append(trial)
            if outcome.strength == 1.0:
                self._usual[line] = outcome.penalties
        trial.near[k], trial.far[k], trial.chance[k] = outcome.near, outcome.far, outcome.chance
        trial.level[k], trial.products, trial.penalty = outcome.level, outcome.products, outcome.penalty
        trial.weighed |= outcome.weighed
        trial.seconds += outcome.seconds
        self.clock.count(outcome.seconds)
        if self.callback is not None:
            later = sum(_GO_ON[min(k, len(_GO_ON) - 1)] for k in range(len(self.tests) - 1))
            self.callback(self.clock.fits, self._fits_before + len(self.lines) * (len(_ORDER) + later))

    def _below(self, trial: Trial, leader: Trial) -> bool:
        """Whether a setting is surely less accurate than another."""
        mean, error = self.difference(trial, leader)
        return mean < -_SURE * error

    def difference(self, trial: Trial, leader: Trial) -> tuple[float, float]:
        """Mean paired difference of the accuracy from the leader's on the folds of both, and its standard error."""
        folds = sorted(set(trial.near) & set(leader.near))
        rows = np.concatenate([self.tests[k] for k in folds])
        return paired(trial.right(folds) - leader.right(folds), self.c.weight[rows], self.c.answer[rows])

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
                trial.dropped = f"{after}: {counted(most, 'other penalty', 'other penalties')} did better"


_ORDER = (*reversed(WEAKER), 1.0, *STRONGER)

"""What settings, alone or averaged, say of held-out answers, and how sure they may be of it.

An average of fits says the mean of what they say (`levels`), so that held-out predictions of one need no further fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import optimize

from similitude.auto.race import Race, Trial
from similitude.auto.walks import paired
from similitude.engine.choice_terms import set_losses, values_of
from similitude.engine.terms import ComparisonLoss, Formula, logarithm, logistic, squared, student
from similitude.evaluate.intervals import clustered_mean, clustered_share
from similitude.feedback.forms.alternatives import Alternatives
from similitude.types import Array, Floats

_ENOUGH_TO_CALIBRATE = 20_000
# How margins may become probabilities: differences of squared distances, or of their logarithms with heavier tails.
_SCALES = (
    Formula(squared),
    Formula(student, 1.0),
    Formula(student, 3.0),
    Formula(student, 9.0),
    Formula(logarithm, 0.05),
)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What some settings together predict about the held-out comparisons, and about the answers that these are of.

    Attributes
    ----------
    trials, shares : the settings, and the share of each in the average
    near, far : mean levels of the held-out pairs
    weight, answer : of the comparisons
    rater : (a,) place of the rater of every answer, -1 where nobody knows
    choices : the answers as choices; none where they are plain comparisons
    level : for each part of the choices the mean levels of the pairs that speak for its alternatives, (q, m, p)
    sharpness : what margins of each rater, and last of somebody unknown, are multiplied by; None where all are alike
    foretold : (q,) loss of each choice by a sharpness that was learned from others, where there is a sharpness
    """

    trials: tuple[Trial, ...]
    shares: tuple[float, ...]
    near: Floats
    far: Floats
    weight: Floats
    answer: Array
    rater: Array
    choices: tuple[Alternatives, ...] = ()
    level: tuple[Floats, ...] = ()
    sharpness: Floats | None = None
    foretold: Floats | None = None

    @classmethod
    def of(cls, race: Race, trials: Sequence[Trial], weights: Sequence[float] = (1.0,)) -> HeldOut:
        """Average some settings over the folds that count."""
        rows, folds = race.rows(), race.folds or [0]
        shares = np.asarray(weights, float) / np.sum(weights)

        def mean(of_folds: Sequence[dict[int, Floats]]) -> Floats:
            return np.asarray(shares @ np.array([np.concatenate([own[k] for k in folds]) for own in of_folds]))

        near, far, level = (mean([getattr(trial, what) for trial in trials]) for what in ("near", "far", "level"))
        choices = tuple(one for k in folds for one in race.choices[k])
        parts = np.split(level, np.cumsum([one.pairs[..., 0].size for one in choices])[:-1])
        shaped = tuple(own.reshape(one.pairs.shape[:3]) for one, own in zip(choices, parts, strict=False))
        known = (race.c.weight[rows], race.c.answer[rows], race.rater, choices, shaped)
        return cls(tuple(trials), tuple(shares.tolist()), near, far, *known)

    @property
    def by_products(self) -> bool:
        """Whether some of the settings compare items by products, so that the whole is no map."""
        return any(trial.products for trial in self.trials)

    def right(self) -> Floats:
        """1 where the order is right, 0 where wrong, a half for a tie."""
        return 0.5 * (1.0 + np.sign(self.far - self.near))

    def accuracy(self, level: float = 0.95) -> tuple[float, float, float]:
        """Weighted share of comparisons ordered correctly, with its interval over answers."""
        return clustered_share(self.right(), self.weight, self.answer, level)

    def answer_accuracy(self, level: float = 0.95) -> tuple[float, float, float]:
        """Share of answers all of whose comparisons are ordered correctly, with its interval."""
        right = self._answers_right()
        return clustered_share(right, np.ones(len(right)), np.arange(len(right)), level)

    def answer_gain_over(self, other: HeldOut) -> tuple[float, float]:
        """Mean paired difference of the accuracies of answers from another's, and its standard error."""
        gap = self._answers_right() - other._answers_right()
        return paired(gap, np.ones(len(gap)), np.arange(len(gap)))

    def _answers_right(self) -> Floats:
        """1 for each answer all of whose comparisons are ordered correctly, else 0, answers in order."""
        answers, code = np.unique(self.answer, return_inverse=True)
        return (np.bincount(code, self.right() < 1.0, len(answers)) == 0).astype(float)

    def gain_over(self, other: HeldOut, level: float = 0.95) -> tuple[float, float, float]:
        """Paired difference of the accuracies, with its interval."""
        gap = self.right() - other.right()
        mean, low, high = clustered_mean(gap, self.weight, self.answer, level) if gap.any() else (0.0, 0.0, 0.0)
        return mean, max(low, -1.0), min(high, 1.0)

    @cached_property
    def calibration(self) -> tuple[ComparisonLoss, float]:
        """The logistic loss and the size of the levels that give held-out answers the best log loss.

        One size (and a choice among five scales, of which products can take the first alone) is fitted to thousands of
        answers, so that the probabilities are honest to about that many parts.
        """
        few, ends = self._sampled(_ENOUGH_TO_CALIBRATE), []
        for scale in _SCALES[:1] if self.by_products else _SCALES:

            def log_loss(x: float, scale: Formula = scale) -> float:
                lost, weight, _ = few.losses(scale, float(np.exp(x)))
                return float(np.average(lost, weights=weight))

            end = optimize.minimize_scalar(log_loss, bounds=(-7.0, 9.0), method="bounded")
            ends.append((float(end.fun), float(np.exp(end.x)), scale))
        _, size, scale = min(ends, key=lambda end: end[0])
        return ComparisonLoss(scale, Formula(logistic)), size

    def losses(self, scale: Formula, size: float) -> tuple[Floats, Floats, Array]:
        """-log of the probability of each choice at a scale and a size, its weight, and its answer."""
        if not self.choices:
            margin = scale(size * self.far)[0] - scale(size * self.near)[0]
            return Formula(logistic)(self._sharp(self.answer) * margin)[0], self.weight, self.answer
        lost, weight = [], []
        for one, level in zip(self.choices, self.level, strict=True):
            value = self._sharp(one.row)[:, None] * values_of(one, scale(size * level)[0])
            lost.append(set_losses(value, one.picked)[0])
            weight.append(np.ones(len(one)) if one.weight is None else one.weight)
        return np.concatenate(lost), np.concatenate(weight), np.concatenate([one.row for one in self.choices])

    def _sharp(self, answer: Array) -> Floats:
        """How sharp whoever gave each answer is."""
        return np.ones(len(answer)) if self.sharpness is None else self.sharpness[self.rater[answer]]

    @cached_property
    def calibrated_losses(self) -> tuple[Floats, Floats, Array]:
        """The losses at the scale and size that are best; the choices are in the same order for all settings."""
        loss, size = self.calibration
        lost, weight, row = self.losses(loss.scale, size)
        return lost if self.foretold is None else self.foretold, weight, row

    def answer_log_loss(self) -> float:
        """Weighted mean of -log of the probability of each answer as a whole."""
        lost, weight, row = self.calibrated_losses
        _, code, times = np.unique(row, return_inverse=True, return_counts=True)
        return float((weight @ lost) / (weight / times[code]).sum())

    def log_loss(self) -> float:
        """Weighted mean of -log of the probability of each comparison."""
        loss, size = self.calibration
        return float(np.average(replace(self, choices=()).losses(loss.scale, size)[0], weights=self.weight))

    def loses_more_than(self, other: HeldOut) -> tuple[float, float]:
        """Mean paired difference of the log losses from another's, and its standard error over answers."""
        (own, weight, row), (theirs, _, _) = self.calibrated_losses, other.calibrated_losses
        return paired(own - theirs, weight, row)

    def _sampled(self, most: int) -> HeldOut:
        """The same with about so many of the choices, or comparisons, where there are more."""
        count = sum(map(len, self.choices)) if self.choices else len(self.near)
        if count <= most:
            return self
        rng = np.random.default_rng(0)
        if not self.choices:
            rows = rng.choice(count, most, replace=False)
            kept = {name: getattr(self, name)[rows] for name in ("near", "far", "weight", "answer")}
            return replace(self, **kept)
        rows_of = [np.flatnonzero(rng.random(len(one)) < most / count) for one in self.choices]
        choices = tuple(one.select(rows) for one, rows in zip(self.choices, rows_of, strict=True))
        return replace(
            self, choices=choices, level=tuple(own[rows] for own, rows in zip(self.level, rows_of, strict=True))
        )

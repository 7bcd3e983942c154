"""Averaging fits: the mean of kernels is a kernel, and what is held out says whether it predicts better.

Each fit's kernel is taken in units of its mean squared distance, so that the squared distance of the average is the
mean of theirs, and held-out predictions of an average need no further fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import optimize

from similitude.auto.race import Race, Trial
from similitude.engine.distances import mean_sqdist
from similitude.engine.feature_maps import FeatureMap
from similitude.engine.terms import ComparisonLoss, Formula, logarithm, logistic, squared, student
from similitude.evaluate.intervals import clustered_mean, clustered_share
from similitude.methods.scaling import principal_axes
from similitude.types import Array, Bools, Floats

_MOST_MEMBERS = 12
_LEAST_WEIGHT = 0.1  # of the leader's: less is not worth a fit
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
    """What some settings together predict about the held-out comparisons.

    Attributes
    ----------
    trials, shares : the settings, and the share of each in the average
    near, far : mean squared distances of the held-out pairs
    weight, answer : of the comparisons
    """

    trials: tuple[Trial, ...]
    shares: tuple[float, ...]
    near: Floats
    far: Floats
    weight: Floats
    answer: Array

    @classmethod
    def of(cls, race: Race, trials: Sequence[Trial], weights: Sequence[float] = (1.0,)) -> HeldOut:
        """Average some settings over the folds that count."""
        rows, folds = race.rows(), race.folds or [0]
        shares = np.asarray(weights, float) / np.sum(weights)
        near = shares @ np.array([np.concatenate([trial.near[k] for k in folds]) for trial in trials])
        far = shares @ np.array([np.concatenate([trial.far[k] for k in folds]) for trial in trials])
        return cls(tuple(trials), tuple(shares.tolist()), near, far, race.c.weight[rows], race.c.answer[rows])

    def right(self) -> Floats:
        """1 where the order is right, 0 where wrong, a half for a tie."""
        return 0.5 * (1.0 + np.sign(self.far - self.near))

    def accuracy(self, level: float = 0.95) -> tuple[float, float, float]:
        """Weighted share of comparisons ordered correctly, with its interval over answers."""
        return clustered_share(self.right(), self.weight, self.answer, level)

    def gain_over(self, other: HeldOut, level: float = 0.95) -> tuple[float, float, float]:
        """Paired difference of the accuracies, with its interval."""
        gap = self.right() - other.right()
        mean, low, high = clustered_mean(gap, self.weight, self.answer, level) if gap.any() else (0.0, 0.0, 0.0)
        return mean, max(low, -1.0), min(high, 1.0)


def best_single(race: Race) -> HeldOut:
    """Return the best setting, alone."""
    return HeldOut.of(race, race.standing()[:1])


def best_average(race: Race) -> HeldOut:
    """Return the average of the settings still in the race, with the share of each.

    It takes the best penalty of each candidate and dimension still in the race, of one kind (with features or
    without). A setting z standard errors less accurate than the leader, on the same answers, has the weight e^(-z²/8).
    """
    standing = race.standing()
    best: dict[Any, Trial] = {}
    for trial in standing:
        if trial.line.estimator.needs_features == standing[0].line.estimator.needs_features:
            best.setdefault(trial.line, trial)
    weighted = [(_weight(race, trial, standing[0]), trial) for trial in best.values()]
    weighted = [pair for pair in sorted(weighted, key=lambda pair: -pair[0]) if pair[0] >= _LEAST_WEIGHT]
    kept = weighted[:_MOST_MEMBERS]
    return HeldOut.of(race, [trial for _, trial in kept], [weight for weight, _ in kept])


def _weight(race: Race, trial: Trial, leader: Trial) -> float:
    mean, error = race.difference(trial, leader)
    return float(np.exp(-0.125 * (mean / error) ** 2)) if mean < 0 else 1.0


def calibrated(found: HeldOut) -> tuple[ComparisonLoss, float, float]:
    """Return the logistic loss and the size of the squared distances that give held-out answers the best log loss.

    Also returns that log loss. One size (and a choice among five scales) is fitted to thousands of answers, so that the
    probabilities are honest to about that many parts.
    """
    rows = np.arange(len(found.near))
    if len(rows) > _ENOUGH_TO_CALIBRATE:
        rows = np.random.default_rng(0).choice(rows, _ENOUGH_TO_CALIBRATE, replace=False)
    near, far, weight = found.near[rows], found.far[rows], found.weight[rows]

    def log_loss(scale: Formula, logarithm_of_size: float) -> float:
        size = float(np.exp(logarithm_of_size))
        margin = scale(size * far)[0] - scale(size * near)[0]
        return float(np.average(Formula(logistic)(margin)[0], weights=weight))

    ends = []
    for scale in _SCALES:
        end = optimize.minimize_scalar(lambda x, scale=scale: log_loss(scale, x), bounds=(-7.0, 9.0), method="bounded")
        ends.append((float(end.fun), float(np.exp(end.x)), scale))
    value, size, scale = min(ends, key=lambda end: end[0])
    return ComparisonLoss(scale, Formula(logistic)), size, value


@dataclass(frozen=True, eq=False)
class MeanMap:
    """The positions of several fits side by side: their inner products are the mean of the kernels.

    Attributes
    ----------
    factors : what each fit's positions are multiplied by
    centre, turn : to principal axes
    """

    factors: tuple[float, ...]
    centre: Floats
    turn: Floats

    @classmethod
    def of(cls, positions: Sequence[Floats], shares: Sequence[float], compared: Bools, size: float) -> MeanMap:
        """Return the map that gives the average a mean squared distance of `size`."""
        sizes = [mean_sqdist(X) for X in positions]
        factors = tuple(
            float(np.sqrt(size * share / own)) if own > 0 else 0.0 for share, own in zip(shares, sizes, strict=True)
        )
        centre, turn = principal_axes(_beside(positions, factors), compared)
        return cls(factors, centre, turn)

    def __call__(self, positions: Sequence[Floats]) -> Floats:
        """Return the average's positions, from those of each fit."""
        return (_beside(positions, self.factors) - self.centre) @ self.turn

    def of_maps(self, maps: Sequence[FeatureMap]) -> FeatureMap:
        """Return the average's map of features, from that of each fit."""
        ends = np.cumsum([one.n_components for one in maps])
        turns = np.split(self.turn, ends[:-1])
        turned = [one.then(size * turn) for one, size, turn in zip(maps, self.factors, turns, strict=True)]
        together = FeatureMap.joined(turned)
        return replace(together, origin=together.origin + self.centre @ self.turn)


def _beside(positions: Sequence[Floats], factors: Sequence[float]) -> Floats:
    return np.hstack([factor * X for factor, X in zip(factors, positions, strict=True)])

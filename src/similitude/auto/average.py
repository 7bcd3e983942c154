"""One setting, or the average of several: which predicts held-out answers best, and which of equals is simplest.

Each fit's kernel is taken in units of its mean squared distance (`levels`), so that the squared distance of the average
is the mean of theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from similitude.auto.held_out import HeldOut
from similitude.auto.levels import unit, weighing
from similitude.auto.race import Race, Trial
from similitude.engine.feature_maps import FeatureMap
from similitude.methods.scaling import principal_axes
from similitude.types import Bools, Floats

_MOST_MEMBERS = 12
_LEAST_WEIGHT = 0.1  # of the leader's: less is not worth a fit
SURELY = 3.0  # standard errors of log loss that a less simple average must gain, as settings drop out of the race


def best_single(race: Race) -> HeldOut:
    """Return the best setting, alone.

    Of settings whose accuracy is within one standard error of the best, the one with the least log loss of answers is
    best; of those within one standard error of it in both, the simplest is taken: maps of so many dimensions before
    those that learn how many are needed, and these before products of vectors, which are no map. Where answers are
    plain comparisons and no candidate learns its rank, it is the most accurate.
    """
    standing = race.standing()
    if not race.wide and not any(_simplicity(trial) for trial in standing):
        return HeldOut.of(race, standing[:1])
    near = [HeldOut.of(race, [trial]) for trial in standing if ties(*race.difference(trial, standing[0]))]
    best = min(near, key=HeldOut.answer_log_loss)
    as_good = [
        one
        for one in near
        if ties(*race.difference(one.trials[0], best.trials[0])) and ties(*best.loses_more_than(one))
    ]
    return min([best, *as_good], key=lambda one: (_simplicity(one.trials[0]), one.answer_log_loss()))


def _simplicity(trial: Trial) -> int:
    """0 for a map of so many dimensions, 1 where their number is learned, 2 for products."""
    return 2 if trial.products else int(trial.line.estimator.learns_rank)


def ties(mean: float, error: float) -> bool:
    """Return whether a paired difference is no more than one standard error below 0."""
    return mean >= -error


def best_average(race: Race) -> HeldOut:
    """Return the average of the settings still in the race, with the share of each.

    It takes the best penalty of each candidate and dimension still in the race, of one kind (with features or
    without). A setting z standard errors less accurate than the leader, on the same answers, has the weight e^(-z²/8).
    Maps of so many dimensions come first. What is less simple (`_simplicity`: models of choices by distances, then
    products, which are no map in which new items could be placed) joins them, or takes their place, only where
    accuracies of answers tie, within one standard error, and their log loss is then lower by more than three.
    """
    standing = race.standing()
    kind = [trial for trial in standing if trial.line.with_features == standing[0].line.with_features]
    found, *wider = [average_of(race, group) for group in _simplest_first(kind)]
    for other in wider:
        more, error = found.loses_more_than(other)
        if more > SURELY * error and ties(*other.answer_gain_over(found)):
            found = other
    return found


def _simplest_first(kind: Sequence[Trial]) -> list[list[Trial]]:
    """The settings that may make an average together, the simplest of them first."""
    maps = [trial for trial in kind if not trial.products]
    products = [trial for trial in kind if trial.products]
    groups = [[trial for trial in maps if not _simplicity(trial)], maps, products]
    whole = not kind[0].line.with_features  # a map of features cannot give what the form of both needs of a new item
    if whole and not any(trial.weighed for trial in kind):  # nor can that form be weighed
        groups.append(list(kind))
    return [group for k, group in enumerate(groups) if group and group not in groups[:k]]


def average_of(race: Race, standing: Sequence[Trial]) -> HeldOut:
    """Return the average of some settings, of each line the best, given best first."""
    best: dict[Any, Trial] = {}
    for trial in standing:
        best.setdefault(trial.line, trial)
    weighted = [(_weight(race, trial, standing[0]), trial) for trial in best.values()]
    weighted = [pair for pair in sorted(weighted, key=lambda pair: -pair[0]) if pair[0] >= _LEAST_WEIGHT]
    kept = weighted[:_MOST_MEMBERS]
    return HeldOut.of(race, [trial for _, trial in kept], [weight for weight, _ in kept])


def _weight(race: Race, trial: Trial, leader: Trial) -> float:
    mean, error = race.difference(trial, leader)
    if mean >= 0.0:
        return 1.0
    return float(np.exp(-0.125 * (mean / error) ** 2)) if error else 0.0  # on a few answers all may differ alike


@dataclass(frozen=True, eq=False)
class MeanMap:
    """The positions of several fits side by side: their inner products are the mean of the kernels.

    Attributes
    ----------
    factors : what each fit's positions are multiplied by
    centre, turn : to principal axes; products know no other centre than 0. Dimensions that raters weigh are put in
        order instead
    """

    factors: tuple[float, ...]
    centre: Floats
    turn: Floats

    @classmethod
    def of(
        cls, members: Sequence[Any], shares: Sequence[float], compared: Bools, size: float, centred: bool
    ) -> MeanMap:
        """Return the map that gives the average a mean squared distance of `size`."""
        units = [unit(member) for member in members]
        factors = tuple(
            float(np.sqrt(size * share / own)) if own > 0 else 0.0 for share, own in zip(shares, units, strict=True)
        )
        together = _beside([member.embedding_ for member in members], factors)
        centre, turn = principal_axes(together, compared, centred)
        if any(weighing(member) is not None for member in members):
            spread = ((together - centre) ** 2).sum(0)
            turn = np.eye(len(spread))[:, np.argsort(-spread, kind="stable")[: np.count_nonzero(spread)]]
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

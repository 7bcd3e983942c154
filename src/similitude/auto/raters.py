"""Raters who differ: how sharp each is, and how each weighs the dimensions, where held-out answers surely tell.

What settings say of held-out answers tells how sharp each rater is without a further fit: margins of rater r are
multiplied by s_r, log-normal around what is typical, mean and spread by EM from the likelihood of each rater's answers.
Whether that helps is asked of answers that it was not learned from. Weights of dimensions need fits of their own
(`candidates.of_raters`), which race over the same folds once the race of maps that are everybody's is over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from similitude.auto.average import SURELY, average_of, ties
from similitude.auto.held_out import HeldOut
from similitude.auto.levels import weighing
from similitude.auto.race import Race
from similitude.auto.walks import paired
from similitude.methods.answering import Sharpness, Weighed, places_among
from similitude.types import Floats

_POWERS = np.linspace(-4.0, 3.0, 36)[:, None]  # logarithms of a sharpness
_LEAST_SPREAD = 0.2  # of them: what their grid can tell
_PARTS, _ROUNDS = 4, 30  # of the answers, of which each is foretold by the others; of EM


def with_sharpness(found: HeldOut, n_raters: int) -> HeldOut:
    """Return the same with the sharpness of each rater, where that surely helps to foretell answers."""
    if n_raters < 2:
        return found
    part = np.random.default_rng(0).integers(_PARTS, size=len(found.rater))
    sharp = found
    for _ in range(2):  # the scale that suits raters who differ may not be that of raters who are alike
        table = _losses_by_rater(found, sharp, part, n_raters)
        sharp = replace(found, sharpness=_learned(table.sum(1)))
    others = [replace(sharp, sharpness=_learned(table.sum(1) - table[:, k])) for k in range(_PARTS)]
    loss, size = sharp.calibration
    lost, weight, row = found.calibrated_losses
    foretold = np.choose(part[row], [other.losses(loss.scale, size)[0] for other in others])
    gain, error = paired(lost - foretold, weight, row)
    return replace(sharp, foretold=foretold) if gain > SURELY * error else found


def _losses_by_rater(found: HeldOut, calibrated: HeldOut, part: Any, n_raters: int) -> Floats:
    """(g, parts, raters) the losses of each rater's answers in each part, at every sharpness of the grid."""
    loss, size = calibrated.calibration
    table = []
    for power in np.exp(_POWERS[:, 0]):
        lost, weight, row = replace(found, sharpness=np.full(n_raters + 1, power)).losses(loss.scale, size)
        place = np.where(found.rater[row] < 0, n_raters, found.rater[row]) + (n_raters + 1) * part[row]
        table.append(np.bincount(place, weight * lost, (n_raters + 1) * _PARTS).reshape(_PARTS, -1)[:, :-1])
    return np.array(table)


def _learned(lost: Floats) -> Floats:
    """(k + 1,) the sharpness of each rater, and of somebody unknown, from (g, k) losses over the grid.

    Whoever is unknown may be anybody, and is foretold by the one sharpness that suits everybody's answers best: less
    than that of a typical rater, for it must not be too sure of dull ones.
    """
    mean, spread = 0.0, 1.0
    for _ in range(_ROUNDS):
        density = -lost - 0.5 * ((_POWERS - mean) / spread) ** 2
        chance = np.exp(density - density.max(0))
        chance /= chance.sum(0)
        power = (chance * _POWERS).sum(0)
        mean = float(power.mean())
        spread = max(float(np.sqrt((chance * (_POWERS - mean) ** 2).sum(0).mean())), _LEAST_SPREAD)
    together = lost.sum(1)
    least = int(np.clip(np.argmin(together), 1, len(together) - 2))
    before, at, after = together[least - 1 : least + 2]
    step = 0.5 * (before - after) / max(before - 2.0 * at + after, 1e-300)  # to the bottom of the parabola through them
    of_all = _POWERS[least, 0] + np.clip(step, -1.0, 1.0) * (_POWERS[1, 0] - _POWERS[0, 0])
    return np.exp(np.append(power, of_all))


def promising(race: Race, found: HeldOut) -> bool:
    """Whether weights may be worth their time: some setting ties with what was found, in log loss or in accuracy."""
    same = HeldOut.of(race, found.trials, found.shares)
    tried = [HeldOut.of(race, [trial]) for trial in race.trials]
    return any(ties(*same.loses_more_than(one)) or ties(*one.answer_gain_over(same)) for one in tried)


def with_weights(race: Race, found: HeldOut, average: bool) -> HeldOut | None:
    """Return what takes the place of maps that are everybody's; None where raters do not surely weigh them differently.

    `race` is that of the weights, `found` what the race before it ended with. Models with weights, alone or with maps
    that are everybody's beside them, are taken where they surely have the better log loss or accuracy of answers, and
    the other ties.
    """
    weighed = [trial for trial in race.standing() if trial.weighed]
    if not race.folds or not weighed:
        return None
    groups = [weighed if average else weighed[:1]]
    if average and not found.by_products:
        groups.append(sorted([*weighed, *found.trials], key=lambda trial: -race.accuracy(trial)[0]))
    best = same = with_sharpness(HeldOut.of(race, found.trials, found.shares), len(race.names))
    for group in groups:
        other = with_sharpness(average_of(race, group), len(race.names))
        if _better(best.loses_more_than(other), other.answer_gain_over(best)):
            best = other
    return None if best is same else best


def _better(less_lost: tuple[float, float], more_right: tuple[float, float]) -> bool:
    """Whether of two gains, each with its standard error, one is sure, and the other at least a tie."""
    sure = any(gain > SURELY * error for gain, error in (less_lost, more_right))
    return sure and ties(*less_lost) and ties(*more_right)


def answering_of(members: Sequence[Any], turn: Floats, known: Sharpness | None) -> Sharpness | None:
    """Who answers how: what was told of the raters' sharpness, and the weights, times a sharpness, that members know.

    `turn` puts the dimensions of all members, side by side, in order.
    """
    weights = [weighing(member) for member in members]
    if not any(weights):
        return known
    own = {name for one in weights if one is not None for name in one.names}
    names = tuple(sorted(own | set(() if known is None else known.names)))
    sharpness = np.ones(len(names) + 1) if known is None else known.sharpness[_rows(names, known.names)]
    side_by_side = [
        np.ones((len(names) + 1, member.embedding_.shape[1]))
        if one is None
        else (one.sharpness[:, None] * one.weights)[_rows(names, one.names)]
        for member, one in zip(members, weights, strict=True)
    ]
    return Weighed(names, sharpness, np.zeros(len(names) + 1), weights=np.hstack(side_by_side) @ turn)


def _rows(names: tuple[str, ...], known: tuple[str, ...]) -> Any:
    """Where each of some raters, and last somebody unknown, stands among known ones; who is not there is unknown."""
    return places_among(names, known, np.arange(len(names) + 1))

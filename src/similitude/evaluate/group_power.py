"""What a study of this size would have found: the power of the test of groups against differences of stated size.

The raters' own scores, less the mean of their group, stand for what chance and habit do, with groups dealt out at
random; onto them goes what a planted difference would add: the groups see the map of everybody with items moved at
random, to opposite sides, so far that a stated share of the answers would change.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from similitude.evaluate.group_shuffles import Between, Within, p_value, spread_of
from similitude.evaluate.rater_groups import Grouped
from similitude.evaluate.rater_scores import RaterScores
from similitude.types import Array, Floats

CHANGED = (0.05, 0.1, 0.2, 0.3)
"""Shares of the answers that change between groups for which power is told."""

_STUDIES, _SHUFFLES = 50, 99
_FARTHEST, _HALVINGS = 2.0, 10


def power_table(scores: RaterScores, people: Grouped, rng: np.random.Generator) -> pd.DataFrame:
    """Return, for differences in which so many of the answers change, how often the test would find them at 5 %."""
    rows = []
    for changed in CHANGED:
        found = [_is_found(scores, people, changed, rng) for _ in range(_STUDIES)]
        rows.append({"changed": changed, "power": float(np.mean(found))})
    return pd.DataFrame(rows)


def _is_found(scores: RaterScores, people: Grouped, changed: float, rng: np.random.Generator) -> bool:
    order, shuffles = _dealt(people, rng)
    side = np.empty(len(order), np.int64)
    side[order] = people.group if isinstance(shuffles, Within) else shuffles.group
    chance = _moved(scores, changed, rng)
    shift = chance[side[scores.unit] % 2, np.arange(len(scores.unit))] - scores.probability(scores.places)
    planted = scores.with_scores(_habits(scores, people) + scores.summed(shift))
    contrasts = shuffles.contrasts(scores.weight[order], _SHUFFLES, rng)
    return p_value(spread_of(contrasts, planted.alike(planted.scores[order]))) <= 0.05


def _habits(scores: RaterScores, people: Grouped) -> Floats:
    """Scores less what the group shares, in proportion to the comparisons behind them."""
    inside = (people.group[:, None] == np.arange(len(people.names))).astype(float)
    mean = (inside.T @ scores.scores) / (inside.T @ scores.weight)[:, None]
    return np.asarray(scores.scores - scores.weight[:, None] * mean[people.group])


def _dealt(people: Grouped, rng: np.random.Generator) -> tuple[Array, Between | Within]:
    """Return an order of the units in which groups fall at random, or the conditions of a rater change places."""
    units = np.arange(len(people.group))
    if isinstance(people.shuffles, Between):
        return units, Between(rng.permutation(people.group))
    exchanged = np.repeat(rng.random(len(units) // 2) < 0.5, 2)
    return np.where(exchanged, units ^ 1, units), people.shuffles


def _moved(scores: RaterScores, changed: float, rng: np.random.Generator) -> Floats:
    """(2, comparisons) the chance of what was said, by two maps that order so many of the comparisons differently."""
    way = rng.standard_normal(scores.places.shape) * scores.places.std()
    near, far = 0.0, _FARTHEST
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        chance = np.stack([scores.probability(scores.places + sign * middle * way) for sign in (1, -1)])
        differ = float(np.mean((chance[0] > 0.5) != (chance[1] > 0.5)))
        near, far = (middle, far) if differ < changed else (near, middle)
    return chance

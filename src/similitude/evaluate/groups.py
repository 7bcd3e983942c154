"""Do groups of raters see things differently? A test over raters: whether, how much, where, and what could be missed.

>>> import numpy as np, similitude as sm
>>> truth = np.random.default_rng(0).normal(size=(10, 2))
>>> seen = {"designer": truth * [1.6, 0.4], "student": truth * [0.4, 1.6]}
>>> def answers(group, seed):
...     people = sm.Raters.of([3.0] * 8, names=[f"{group} {k}" for k in range(8)])
...     return sm.simulate(seen[group], 480, raters=people, random_state=seed)
>>> c = sm.Comparisons.concatenate([answers("designer", 1), answers("student", 2)])
>>> found = sm.compare_groups(c, {who: who.split()[0] for who in c.answers.rater.labels}, random_state=0)
>>> found.p_value < 0.01, found.effect > 0
(True, True)
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from similitude.evaluate.group_difference import GroupDifference
from similitude.evaluate.group_power import power_table
from similitude.evaluate.group_shuffles import FEWEST_SHUFFLES, Within, corrected, p_value, spread_of
from similitude.evaluate.rater_groups import Grouped, grouped
from similitude.evaluate.rater_scores import RaterScores
from similitude.evaluate.scores import correct
from similitude.feedback.comparisons import Comparisons
from similitude.methods.base import FeedbackWarning
from similitude.methods.ordinal import STE
from similitude.settings import check_count, check_share
from similitude.types import Floats

_FOLDS = 5
_MOST_SCORES = 50_000_000


def compare_groups(
    comparisons: Comparisons,
    by: str | Mapping[str, Any],
    *,
    n_permutations: int = 999,
    n_components: int = 3,
    level: float = 0.95,
    random_state: int = 0,
) -> GroupDifference:
    """Test whether groups of raters, or two conditions within raters, see the items differently.

    Parameters
    ----------
    comparisons : the answers, with raters
    by : a column of the answers: one with a single value for each rater (`"Group"`) compares groups of raters, one with
        two values within raters (`"condition"`) compares these within each rater. Or a dict from raters to groups.
    n_permutations : how many random splits of the raters into such groups (or exchanges of conditions within raters)
        the groups as they are compared with; where there are no more than that, each is taken once and p is exact
    n_components : dimensions of the maps by which answers are judged
    level : of the interval
    random_state : seed

    Returns
    -------
    GroupDifference
        Whether, how much, which items and pairs, and what differences a study of this size would have found.

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(8, 2))
    >>> c = sm.simulate(truth, 400, raters=10, random_state=1)
    >>> found = sm.compare_groups(c, {who: k % 2 for k, who in enumerate(c.answers.rater.labels)}, random_state=0)
    >>> found.groups, found.raters
    (('0', '1'), (5, 5))
    """
    check_count("n_permutations", n_permutations, FEWEST_SHUFFLES - 1)
    check_count("n_components", n_components)
    check_share("level", level)
    people = grouped(comparisons, by)
    d, rng = min(n_components, len(people.comparisons.items_compared) - 1), np.random.default_rng(random_state)
    scores = scores_of(people, d, random_state)
    contrasts = people.shuffles.contrasts(scores.weight, n_permutations, rng)
    apart = spread_of(contrasts, scores.alike(scores.scores))
    exact = people.shuffles.count <= n_permutations
    effect, low, high = _own_advantage(people, d, level, random_state)
    pairs, items = _what_differs(people, scores, contrasts)
    return GroupDifference(
        by=by if isinstance(by, str) else "group",
        groups=people.names,
        raters=people.raters,
        within=isinstance(people.shuffles, Within),
        statistic=float(apart[0]),
        p_value=p_value(apart),
        effect=effect,
        low=low,
        high=high,
        level=level,
        pairs=pairs,
        items=items,
        power=power_table(scores, people, rng),
        n_permutations=len(contrasts) if exact else n_permutations,
        exact=exact,
        left_out=people.left_out,
        ungrouped=people.ungrouped,
    )


def scores_of(people: Grouped, d: int, seed: int) -> RaterScores:
    """What is left of each rater's answers when a map of everybody is taken off; a table that fits in memory."""
    c = people.comparisons
    if len(people.group) * min(len(c), c.n_items * (c.n_items - 1) // 2) > _MOST_SCORES:
        raise ValueError("comparisons: too many raters and pairs to compare groups; leave out items (leave_out)")
    return RaterScores.of(c, people.unit[c.answer], len(people.group), d, seed)


def _own_advantage(people: Grouped, d: int, level: float, seed: int) -> tuple[float, float, float]:
    """How much better answers are predicted by a map of the rater's own group than by one of the others.

    Raters are left out of every map that predicts them. The mean is over groups, each by its raters, so that a larger
    group, whose map is better for everybody, does not count as a difference. The interval is Welch's, over raters,
    wider by Nadeau and Bengio's (2003) 1 + K / (K - 1) in the variance: raters are predicted by maps that share most of
    their raters, so that their gains go together. Without it 10 % of such intervals of groups that do not differ
    exclude 0 (8 raters each).
    """
    c, n_groups = people.comparisons, len(people.names)
    rater = people.unit if not isinstance(people.shuffles, Within) else people.unit // 2
    fold = (np.random.default_rng(seed).permutation(int(rater.max()) + 1) % _FOLDS)[rater]
    right = np.full((n_groups, len(c)), np.nan)
    for k in range(_FOLDS):
        rows = np.flatnonzero(fold[c.answer] == k)
        for group in range(n_groups):
            train = c.select((fold != k) & (people.group[people.unit] == group))
            if len(rows) and len(train):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", FeedbackWarning)  # a fold may leave items out
                    right[group, rows] = correct(STE(d, random_state=seed).fit(train), c.rows(rows))
    unit, own = people.unit[c.answer], people.group[people.unit[c.answer]]
    inside = right[own, np.arange(len(c))]
    outside = (np.nansum(right, 0) - np.nan_to_num(inside)) / (n_groups - 1)
    gain = np.bincount(unit, inside - outside, len(people.group)) / np.bincount(unit, minlength=len(people.group))
    return _over_groups(gain, people.group, level)


def _over_groups(gain: Floats, group: Any, level: float) -> tuple[float, float, float]:
    parts = [own[np.isfinite(own)] for own in (gain[group == k] for k in np.unique(group))]
    parts = [part for part in parts if len(part)]  # of a group of one rater there is no map without that rater
    if not parts:
        return np.nan, -1.0, 1.0
    mean = float(np.mean([part.mean() for part in parts]))
    if min(len(part) for part in parts) < 2:
        return mean, -1.0, 1.0
    variances = np.array([part.var(ddof=1) / len(part) for part in parts])
    free = variances.sum() ** 2 / max(sum(v**2 / (len(p) - 1) for v, p in zip(variances, parts, strict=True)), 1e-300)
    shared = 1.0 + _FOLDS / (_FOLDS - 1)
    half = float(stats.t.ppf(0.5 + level / 2, max(free, 1.0)) * np.sqrt(shared * variances.sum()) / len(parts))
    return mean, max(mean - half, -1.0), min(mean + half, 1.0)


def _what_differs(people: Grouped, scores: RaterScores, contrasts: Floats) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return pairs and items, those that differ most first, with p-values corrected for their number."""
    c = people.comparisons
    gap = contrasts @ scores.scores  # (shuffles, groups, pairs)
    size = np.square(gap / np.maximum(_scale(gap, people.raters), 1e-300)).mean(1)
    label = np.array([c.label(item) for item in range(c.n_items)], object)
    first = gap[0]
    most = first.argmax(0) if first.shape[0] > 1 else np.where(first[0] > 0, 0, 1)
    pairs = pd.DataFrame(
        {
            "a": label[scores.pairs[:, 0]],
            "b": label[scores.pairs[:, 1]],
            "more_alike_to": np.array(people.names, object)[most],
            "difference": np.abs(first).max(0),
            "p_value": corrected(size),
        }
    )
    touches = np.zeros((len(scores.pairs), c.n_items))
    touches[np.arange(len(touches))[:, None], scores.pairs] = 1.0
    compared = c.items_compared
    by_item = (size @ touches / np.maximum(touches.sum(0), 1.0))[:, compared]
    items = pd.DataFrame({"item": label[compared], "statistic": by_item[0], "p_value": corrected(by_item)})
    pairs = pairs.assign(size=size[0]).sort_values(["p_value", "size"], ascending=[True, False], kind="stable")
    items = items.sort_values(["p_value", "statistic"], ascending=[True, False], kind="stable")
    return pairs.drop(columns="size").reset_index(drop=True), items.reset_index(drop=True)


def _scale(gap: Floats, raters: tuple[int, ...]) -> Floats:
    """(groups, pairs) root mean square over shuffles and over groups of one size, whose names do not matter."""
    square, sizes = np.square(gap).mean(0), np.array(raters[: gap.shape[1]])
    return np.sqrt(np.stack([square[sizes == size].mean(0) for size in sizes]))

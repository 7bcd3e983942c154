"""Who belongs to which group: raters by an attribute of theirs, or the answers of each rater by a condition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from similitude.display.words import counted, listed
from similitude.evaluate.group_shuffles import FEWEST_SHUFFLES, Between, Within
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.drawn import describes_choice
from similitude.feedback.extra import BEFORE_CONDITIONS
from similitude.feedback.forms.pieces import SHEET
from similitude.feedback.leaving_out import leave_out
from similitude.graph.conditions import COLUMNS
from similitude.types import Array, Bools

MOST_GROUPS = 10


@dataclass(frozen=True, eq=False)
class Grouped:
    """Answers whose group is known, by unit: a rater, or a rater under one condition.

    Attributes
    ----------
    comparisons : the answers
    names : of the groups
    unit : (answers,) the unit of each answer
    group : (units,) its group
    shuffles : other ways in which groups could have fallen
    left_out : items that not every group judged; what was said about them is not compared
    ungrouped : how many raters belong to no group, so that nothing that they said is compared
    """

    comparisons: Comparisons
    names: tuple[str, ...]
    unit: Array
    group: Array
    shuffles: Between | Within
    left_out: tuple[str, ...] = ()
    ungrouped: int = 0

    @property
    def raters(self) -> tuple[int, ...]:
        """How many raters each group has."""
        return tuple(np.bincount(self.group, minlength=len(self.names)).tolist())


def grouped(comparisons: Comparisons, by: str | Mapping[str, Any]) -> Grouped:
    """Return answers by group; what cannot be compared is refused with the reason."""
    if not comparisons.answers.rater.recorded:
        raise ValueError("by: who answered was not recorded, so that raters cannot be compared")
    value = _values(comparisons, by)
    codes = comparisons.answers.rater.codes
    grouped_ones = np.unique(codes[(codes >= 0) & np.array([one is not None for one in value.tolist()], bool)])
    ungrouped = len(np.unique(codes[codes >= 0])) - len(grouped_ones)
    _refuse_slips(comparisons, value)
    c, value = _comparable(comparisons, value)
    lost = np.setdiff1d(comparisons.items_compared, c.items_compared).tolist()
    c = leave_out(c, items=lost) if lost else c
    made = _within(c, value) if _times(c, value).max() > 1 else _between(c, value)
    if made.shuffles.count < FEWEST_SHUFFLES:
        sizes = ", ".join(f"{count} in {name}" for name, count in zip(made.names, made.raters, strict=True))
        ways, least = counted(int(made.shuffles.count), "way"), 1 / made.shuffles.count
        raise ValueError(
            f"by: too few raters to tell ({sizes}): with {ways} to split them p is never below {least:.2g}, and no "
            "outcome could be called significant"
        )
    return replace(made, left_out=tuple(map(comparisons.label, lost)), ungrouped=ungrouped)


def _refuse_slips(c: Comparisons, value: Array) -> None:
    """Refuse a column with several values within a few raters: a slip of the pen must not choose the test."""
    times = _times(c, value)
    several, single = np.flatnonzero(times > 1), int((times == 1).sum())
    if 0 < len(several) <= single:
        who = listed([c.answers.rater.labels[code] for code in several], len(several))
        raise ValueError(
            f"by: {who} {'has' if len(several) == 1 else 'have'} more than one value, {counted(single, 'other rater')} "
            "one each. To compare groups of raters, mend or empty the cells that are wrong; to compare conditions "
            "within raters, leave out those with one value"
        )


def _comparable(c: Comparisons, value: Array) -> tuple[Comparisons, Array]:
    """Return the answers of known raters and groups, about the items that all groups judged.

    Were others left in, each group would be better at its own items, and differ for that alone. Without them another
    item may lose its last comparison in a group, or a rater all of a condition, so this goes on until nothing changes.
    """
    while True:
        compares = np.bincount(c.answer, minlength=c.n_answers) > 0
        known = compares & (c.answers.rater.codes >= 0)
        known &= np.array([one is not None for one in value.tolist()], bool)
        c, value = _some(c, value, known)
        found = len(set(value.tolist()))
        if not 2 <= found <= MOST_GROUPS:
            raise ValueError(f"by: expected 2 to {MOST_GROUPS} groups, found {found}; cut many values into few classes")
        times = _times(c, value)
        if times.max() > 1:
            _refuse_no_conditions(value, times)
            c, value = _some(c, value, (times == 2)[c.answers.rater.codes])
        shared = _of_all_groups(c, value)
        kept = shared[c.quadruplets].all(1)
        if kept.all():
            return c, value
        if not kept.any():
            raise ValueError(
                f"by: the groups judged different items ({int(shared.sum())} in common, and no question about those "
                "alone): what they see cannot be compared"
            )
        c = c.rows(kept)


def _times(c: Comparisons, value: Array) -> Array:
    """Return under how many groups each rater answered."""
    rater, group = c.answers.rater.codes, pd.factorize(value)[0]
    known = (rater >= 0) & (group >= 0)
    distinct = np.unique(np.stack([rater[known], group[known]]), axis=1)
    return np.bincount(distinct[0], minlength=len(c.answers.rater.labels))


def _of_all_groups(c: Comparisons, value: Array) -> Bools:
    """Return which items stand in comparisons of every group."""
    judged = np.zeros((len(set(value.tolist())), c.n_items), bool)
    code = np.unique(value.astype(str), return_inverse=True)[1]
    judged[code[c.answer][:, None], c.quadruplets] = True
    return np.asarray(judged.all(0))


def _values(c: Comparisons, by: str | Mapping[str, Any]) -> Array:
    """Return the group of each answer as a word, None where there is none."""
    if not isinstance(by, str):
        given = {str(rater): _word(group) for rater, group in by.items()}
        return np.array([given.get(rater) for rater in c.answers.rater.values], object)
    if by not in c.answers.extra:
        known = (
            f"expected one of {', '.join(c.answers.extra)}" if c.answers.extra else "there is none beside the answers"
        )
        found = f"{by!r} says who answered" if by == "rater" else f"there is no column {by!r}"
        raise ValueError(f"by: {found}, and a column is needed that several raters share; {known}")
    column = c.answers.extra[by]
    if column.dtype.kind == "f":
        return np.array([_word(cell) for cell in column.tolist()], object)
    return np.array([None if cell == BEFORE_CONDITIONS else cell for cell in column.tolist()], object)


def _word(group: Any) -> str | None:
    """Return a group as a word, whole numbers without a point; None where there is none."""
    if pd.isna(group):
        return None
    whole = isinstance(group, Real) and float(group).is_integer() and not isinstance(group, bool | np.bool_)
    return str(int(group)) if whole else str(group)


def _some(c: Comparisons, value: Array, kept: Bools) -> tuple[Comparisons, Array]:
    return (c, value) if kept.all() else (c.select(kept), value[kept])


def _between(c: Comparisons, value: Array) -> Grouped:
    names, code = np.unique(value.astype(str), return_inverse=True)
    group = np.empty(len(c.answers.rater.labels), np.int64)
    group[c.answers.rater.codes] = code
    return Grouped(c, tuple(names.tolist()), np.array(c.answers.rater.codes), group, Between(group))


def _refuse_no_conditions(value: Array, times: Array) -> None:
    if len(set(value.tolist())) > 2:
        raise ValueError(f"by: expected two conditions within raters, found {len(set(value.tolist()))}")
    if not (times == 2).any():
        raise ValueError("by: too few raters to tell: nobody answered under both conditions")


def _within(c: Comparisons, value: Array) -> Grouped:
    names, code = np.unique(value.astype(str), return_inverse=True)
    raters = len(c.answers.rater.labels)
    unit = 2 * c.answers.rater.codes + code
    return Grouped(c, tuple(names.tolist()), unit, np.tile([0, 1], raters), Within(raters))


def attribute_columns(c: Comparisons) -> list[str]:
    """Return the columns by which groups of raters, or conditions within them, can be compared; a design's first.

    The column that tells sheets apart repeats the one of blocks, and which model chose a question is no condition.
    """
    found = []
    names = (name for name in c.answers.extra if name != SHEET and not describes_choice(c, name))
    for name in sorted(names, key=lambda name: name not in COLUMNS):
        try:
            grouped(c, name)
        except ValueError:
            continue
        found.append(name)
    return found

"""Leaving raters, items or answers out, which is not cleaning: nothing is taken for what it says."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from similitude.display.words import listed
from similitude.feedback.answers import Answers
from similitude.feedback.columns import Rows
from similitude.feedback.comparisons import Comparisons, Removed
from similitude.types import Array, Bools, Ints

_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<=": operator.le, ">=": operator.ge, "=": operator.eq, "<": operator.lt,
    ">": operator.gt,
}  # fmt: skip
_SIGN_AND_VALUE = re.compile(r"\s*(?P<sign>==|!=|<=|>=|=|<|>)\s*(?P<value>.+?)\s*")
_JOINED = re.compile(r"\s(and|or|&+|\|+)\s")
_CONDITION = re.compile(rf"""\s*(?P<column>`[^`]+`|"[^"]+"|'[^']+'|.+?){_SIGN_AND_VALUE.pattern}""")
_MILLISECONDS = "time_ms"


def leave_out(
    comparisons: Comparisons,
    *,
    raters: Sequence[str] = (),
    items: Sequence[str | int] = (),
    only_items: Sequence[str | int] | None = None,
    where: str | Sequence[str] = (),
) -> Comparisons:
    """Return the feedback without some raters, without some items, or with certain answers alone.

    Parameters
    ----------
    comparisons : the feedback
    raters : names of the raters to leave out
    items : items to leave out, by name or position: they are gone from the feedback, and so from a map of it. An answer
        that compares other items too keeps what it says about those. Items without names are called by their old
        positions from then on.
    only_items : the items to keep; all others are left out
    where : conditions on columns, all of which the answers that are kept fulfil: `"age > 30"`, `"Group = designers"`.
        Columns are those of the file, by its own names (`"RT (ms) > 300"`), and `rater`, `form`, `strategy`, `time`
        (in seconds), which go before a column that a file calls so; a cell that is empty fulfils none.

    Returns
    -------
    Comparisons
        `removed` says what was left out. The answers that stay are as they were given, so a score on them is honest.

    Examples
    --------
    >>> import similitude as sm
    >>> rows = [("cat", "dog", "car"), ("bus", "car", "dog"), ("cat", "bus", "dog")]
    >>> c = sm.Comparisons.from_triplets(rows, rater=["ann", "ben", "cem"], extra={"age": [25, 40, 41]})
    >>> sm.leave_out(c, where="age > 30").answers.rater.labels
    ('ben', 'cem')
    >>> sm.leave_out(c, items=["bus"]).names
    ('car', 'cat', 'dog')
    """
    c = comparisons
    if raters:
        c = _without_answers(
            c, _of_raters(c.answers, raters), "raters", f"answers of {listed(map(str, raters), len(raters))}"
        )
    for condition in [where] if isinstance(where, str) else where:
        c = _without_answers(c, ~fulfilled(c.answers, condition), "where", f"answers that are not {condition.strip()}")
    gone = {c.index(item) for item in items}
    if only_items is not None:
        gone |= set(range(c.n_items)) - {c.index(item) for item in only_items}
    return _without_items(c, np.array(sorted(gone), np.int64)) if gone else c


def drop_raters(comparisons: Comparisons, raters: Sequence[str]) -> Comparisons:
    """Return the feedback without the answers of some raters, given by name.

    Parameters
    ----------
    comparisons : the feedback
    raters : the names of those to leave out

    Examples
    --------
    >>> import similitude as sm
    >>> c = sm.Comparisons.from_triplets([(0, 1, 2), (0, 2, 1)], rater=["ann", "ben"])
    >>> sm.drop_raters(c, ["ben"]).triplets.tolist()
    [[0, 1, 2]]
    """
    return leave_out(comparisons, raters=raters)


def fulfilled(answers: Answers, condition: str) -> Bools:
    """Return which answers fulfil a condition on a column, such as `age > 30`."""
    condition, columns = _by_role(condition, answers), _columns(answers)
    name, sign, said = _parts(condition, columns)
    column, value = _column(columns, name), said
    if _JOINED.search(value) and value not in column.astype(str):
        raise ValueError(f"where: {condition!r} joins conditions; give where= again for each: all must be fulfilled")
    if column.dtype.kind in "iuf":
        with np.errstate(invalid="ignore"):
            return np.asarray(_SIGNS[sign](column, _number(value, name)) & np.isfinite(column), bool)
    if sign not in ("=", "==", "!="):
        raise ValueError(f"where: the column {name!r} holds words; expected = or !=, found {sign}")
    known = np.array([cell is not None for cell in column.tolist()], bool)
    return known & np.asarray(_SIGNS[sign](column.astype(str), value), bool)


def _by_role(condition: str, answers: Answers) -> str:
    """Return a condition on a column as the file calls it (`RT (s) < 1`) as one on that of the answers.

    A number for a column of milliseconds is one of milliseconds.
    """
    columns, called = _columns(answers), answers.called
    name, sign, value = _parts(condition, [*columns, *called.values()])
    role = next((role for role, column in called.items() if _same(column, name)), None)
    if role is None or any(_same(name, one) for one in answers.extra):
        return condition
    if role == _MILLISECONDS:
        return f"time {sign} {_number(value, name) / 1000:g}"
    if role not in columns:
        raise ValueError(f"where: {name!r} holds what was asked or answered; to keep certain items, give only_items=")
    return f"{role} {sign} {value}"


def _parts(condition: str, columns: Iterable[str]) -> tuple[str, str, str]:
    """The column, sign and value of a condition; a column that is there may have signs in its name."""
    for name in sorted(columns, key=lambda one: (len(one), condition.strip().startswith(one)), reverse=True):
        rest = condition.strip()[len(name) :]
        if _same(condition.strip()[: len(name)], name) and (found := _SIGN_AND_VALUE.fullmatch(rest)):
            return name, found["sign"], found["value"].strip("\"'")
    parts = _CONDITION.fullmatch(condition)
    if parts is None:
        raise ValueError(
            f"where: {condition!r} is no condition; expected a column, one of {', '.join(_SIGNS)}, and a value"
        )
    return parts["column"].strip("\"'`"), parts["sign"], parts["value"].strip("\"'")


def _same(one: str, other: str) -> bool:
    return one.strip().lower() == other.strip().lower()


def _columns(answers: Answers) -> dict[str, Any]:
    """The columns by which answers can be kept."""
    columns: dict[str, Any] = {"rater": answers.rater.values, "form": answers.form.values}
    columns |= {"strategy": answers.strategy.values} | ({} if answers.time is None else {"time": answers.time})
    return dict(answers.extra) | columns  # who answered is `rater`, whatever other column the file calls so


def _column(columns: Mapping[str, Any], name: str) -> Array:
    """Return a column by its name, in capital letters or not."""
    found = [one for one in columns if one == name] or [one for one in columns if _same(one, name)]
    if len(found) != 1:
        raise ValueError(f"where: there is no column {name!r}; the columns are {', '.join(columns)}")
    return np.asarray(columns[found[0]])


def _number(text: str, column: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"where: the column {column!r} holds numbers; expected a number, found {text!r}") from None


def _of_raters(answers: Answers, raters: Iterable[str]) -> Bools:
    labels = answers.rater.labels
    unknown = [name for name in map(str, raters) if name not in labels]
    if unknown:
        raise ValueError(f"raters: {unknown[0]!r} is not among the {len(labels)} raters of the feedback")
    return np.isin(answers.rater.codes, [labels.index(name) for name in map(str, raters)])


def _without_answers(c: Comparisons, gone: Bools, step: str, why: str) -> Comparisons:
    if gone.all():
        raise ValueError(f"{step}: nothing would be left, since all {c.n_answers:,} are {why}")
    lost = c.rows(gone[c.answer])
    record = Removed(step, why, lost, float(lost.weight.sum()), cleans=False)
    return replace(c.select(~gone), removed=(*c.removed, record))


def _without_items(c: Comparisons, gone: Ints) -> Comparisons:
    """Without comparisons that have one of these items, and without answers that say nothing else."""
    why = f"comparisons with {listed((c.label(int(item)) for item in gone), len(gone))}"
    kept = ~np.isin(c.quadruplets, gone).any(1)
    if not kept.any():
        raise ValueError(f"items: nothing would be left, since all {len(c):,} are {why}")
    lost = c.rows(~kept)
    touched = np.zeros(c.n_answers, bool)
    touched[c.answers.shown.owner[np.isin(c.answers.shown.values, gone)]] = True
    stays = ~touched
    stays[c.answer[kept]] = True
    part = c.rows(kept).select(stays)
    table = np.full(c.n_items, -1, np.int32)
    rest = np.setdiff1d(np.arange(c.n_items), gone)
    table[rest] = np.arange(len(rest), dtype=np.int32)
    near, far = table[part.near], table[part.far]
    answers = _renumbered(replace(part, near=near, far=far), table, touched[stays])
    record = Removed("items", why, lost, float(lost.weight.sum()), cleans=False)
    names = tuple(c.label(item) for item in rest.tolist())  # positions move up: the old ones are names from here on
    return replace(
        part, near=near, far=far, answers=answers, n_items=len(rest), names=names, removed=(*c.removed, record)
    )


def _renumbered(part: Comparisons, table: Ints, touched: Bools) -> Answers:
    """Answers over the items that are left; what had one of the others is said again, as comparisons of two pairs."""
    answers = part.answers
    if not touched.any():
        return answers.renumber(table)
    shown, response = ([rows[k] for k in range(len(answers))] for rows in (answers.shown, answers.response))
    form = answers.form.values
    for k in range(len(answers)):
        shown[k] = table[shown[k]]
    order = np.argsort(part.answer, kind="stable")
    said = np.split(part.quadruplets[order], np.cumsum(np.bincount(part.answer, minlength=len(answers)))[:-1])
    for k in np.flatnonzero(touched).tolist():
        shown[k], response[k], form[k] = said[k].ravel(), np.zeros(len(said[k])), "quadruplet"
    whole = Answers.of(form, Rows.of(shown, np.int32), Rows.of(response), rater=None)
    return replace(answers, form=whole.form, shown=whole.shown, response=whole.response)

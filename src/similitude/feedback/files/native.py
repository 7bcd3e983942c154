"""The layouts that similitude writes.

Answers: one row per answer (form, rater, shown, response, time, side, strategy, weight); the comparisons are
derived again on reading. Comparisons: one row per comparison (near_a, near_b, far_a, far_b, weight, answer),
used where they are not just what the answers imply (cleaned, sampled, weighted by themselves); the first
row of each answer says what was answered, and an answer without a comparison has a row of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from similitude.feedback.answers import Answers
from similitude.feedback.columns import Rows, is_none
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.extra import as_cells
from similitude.feedback.files import cells, removal
from similitude.feedback.files.cells import ItemRule
from similitude.feedback.files.implied import is_implied
from similitude.feedback.files.tables import Header, Table
from similitude.feedback.forms import find
from similitude.feedback.items import encode_items
from similitude.types import Array, Floats, Ints

FORMAT = 1
PAIR_COLUMNS = ("near_a", "near_b", "far_a", "far_b")
_ABOUT = ("rater", "strategy", "time", "side")
_OURS = (*PAIR_COLUMNS, *_ABOUT, "form", "shown", "response", "weight", "answer", "format", "items")


def to_columns(comparisons: Comparisons) -> tuple[dict[str, list[Any]], Header]:
    """Return feedback as columns to write, and what there is to say about the file."""
    names = comparisons.names
    header = {"format": FORMAT, "items": comparisons.n_items if names is None else list(names)}
    about = _answer_columns(comparisons) | removal.column(comparisons)
    weight = _weight_per_answer(comparisons)
    if weight is None or not is_implied(comparisons):
        return _comparison_columns(comparisons, about), header
    if (weight != 1).any():
        about["weight"] = weight.tolist()
    return about, header


def _answer_columns(comparisons: Comparisons) -> dict[str, list[Any]]:
    answers = comparisons.answers
    columns: dict[str, list[Any]] = {"form": answers.form.values.tolist()}
    if answers.rater.recorded:
        columns["rater"] = answers.rater.values.tolist()
    columns["shown"] = _lists(answers.shown, _called(comparisons, answers.shown.values))
    columns["response"] = _lists(answers.response, _or_none(answers.response.values))
    if answers.time is not None:
        columns["time"] = _or_none(answers.time)
    if answers.side is not None:
        columns["side"] = answers.side.tolist()
    if answers.strategy.recorded:
        columns["strategy"] = answers.strategy.values.tolist()
    return columns | {_free(name): as_cells(column).tolist() for name, column in answers.extra.items()}


def _free(name: str) -> str:
    """A name for another column that is none of ours."""
    return f"{name}_" if name.strip().lower() in _OURS else name


def _comparison_columns(comparisons: Comparisons, about: dict[str, list[Any]]) -> dict[str, list[Any]]:
    silent = np.setdiff1d(np.arange(comparisons.n_answers), comparisons.answer)
    answer = np.concatenate([comparisons.answer, silent])
    gap: list[Any] = [None] * len(silent)
    pairs = zip(PAIR_COLUMNS, comparisons.quadruplets.T, strict=True)
    columns = {name: _called(comparisons, codes) + gap for name, codes in pairs}
    columns |= {"weight": comparisons.weight.tolist() + gap, "answer": answer.tolist()}
    first = np.zeros(len(answer), bool)
    first[np.unique(answer, return_index=True)[1]] = True
    for name, column in about.items():
        columns[name] = [column[k] if new else None for k, new in zip(answer.tolist(), first.tolist(), strict=True)]
    return columns


def _weight_per_answer(comparisons: Comparisons) -> Floats | None:
    """One weight per answer (1 where it has no comparison), or None where weights differ within an answer."""
    weight = np.ones(comparisons.n_answers)
    weight[comparisons.answer] = comparisons.weight
    return weight if np.array_equal(weight[comparisons.answer], comparisons.weight) else None


def _called(comparisons: Comparisons, codes: Array) -> list[Any]:
    names = comparisons.names
    return codes.tolist() if names is None else [names[code] for code in codes.tolist()]


def _or_none(values: Array) -> list[Any]:
    return [None if value != value else value for value in values.tolist()]


def _lists(rows: Rows, values: list[Any]) -> list[list[Any]]:
    ends = np.cumsum(rows.lengths).tolist()
    return [values[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]


def item_rule(table: Table, rule: ItemRule) -> ItemRule:
    """Return how to read the items of a file that may say so itself; a newer format is refused."""
    if table.header is None:
        return rule
    version = table.header["format"]
    if not isinstance(version, (int, float)) or version > FORMAT:
        raise ValueError(f"format: the file has format {version!r}, this similitude reads up to {FORMAT}; update it")
    if rule.called is not None:  # the caller says what the items of the file are called
        return rule
    items = table.header["items"]
    if isinstance(items, list):
        return replace(rule, names=items, n_items=None, labels=True)
    return replace(rule, names=None, n_items=items, labels=False, from_zero=True)


def read_answers(table: Table, rule: ItemRule, form: str | None = None) -> Comparisons:
    """Read one row per answer, or per piece of one."""
    weight = cells.numbers(table, "weight") if "weight" in table.columns else None
    answers, names, n_items = _answers(table, rule, form)
    filled = None if weight is None else np.where(np.isnan(weight), 1.0, weight)
    return Comparisons.from_answers(answers, names=names, n_items=n_items, weight=filled)


def _answers(table: Table, rule: ItemRule, form: str | None) -> tuple[Answers, Sequence[str] | None, int]:
    shown, lengths = cells.flat(cells.lists(table, "shown"))
    items, names = rule.read(shown, typed=True)
    codes, known, n_items = encode_items(items, names, rule.n_items)
    forms = _forms(cells.full(table, "form"), form) if "form" in table.columns else _given(form)
    rows = Rows.ragged(codes, lengths)
    said = cells.lists(table, "response", cells.one_word)
    if str in set(map(type, chain.from_iterable(said))):
        labels = [str(code) if known is None else known[code] for code in codes.tolist()]
        said = _as_numbers(said, _lists(rows, labels), np.broadcast_to(np.asarray(forms, object), len(table)))
    return Answers.of(forms, rows, cells.number_rows(said, "response"), **_about(table)), known, n_items


def _as_numbers(said: list[list[Any]], shown: list[list[str]], forms: Array) -> list[list[Any]]:
    """Return responses in which words, as people write them into a table, are the numbers that their form has."""
    found = []
    for row, (values, items, form) in enumerate(zip(said, shown, forms.tolist(), strict=True)):
        try:
            found.append(find(form).codes_of(values, items))
        except ValueError as error:
            raise ValueError(f"row {row + 1} of 'response': {error}") from None
    return found


def _forms(said: Array, form: str | None) -> Array:
    """The forms that a file says; another one that the caller gives is refused."""
    own = list(dict.fromkeys(map(str, said.tolist())))
    if form is not None and own != [find(form).name]:
        raise ValueError(f"form: the file says in its column 'form' that it is {', '.join(own)}, found form={form!r}")
    return said


def _given(form: str | None) -> str:
    if form is None:
        raise ValueError("form: the file has no column 'form'; give form=, the form of all its questions")
    return form


def _about(table: Table) -> dict[str, Any]:
    """Return who answered and how, where the file says."""
    about: dict[str, Any] = {
        name: cells.one_each(table, name) for name in ("rater", "strategy") if name in table.columns
    }
    if "time" in table.columns:
        about["time"] = cells.numbers(table, "time")
    if "side" in table.columns:
        about["side"] = np.nan_to_num(cells.numbers(table, "side"), nan=-1)
    return about | {"extra": table.extra(_OURS)}


def read_pairs(table: Table, rule: ItemRule, form: str | None = None) -> Comparisons:
    """Read one row per comparison, with or without what was answered."""
    ids = cells.full(table, "answer") if "answer" in table.columns else np.arange(len(table)).astype(object)
    answer, order = _answer_codes(ids, table.header is not None)
    said = np.flatnonzero(~is_none(table.columns["near_a"]))
    pairs = cells.matrix(table.take(said), PAIR_COLUMNS)
    about = {
        name: _one_each(column, answer, len(order), name, order)
        if name in _OURS
        else _shared(column, answer, len(order))
        for name, column in table.columns.items()
        if name not in (*PAIR_COLUMNS, "weight", "answer")
    }
    if "shown" in about:
        answers, names, n_items = _answers(replace(table, columns=about, header=None), rule, form)
        items, _ = rule.read(pairs, table.typed)
        codes, _, _ = encode_items(items, names, n_items if names is None else None)
    else:
        items, names = rule.read(pairs, table.typed)
        codes, names, n_items = encode_items(items, names, rule.n_items)
        answers = _as_quadruplets(codes, answer[said], len(order), replace(table, columns=about))
    edges = codes[:, :2], codes[:, 2:], answer[said]
    found = Comparisons.from_answers(answers, names=names, n_items=n_items, edges=edges)
    if "weight" not in table.columns:
        return found
    return found.reweight(cells.numbers(table.take(said), "weight"))


def _answer_codes(ids: Array, numbered: bool) -> tuple[Ints, list[Any]]:
    """Number the answers as they come; in a file of ours (`numbered`) the ids are their numbers."""
    distinct = list(dict.fromkeys(ids.tolist()))
    if numbered:
        distinct.sort(key=int)
    position = {value: k for k, value in enumerate(distinct)}
    return np.array([position[value] for value in ids.tolist()], np.int32), distinct


def _one_each(column: Array, answer: Ints, n_answers: int, name: str, ids: list[Any]) -> Array:
    """Return the one value that the rows of each answer give; two different values are an error."""
    found = np.full(n_answers, None, object)
    for value, k in zip(column.tolist(), answer.tolist(), strict=True):
        if value is None:
            continue
        if found[k] is not None and found[k] != value:
            raise ValueError(
                f"{name}: answer {ids[k]!r} has two values ({found[k]!r} and {value!r}); "
                f"an answer has one {name}, so give the answers ids of their own"
            )
        found[k] = value
    return found


def _shared(column: Array, answer: Ints, n_answers: int) -> Array:
    """Return the value that the rows of each answer share (empty cells aside), None where they differ."""
    values: list[set[Any]] = [set() for _ in range(n_answers)]
    for value, k in zip(column.tolist(), answer.tolist(), strict=True):
        if value is not None:
            values[k].add(str(value) if isinstance(value, (list, dict)) else value)
    return np.array([next(iter(said)) if len(said) == 1 else None for said in values], object)


def _as_quadruplets(codes: Ints, answer: Ints, n_answers: int, about: Table) -> Answers:
    order = np.argsort(answer, kind="stable")
    count = np.bincount(answer, minlength=n_answers)
    shown = Rows.ragged(codes[order].ravel(), 4 * count)
    response = Rows.ragged(np.zeros(len(codes), np.int8), count)
    return Answers.of("quadruplet", shown, response, **_about(about))

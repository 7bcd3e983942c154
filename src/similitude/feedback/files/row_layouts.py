"""Readers of tables in which a row is a question with its answer, or one of the items of a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from similitude.feedback.columns import is_none
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.files import cells, native
from similitude.feedback.files.about import RESPONSES, about, column_of, extra
from similitude.feedback.files.column_map import plain
from similitude.feedback.files.options import Options
from similitude.feedback.files.tables import Table
from similitude.feedback.forms.base import Form
from similitude.feedback.picks import NotShown, positions
from similitude.types import Array

_ABOUT = ("rater", "time", "strategy", "side", "weight")
_YES = {
    "true": True, "1": True, "1.0": True, "yes": True, "x": True,
    "false": False, "0": False, "0.0": False, "-1": False, "-1.0": False, "no": False,
}  # fmt: skip


def answers(table: Table, _: Sequence[str], options: Options) -> Comparisons:
    """Read one row per answer, as similitude writes them, or as a person filled them in."""
    blank = is_none(table.columns["response"])
    if blank.any() and "outcome" not in table.columns:  # a study says of each whether it was answered
        options.note(
            f"{int(blank.sum()):,} of {len(table):,} rows have an empty 'response', which is \"can't tell\"; leave out "
            "the rows of questions that nobody has answered yet"
        )
    return native.read_answers(table, native.item_rule(table, options.items), options.form)


def pairs(table: Table, _: Sequence[str], options: Options) -> Comparisons:
    """Read one row per comparison, as similitude writes them."""
    return native.read_pairs(table, native.item_rule(table, options.items), options.form)


def items(form: Form, said: int, table: Table, columns: Sequence[str], options: Options) -> Comparisons:
    """Read an answer a row, whose items stand in the order that says `said`; of some forms, several rows an answer."""
    table = _without_blank(table, columns[form.arrangement.head :], options)
    table, kept, shown = _rows(form, table, columns, options)
    if form.repeats:
        return Comparisons.from_judged(form.name, shown, **about(table, columns, "answer"), **kept)
    return Comparisons.from_picked(form.name, shown, np.full(len(shown), said), **kept)


def judged(form: Form, table: Table, columns: Sequence[str], options: Options) -> Comparisons:
    """Read items whose order holds, or does not, as a response says."""
    column = next((name for name in RESPONSES if name in table.columns), None)
    used = [*columns, *([] if column is None else [column])]
    table, kept, shown = _rows(form, table, columns, options, used)
    return Comparisons.from_judged(form.name, shown, None if column is None else _flags(table, column), **kept)


def scale(form: Form, table: Table, columns: Sequence[str], options: Options) -> Comparisons:
    """Read MLDS: `resp` is 1 where the second pair seems to differ more; S1, S2, S3 is S1, S2 against S2, S3."""
    order = columns[1:] if len(columns) == 5 else [columns[1], columns[2], columns[2], columns[3]]
    named = replace(options, items=replace(options.items, labels=True))
    table, kept, shown = _rows(form, table, order, named, columns)
    return Comparisons.from_judged(form.name, shown, _flags(table, columns[0]), **kept)


def named(form: Form, table: Table, columns: Sequence[str], options: Options) -> Comparisons:
    """Read the items shown, and which of them was picked: by name, by place or by position; blank is "can't tell"."""
    *shown, pick = columns
    table = _without_blank(table, shown, options)
    table, values = _proper(form, table, shown, options)
    first = int(form.arrangement.head)
    called = [table.called.get(name, name) for name in shown[first:]]
    try:
        picked, how = positions(values, table.columns[pick], first, [called, [plain(name) for name in called]])
    except NotShown as error:
        raise ValueError(f"{_named(table, pick)}: {error}") from None
    if how != "by name":
        options.note(f"{table.called.get(pick, pick)!r} says {how} which item was picked")
    found, names = options.items.read(values, table.typed)
    kept = about(table, columns, *_ABOUT) | extra(table, columns, *_ABOUT)
    return Comparisons.from_picked(form.name, found, picked, **kept, names=names, n_items=options.items.n_items)


def _named(table: Table, column: str) -> str:
    return f"column {table.called.get(column, column)!r}"


def one_item_each(form: Form, table: Table, columns: Sequence[str], options: Options) -> Comparisons:
    """Read one row per item of a question: rows of one rater and trial belong together, one or more are picked."""
    trial, *head, item, flag = columns
    rater = column_of(table, columns, "rater")
    keys = [table.columns[name] for name in (rater, trial) if name is not None]
    order, starts = _together(keys)
    table = table.take(order)
    values, names = options.items.read(cells.full(table, item), table.typed)
    picked = np.array([value is True for value in _flags(table, flag)], bool)
    first = table.take(starts)
    kept = about(first, columns, *_ABOUT) | extra(first, columns, *_ABOUT)
    kept |= {"names": names, "n_items": options.items.n_items}
    shown, said = np.split(values, starts[1:]), np.split(picked, starts[1:])
    if head:
        heads = options.items.read(cells.full(first, head[0]), table.typed)[0]
        chosen = [one[yes].tolist() for one, yes in zip(shown, said, strict=True)]
        names = None if names is None else sorted({*names, *heads.tolist()})
        return Comparisons.from_choices([one.tolist() for one in shown], chosen, heads, **kept | {"names": names})
    wrong = next((k for k, one in enumerate(shown) if len(one) != form.n_shown or said[k].sum() > 1), None)
    if wrong is not None:
        raise ValueError(
            f"{_named(first, trial)}: {first.columns[trial][wrong]!r} has {len(shown[wrong])} items of which "
            f"{said[wrong].sum()} are marked; expected {form.n_shown} and one mark"
        )
    where = [float(np.flatnonzero(yes)[0]) if yes.any() else np.nan for yes in said]
    return Comparisons.from_picked(form.name, np.stack(shown), where, **kept)


def _together(keys: Sequence[Array]) -> tuple[Array, Array]:
    """Rows in the order of their groups, as these come, and where each group starts."""
    import pandas as pd

    together = ["\t".join(map(str, row)) for row in zip(*(key.tolist() for key in keys), strict=True)]
    group = pd.factorize(np.array(together, object))[0]
    order = np.argsort(group, kind="stable")
    return order, np.flatnonzero(np.concatenate([[True], np.diff(group[order]) > 0]))


def choices(table: Table, columns: Sequence[str], options: Options) -> Comparisons:
    """Read a head, those of a grid that were chosen, and the others, as lists."""
    head = [[cell] for cell in cells.full(table, columns[0])]
    chosen, left = (cells.lists(table, column, cells.words) for column in columns[1:])
    rows = [[*first, *near, *far] for first, near, far in zip(head, chosen, left, strict=True)]
    values, lengths = cells.flat(rows)
    found, names = options.items.read(values, table.typed and not isinstance(table.columns[columns[1]][0], str))
    shown = [row.tolist() for row in np.split(found, np.cumsum(lengths)[:-1])]
    picked = [row[1 : 1 + len(near)] for row, near in zip(shown, chosen, strict=True)]
    kept = about(table, columns, *_ABOUT) | extra(table, columns, *_ABOUT)
    return Comparisons.from_choices(shown, picked, names=names, n_items=options.items.n_items, **kept)


def _rows(
    form: Form, table: Table, columns: Sequence[str], options: Options, used: Sequence[str] | None = None
) -> tuple[Table, dict[str, Any], Array]:
    """Read rows of items: the table without degenerate rows, what is about the answers, the items."""
    table, values = _proper(form, table, columns, options)
    values, names = options.items.read(values, table.typed)
    known = used or columns
    roles = (*_ABOUT, "answer") if form.repeats and used is None else _ABOUT
    kept = about(table, known, *_ABOUT) | extra(table, known, *roles)
    return table, kept | {"names": names, "n_items": options.items.n_items}, values


def _without_blank(table: Table, columns: Sequence[str], options: Options) -> Table:
    """Leave out rows in which nothing at all stands where the items should."""
    blank = np.logical_and.reduce([is_none(table.columns[column]) for column in columns])
    if not blank.any():
        return table
    if blank.all():
        raise ValueError(f"every row is blank in {', '.join(table.called.get(name, name) for name in columns)}")
    options.note(f"{int(blank.sum()):,} of {len(table):,} rows hold no items and are left out")
    return table.take(np.flatnonzero(~blank))


def _proper(form: Form, table: Table, columns: Sequence[str], options: Options) -> tuple[Table, Array]:
    """Return the items of questions that compare no item with itself, and the table of these questions."""
    values = cells.matrix(table, columns)
    twice = form.is_degenerate(options.items.told_apart(values))
    if not twice.any():
        return table, values
    if options.drop_degenerate:
        options.note(f"{int(twice.sum()):,} of {len(table):,} rows compare an item with itself and are left out")
        return table.take(np.flatnonzero(~twice)), values[~twice]
    row = int(np.flatnonzero(twice)[0])
    raise ValueError(
        f"row {row + 1} compares an item with itself ({', '.join(map(str, values[row]))}); {int(twice.sum()):,} such "
        f"in all, of {len(table):,} rows: if the columns are right, give drop_degenerate=True to leave them out"
    )


def _flags(table: Table, column: str) -> Array:
    """Return responses: 1 holds as written, 0 and -1 the other way round, an empty cell is "can't tell"."""
    found = []
    for row, cell in enumerate(table.columns[column].tolist()):
        if cell is not None and str(cell).strip().lower() not in _YES:
            called = table.called.get(column, column)
            raise ValueError(f"row {row + 1} of {called!r}: expected True/False, 1/0 or 1/-1, found {cell!r}")
        found.append(None if cell is None else _YES[str(cell).strip().lower()])
    return np.array(found, object)

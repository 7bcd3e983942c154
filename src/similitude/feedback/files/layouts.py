"""Layouts of other tools, recognised by their columns: which columns hold a form, the form says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np

from similitude.feedback.comparisons import Comparisons
from similitude.feedback.files import cells, native, removal
from similitude.feedback.files.cells import ItemRule
from similitude.feedback.files.tables import Table
from similitude.feedback.forms import FORMS
from similitude.feedback.forms.base import FileColumns, Form
from similitude.types import Array, Seed


@dataclass(frozen=True)
class Options:
    """What the caller of `read_comparisons` asked for."""

    form: str | None = None
    items: ItemRule = field(default_factory=ItemRule)
    larger: Literal["similar", "different"] | None = None
    missing: float | None = None
    max_per_rater: int | None = None
    random_state: Seed = None
    drop_degenerate: bool = False
    keep_catch: bool = False


Reader = Callable[[Table, Sequence[str], Options], Comparisons]


@dataclass(frozen=True)
class Layout:
    """Columns that make a file readable: its forms (none: any), each column's names, how to read them."""

    forms: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    read: Reader

    def find(self, present: Sequence[str]) -> list[str] | None:
        """Return the file's columns in the layout's order, or None where one is not there."""
        found = [next((name for name in names if name in present), None) for names in self.columns]
        return None if None in found else [name for name in found if name is not None]

    def check(self, form: str | None) -> None:
        """Refuse a form that the columns do not hold."""
        if form is not None and self.forms and form not in self.forms:
            raise ValueError(f"form: the columns {self} hold {' or '.join(self.forms)}, found form={form!r}")

    def __str__(self) -> str:
        return ",".join(names[0] for names in self.columns)


_ALIASES = {
    "rater": ("rater", "puid", "participant", "participant_id", "worker", "worker_id", "subject", "obs"),
    "time": ("time", "response_time", "response_time_s", "time_s", "time_ms"),
    "strategy": ("strategy", "alg", "sampler"),
    "answer": ("answer", "screen"),
    "side": ("side",),
    "weight": ("weight",),
}

_RESPONSES = ("response", "responses", "y")
_SILENT = ("skipped", "not_shown")  # outcomes of a study's questions that are no answers


def read_table(table: Table, options: Options) -> Comparisons:
    """Read a table by the first layout that its columns fit."""
    plain, marks = removal.taken(_plain_columns(table))
    if len(plain) == 0:
        raise ValueError("the file has a header and no rows; expected at least one answer")
    known = layouts()
    for layout in known:
        columns = layout.find(list(plain.columns))
        if columns is not None:
            layout.check(options.form)
            return removal.marked(
                layout.read(_without_silence(_without_catch(plain, options)), columns, options), marks
            )
    raise ValueError(f"columns: {', '.join(table.columns)} fit no layout; the layouts are {'; '.join(map(str, known))}")


def _plain_columns(table: Table) -> Table:
    columns = {name.strip().lower(): column for name, column in table.columns.items()}
    if len(columns) < len(table.columns):
        raise ValueError(f"two columns have the same name ({', '.join(table.columns)}); rename one")
    return Table(columns, table.header, table.typed, {name.strip().lower(): name for name in table.columns})


def _without_catch(table: Table, options: Options) -> Table:
    if "is_catchtrial" not in table.columns or options.keep_catch:
        return table
    catch = np.array([str(cell).lower() in ("1", "1.0", "true") for cell in table.columns["is_catchtrial"]], bool)
    return table.take(np.flatnonzero(~catch))


def _without_silence(table: Table) -> Table:
    """Without the rows of a study's export that nobody said anything to: skipped is not "can't tell"."""
    if not {"form", "shown", "outcome"} <= set(table.columns):
        return table
    said = np.array([cell not in _SILENT for cell in table.columns["outcome"]], bool)
    if not said.any():
        raise ValueError("every question was skipped or could not be shown; expected at least one answer")
    return table if said.all() else table.take(np.flatnonzero(said))


def about(table: Table, used: Sequence[str], *wanted: str) -> dict[str, Any]:
    """Return the columns about answers that the file has under one of their names."""
    found: dict[str, Any] = {}
    for name in wanted:
        column = next((alias for alias in _ALIASES[name] if alias in table.columns and alias not in used), None)
        if column is None:
            continue
        if name in ("time", "weight", "side"):
            values = cells.numbers(table, column)
            found[name] = values / 1000 if column == "time_ms" else values
        else:
            found[name] = table.columns[column]
    return found


def _extra(table: Table, used: Sequence[str]) -> dict[str, Any]:
    """Return the columns that are neither used nor about answers, as the argument `extra`."""
    aliases = [alias for names in _ALIASES.values() for alias in names]
    return {"extra": table.extra({*used, *aliases, *_RESPONSES})}


def _rows(
    form: Form, table: Table, columns: Sequence[str], options: Options, labels: bool = False
) -> tuple[Table, dict[str, Any], Array]:
    """Read rows of items: the table without degenerate rows, what is about the answers, the items."""
    table = _without_degenerate(form, table, columns, options)
    rule = ItemRule(options.items.names, options.items.n_items, labels or options.items.labels)
    items, names = rule.read(cells.matrix(table, columns), table.typed)
    kept = about(table, columns, "rater", "time", "strategy", "side", "weight") | _extra(table, columns)
    return table, kept | {"names": names, "n_items": rule.n_items}, items


def _without_degenerate(form: Form, table: Table, columns: Sequence[str], options: Options) -> Table:
    values = cells.matrix(table, columns)
    twice = form.is_degenerate(values)
    if not twice.any():
        return table
    if options.drop_degenerate:
        return table.take(np.flatnonzero(~twice))
    row = int(np.flatnonzero(twice)[0])
    raise ValueError(
        f"row {row + 1} compares an item with itself ({', '.join(map(str, values[row]))}); "
        f"{int(twice.sum())} such in all: give drop_degenerate=True to leave them out"
    )


def _answers(table: Table, _: Sequence[str], options: Options) -> Comparisons:
    return native.read_answers(table, native.item_rule(table, options.items), options.form)


def _pairs(table: Table, _: Sequence[str], options: Options) -> Comparisons:
    return native.read_pairs(table, native.item_rule(table, options.items), options.form)


def _items(form: Form, said: int, table: Table, columns: Sequence[str], options: Options) -> Comparisons:
    """Read an answer a row, whose items stand in the order that says `said`; of some forms, several rows an answer."""
    table, kept, items = _rows(form, table, columns, options)
    if form.repeats:
        return Comparisons.from_judged(form.name, items, **about(table, columns, "answer"), **kept)
    return Comparisons.from_picked(form.name, items, np.full(len(items), said), **kept)


def _judged(form: Form, table: Table, columns: Sequence[str], options: Options) -> Comparisons:
    """Read items whose order holds, or does not, as a response says."""
    table, kept, items = _rows(form, table, columns, options)
    return Comparisons.from_judged(form.name, items, _responses(table), **kept)


def _scale(form: Form, table: Table, columns: Sequence[str], options: Options) -> Comparisons:
    """Read MLDS: `resp` is 1 where the second pair seems to differ more; S1, S2, S3 is S1, S2 against S2, S3."""
    scale = columns[1:] if len(columns) == 5 else [columns[1], columns[2], columns[2], columns[3]]
    table, kept, items = _rows(form, table, scale, options, labels=True)
    return Comparisons.from_judged(form.name, items, _responses(table, columns[0]), **kept)


_YES = {
    "true": True,
    "1": True,
    "1.0": True,
    "false": False,
    "0": False,
    "0.0": False,
    "-1": False,
    "-1.0": False,
}


def _responses(table: Table, column: str | None = None) -> Array | None:
    """Return responses: 1 holds as written, 0 and -1 the other way round, an empty cell is "can't tell"."""
    name = column or next((name for name in _RESPONSES if name in table.columns), None)
    if name is None:
        return None
    found = []
    for row, cell in enumerate(table.columns[name]):
        if cell is not None and str(cell).lower() not in _YES:
            raise ValueError(f"row {row + 1} of {name!r}: expected True/False, 1/0 or 1/-1, found {cell!r}")
        found.append(None if cell is None else _YES[str(cell).lower()])
    return np.array(found, object)


def _ratings(table: Table, columns: Sequence[str], options: Options) -> Comparisons:
    if options.larger is None:
        raise ValueError(
            "larger: does a larger rating mean 'similar' or 'different'? The file does not say; give larger="
        )
    items, names = options.items.read(cells.matrix(table, columns[:2]), table.typed)
    return Comparisons.from_ratings(
        items,
        cells.numbers(table, columns[2]),
        larger=options.larger,
        missing=options.missing,
        max_per_rater=options.max_per_rater,
        random_state=options.random_state,
        names=names,
        n_items=options.items.n_items,
        **about(table, columns, "rater"),
        **_extra(table, columns),
    )


def _choices(table: Table, columns: Sequence[str], options: Options) -> Comparisons:
    head = [[cell] for cell in cells.full(table, columns[0])]
    chosen, left = (cells.lists(table, column, spaced=True) for column in columns[1:])
    rows = [[*first, *near, *far] for first, near, far in zip(head, chosen, left, strict=True)]
    values, lengths = cells.flat(rows)
    items, names = options.items.read(values, table.typed and not isinstance(table.columns[columns[1]][0], str))
    shown = [row.tolist() for row in np.split(items, np.cumsum(lengths)[:-1])]
    picked = [row[1 : 1 + len(near)] for row, near in zip(shown, chosen, strict=True)]
    kept = about(table, columns, "rater", "time", "strategy", "side", "weight") | _extra(table, columns)
    return Comparisons.from_choices(shown, picked, names=names, n_items=options.items.n_items, **kept)


def _placements(table: Table, columns: Sequence[str], options: Options) -> Comparisons:
    items, names = options.items.read(cells.full(table, columns[0]), table.typed)
    place = np.stack([cells.numbers(table, column) for column in columns[1:]], axis=1)
    sampled = {"max_per_rater": options.max_per_rater, "random_state": options.random_state}
    kept = about(table, columns, "rater") | _extra(table, columns) | sampled
    return Comparisons.from_placements(items, place, names=names, n_items=options.items.n_items, **kept)


def _groupings(table: Table, columns: Sequence[str], options: Options) -> Comparisons:
    items, names = options.items.read(cells.full(table, columns[0]), table.typed)
    group = cells.full(table, columns[1])
    kept = about(table, columns, "rater") | _extra(table, columns)
    return Comparisons.from_groupings(items, group, names=names, n_items=options.items.n_items, **kept)


_NATIVE = (
    Layout((), (("near_a",), ("near_b",), ("far_a",), ("far_b",)), _pairs),
    Layout((), (("shown",), ("response",)), _answers),
)
_SHEETS: dict[str, Reader] = {"lists": _choices, "ratings": _ratings, "places": _placements, "groups": _groupings}


def layouts() -> list[Layout]:
    """The layouts in the order in which they are looked for: ours, then those of the forms, the most telling first.

    More columns tell more, and of as many columns those with longer names: a file with `i,j,rating` and `k` rates.
    """
    forms: dict[FileColumns, list[Form]] = {}
    for form in FORMS.values():
        for columns in form.columns:
            forms.setdefault(columns, []).append(form)
    found = [
        Layout(tuple(form.name for form in some), columns.names, _reader(some[0], columns))
        for columns, some in forms.items()
    ]
    return [*_NATIVE, *sorted(found, key=lambda one: (-len(one.columns), -len(str(one))))]


def _reader(form: Form, columns: FileColumns) -> Reader:
    """How files of these columns are read; forms that share them are told apart by what the caller says."""
    if columns.how in _SHEETS:
        return _SHEETS[columns.how]
    if columns.how == "items":
        return partial(_items, form, columns.said)
    return partial(_judged if columns.how == "judged" else _scale, form)

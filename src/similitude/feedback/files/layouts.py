"""Layouts of answers in tables, recognised by their columns: which columns hold a form, the form says."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from similitude.display.words import counted
from similitude.feedback.comparisons import Comparisons, Removed
from similitude.feedback.files import removal, row_layouts, sheet_layouts
from similitude.feedback.files.about import MILLISECONDS, RESPONSES, column_of
from similitude.feedback.files.column_map import (
    ABOUT,
    Mapped,
    guess_about,
    guess_answers,
    likely_answer,
    looks_like_rater,
    say_roles,
)
from similitude.feedback.files.options import Options
from similitude.feedback.files.tables import Table, check_names
from similitude.feedback.forms import FORMS, find
from similitude.feedback.forms.base import FileColumns, Form

Reader = Callable[[Table, Sequence[str], Options], Comparisons]

_RATINGS = {"similar": "similarity_rating", "different": "difference_rating"}  # forms by what a larger number means
_SILENT = ("skipped", "timed_out", "not_shown")  # outcomes of a study's questions that are no answers
_STANDING = {  # of a study's answers that do not count, by the word in the column `standing`
    "left_out": "of raters whom the study's researchers left out",
    "superseded": "given before the rater was asked anew",
}


@dataclass(frozen=True)
class Layout:
    """Columns that make a file readable: its forms (none: any), each column's names, how to read them."""

    forms: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    read: Reader

    def find(self, present: Sequence[str], given: Collection[str] = ()) -> list[str] | None:
        """Return the file's columns in the layout's order, or None where one is not there or a given one is no part."""
        ordered = [sorted(names, key=lambda name: name not in given) for names in self.columns]
        found = [next((name for name in names if name in present), None) for names in ordered]
        return None if None in found or not set(given) <= set(found) else [name for name in found if name is not None]

    @property
    def names(self) -> set[str]:
        """Whatever its columns may be called."""
        return {name for names in self.columns for name in names}

    def lacking(self, present: Collection[str]) -> list[str]:
        """Return the columns that are not there."""
        return [names[0] for names in self.columns if not {*names} & {*present}]

    def check(self, form: str | None) -> None:
        """Refuse a form that the columns do not hold."""
        if form is not None and self.forms and form not in self.forms:
            raise ValueError(f"form: the columns {self} hold {' or '.join(self.forms)}, found form={form!r}")

    def __str__(self) -> str:
        return ",".join(names[0] for names in self.columns)


class UnknownLayout(ValueError):
    """The columns of a table fit no layout, as they are called and as far as can be guessed."""


@dataclass(frozen=True, eq=False)
class ReadTable:
    """Feedback that was read from a table, and how.

    Attributes
    ----------
    comparisons : the feedback
    used : the columns that were used, by role, as the file calls them
    reasons : why columns were taken for what they are, where that was guessed
    """

    comparisons: Comparisons
    used: dict[str, str]
    reasons: Sequence[str]


def read_table(table: Table, options: Options) -> ReadTable:
    """Read a table by the first layout that its columns fit: as called, as the user says, or by a good guess."""
    if len(table) == 0:
        raise ValueError(
            "the file has a header and no rows below it, as an export from before anybody answered; expected at least "
            "one answer"
        )
    check_names(list(table.columns))
    table, marks = removal.taken(table)
    mapped = say_roles(table, options.columns, _roles())
    if table.header is None:  # a file of ours calls everything by its name
        mapped = guess_about(mapped)
    given = [role for role in options.columns or () if role not in (*ABOUT, *MILLISECONDS, *RESPONSES)]
    found = _fitting(mapped, given)
    if found is None:
        mapped = guess_answers(mapped, options.form)
        found = _fitting(mapped, given)
    if found is None:
        raise _unknown(table, mapped, given)
    layout, columns = found
    layout.check(options.form)
    asked = _without_catch(mapped.table, options)
    counting, why = _without_those_left_out(asked)
    plain = _without_silence(counting)
    comparisons = removal.marked(layout.read(plain, columns, options), marks)
    if layout.read is not sheet_layouts.ratings:
        _check_larger(comparisons, options)
    comparisons = _without_known(comparisons, len(mapped.table) - len(asked), options)
    for words, number in why:
        comparisons = _noted(comparisons, "left_out", f"{counted(number, 'answer')} {words}", options)
    used = _used(plain, columns)
    comparisons = replace(comparisons, answers=replace(comparisons.answers, called=used))
    if not comparisons.answers.rater.recorded and (who := looks_like_rater(table, used.values())):
        options.note(_participant(who))
    return ReadTable(comparisons, used, mapped.reasons)


def _check_larger(c: Comparisons, options: Options) -> None:
    """Refuse a meaning of ratings where there are none, and another than answers have that say theirs."""
    forms = c.answers.form.labels
    if options.larger is not None and forms != (_RATINGS[options.larger],):
        words = " and ".join(find(name).words for name in forms) or "no questions"
        raise ValueError(f"larger: expected ratings whose meaning is not known, found answers to {words}; leave it out")


def fits(table: Table) -> bool:
    """Whether the columns of a table are those of a layout, as called or by a good guess."""
    mapped = guess_about(say_roles(table, None, ()))
    guessed = guess_answers(mapped)
    return any(_fitting(one, ()) is not None for one in (mapped, guessed)) or guessed.picked is not None


def _fitting(mapped: Mapped, given: Collection[str]) -> tuple[Layout, list[str]] | None:
    """Return the first layout that the columns fit, and that has every column that the user gave."""
    for layout in layouts():
        columns = layout.find(list(mapped.table.columns), given)
        if columns is not None:
            return layout, columns
    return None


def _roles() -> list[str]:
    """What a user may call a column: any name that a layout knows."""
    known = (name for layout in layouts() for names in layout.columns for name in names)
    return [*dict.fromkeys([*known, *ABOUT, "time_ms", *RESPONSES[:1]])]


def _unknown(table: Table, mapped: Mapped, given: Collection[str]) -> UnknownLayout:
    called = ", ".join(mapped.table.called.get(name, name) for name in mapped.table.columns)
    if mapped.picked is not None:
        column = mapped.table.called.get(mapped.picked, mapped.picked)
        return UnknownLayout(
            f"column {column!r} says which of three items was picked, but not as what; give form='odd_one_out' or "
            "form='most_central'"
        )
    if given and _fitting(mapped, ()) is not None:
        return UnknownLayout(
            f"columns: no layout has {', '.join(given)} together with columns that the file has; give a column to each "
            f"part of one of {'; '.join(map(str, layouts()))}"
        )
    if near := _nearest(mapped, given):
        return UnknownLayout(f"columns {called} fit no layout; nearest {_near_words(near, mapped)}")
    role = "a" if {"odd", "central", "chosen"} & set(mapped.roles) else "odd"
    who = looks_like_rater(table, mapped.roles.values())
    return UnknownLayout(
        f"columns {called} fit no layout; say which is which, such as "
        f"columns={{{role!r}: {likely_answer(mapped) or '...'!r}, ...}}; "
        + (f"{_participant(who)}; " if who and column_of(mapped.table, (), "rater") is None else "")
        + f"the layouts are {'; '.join(map(str, layouts()))}"
    )


def _nearest(mapped: Mapped, given: Collection[str]) -> dict[Layout, list[str]]:
    """The layouts of which most columns are there, given ones among them, with what they lack: the fullest alone."""
    lacking = {one: one.lacking(mapped.table.columns) for one in layouts() if {*given} <= one.names}
    near = {one: lacks for one, lacks in lacking.items() if 2 * len(lacks) < len(one.columns)}
    distance = {one: (len(lacks), -len(one.columns)) for one, lacks in near.items()}
    return {one: lacks for one, lacks in near.items() if distance[one] == min(distance.values())}


def _near_words(near: Mapping[Layout, list[str]], mapped: Mapped) -> str:
    """What the nearest layouts lack, and how to say which column has it, where one is left that may."""
    told = "; ".join(
        f"{layout}, where {' and '.join(map(repr, lacks))} {'is' if len(lacks) == 1 else 'are'} missing"
        for layout, lacks in near.items()
    )
    known = {*MILLISECONDS}.union(*ABOUT.values(), *(layout.names for layout in near))
    free = [mapped.table.called.get(name, name) for name in mapped.table.columns if name not in known]
    role = next(iter(near.values()))[0]
    say = f"; if another column has it, say which, such as columns={{{role!r}: {free[-1]!r}}}" if free else ""
    return f"{'is the layout' if len(near) == 1 else 'are the layouts'} {told}{say}"


def _participant(column: str) -> str:
    return f"column {column!r} looks like the participant: give columns={{'rater': {column!r}}}"


def _used(table: Table, columns: Sequence[str]) -> dict[str, str]:
    about = {role: column_of(table, columns, role) for role in ABOUT if role not in ("answer", "trial")}
    about["time"], about["time_ms"] = (None, about["time"]) if about["time"] in MILLISECONDS else (about["time"], None)
    both = {name: name for name in columns} | {role: name for role, name in about.items() if name is not None}
    return {role: table.called.get(name, name) for role, name in both.items()}


def _without_catch(table: Table, options: Options) -> Table:
    if "is_catchtrial" not in table.columns or options.keep_catch:
        return table
    catch = np.array([str(cell).lower() in ("1", "1.0", "true") for cell in table.columns["is_catchtrial"]], bool)
    rest = {name: cells for name, cells in table.columns.items() if name != "is_catchtrial"}  # it says no more
    return replace(table, columns=rest).take(np.flatnonzero(~catch))


def _without_known(comparisons: Comparisons, catch: int, options: Options) -> Comparisons:
    """Say how many rows were catch trials, and so left out."""
    if not catch:
        return comparisons
    why = f"{counted(catch, 'catch trial')} (marked in the column is_catchtrial)"
    return _noted(comparisons, "catch_trials", why, options)


def _noted(comparisons: Comparisons, step: str, why: str, options: Options) -> Comparisons:
    """Say what was left out of a file, and keep it with what was read."""
    options.note(f"left out: {why}")
    record = Removed(step, why, comparisons.rows([]), 0.0, cleans=False)
    return replace(comparisons, removed=(*comparisons.removed, record))


def _without_those_left_out(table: Table) -> tuple[Table, list[tuple[str, int]]]:
    """Without the rows of a study's export that do not count, by decision of its researchers; and how many why."""
    if not {"form", "standing"} <= set(table.columns):
        return table, []
    said = table.columns["standing"].tolist()
    kept = np.array([cell not in _STANDING for cell in said], bool)
    if not kept.any():
        raise ValueError("no answer counts: the column standing says of all that they are left out or superseded")
    why = [(words, said.count(word)) for word, words in _STANDING.items() if word in said]
    return (table if kept.all() else table.take(np.flatnonzero(kept))), why


def _without_silence(table: Table) -> Table:
    """Without the rows of a study's export that nobody said anything to: skipped is not "can't tell"."""
    if not {"form", "outcome"} <= set(table.columns):
        return table
    said = np.array([cell not in _SILENT for cell in table.columns["outcome"]], bool)
    if not said.any():
        raise ValueError("every question was skipped or could not be shown; expected at least one answer")
    return table if said.all() else table.take(np.flatnonzero(said))


_NATIVE = (
    Layout((), (("near_a",), ("near_b",), ("far_a",), ("far_b",)), row_layouts.pairs),
    Layout((), (("shown",), ("response",)), row_layouts.answers),
)
_SHEETS: dict[str, Reader] = {
    "lists": row_layouts.choices,
    "ratings": sheet_layouts.ratings,
    "places": sheet_layouts.placements,
    "groups": sheet_layouts.groupings,
}


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
        return partial(row_layouts.items, form, columns.said)
    ways = {
        "judged": row_layouts.judged,
        "named": row_layouts.named,
        "long": row_layouts.one_item_each,
        "scale": row_layouts.scale,
    }
    return partial(ways[columns.how], form)

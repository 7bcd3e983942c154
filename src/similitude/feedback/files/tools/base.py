"""What a reader of another tool's export knows: the tool, how to recognise its files, and the table that they hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from similitude.display.words import counted
from similitude.feedback.files.sources import FileSource
from similitude.feedback.files.tables import Table, objects
from similitude.types import Array


@dataclass(frozen=True, eq=False)
class Export:
    """What a tool's file holds, as a table in one of the layouts.

    Attributes
    ----------
    table : columns of a layout (`head`, `odd`, ...), or called so that they can be guessed; others are kept
    form : the form of question, where the tool says so
    larger : for ratings, what a larger number means
    from_zero : whether items are positions from 0 for sure
    notes : what was left out, in sentences
    otherwise : what to say where the table fits no layout and the caller does not say which column is which
    """

    table: Table
    form: str | None = None
    larger: Literal["similar", "different"] | None = None
    from_zero: bool = False
    notes: Sequence[str] = field(default_factory=tuple)
    otherwise: str = ""


@dataclass(frozen=True)
class Tool:
    """A tool whose exports are read untouched.

    Attributes
    ----------
    name : what it is called
    recognises : whether a file is one of its exports, by what the file holds
    read : what the file holds
    """

    name: str
    recognises: Callable[[FileSource], bool]
    read: Callable[[FileSource], Export]


def rows_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Make a table of rows that may lack columns."""
    names = dict.fromkeys(name for row in rows for name in row)
    return Table({name: objects([row.get(name) for row in rows]) for name in names}, None, typed=True)


def table_rows(table: Table) -> list[dict[str, Any]]:
    """The rows of a table, without their empty cells."""
    names = list(table.columns)
    cells = zip(*(table.columns[name].tolist() for name in names), strict=True)
    return [{name: cell for name, cell in zip(names, row, strict=True) if cell is not None} for row in cells]


def renamed(table: Table, names: Mapping[str, str]) -> Table:
    """Call columns otherwise; `called` keeps what the file calls them."""
    columns = {names.get(name, name): cells for name, cells in table.columns.items()}
    called = {names.get(name, name): table.called.get(name, name) for name in table.columns}
    return Table(columns, table.header, table.typed, called)


def only(table: Table, keep: Array, why: str) -> tuple[Table, list[str]]:
    """Some rows of a table, and a sentence about those that are left out."""
    if keep.all():
        return table, []
    if not keep.any():
        raise ValueError(f"no row holds an answer: {why}")
    gone = int((~keep).sum())
    are = "is" if gone == 1 else "are"
    return table.take(np.flatnonzero(keep)), [f"{gone:,} of {counted(len(keep), 'row')} {are} left out: {why}"]

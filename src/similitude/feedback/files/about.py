"""Columns about answers: who, how long, how chosen; and what else a file holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from similitude.feedback.files import cells
from similitude.feedback.files.column_map import ABOUT
from similitude.feedback.files.tables import Table

RESPONSES = ("response", "responses", "y")
_NUMBERS = ("time", "weight", "side")
MILLISECONDS = ("time_ms", "rt_ms")


def column_of(table: Table, used: Sequence[str], role: str) -> str | None:
    """The column of a file that has a role about answers, under one of its names."""
    return next((alias for alias in ABOUT[role] if alias in table.columns and alias not in used), None)


def about(table: Table, used: Sequence[str], *wanted: str) -> dict[str, Any]:
    """Return the columns about answers that the file has under one of their names."""
    found: dict[str, Any] = {}
    for role in wanted:
        column = column_of(table, used, role)
        if column is not None and role in _NUMBERS:
            values = cells.numbers(table, column)
            found[role] = values / 1000 if column in MILLISECONDS else values
        elif column is not None:
            found[role] = cells.one_each(table, column)
    return found


def extra(table: Table, used: Sequence[str], *about_roles: str) -> dict[str, Any]:
    """Return the columns that are neither used nor about answers, as the argument `extra`."""
    known = {*used, *(column_of(table, used, role) for role in about_roles), *(set(RESPONSES) & set(used))}
    return {"extra": table.extra({name for name in known if name is not None})}

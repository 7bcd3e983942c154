"""The mark of a cleaned file: a column `cleaned`, so that what was cleaned says so wherever the table goes.

The first row says what each step took away, the others say "yes": one that is sorted, cut or joined with another keeps
the mark, if not the record.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from similitude.feedback.columns import is_none
from similitude.feedback.comparisons import Comparisons, Removed
from similitude.feedback.files.tables import Table

_COLUMN, _MARK = "cleaned", "yes"
_FIELDS = ("step", "why", "weight", "cleans")


def column(comparisons: Comparisons) -> dict[str, list[Any]]:
    """Return the column of cleaned feedback; none for feedback as it was given."""
    if not comparisons.cleaned:
        return {}
    steps = [{name: getattr(step, name) for name in _FIELDS} for step in comparisons.removed]
    record = json.dumps(steps, ensure_ascii=False)
    return {_COLUMN: [record] + [_MARK] * (comparisons.n_answers - 1)}


def taken(table: Table) -> tuple[Table, list[dict[str, Any]]]:
    """Return a table without its mark, and what the mark says; a column of that name that is no mark stays."""
    if _COLUMN not in table.columns:
        return table, []
    cells = table.columns[_COLUMN]
    said = cells[~is_none(cells)].tolist()
    records = [_record(cell) for cell in dict.fromkeys(map(str, said))]
    if not said or any(record is None for record in records):
        return table, []
    steps = [step for record in records if record for step in record]
    unknown = {"step": _COLUMN, "why": "the file says that it was cleaned", "weight": 0.0, "cleans": True}
    rest = {name: cells for name, cells in table.columns.items() if name != _COLUMN}
    return replace(table, columns=rest), steps or [unknown]


def _record(cell: str) -> list[dict[str, Any]] | None:
    """Return the steps that a cell tells; none where it is the plain mark, None where it is no mark."""
    if cell == _MARK:
        return []
    try:
        steps = json.loads(cell)
    except json.JSONDecodeError:
        return None
    return (
        steps
        if isinstance(steps, list) and all(isinstance(one, dict) and set(one) == set(_FIELDS) for one in steps)
        else None
    )


def marked(comparisons: Comparisons, steps: list[dict[str, Any]]) -> Comparisons:
    """Return the feedback with what its file says was taken away; the comparisons themselves are not kept."""
    nothing = comparisons.rows([])
    removed = tuple(Removed(comparisons=nothing, **step) for step in steps)
    return replace(comparisons, removed=removed) if removed else comparisons

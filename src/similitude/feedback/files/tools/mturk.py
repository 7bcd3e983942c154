"""Mechanical Turk: the results of a batch, `Input.` columns as uploaded, `Answer.` columns as workers filled them in.

A row per assignment with `HITId, AssignmentId, WorkerId, WorkTimeInSeconds, AssignmentStatus` and others
(docs.aws.amazon.com: "Assignment"; the requester's page "Results"). Forms of today's templates answer in one column,
`Answer.taskAnswers`, as JSON.
"""

from __future__ import annotations

import json
from typing import Any

from similitude.feedback.files.sources import FileSource
from similitude.feedback.files.tables import Table
from similitude.feedback.files.tools.base import Export, Tool, rows_table, table_rows
from similitude.feedback.files.tools.trials import item

_KEPT = ("WorkerId", "WorkTimeInSeconds", "HITId")


def _read(source: FileSource) -> Export:
    assert source.table is not None
    rows = table_rows(source.table)
    kept = [row for row in rows if str(row.get("AssignmentStatus", "")).lower() != "rejected"]
    notes = [f"{len(rows) - len(kept):,} of {len(rows):,} assignments were rejected and are left out"]
    table = rows_table([_row(row) for row in kept])
    called = {name: f"Input.{name}" for name in table.columns if f"Input.{name}" in source.table.columns}
    called |= {name: f"Answer.{name}" for name in table.columns if f"Answer.{name}" in source.table.columns}
    named = Table(table.columns, None, typed=False, called={name: called.get(name, name) for name in table.columns})
    return Export(named, notes=notes if len(kept) < len(rows) else [])


def _row(row: dict[str, Any]) -> dict[str, Any]:
    asked = {name.removeprefix("Input."): item(cell) for name, cell in row.items() if name.startswith("Input.")}
    said: dict[str, Any] = {}
    for name, cell in row.items():
        if name == "Answer.taskAnswers":
            said |= _answers(cell)
        elif name.startswith("Answer."):
            said |= _ticked(name.removeprefix("Answer."), cell)
    about = {name: row.get(name) for name in _KEPT if name in row}
    return {**asked, **{name: cell for name, cell in said.items() if name not in asked}, **about}


def _answers(cell: Any) -> dict[str, Any]:
    """The answers in JSON: of radio buttons the one that is on, of other fields the label or the text."""
    try:
        found = json.loads(cell)
    except (TypeError, ValueError):
        return {}
    one = found[0] if isinstance(found, list) and found else found
    return {} if not isinstance(one, dict) else {name: _value(value) for name, value in one.items()}


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        on = [name for name, ticked in value.items() if ticked is True]
        return on[0] if on else value.get("label")
    return None if value is None else item(value)


def _ticked(name: str, cell: Any) -> dict[str, Any]:
    """`choice.b` = true is the choice b; other fields as they are."""
    field, dot, option = name.rpartition(".")
    if dot and str(cell).lower() in ("true", "false"):
        return {field: option} if str(cell).lower() == "true" else {}
    return {name: None if cell is None else item(cell)}


MTURK = Tool("Mechanical Turk", lambda source: source.has("HITId", "WorkerId"), _read)

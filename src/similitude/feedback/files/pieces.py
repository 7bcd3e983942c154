"""Sheets in pieces: one row per rated pair, linked pair or labelled item, as a study asks them one by one.

A piece compares nothing by itself. The pieces of one rater are brought together into the sheet that is one answer:

| form in the file | shown | response | becomes |
|---|---|---|---|
| rated_pair | i, j | a number, larger is more alike | similarity_rating |
| same_different | i, j | 1: same, 0: different | similarity_rating, as `Links` do |
| labelled_item | item | its class, how sure | labelling |

A piece without a response is left out of its sheet: "can't tell" about one pair says nothing about the others.
"""

from __future__ import annotations

from typing import Any

from similitude.feedback.columns import Array
from similitude.feedback.files import cells
from similitude.feedback.files.tables import Table, objects

SHEETS = {"rated_pair": "similarity_rating", "same_different": "similarity_rating", "labelled_item": "labelling"}


def gathered(table: Table) -> Table:
    """Return the table with the pieces of each rater in one row; other rows stay as they are."""
    forms = table.columns.get("form")
    if forms is None or not any(form in SHEETS for form in forms.tolist()):
        return table
    shown, response = cells.lists(table, "shown"), cells.lists(table, "response")
    raters = table.columns["rater"].tolist() if "rater" in table.columns else [None] * len(table)
    sheets: dict[Any, list[int]] = {}
    for row, form in enumerate(forms.tolist()):
        sheets.setdefault((form, raters[row]) if form in SHEETS else row, []).append(row)
    whole = [_sheet(rows, forms, shown, response) for rows in sheets.values()]
    first = [rows[0] for rows in sheets.values()]
    columns = {name: objects([column[k] for k in first]) for name, column in table.columns.items()}
    for name, values in zip(("form", "shown", "response"), zip(*whole, strict=True), strict=True):
        columns[name] = objects(list(values))
    for name in ("time", "side", "strategy", "weight"):
        if name in columns:
            columns[name] = objects([_common(table.columns[name], rows) for rows in sheets.values()])
    return Table(columns, table.header, typed=True)


def _sheet(rows: list[int], forms: Array, shown: list[list[Any]], response: list[list[Any]]) -> tuple[Any, Any, Any]:
    """Form, items and responses of the rows together."""
    form = forms[rows[0]]
    if form not in SHEETS:
        return form, shown[rows[0]], response[rows[0]]
    said = [row for row in rows if response[row]]
    if not said:
        return SHEETS[form], [name for row in rows for name in shown[row]], []
    items = [name for row in said for name in shown[row]]
    return SHEETS[form], items, [value for row in said for value in response[row]]


def _common(column: Array, rows: list[int]) -> Any:
    """The value that all rows of a sheet share; None where they differ."""
    found = {str(column[row]) for row in rows}
    return column[rows[0]] if len(found) == 1 else None

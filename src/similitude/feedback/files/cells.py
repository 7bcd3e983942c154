"""Cells of a file as items, numbers and lists; every error names the file's column and row."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from similitude.feedback.columns import Rows, is_none
from similitude.feedback.files.tables import Table, objects
from similitude.types import Array, Floats

_WHOLE = re.compile(r"[+-]?(0|[1-9][0-9]*)(\.0+)?")


@dataclass(frozen=True)
class ItemRule:
    """How the items of a file are to be read.

    Attributes
    ----------
    names : names of the items, or None
    n_items : number of items, or None
    labels : whether whole numbers are names, not positions
    """

    names: Sequence[str] | None = None
    n_items: int | None = None
    labels: bool = False

    def read(self, values: Array, typed: bool) -> tuple[Array, Sequence[str] | None]:
        """Return items as positions or as names, with the names known by then; `values` holds no None."""
        if self.labels:
            return self._labels(values)
        flat = values.ravel().tolist()
        table = {value: value if typed else _number(value) for value in set(flat)}
        table = {value: _plain(found) for value, found in table.items()}
        kinds = {type(found) for found in table.values()}
        if kinds <= {int}:
            positions = np.array([table[value] for value in flat], np.int64).reshape(values.shape)
            _warn_of_ids(positions)
            return positions, self.names
        if kinds == {str} or (self.names is not None and not typed):
            return values, self.names
        raise _mixed(table.values())

    def _labels(self, values: Array) -> tuple[Array, Sequence[str] | None]:
        text = objects([str(value) for value in values.ravel().tolist()]).reshape(values.shape)
        return text, self.names if self.names is not None else sorted(set(text.ravel().tolist()), key=_label_order)


def _label_order(label: str) -> tuple[bool, int, str]:
    number = _number(label)
    return (True, 0, label) if isinstance(number, str) else (False, number, label)


def _number(value: Any) -> Any:
    return int(float(value)) if isinstance(value, str) and _WHOLE.fullmatch(value) else value


def _plain(value: Any) -> Any:
    """Return whole numbers of any type as int; text and what is neither as it is."""
    whole = isinstance(value, (int, np.integer)) or (isinstance(value, float) and value.is_integer())
    return int(value) if whole and not isinstance(value, (bool, np.bool_)) else value


def _mixed(values: Any) -> TypeError:
    number = next((value for value in values if not isinstance(value, str)), None)
    name = next((value for value in values if isinstance(value, str)), None)
    if name is None or not isinstance(number, int):
        return TypeError(f"items: expected names or positions, found {number!r}; write every item as a name")
    return TypeError(
        f"items: some look like positions ({number!r}) and some like names ({name!r}); "
        "give labels=True if all of them are names"
    )


def _warn_of_ids(positions: Array) -> None:
    largest = int(positions.max(initial=0))
    distinct = len(np.unique(positions))
    if largest > 1000 and largest > 10 * distinct:
        warnings.warn(
            f"items: the positions go up to {largest}, but there are only {distinct} different ones; "
            "if they are ids, give labels=True",
            UserWarning,
            stacklevel=2,
        )


def full(table: Table, column: str) -> Array:
    """Return a column without empty cells; an empty one is an error that names the row."""
    cells = table.columns[column]
    empty = np.flatnonzero(is_none(cells))
    if len(empty):
        raise ValueError(f"row {empty[0] + 1} has no {column!r} ({len(empty)} such rows); fill it in or drop the row")
    return cells


def matrix(table: Table, columns: Sequence[str]) -> Array:
    """Return full columns side by side."""
    return np.stack([full(table, column) for column in columns], axis=1)


def numbers(table: Table, column: str) -> Floats:
    """Return a column of numbers, NaN where a cell is empty."""
    cells = table.columns[column]
    try:
        return np.array([np.nan if cell is None else float(cell) for cell in cells], np.float64)
    except (TypeError, ValueError):
        row = next(k for k, cell in enumerate(cells) if not _is_number(cell))
        raise ValueError(f"row {row + 1} of {column!r}: expected a number, found {cells[row]!r}") from None


def _is_number(cell: Any) -> bool:
    try:
        return cell is None or np.isscalar(float(cell))
    except (TypeError, ValueError):
        return False


def lists(table: Table, column: str, *, spaced: bool = False) -> list[list[Any]]:
    """Return a column of lists: lists as they are, JSON arrays, or (`spaced`) words; an empty cell is []."""
    cells = table.columns[column].tolist()
    if not table.typed and not spaced:
        try:
            found = json.loads(f"[{','.join(cell or '[]' for cell in cells)}]")  # all at once is much faster
        except json.JSONDecodeError:
            found = []
        if len(found) == len(cells) and all(isinstance(row, list) for row in found):
            return found
    return [_list(cell, column, row, spaced) for row, cell in enumerate(cells)]


def _list(cell: Any, column: str, row: int, spaced: bool) -> list[Any]:
    if cell is None:
        return []
    if isinstance(cell, (list, tuple, np.ndarray)):
        return list(cell)
    if spaced and not str(cell).lstrip().startswith("["):
        return str(cell).split()
    try:
        found = json.loads(cell)
    except (TypeError, json.JSONDecodeError):
        found = None
    if not isinstance(found, list):
        raise ValueError(f"row {row + 1} of {column!r}: expected a list such as [0, 3, 5], found {cell!r}")
    return found


def flat(rows: list[list[Any]]) -> tuple[Array, Array]:
    """Return the values of lists in one column, and the length of each list."""
    return objects([value for row in rows for value in row]), np.array([len(row) for row in rows], np.int64)


def number_rows(rows: list[list[Any]], column: str) -> Rows:
    """Return lists of numbers as rows, None as NaN."""
    values, lengths = flat(rows)
    try:
        filled = np.array([np.nan if value is None else value for value in values.tolist()])
    except ValueError:
        filled = np.array([], object)
    if filled.size and filled.dtype.kind not in "iuf":
        raise ValueError(f"{column}: expected lists of numbers, found {values[0]!r}")
    return Rows.ragged(filled, lengths)

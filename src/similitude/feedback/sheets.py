"""Sheets and rows as people write them down: lines of one answer, items by name, picks, responses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from similitude.feedback.columns import Rows, is_none
from similitude.feedback.extra import extra_columns, shared_extra
from similitude.feedback.items import Names, encode_items
from similitude.types import Array, Ints

Responses = npt.ArrayLike | Sequence[bool | int | None] | None
"""Whether each row holds, None where somebody could not tell; None for all of them means that all hold."""


class Sheets:
    """Rows that belong together (one answer each), brought next to each other."""

    def __init__(self, group: Any, length: int) -> None:
        values = np.zeros(length, int) if group is None else np.asarray(group)
        if values.ndim == 0:
            values = np.broadcast_to(values, (length,))
        if len(values) != length:
            raise ValueError(f"expected one rater or answer per row ({length}), found {len(values)}")
        import pandas as pd

        code, labels = pd.factorize(values)
        if (code < 0).any():
            row = int(np.flatnonzero(code < 0)[0])
            raise ValueError(f"row {row} has no rater or answer id; every row needs one")
        self.code = code
        self.order = np.argsort(code, kind="stable")
        self.lengths = np.bincount(code, minlength=len(labels))
        self.starts = np.cumsum(self.lengths) - self.lengths
        self.ids = labels
        self.labels = None if group is None else np.array([str(label) for label in labels], object)

    def __iter__(self) -> Iterator[Array]:
        """Yield the lines of each sheet."""
        return iter(np.split(self.order, self.starts[1:]) if len(self.starts) else [])

    def rows(self, matrix: Array) -> Rows:
        """Return one row per sheet: its lines one after the other."""
        return Rows.ragged(matrix[self.order].ravel(), self.lengths * matrix[0].size if len(matrix) else self.lengths)

    def one_each(self, column: Any, name: str) -> Array:
        """Return one value per sheet of a column that must not change within a sheet."""
        values = np.asarray(column)
        if values.ndim == 0:
            return np.broadcast_to(values, (len(self.lengths),))
        ordered = values[self.order]
        first = np.repeat(ordered[self.starts], self.lengths)
        differs = (ordered != first) & ~((ordered != ordered) & (first != first))
        if differs.any():
            row = int(np.flatnonzero(differs)[0])
            sheet = str(self.ids[int(np.searchsorted(self.starts, row, side="right")) - 1])
            raise ValueError(
                f"{name}: answer {sheet!r} has two values ({str(first[row])!r} and {str(ordered[row])!r}); "
                f"an answer has one {name}, so give the answers ids of their own"
            )
        return ordered[self.starts]

    def extra(self, columns: Mapping[str, Any] | None) -> dict[str, Array]:
        """Return other columns with one value per sheet, empty where the lines of a sheet differ."""
        return shared_extra(extra_columns(columns, len(self.code)), self.code, self.order[self.starts])


def as_right(responses: Responses, length: int) -> Array:
    """Return responses as booleans: True where the row holds as written."""
    if responses is None:
        return np.ones(length, bool)
    values = np.asarray(responses)
    if values.shape != (length,):
        raise ValueError(f"y: expected one response per comparison ({length}), found shape {values.shape}")
    if values.dtype == object and all(isinstance(value, (bool, np.bool_)) for value in values):
        values = values.astype(bool)
    if values.dtype.kind == "b":
        return values
    if values.dtype.kind in "iuf" and np.isin(values, (-1, 1)).all():
        return values > 0
    wrong = next(value for value in values.tolist() if value not in (-1, 1))
    raise ValueError(f"y: expected booleans or +1/-1, found {wrong!r}; a confidence belongs in weight")


def said_or_silent(responses: Responses, length: int) -> tuple[Array, Array]:
    """Return responses as booleans (True where not said), and which rows are "can't tell" (None)."""
    values = np.asarray(responses)
    if responses is None or values.dtype != object:
        return as_right(responses, length), np.zeros(length, bool)
    silent = is_none(values)
    right = np.ones(values.shape, bool)
    right[~silent] = as_right(values[~silent].tolist(), int((~silent).sum()))
    return as_right(right, length), silent


def with_silence(said: Array, silent: Array) -> Rows:
    """Return responses as rows, empty where silent."""
    if not silent.any():
        return Rows.uniform(said)
    return Rows.ragged(said[~silent].ravel(), np.where(silent, 0, said.shape[1]))


def item_lists(
    rows: list[list[Any]], names: Sequence[str] | None, n_items: int | None
) -> tuple[Rows, Names | None, int]:
    """Return lists of items as rows of indices, with the names and the number of items."""
    values = [value for row in rows for value in row]
    text = any(isinstance(value, str) for value in values)
    flat = np.array(values, object) if text else np.asarray(values)
    codes, known, count = encode_items(flat, names, n_items)
    return Rows.ragged(codes, [len(row) for row in rows]), known, count


def item_rows(
    rows: Any, width: int, argument: str, names: Sequence[str] | None, n_items: int | None
) -> tuple[Ints, Names | None, int]:
    """Return rows of `width` items as indices, with the names and the number of items."""
    try:
        table = np.asarray(rows)
    except ValueError:
        raise ValueError(f"{argument}: expected rows of {width} items, found rows of unequal length") from None
    if table.ndim == 1 and table.size == 0:
        table = table.reshape(0, width).astype(int)
    if table.ndim != 2 or table.shape[1] != width:
        raise ValueError(f"{argument}: expected an array of shape (rows, {width}), found shape {table.shape}")
    if table.dtype.kind == "U" and not isinstance(rows, np.ndarray):
        table = np.asarray(rows, object)  # numpy turns numbers among strings into strings without a word
    return encode_items(table, names, n_items)


def with_head(shown: Iterable[Sequence[Any]], head: Any) -> list[list[Any]]:
    """Return the questions with their head in front."""
    rows = [list(row) for row in shown]
    if head is None:
        return rows
    heads = list(head)
    if len(heads) != len(rows):
        raise ValueError(f"head: expected one item per answer ({len(rows)}), found {len(heads)}")
    return [[first, *row] for first, row in zip(heads, rows, strict=True)]


def positions_of(question: list[Any], picked: Sequence[Any], answer: int) -> list[int]:
    """Return where in a question the picked items stand."""
    where = {item: k for k, item in enumerate(question) if k > 0}
    if len(where) < len(question) - 1:
        raise ValueError(f"shown: answer {answer} shows an item twice: {question[1:]}")
    try:
        positions = [where[item] for item in picked]
    except KeyError as error:
        raise ValueError(f"answer {answer}: {error.args[0]!r} was picked but not shown ({question[1:]})") from None
    if len(set(positions)) < len(positions):
        raise ValueError(f"answer {answer}: an item was picked twice ({list(picked)})")
    return positions

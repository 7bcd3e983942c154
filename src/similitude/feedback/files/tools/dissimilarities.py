"""A square table of dissimilarities between all items, with the names in its first line and in its first column."""

from __future__ import annotations

from typing import Literal

import numpy as np

from similitude.feedback.files.sources import Source
from similitude.feedback.files.tables import Table, objects
from similitude.feedback.files.tools.base import Export, Tool
from similitude.types import Floats


def pairs_of(names: list[str], distances: Floats, raters: list[str] | None = None) -> Table:
    """Dissimilarities of all pairs as rows `i, j, rating`, pair by pair of the upper triangle; for each rater."""
    first, second = np.triu_indices(len(names), 1)
    sheets = np.atleast_2d(distances)
    if sheets.shape[1] != len(first):
        raise ValueError(
            f"expected {len(first)} dissimilarities for the pairs of {len(names)} items, found {sheets.shape[1]}"
        )
    columns = {
        "i": objects([names[k] for k in first] * len(sheets)),
        "j": objects([names[k] for k in second] * len(sheets)),
        "rating": objects(sheets.ravel().tolist()),
    }
    if raters is not None:
        columns["rater"] = objects([rater for rater in raters for _ in first])
    return Table(columns, None, typed=True)


def _names(source: Source) -> list[str] | None:
    """The items of a square table: the names of its columns, which are the cells of its first column, too."""
    if source.table is None or len(source.table.columns) < 4 or len(source.table.columns) != len(source.table) + 1:
        return None
    first, *others = source.table.columns
    inside = [None if cell is None else str(cell).strip() for cell in source.table.columns[first].tolist()]
    names = [name.strip() for name in others]
    return names if inside == names else None


def _read(source: Source) -> Export:
    names, table = _names(source), source.table
    assert names is not None
    assert table is not None
    square = np.full((len(names), len(names)), np.nan)
    for k, column in enumerate(list(table.columns)[1:]):
        for row, cell in enumerate(table.columns[column].tolist()):
            try:
                square[row, k] = np.nan if cell is None else float(cell)
            except (TypeError, ValueError):
                raise ValueError(f"row {row + 1} of {column!r}: expected a number, found {cell!r}") from None
    square = np.where(np.isnan(square), square.T, square)  # half a table says all
    if not np.allclose(square, square.T, equal_nan=True):
        row, k = np.argwhere(~np.isclose(square, square.T, equal_nan=True))[0]
        raise ValueError(
            f"row {row + 1} of {names[k]!r} is {square[row, k]:g}, and row {k + 1} of {names[row]!r} is "
            f"{square[k, row]:g}; expected a table with the same on both sides of its diagonal"
        )
    larger, notes = _larger(square)
    return Export(pairs_of(names, square[np.triu_indices(len(names), 1)]), larger=larger, notes=notes)


def _larger(square: Floats) -> tuple[Literal["similar", "different"] | None, list[str]]:
    """What a larger number means, by the diagonal (an item and itself), and the sentence that says so."""
    diagonal = np.diag(square)
    if np.isnan(diagonal).all():
        return None, []
    alike = bool(np.nanmean(diagonal) > np.nanmean(square))
    means, why = ("similar", "larger") if alike else ("different", "smaller")
    said = f"a larger number of the square table is taken for more {means}, since its diagonal is {why} than the rest"
    return "similar" if alike else "different", [f"{said}; larger= says otherwise"]


SQUARE = Tool("a square table", lambda source: _names(source) is not None, _read)

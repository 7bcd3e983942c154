"""Cells of text files that no spreadsheet takes for a formula, and that are read back as they were."""

from __future__ import annotations

import json

from similitude.types import Array

_RUNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def defused(text: str) -> str:
    """A text as a cell: one that a spreadsheet might run, or that looks like one of these, as a JSON string."""
    return json.dumps(text, ensure_ascii=False) if text.startswith((*_RUNS, '"')) else text


def plain(cell: str | None) -> str | None:
    """The text that a cell stands for; of a file of somebody else, a quotation mark is one."""
    if cell is None or not cell.startswith('"'):
        return cell
    try:
        found = str(json.loads(cell))
    except json.JSONDecodeError:
        return cell
    return found if defused(found) == cell else cell


def plain_column(cells: Array) -> Array:
    """A column of cells as the texts that they stand for."""
    if not any(cell is not None and cell.startswith('"') for cell in set(cells.tolist())):
        return cells
    found = cells.copy()
    found[:] = [plain(cell) for cell in cells]
    return found

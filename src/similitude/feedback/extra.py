"""Other columns of answers: what a file says beside who answered what (a group, an age, a block, a condition).

A column holds one value per answer: numbers as floats (NaN where empty), words as objects (None where empty). One that
has a single value for every rater is an attribute of the raters (`attributes`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from similitude.feedback.columns import Categories, frozen, take
from similitude.types import Array, Bools

if TYPE_CHECKING:
    import pandas as pd

Extra = Mapping[str, Array]
BEFORE_CONDITIONS = "before conditions"  # in a study's column `condition`, of who came when it had none: of no group

_NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]*)?(\.[0-9]+)?([eE][+-]?[0-9]+)?")  # 007 is a word


def extra_columns(columns: Mapping[str, Any] | None, length: int) -> dict[str, Array]:
    """Return columns of any values as numbers or words, one per answer; one value may stand for all."""
    found = {}
    for name, values in (columns or {}).items():
        cells = np.asarray(values) if np.ndim(values) else np.full(length, values, object)
        if cells.shape != (length,):
            raise ValueError(f"extra: expected one {name!r} per answer ({length}), found shape {cells.shape}")
        found[str(name)] = frozen(_column(cells))
    return found


def _column(cells: Array) -> Array:
    if cells.dtype.kind in "iuf":
        return cells.astype(np.float64)
    import pandas as pd

    codes, labels = pd.factorize(cells.astype(object), use_na_sentinel=True)
    words = [_word(label) for label in labels.tolist()]
    if words and all(word is None or _is_number(word) for word in words):
        return np.array([np.nan if word is None else float(word) for word in words] + [np.nan])[codes]
    return np.array([*words, None], object)[codes]


def _word(value: Any) -> str | None:
    """Return a value as text; 3.0 is the 3 that a table with gaps turned into a float."""
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()
    return text or None


def _is_number(text: str) -> bool:
    return bool(_NUMBER.fullmatch(text)) and any(sign.isdigit() for sign in text)


def take_extra(extra: Extra, rows: Array) -> dict[str, Array]:
    """Return the given rows of every column."""
    return {name: take(column, rows) for name, column in extra.items()}


def join_extra(parts: Sequence[Extra], lengths: Sequence[int]) -> dict[str, Array]:
    """Concatenate; a column that a part lacks is empty there, and words win where one part has numbers."""
    names = dict.fromkeys(name for part in parts for name in part)
    found = {}
    for name in names:
        columns = [part.get(name) for part in parts]
        cells = [
            np.full(length, None, object) if column is None else as_cells(column)
            for column, length in zip(columns, lengths, strict=True)
        ]
        found[name] = frozen(_column(np.concatenate(cells)))
    return found


def as_cells(column: Array) -> Array:
    """Return a column as objects, None where it is empty."""
    cells = column.astype(object)
    cells[is_empty(column)] = None
    return cells


def is_empty(column: Array) -> Bools:
    """Return where a column has no value."""
    return np.isnan(column) if column.dtype.kind == "f" else np.array([cell is None for cell in column.tolist()], bool)


def shared_extra(extra: Extra, group: Array, first: Array) -> dict[str, Array]:
    """Return for each group the value that all its rows share, empty where they differ; a column that never is, goes.

    Parameters
    ----------
    extra : the columns
    group : the group of each row
    first : the first row of each group
    """
    found = {}
    for name, column in extra.items():
        codes = _codes(column)
        same = np.bincount(group, codes != codes[first][group], len(first)) == 0
        cells = as_cells(column[first])
        cells[~same] = None
        if same.any() and not is_empty(cells).all():
            found[name] = frozen(_column(cells))
    return found


def _codes(column: Array) -> Array:
    import pandas as pd

    codes: Array = pd.factorize(column, use_na_sentinel=True)[0]
    return codes


def attributes(extra: Extra, rater: Categories) -> pd.DataFrame:
    """Return the columns that have one value for every rater, one row per rater; an empty cell contradicts none."""
    import pandas as pd

    table = pd.DataFrame(index=pd.Index(rater.labels, name="rater", dtype=object))
    known = rater.codes >= 0
    for name, column in extra.items():
        said = known & ~is_empty(column)
        codes = _codes(column)
        pairs = pd.unique(rater.codes[said].astype(np.int64) * (codes.max(initial=0) + 1) + codes[said])
        if said.any() and len(pairs) == len(pd.unique(rater.codes[said])):
            value = _per_rater(column, rater.codes, said, len(rater.labels))
            table[name] = pd.Series(value, table.index, dtype=value.dtype)
    return table


def _per_rater(column: Array, codes: Array, said: Bools, count: int) -> Array:
    value = np.full(count, np.nan) if column.dtype.kind == "f" else np.full(count, None, object)
    value[codes[said]] = column[said]
    return value

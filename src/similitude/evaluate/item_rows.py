"""Which row of a table is about which item: by its index or by a column of names, by position where there are none.

A table that was read without `index_col` has its rows in the order of its file, which need not be that of the items: a
match by position would be a wrong answer that looks like a right one. So the names are looked for, and a table without
them is refused where items have names.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from similitude.engine.feature_checks import as_texts, index_knows, is_default
from similitude.feedback.items import Names
from similitude.types import Table

_CALLED = ("item", "items", "name", "names")  # a column that names items, whatever else it may look like


def as_table(given: Any, argument: str) -> pd.DataFrame:
    """Return a table of pandas, or an array, as a table; refuse what is none."""
    if isinstance(given, str | Path):
        raise TypeError(
            f"{argument}: expected a table, found the text {str(given)!r}; read the file first: "
            f"pandas.read_csv({str(given)!r}, index_col=0)"
        )
    if isinstance(given, pd.DataFrame):
        return given
    if isinstance(given, pd.Series):
        return given.to_frame()
    values = np.asarray(given)
    if values.ndim not in (1, 2):
        found = f"an array of shape {values.shape}" if values.ndim else type(given).__name__
        raise TypeError(f"{argument}: expected a table with a row per item, found {found}")
    return pd.DataFrame(values)


def rows_of_items(given: Table, names: Names | None, n_items: int, argument: str) -> pd.DataFrame:
    """Return a table with a row per item, in the order of the items; NaN throughout for one that it does not know.

    Parameters
    ----------
    given : a table of pandas whose index, or one column, names the items; or an array in their order
    names : of the items; None where they are numbers from 0
    n_items : number of items
    argument : what messages call the table
    """
    frame = as_table(given, argument)
    wanted = [str(k) for k in range(n_items)] if names is None else list(names)
    labelled = _labelled(frame, wanted, names is not None) if isinstance(given, pd.DataFrame | pd.Series) else None
    if labelled is not None:
        if labelled.index.has_duplicates:
            raise ValueError(f"{argument}: two rows are about {labelled.index[labelled.index.duplicated()][0]!r}")
        return labelled.reindex(wanted)
    if names is not None and isinstance(given, pd.DataFrame | pd.Series):
        raise ValueError(
            f"{argument}: no row is about an item of the model ({wanted[0]}, ...): expected the items' names in the "
            "index, as of pandas.read_csv(file, index_col=0), or in a column of their own"
        )
    if len(frame) != n_items:
        raise ValueError(f"{argument}: found {len(frame)} rows, expected {n_items}, one for each item, or names")
    return frame


def _labelled(frame: pd.DataFrame, wanted: Sequence[str], named: bool) -> pd.DataFrame | None:
    """The table with the items as its index: the index it has, or the column that knows most of them; None for neither.

    Items without names are their numbers: these are looked for where all rows have such a number, in an index that
    somebody made or in a column that is called so.
    """
    items, found = set(wanted), list[pd.DataFrame]()
    for column in frame.columns if frame.columns.is_unique else ():
        called = str(column).lower() in _CALLED
        if not called and (not named or pd.api.types.is_float_dtype(frame[column])):
            continue
        texts = as_texts(frame[column])
        if 2 * len(items & {*texts}) >= min(len(items), len(texts)) if named else items >= {*texts}:
            found.append(frame.drop(columns=column).set_axis(texts, axis=0))
    if len(frame) and index_knows(frame.index, items, named):  # of several that know as many, the first is taken
        found.insert(len(found) if is_default(frame.index) else 0, frame.set_axis(as_texts(frame.index), axis=0))
    return max(found, key=lambda one: len(items & {*one.index}), default=None)


def named_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose rows have no names with such as its index, where a column of words has one for each.

    Those are words that stand in every row, and each once.
    """
    if any(isinstance(name, str) for name in frame.index) or not frame.columns.is_unique:
        return frame
    words = [column for column in frame.columns if not pd.api.types.is_numeric_dtype(frame[column])]
    own = [
        column for column in words if frame[column].is_unique and all(isinstance(cell, str) for cell in frame[column])
    ]
    return frame.set_index(own[0]) if own else frame

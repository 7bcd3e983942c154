"""Features of items in a table: a row per item, named in the first column, and numbers in the others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from similitude.feedback.files.item_tables import read_numbers
from similitude.types import Floats


def read_features(path: Path, names: Sequence[str] | None, n_items: int) -> tuple[Floats, str]:
    """Return an (n, q) array in the order of the items, and the Python that reads the table.

    Parameters
    ----------
    path : any kind of table that answers may come in
    names : the items; None where they are known by position, which the first column then holds
    n_items : number of items
    """
    import pandas as pd

    wanted = [str(name) for name in (range(n_items) if names is None else names)]
    table, call = read_numbers(path)
    if table.index.has_duplicates:
        twice = table.index[table.index.duplicated()][0]
        raise ValueError(f"{path.name}: two rows are about {twice!r}; expected one row per item")
    if missing := [name for name in wanted if name not in table.index]:
        raise ValueError(f"{path.name}: no row for {missing[0]!r} and {len(missing) - 1} other items of the answers")
    words = [str(name) for name, kind in table.dtypes.items() if not pd.api.types.is_numeric_dtype(kind)]
    if words or not len(table.columns):
        found = f"words in column {words[0]!r}" if words else "no column beside the names"
        raise ValueError(
            f"{path.name}: expected the items' names in the first column and numbers after it, found {found}"
        )
    values: Floats = table.loc[wanted].to_numpy(float)
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(f"{path.name}: {wanted[row]!r} has no number in column {table.columns[column]!r}")
    return values, call

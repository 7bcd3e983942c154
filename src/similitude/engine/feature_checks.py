"""Reading features: the one place where they become arrays with a row per item, and where bad ones are refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from similitude.types import Array, Bools, Floats


def as_numbers(value: Any, argument: str, ndim: tuple[int, ...]) -> Floats:
    """Return a new array of floats with one of the given numbers of axes, the first of them the items."""
    dense: Any = value.toarray() if hasattr(value, "toarray") else value
    values = np.asarray(dense)
    if values.dtype.kind not in "biuf":
        values = _object_numbers(values, argument)
    if values.ndim not in ndim:
        hint = "; give a single feature as X.reshape(-1, 1)" if values.ndim == 1 else ""
        wanted = " or ".join(str(n) for n in ndim)
        raise ValueError(
            f"{argument}: found an array of shape {values.shape}, expected {wanted} axes, the first of them the "
            f"items{hint}"
        )
    if values.size == 0:
        raise ValueError(f"{argument}: found an empty array of shape {values.shape}, expected a row per item")
    return values.astype(np.float64)


def _object_numbers(values: Array, argument: str) -> Floats:
    """Return a column of mixed objects (a table with gaps) as floats, if that is what it holds."""
    try:
        return values.astype(np.float64) if values.dtype.kind == "O" else _refuse(values, argument)
    except (TypeError, ValueError):
        return _refuse(values, argument)


def _refuse(values: Array, argument: str) -> Floats:
    raise TypeError(f"{argument}: found values of type {values.dtype}, expected numbers; encode names as numbers first")


def column_names(value: Any) -> tuple[str, ...] | None:
    """Names of the columns of a table that has some, each once; None of an array."""
    columns = list(getattr(value, "columns", ()))
    named = columns and all(isinstance(name, str) for name in columns) and len(set(columns)) == len(columns)
    return tuple(columns) if named else None


def row_names(value: Any) -> list[str] | None:
    """Names or numbers of the rows of a table whose index somebody made; None of anything else."""
    index = getattr(value, "index", None)
    return None if index is None or callable(index) or is_default(index) else as_texts(index)


def is_default(index: Any) -> bool:
    """Whether an index counts rows from 0, as that of a table does of which nobody said what names its rows."""
    return getattr(index, "start", None) == 0 and getattr(index, "step", None) == 1


def index_knows(index: Any, items: set[str], named: bool) -> bool:
    """Whether an index names items: one that only counts the rows does where the names are all of its numbers.

    One that counts them in another order, as that of a sorted table, may also hold the names of some items alone: of
    items 1 to 10, rows 0 to 9 are the places. Items without names are their numbers: an index knows these where
    somebody made it, and it holds no others.
    """
    texts = {*as_texts(index)}
    if not named or is_default(index):
        return items <= texts if named else not is_default(index) and texts <= items
    if texts == {*map(str, range(len(texts)))}:
        return items <= texts or texts <= items
    return bool(items & texts)


def as_texts(values: Any) -> list[str]:
    """What an index or a column calls items, as text; 7.0 is 7."""
    return [str(int(value)) if isinstance(value, float) and value.is_integer() else str(value) for value in values]


def check_same_rows(rows: Iterable[Sequence[str] | None], argument: str) -> None:
    """Refuse parts whose rows have other names, or another order, where they have names."""
    if len({tuple(names) for names in rows if names is not None}) > 1:
        raise ValueError(
            f"{argument}: found tables whose rows have other names, or another order; expected the same items in every "
            "part: give each as table.reindex(names)"
        )


def rows_of_tables(features: Any) -> Iterator[list[str] | None]:
    """Names of the rows of each table among features by modality, and by part of a sum."""
    if isinstance(features, Mapping):
        yield from chain.from_iterable(map(rows_of_tables, features.values()))
    elif isinstance(features, list | tuple):
        yield from map(row_names, filter(is_table, features))
    else:
        yield row_names(features) if is_table(features) else None


def is_table(value: Any) -> bool:
    """Whether something is a table with an index, as those of pandas are."""
    return hasattr(value, "columns") and hasattr(value, "index")


def by_column(value: Any, columns: tuple[str, ...] | None, argument: str) -> Any:
    """Return a table with the columns that a model learned from, in their order; what has no names as it is."""
    found = column_names(value)
    if columns is None or found is None or found == columns:
        return value
    lacking = [name for name in columns if name not in found]
    unknown = [name for name in found if name not in columns]
    if lacking or unknown:
        said = f"lacks the column {lacking[0]!r}" if lacking else f"has a column {unknown[0]!r}"
        raise ValueError(
            f"{argument}: the table {said}, expected the columns that the model learned from: "
            + ", ".join(columns[:8])
            + (", ..." if len(columns) > 8 else "")
        )
    return value[list(columns)]


def which_present(values: Floats, present: Any, argument: str, labels: list[str] | None = None) -> Bools:
    """Return which items have features: those marked, or, without marks, those whose row is not NaN throughout.

    A row that is refused is called by its label, where rows have some.
    """
    flat = values.reshape(len(values), -1)
    missing = np.isnan(flat)
    here: Bools = np.logical_not(missing.all(1)) if present is None else as_mask(present, len(values))
    if np.isinf(flat[here]).any():
        row = np.flatnonzero(here & np.isinf(flat).any(1))[0]
        raise ValueError(
            f"{argument}: {_row(row, labels)} holds an infinite value, expected finite numbers; clip or drop it"
        )
    partly = np.flatnonzero(here & missing.any(1))
    if len(partly):
        lacks = f"{_row(partly[0], labels)} lacks {missing[partly[0]].sum()} of its {flat.shape[1]} values"
        raise ValueError(
            f"{argument}: {lacks}, expected a row that is complete or NaN throughout (an item without this "
            "modality); fill the gaps first"
        )
    return here


def _row(row: Any, labels: list[str] | None) -> str:
    return f"row {row}" if labels is None else f"the row of {labels[row]!r}"


def as_mask(present: Any, n_items: int) -> Bools:
    """Return marks of the items that have features, one boolean each."""
    mask = np.asarray(present)
    if mask.dtype != np.bool_ or mask.shape != (n_items,):
        raise ValueError(
            f"present: found {mask.dtype} of shape {mask.shape}, expected {n_items} booleans, one per item"
        )
    return mask


def check_varied(rows: Floats, argument: str) -> None:
    """Refuse features that are the same for every item."""
    flat = rows.reshape(len(rows), -1)
    if len(flat) > 1 and np.ptp(flat, axis=0).max() <= 1e-12 * np.abs(flat).max():
        raise ValueError(
            f"{argument}: found the same values for all {len(flat)} items, expected features that differ; "
            "leave this modality out"
        )


def check_non_negative(rows: Floats, present: Bools, argument: str, kernel: str) -> None:
    """Refuse negative features where a kernel is defined on counts or shares."""
    negative = np.flatnonzero(present & (rows < 0).any(1))
    if len(negative):
        raise ValueError(
            f"{argument}: found {rows[negative[0]].min():g} in row {negative[0]}, expected none below zero for "
            f"{kernel}; give counts or shares, or use another kernel"
        )


def check_positive(value: Any, argument: str, *, zero: bool = False) -> float:
    """Return a setting as a finite positive number (or zero, where that is allowed)."""
    number = float(value) if isinstance(value, (int, float, np.number)) and not isinstance(value, bool) else np.nan
    if not (np.isfinite(number) and (number > 0 or (zero and number == 0))):
        kind = "number of zero or more" if zero else "positive number"
        raise ValueError(f"{argument}: found {value!r}, expected a {kind}")
    return number

"""Cells of a file as items, numbers and lists; every error names the file's column and row."""

from __future__ import annotations

import ast
import json
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from itertools import chain, pairwise
from pathlib import Path
from tokenize import COMMENT, NL, STRING, generate_tokens
from typing import Any

import numpy as np

from similitude.feedback.columns import Rows, is_none
from similitude.feedback.files.names import read_names
from similitude.feedback.files.tables import ERRORS, Table, objects
from similitude.feedback.spelling import folded
from similitude.types import Array, Floats

_FORMULA = re.compile(r"=\s*([$A-Z]+[0-9$]+|[A-Z.]+\()")
_DIGITS = 1000
_NESTED = (list, tuple, dict, set, np.ndarray)
_WHOLE = re.compile(r"[+-]?(0|[1-9][0-9]*)(\.0+)?")


@dataclass(frozen=True)
class ItemRule:
    """How the items of a file are to be read.

    Attributes
    ----------
    names : names of the items, or None
    n_items : number of items, or None
    labels : whether whole numbers are names, not positions
    fold : whether names that differ by case, spaces, accents or .0 alone are one
    called : the name of each item by what the file calls it, where that is something else; `names` has the same names
    listed : the table that says so, where that is a file
    from_zero : whether whole numbers are positions from 0 for sure, since the file's maker counts so
    notes : what was decided while reading, in sentences
    """

    names: Sequence[str] | None = None
    n_items: int | None = None
    labels: bool = False
    fold: bool = False
    called: Mapping[str, str] | None = None
    listed: str = ""
    from_zero: bool = False
    notes: list[str] = field(default_factory=list, compare=False)

    @classmethod
    def told(
        cls,
        names: Sequence[str] | Mapping[Any, str] | os.PathLike[str] | None,
        n_items: int | None,
        labels: bool,
        fold: bool,
    ) -> ItemRule:
        """Return the rule for what a caller says; names may come by what the file calls the items, or in a table."""
        listed = ""
        if isinstance(names, (str, os.PathLike)):
            path = Path(names)
            names, listed = read_names(path), f" in {path.name}"
        if not isinstance(names, Mapping):
            return cls(names, n_items, labels, fold)
        called = {_label(call): str(name) for call, name in names.items()}
        return cls(list(called.values()), n_items, labels, fold, called, listed)

    def read(self, values: Array, typed: bool) -> tuple[Array, Sequence[str] | None]:
        """Return items as positions or as names, with the names known by then; None is no item."""
        if is_none(values).any():
            raise ValueError("items: an empty value (null or NaN) is in the place of an item; fill it in")
        if self.called is not None:
            return self._named(self._translated(values, self.called))
        codes, distinct = _factorized(values)
        table = [value if typed else _number(value) for value in distinct]
        table = [_plain(found) for found in table]
        kinds = {type(found) for found in table}
        if self.labels:
            whole = kinds == {int} and self.names is None  # 7.0, as programs write numbers beside empty cells, is 7
            return self._labels(objects(table)[codes].reshape(values.shape) if whole else values)
        if kinds <= {int}:
            return self._positions(values, _as_positions(table)[codes].reshape(values.shape))
        if kinds == {str} or (self.names is not None and not typed):
            return self._named(values)
        if kinds == {str, int}:
            number = next(found for found in table if isinstance(found, int))
            self._note(f"items: {number} and other whole numbers are names, since others are words")
            return self._labels(values)
        raise _neither(table)

    def told_apart(self, values: Array) -> Array:
        """Return a number for each item: the same where two are one item."""
        codes, distinct = _factorized(values)
        if self.fold:
            codes = _factorized(objects([folded(str(value)) for value in distinct]))[0][codes]
        return codes.reshape(values.shape)

    def _positions(self, values: Array, numbers: Array) -> tuple[Array, Sequence[str] | None]:
        """Whole numbers: positions from 0, unless they are ids from 1."""
        if self.from_zero or self.n_items is not None or not numbers.size or numbers.min() != 1:
            _warn_of_ids(numbers)
            return numbers, self.names
        if self.names is None:
            self._note(
                f"items: the numbers begin at 1, so they are taken for names (1 to {numbers.max()}), not positions"
            )
            return self._labels(numbers.astype(object))  # 1 and 1.0 are one name
        if numbers.max() == len(self.names):
            self._note("items: the numbers begin at 1, so 1 is the first name")
            return numbers - 1, self.names
        return numbers, self.names

    def _translated(self, values: Array, called: Mapping[str, str]) -> Array:
        """What the file calls the items, as their names."""
        codes, distinct = _factorized(values)
        calls = [_label(_number(value)) for value in distinct]
        known = set(called.values())  # a file that has the names already is as good
        if unknown := [call for call in calls if call not in called and call not in known]:
            raise ValueError(f"names: there is no name for item {unknown[0]!r}{self.listed}; expected one for each")
        return objects([called.get(call, call) for call in calls])[codes].reshape(values.shape)

    def _labels(self, values: Array) -> tuple[Array, Sequence[str] | None]:
        codes, distinct = _factorized(values)
        text = objects([_label(value) for value in distinct])[codes].reshape(values.shape)
        text, names = self._named(text)
        return text, names if names is not None else sorted(set(text.ravel().tolist()), key=_label_order)

    def _named(self, values: Array) -> tuple[Array, Sequence[str] | None]:
        """Names, joined where they differ by spelling alone and that was asked for."""
        if not self.fold:
            return values, self.names
        names = self.names if self.names is not None else _by_frequency(values)
        first = {folded(name): name for name in reversed(list(names))}
        codes, distinct = _factorized(values)
        joined = objects([first.get(folded(value), value) for value in distinct])[codes].reshape(values.shape)
        return joined, None if self.names is None else list(dict.fromkeys(first[folded(name)] for name in self.names))

    def _note(self, sentence: str) -> None:
        if sentence not in self.notes:
            self.notes.append(sentence)


def _factorized(values: Array) -> tuple[Array, list[Any]]:
    """The number of each value among the distinct ones, in one row, and these."""
    import pandas as pd

    codes, distinct = pd.factorize(np.asarray(values, object).ravel())
    return codes, np.asarray(distinct, object).tolist()


def _by_frequency(values: Array) -> list[str]:
    codes, distinct = _factorized(values)
    counts = np.bincount(codes, minlength=len(distinct))
    return [distinct[k] for k in np.lexsort((np.array(distinct, str), -counts))]


def _label(value: Any) -> str:
    return str(_plain(value))


def _label_order(label: str) -> tuple[bool, int, str]:
    number = _number(label)
    return (True, 0, label) if isinstance(number, str) else (False, number, label)


def _number(value: Any) -> Any:
    """Return text that is a whole number as that, anything else as it is; Python reads no number of any length."""
    if not isinstance(value, str) or not _WHOLE.fullmatch(value):
        return value
    if len(value) > _DIGITS:
        raise ValueError(f"found {value}, a number of {len(value):,} digits; expected at most {_DIGITS:,}")
    return int(value.split(".")[0])


def _plain(value: Any) -> Any:
    """Return whole numbers of any type as int; text and what is neither as it is."""
    whole = isinstance(value, (int, np.integer)) or (isinstance(value, float) and value.is_integer())
    return int(value) if whole and not isinstance(value, (bool, np.bool_)) else value


def _as_positions(numbers: list[int]) -> Array:
    """Whole numbers as an array; some are larger than any position."""
    try:
        return np.array(numbers, np.int64)
    except OverflowError:
        raise ValueError(
            f"items: {max(numbers, key=abs)} is too large for a position; if the numbers are names, give labels=True"
        ) from None


def _neither(values: Sequence[Any]) -> TypeError:
    other = next(value for value in values if not isinstance(value, (str, int)) or isinstance(value, bool))
    return TypeError(f"items: expected names or positions, found {other!r}; write every item as a name")


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
        called = table.called.get(column, column)
        raise ValueError(f"row {empty[0] + 1} has no {called!r} ({len(empty)} such rows); fill it in or drop the row")
    if not table.typed and table.header is None:
        _refuse_formulas(cells, table.called.get(column, column))
    return one_each(table, column)


def one_each(table: Table, column: str) -> Array:
    """Return a column of single values; a list or an object in a cell, as JSON has them, is refused."""
    values = table.columns[column]
    if table.typed and not set(map(type, values.tolist())).isdisjoint(_NESTED):
        row = next(row for row, value in enumerate(values.tolist()) if isinstance(value, _NESTED))
        called = table.called.get(column, column)
        raise ValueError(f"row {row + 1} of {called!r}: expected a single value, found {values[row]!r}")
    return values


def _refuse_formulas(cells: Array, column: str) -> None:
    """Refuse text in which a spreadsheet's formula, or its error, stands in place of a value."""
    for value in set(cells.tolist()):
        if isinstance(value, str) and value.startswith("=") and _FORMULA.match(value):
            row = int(np.flatnonzero(cells == value)[0])
            raise ValueError(f"row {row + 1} of {column!r} is a formula ({value}); put its value there instead")
    if error := next((value for value in ERRORS if (cells == value).any()), None):
        row = int(np.flatnonzero(cells == error)[0])
        raise ValueError(f"row {row + 1} of {column!r} is the error {error}; correct that cell")


def matrix(table: Table, columns: Sequence[str]) -> Array:
    """Return full columns side by side."""
    return np.stack([full(table, column) for column in columns], axis=1)


def numbers(table: Table, column: str) -> Floats:
    """Return a column of numbers, NaN where a cell is empty."""
    given = table.columns[column]
    try:
        return np.where(is_none(given), np.nan, given).astype(np.float64)
    except (TypeError, ValueError):
        cells = given.tolist()
        row, called = next(k for k, cell in enumerate(cells) if not _is_number(cell)), table.called.get(column, column)
        raise ValueError(f"row {row + 1} of {called!r}: expected a number, found {cells[row]!r}") from None


def _is_number(cell: Any) -> bool:
    try:
        return cell is None or np.isscalar(float(cell))
    except (TypeError, ValueError):
        return False


def lists(table: Table, column: str, plain: Callable[[Any], list[Any]] | None = None) -> list[list[Any]]:
    """Return a column of lists, each as `listed` reads it, else what `plain` makes of a cell; an empty one is []."""
    cells = table.columns[column].tolist()
    found = None if table.typed else _all_at_once([cell or "[]" for cell in cells])
    if found is not None:
        return found
    return [_list(cell, column, row, plain) for row, cell in enumerate(cells)]


def _all_at_once(cells: list[str]) -> list[list[Any]] | None:
    """Return cells that are one JSON list each, which is much faster than one by one; None where they may be none.

    A list that is cut over two cells must not be put together again: a line's end ends a text in JSON, and where each
    cell opens a list and no list holds one, each cell begins where the ones before it are closed.
    """
    if not all(cell.startswith("[") for cell in cells):
        return None
    try:
        found = json.loads("[" + ",\n".join(cells) + "]")
    except (ValueError, RecursionError):
        return None
    whole = len(found) == len(cells) and set(map(type, found)) <= {list}
    return found if whole and not {list, dict} & set(map(type, chain.from_iterable(found))) else None


def words(cell: Any) -> list[str]:
    """Return the words of a cell."""
    return str(cell).split()


def one_word(cell: Any) -> list[str]:
    """Return a cell as one word; 1 and 1.0 are the same."""
    return [_label(_number(cell))]


def _list(cell: Any, column: str, row: int, plain: Callable[[Any], list[Any]] | None) -> list[Any]:
    if cell is None:
        return []
    found = listed(cell)
    if found is not None:
        nested = next((value for value in found if isinstance(value, _NESTED)), None)
        if nested is not None:
            raise ValueError(f"row {row + 1} of {column!r}: expected a list of single values, found {nested!r} in it")
        return found
    if plain is not None and not str(cell).lstrip().startswith("["):
        return plain(cell)
    raise ValueError(f"row {row + 1} of {column!r}: expected a list such as [0, 3, 5], found {cell!r}")


def listed(cell: Any) -> list[Any] | None:
    """Return a cell that holds a list: as it is, as JSON, or as Python prints it; None for other cells."""
    if isinstance(cell, (list, tuple, np.ndarray)):
        return list(cell)
    text = str(cell).strip()
    if not text.startswith("["):
        return None
    for parse in (json.loads, _as_python):
        try:
            found = parse(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        return found if isinstance(found, list) else None
    return None


def _as_python(text: str) -> Any:
    """Return what Python writes so; not two words side by side, as numpy prints them, which Python would join."""
    found = ast.literal_eval(text)
    kinds = [token.type for token in generate_tokens(StringIO(text).readline) if token.type not in (NL, COMMENT)]
    if (STRING, STRING) in pairwise(kinds):
        raise ValueError(f"expected a comma between words, found {text}")
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

"""Columns of the answer table: named categories and rows of unequal length, both cheap to slice.

A column that holds one value throughout is stored once (a zero-stride array), so that five million answers
of one form cost nothing for saying so.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from similitude.types import Array, Bools, Ints

_MANY = 100_000  # values for which pandas is worth its import


def constant(value: Any, length: int, dtype: Any = None) -> Array:
    """Return a read-only column of one repeated value, stored once."""
    return np.broadcast_to(np.asarray(value, dtype), (length,))


def is_constant(column: Array) -> bool:
    """Whether a column is stored as one repeated value."""
    return column.ndim == 1 and column.strides == (0,)


def take(column: Array, rows: Array) -> Array:
    """Return the given rows of a column; a constant column stays constant."""
    if is_constant(column) and len(column):
        return constant(column[0], len(rows), column.dtype)
    return column[rows]


def join(columns: Sequence[Array]) -> Array:
    """Concatenate columns; equal constants stay constant."""
    full = [column for column in columns if len(column)]
    if full and all(is_constant(column) and column[0] == full[0][0] for column in full):
        return constant(full[0][0], sum(map(len, full)), full[0].dtype)
    return np.concatenate(columns)


def is_none(column: Array) -> Bools:
    """Return which values of a column of objects are None."""
    found = [value is None for value in column.ravel().tolist()]
    return np.array(found, bool).reshape(column.shape)


def frozen(column: npt.ArrayLike, dtype: Any = None) -> Array:
    """Return a read-only array of its own, so that nobody changes it behind our back."""
    result = np.array(column, dtype)
    result.flags.writeable = False
    return result


@dataclass(frozen=True, eq=False)
class Categories:
    """A column of names, kept as codes: `labels[codes[k]]` is the name in row k, -1 is "not recorded"."""

    codes: Ints
    labels: tuple[str, ...]

    @classmethod
    def of(cls, values: Any, length: int) -> Categories:
        """Encode names or numbers; one value stands for all rows; None, NaN and "" become "not recorded"."""
        if isinstance(values, Categories):
            return values
        if values is None or np.ndim(values) == 0:
            only = () if values is None or values == "" else (_as_name(values),)
            return cls(constant(len(only) - 1, length, np.int32), only)
        codes, labels = _factorized(np.asarray(values))
        if len(codes) != length:
            raise ValueError(f"expected one value per answer ({length}), found {len(codes)}")
        return _merged(codes, [_as_name(label) for label in labels])

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def values(self) -> npt.NDArray[np.object_]:
        """The names, None where nothing was recorded."""
        return np.array([*self.labels, None], dtype=object)[self.codes]

    @property
    def recorded(self) -> bool:
        """Whether any row has a name."""
        return bool(len(self.labels)) and bool((self.codes >= 0).any())

    def take(self, rows: Array) -> Categories:
        """Return the given rows, with only the names that they use."""
        codes = take(self.codes, rows)
        if is_constant(codes) and len(codes):
            kept = () if codes[0] < 0 else (self.labels[codes[0]],)
            return Categories(constant(len(kept) - 1, len(codes), np.int32), kept)
        used = np.unique(codes[codes >= 0])
        position = np.full(len(self.labels) + 1, -1, np.int32)
        position[used] = np.arange(len(used))
        return Categories(position[codes], tuple(self.labels[code] for code in used))

    @staticmethod
    def join(parts: Sequence[Categories]) -> Categories:
        """Concatenate, giving equal names equal codes."""
        labels: dict[str, int] = {}
        codes = []
        for part in parts:
            table = np.array([labels.setdefault(label, len(labels)) for label in part.labels] + [-1], np.int32)
            one = is_constant(part.codes) and len(part.codes)
            codes.append(constant(table[part.codes[0]], len(part)) if one else table[part.codes])
        return Categories(join(codes), tuple(labels))


def _factorized(values: Array) -> tuple[Array, Sequence[Any]]:
    """The number of each value among the distinct ones, -1 where there is none, and these.

    By pandas where it is there, or worth its import: a saved model is asked about its raters with numpy alone.
    """
    if "pandas" in sys.modules or len(values) > _MANY:
        import pandas as pd

        codes, labels = pd.factorize(values, use_na_sentinel=True)
        return codes, list(labels)
    place: dict[Any, int] = {}
    given = [None if value != value else value for value in values.tolist()]
    found = [-1 if value is None else place.setdefault(value, len(place)) for value in given]
    return np.array(found, np.int64), list(place)


def _as_name(value: Any) -> str:
    """Return a category as text; 3.0 is the 3 that a table with gaps turned into a float."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _merged(codes: Array, labels: Sequence[str]) -> Categories:
    """Give one code to labels of one name (1 and "1"), and -1 to the empty name."""
    names = {name: k for k, name in enumerate(dict.fromkeys(label for label in labels if label != ""))}
    table = np.array([*(names.get(label, -1) for label in labels), -1], np.int32)
    merged = table[codes]
    if len(merged) and (merged == merged[0]).all():
        merged = constant(merged[0], len(merged))
    return Categories(merged, tuple(names))


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of numbers of unequal length: row k is `values[offsets[k]:offsets[k + 1]]`.

    Where all rows have one length, `width` says so and `offsets` is not stored.
    """

    values: Array
    offsets: npt.NDArray[np.int64] | None
    width: int
    length: int

    @classmethod
    def uniform(cls, matrix: Array) -> Rows:
        """Make rows of one length from a matrix."""
        return cls(np.ascontiguousarray(matrix).ravel(), None, matrix.shape[1], len(matrix))

    @classmethod
    def ragged(cls, values: Array, lengths: npt.ArrayLike) -> Rows:
        """Make rows of the given lengths from their concatenated values."""
        lengths = np.asarray(lengths, np.int64)
        if len(lengths) and (lengths == lengths[0]).all():
            return cls(np.asarray(values), None, int(lengths[0]), len(lengths))
        return cls(np.asarray(values), np.concatenate([[0], np.cumsum(lengths)]), -1, len(lengths))

    @classmethod
    def of(cls, rows: Any, dtype: Any = None) -> Rows:
        """Make rows from a matrix or a sequence of sequences."""
        if isinstance(rows, Rows):
            return rows
        if isinstance(rows, np.ndarray) and rows.ndim == 2:
            return cls.uniform(rows.astype(dtype) if dtype is not None else rows)
        parts = [np.asarray(row, dtype) for row in rows]
        values = np.concatenate(parts) if parts else np.empty(0, dtype)
        return cls.ragged(values, [len(part) for part in parts])

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, row: int) -> Array:
        start, end = (row * self.width, (row + 1) * self.width) if self.offsets is None else self.offsets[row : row + 2]
        return self.values[start:end]

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The length of each row."""
        if self.offsets is None:
            return constant(self.width, self.length, np.int64)
        return np.diff(self.offsets)

    @property
    def owner(self) -> npt.NDArray[np.int64]:
        """For each value, the row that it stands in."""
        return np.repeat(np.arange(self.length), self.lengths)

    def matrix(self, rows: Array | None = None) -> Array:
        """Return rows of one length as a matrix (all rows, or the given ones)."""
        if self.offsets is None:
            matrix = self.values.reshape(self.length, self.width)
            return matrix if rows is None else matrix[rows]
        chosen = np.arange(self.length) if rows is None else rows
        width = int(self.lengths[chosen[0]]) if len(chosen) else 0
        return self.values[self.offsets[chosen][:, None] + np.arange(width)]

    def take(self, rows: Array) -> Rows:
        """Return the given rows."""
        if self.offsets is None:
            return Rows.uniform(self.matrix(rows))
        lengths = self.lengths[rows]
        inside = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return Rows.ragged(self.values[np.repeat(self.offsets[rows], lengths) + inside], lengths)

    def with_values(self, values: Array) -> Rows:
        """Return rows of the same lengths with other values."""
        return Rows(values, self.offsets, self.width, self.length)

    @staticmethod
    def join(parts: Sequence[Rows]) -> Rows:
        """Concatenate."""
        values = np.concatenate([part.values for part in parts])
        return Rows.ragged(values, np.concatenate([part.lengths for part in parts]))


class Rowwise:
    """What has a row for each thing that was said: a frozen dataclass, of which some attributes are columns.

    Attributes
    ----------
    _columns : the names of these; one may be None
    """

    _columns: ClassVar[tuple[str, ...]]

    def __len__(self) -> int:
        return len(getattr(self, self._columns[0]))

    def __getitem__(self, rows: Any) -> Self:
        """Return some rows (numpy's ways of indexing)."""
        index = np.atleast_1d(np.arange(len(self))[rows])
        columns = {name: getattr(self, name) for name in self._columns}
        taken = {
            name: column.take(index) if isinstance(column, Categories) else take(column, index)
            for name, column in columns.items()
            if column is not None
        }
        return replace(self, **taken)  # type: ignore[type-var]

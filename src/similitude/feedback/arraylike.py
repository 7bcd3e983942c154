"""What people may give as an array, as type checkers see it: numpy's `ArrayLike` takes a text, which is no table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy.typing as npt


class SupportsArray(Protocol):
    """An array, or what makes one of itself: a table of pandas, say."""

    def __array__(self) -> npt.NDArray[Any]: ...


class Sparse(Protocol):
    """A sparse matrix of scipy."""

    def toarray(self) -> Any:
        """Return it as a whole array."""


Column = SupportsArray | Sequence[Any]
"""A value for each of something."""

Table = SupportsArray | Sequence[Sequence[float]]
"""Rows of numbers."""

ItemRows = SupportsArray | Sequence[Sequence[int]] | Sequence[tuple[str, ...]] | Sequence[list[str]]
"""Rows of items, by position or by name."""

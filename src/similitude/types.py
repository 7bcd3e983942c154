"""Types of arrays and seeds, as annotations name them.

What people may give as an array is narrower than numpy's `ArrayLike`, which takes a text, and that is no table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]
Seed = int | np.random.Generator | None


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

"""Tuples of vectors, as metric-learn has them: read, and turned into comparisons of the vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import as_comparisons
from similitude.feedback.items import as_integers
from similitude.feedback.links import Links
from similitude.feedback.sheets import as_right
from similitude.types import Array, Floats, Seed, Table

Preprocessor = Table | Callable[[Array], Any]
"""Vectors of all items, or a function of indices that returns theirs."""

_SIZES = {2: "pairs", 3: "triplets", 4: "quadruplets"}


def read_tuples(tuples: npt.ArrayLike, preprocessor: Preprocessor | None = None, size: int | None = None) -> Floats:
    """(m, t, d) vectors of tuples, which may hold indices where there is a preprocessor."""
    values = np.asarray(tuples)
    expected = f"{size}" if size is not None else "2, 3 or 4"
    if values.ndim not in (2, 3) or values.shape[1] not in ([size] if size else list(_SIZES)):
        raise ValueError(
            f"tuples: found an array of shape {values.shape}, expected vectors of shape (m, t, d), or indices of shape "
            f"(m, t) with a preprocessor; t is {expected}"
        )
    if values.ndim == 2:
        values = vectors_of(values.ravel(), preprocessor).reshape(*values.shape, -1)
    numbers = values.astype(float)
    if not np.isfinite(numbers).all():
        raise ValueError("tuples: found a value that is no number (NaN or infinity), expected vectors of numbers")
    return numbers


def vectors_of(X: Any, preprocessor: Preprocessor | None) -> Floats:
    """(m, d) vectors, or those of (m,) indices by the preprocessor."""
    values = np.asarray(X)
    if values.ndim == 2:
        return values.astype(float)
    if preprocessor is None:
        raise ValueError(
            f"found an array of shape {values.shape}: indices, expected vectors; indices need their vectors: "
            "VectorMetric(preprocessor=X)"
        )
    indices = as_integers(values, "indices")
    if callable(preprocessor):
        return np.asarray(preprocessor(indices), float)
    table = np.asarray(preprocessor, float)
    if indices.size and not 0 <= indices.min() <= indices.max() < len(table):
        raise ValueError(
            f"indices: found {indices.min()} to {indices.max()}, but the preprocessor has {len(table)} vectors"
        )
    return table[indices]


def as_comparisons_of_tuples(codes: Array, y: npt.ArrayLike | None, seed: Seed) -> Comparisons:
    """Return what tuples of codes say, as comparisons."""
    if codes.shape[1] != 2:
        return as_comparisons(codes, y)
    if y is None:
        raise ValueError("y: found none, expected 1 or -1 for each pair: whether its two are alike")
    alike = as_right(y, len(codes))
    if alike.all() or not alike.any():
        raise ValueError(
            "y: found pairs of one kind alone, expected some that are alike (1) and some that are not (-1)"
        )
    return Links.of(codes, alike, n_items=int(codes.max()) + 1).to_comparisons(random_state=seed)

"""What simulated raters see: squared distances between items, from positions, a table or a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from similitude.types import Array, Floats


@dataclass(frozen=True, eq=False)
class Truth:
    """Squared distances of pairs of items that are known.

    Attributes
    ----------
    n_items : number of items
    positions : (n, d) where the items stand, or None
    table : (n, n) squared distances, or None
    function : distance of each row of an array of pairs, or None
    """

    n_items: int
    positions: Floats | None = None
    table: Floats | None = None
    function: Callable[[Array], Array] | None = None

    @classmethod
    def of(cls, truth: Any, metric: str, n_items: int | None) -> Truth:
        """Read positions ("euclidean"), a table of distances ("precomputed"), or a function of pairs."""
        if metric not in ("euclidean", "precomputed"):
            raise ValueError(f"metric: expected 'euclidean' or 'precomputed', found {metric!r}")
        if callable(truth):
            if n_items is None:
                raise ValueError("n_items: expected the number of items where truth is a function, found None")
            return cls(n_items, function=truth)
        values = np.asarray(truth, float)
        values = values[:, None] if values.ndim == 1 else values
        if values.ndim != 2 or not np.isfinite(values).all():
            raise ValueError(f"truth: expected a matrix of finite numbers, found shape {values.shape} or NaN")
        if n_items not in (None, len(values)):
            raise ValueError(f"n_items: truth holds {len(values)} items, found {n_items}")
        if metric == "euclidean":
            return cls(len(values), positions=values)
        if values.shape[0] != values.shape[1]:
            raise ValueError(f"truth: expected a square table of distances, found shape {values.shape}")
        return cls(len(values), table=values**2)

    def squared(self, first: Array, second: Array) -> Floats:
        """Return the squared distance of `first[...]` and `second[...]`, in their common shape."""
        if self.table is not None:
            return self.table[first, second]
        first, second = np.broadcast_arrays(first, second)
        if self.positions is not None:
            return sum((column[first] - column[second]) ** 2 for column in self.positions.T)
        assert self.function is not None  # one of the three is set
        pairs = np.stack([first.ravel(), second.ravel()], axis=1)
        return np.asarray(self.function(pairs), float).reshape(first.shape) ** 2

    def layout(self) -> Floats:
        """Return the best two coordinates of the items: principal ones, or classical scaling of a table."""
        every = np.arange(self.n_items)
        gram = -0.5 * self.squared(every[:, None], every[None, :])
        gram = gram - gram.mean(0) - gram.mean(1)[:, None] + gram.mean()
        value, vector = np.linalg.eigh(gram)
        vector = vector * np.where(vector[np.abs(vector).argmax(0), every] < 0, -1, 1)  # same bits everywhere
        axes = np.sqrt(np.maximum(value[::-1][:2], 0)) * vector[:, ::-1][:, :2]
        return np.pad(axes, ((0, 0), (0, 2 - axes.shape[1])))

"""How unlike two items are, by their positions: squared distances, and forms that are no distances.

| kind | value for positions x, y |
|---|---|
| "distance" | abs(x - y)², the loss sees it; people are shown its root |
| "signed distance" | sum_k s_k (x_k - y_k)² with signs s_k, which may be negative |
| "product" | sum_k s_k x_k y_k |
| "sum" | sum_k s_k (x_k + y_k) |

The last three are what a ranking of pairs learns: (φ_x - φ_y)' M (φ_x - φ_y) of a symmetric M is a signed distance in
the coordinates of its eigenvectors, so that a file needs positions and signs, not the features and M.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from similitude.engine.distances import cross_sqdist, pair_sqdist, pair_squares, sqdist_table
from similitude.types import Array, Floats


@dataclass(frozen=True, eq=False)
class Measure(ABC):
    """Values between items by their positions.

    Attributes
    ----------
    positions : (n, r) of the items
    """

    positions: Floats

    kind: ClassVar[str]

    @abstractmethod
    def of_pairs(self, pairs: Array) -> Floats:
        """(p,) value of each pair of items."""

    @abstractmethod
    def by_dimension(self, pairs: Array) -> Floats:
        """(p, r) what each dimension adds to the value of each pair."""

    @abstractmethod
    def table(self) -> Floats:
        """(n, n) value for every two items."""

    @abstractmethod
    def between(self, A: Floats, B: Floats) -> Floats:
        """(a, b) value for any positions."""

    def shown(self, values: Floats) -> Floats:
        """Return values as people are shown them."""
        return values


class Euclidean(Measure):
    """abs(x - y)²; shown as distances."""

    kind = "distance"

    def of_pairs(self, pairs: Array) -> Floats:
        """(p,) squared distance of each pair."""
        return pair_sqdist(self.positions, pairs)

    def by_dimension(self, pairs: Array) -> Floats:
        """(p, r) (x_k - y_k)²."""
        return pair_squares(self.positions, pairs)

    def table(self) -> Floats:
        """(n, n) squared distance of every two items."""
        return sqdist_table(self.positions)

    def between(self, A: Floats, B: Floats) -> Floats:
        """(a, b) squared distances; of one position as they are, of several by a matrix product."""
        return ((B - A) ** 2).sum(1)[None] if len(A) == 1 else cross_sqdist(A, B)

    def shown(self, values: Floats) -> Floats:
        """Distances."""
        return np.sqrt(values)


@dataclass(frozen=True, eq=False)
class Signed(Measure):
    """A form in positions with signs.

    Attributes
    ----------
    signs : (r,) 1 or -1
    """

    signs: Floats

    def table(self) -> Floats:
        """(n, n) value for every two items."""
        return self.between(self.positions, self.positions)


class SignedDistance(Signed):
    """sum_k s_k (x_k - y_k)²."""

    kind = "signed distance"

    def of_pairs(self, pairs: Array) -> Floats:
        """(p,) value of each pair."""
        return pair_squares(self.positions, pairs) @ self.signs

    def by_dimension(self, pairs: Array) -> Floats:
        """(p, r) s_k (x_k - y_k)²."""
        return pair_squares(self.positions, pairs) * self.signs

    def between(self, A: Floats, B: Floats) -> Floats:
        """(a, b) values."""
        return (A**2 @ self.signs)[:, None] + B**2 @ self.signs - 2.0 * ((A * self.signs) @ B.T)


class SignedProduct(Signed):
    """sum_k s_k x_k y_k."""

    kind = "product"

    def of_pairs(self, pairs: Array) -> Floats:
        """(p,) value of each pair."""
        return (self.positions[pairs[:, 0]] * self.positions[pairs[:, 1]]) @ self.signs

    def by_dimension(self, pairs: Array) -> Floats:
        """(p, r) s_k x_k y_k."""
        return self.positions[pairs[:, 0]] * self.positions[pairs[:, 1]] * self.signs

    def between(self, A: Floats, B: Floats) -> Floats:
        """(a, b) values."""
        return (A * self.signs) @ B.T


class SignedSum(Signed):
    """sum_k s_k (x_k + y_k)."""

    kind = "sum"

    def of_pairs(self, pairs: Array) -> Floats:
        """(p,) value of each pair."""
        return (self.positions @ self.signs)[pairs].sum(1)

    def by_dimension(self, pairs: Array) -> Floats:
        """(p, r) s_k (x_k + y_k)."""
        return self.positions[pairs].sum(1) * self.signs

    def between(self, A: Floats, B: Floats) -> Floats:
        """(a, b) values."""
        return (A @ self.signs)[:, None] + B @ self.signs


SIGNED: dict[str, type[Signed]] = {one.kind: one for one in (SignedDistance, SignedProduct, SignedSum)}
"""The forms that are no distances, by kind."""

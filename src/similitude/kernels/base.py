"""What every kernel can do: K on its training items, and the values between new items and those.

**Items without this modality.** An item whose features are missing altogether gets an *identity row*, as in McFee &
Lanckriet (2011): K_ii = 1 and K_ij = 0, alike to nothing but itself. A new item without features is no training item,
so its row of `cross` is zero throughout. Features that are missing in part are an error.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np

from similitude.engine.feature_checks import as_numbers, check_varied, column_names, row_names, which_present
from similitude.engine.map_parts import MapPart, OwnPart, Route
from similitude.feedback.columns import frozen
from similitude.types import Bools, Floats, Sparse, Table


class Kernel(ABC):
    """k(x, y): how alike two items are by their features; symmetric and positive semidefinite.

    A kernel holds the features of its training items and never changes.

    Attributes
    ----------
    n_items : the number of training items
    present : which training items have features

    Examples
    --------
    >>> import similitude as sm
    >>> kernel = sm.kernels.RBF([[0.0], [1.0], [3.0]])
    >>> isinstance(kernel, sm.kernels.Kernel), kernel
    (True, RBF(3 items))
    >>> kernel.matrix().shape, kernel.cross([[2.0]]).shape
    ((3, 3), (1, 3))
    """

    @property
    @abstractmethod
    def present(self) -> Bools:
        """Which training items have features."""

    @property
    def n_items(self) -> int:
        """The number of training items."""
        return len(self.present)

    @property
    def rows(self) -> tuple[str, ...] | None:
        """Names of the training items, where a table gave some."""
        return None

    @abstractmethod
    def matrix(self) -> Floats:
        """K_ij = k(x_i, x_j) over the training items, an array of its own (n × n)."""

    @abstractmethod
    def cross(self, new: Any) -> Floats:
        """k(y_i, x_j) between new items and training items (m × n).

        Parameters
        ----------
        new : the features of the new items, in the form in which the kernel was given those of the training items

        Returns
        -------
        values : a row per new item; zero throughout for a new item without features
        """

    @abstractmethod
    def with_features(self, features: Any) -> Self:
        """Return a kernel with the same settings over other training items; what it estimates is estimated anew."""

    def map_parts(self, coefficients: Floats, route: Route = ()) -> tuple[list[MapPart], Floats]:
        """Return sum_j k(y, x_j) c_j of new items y in a form that needs no kernel, and a constant that is added to it.

        Parameters
        ----------
        coefficients : (n, d) c_j of each training item
        route : the entries of the features in which this kernel finds its own
        """
        return [OwnPart(coefficients, self, route=route)], np.zeros(coefficients.shape[1])

    def __repr__(self) -> str:
        lacking = int((~self.present).sum())
        without = f", {lacking} without features" if lacking else ""
        return f"{type(self).__name__}({self.n_items} items{without})"


@dataclass(frozen=True, eq=False, repr=False)
class FeatureKernel(Kernel):
    """k(x, y) of rows of features: identity rows, checks and shapes, around a formula on complete rows.

    Parameters
    ----------
    features : array (n × d), sparse matrix or table: a row per item, NaN throughout where an item lacks this modality
    present : booleans, one per item: which items have features, where NaN does not say it
    """

    features: Table | Sparse | tuple[Any, ...]
    present: Any = field(default=None, kw_only=True)
    inside: Any = field(init=False)  # the features of the items that have any
    columns: tuple[str, ...] | None = field(init=False)  # their names, where a table has some
    _rows: tuple[str, ...] | None = field(init=False)

    def __post_init__(self) -> None:
        named = row_names(self.features)
        self._set(columns=column_names(self.features), _rows=None if named is None else tuple(named))
        rows, present = self._read(self.features, self.present, "features")
        if not present.any():
            raise ValueError("features: found no item that has any, expected one at least; leave this modality out")
        self._set(features=rows, present=frozen(present, bool), inside=self._pick(rows, present))
        self._check_varied()

    @property
    def rows(self) -> tuple[str, ...] | None:
        """Names of the training items, where a table gave some."""
        return self._rows

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _read(self, value: Any, present: Any, argument: str) -> tuple[Any, Bools]:
        """Return the features as read-only arrays, and which items have them."""
        rows = as_numbers(value, argument, (2,))
        rows.flags.writeable = False
        return rows, which_present(rows, present, argument, row_names(value))

    def _pick(self, rows: Any, present: Bools) -> Any:
        """Return the features of the items that have any."""
        return rows if present.all() else rows[present]

    def _describe(self, inside: Any) -> str:
        """Say what new features must have in common with those of the training items."""
        return f"{inside.shape[1]} columns"

    def _check_varied(self) -> None:
        check_varied(self.inside, "features")

    @abstractmethod
    def _between(self, A: Any, B: Any) -> Floats:
        """k(a_i, b_j) of complete rows."""

    def _within(self) -> Floats:
        """k(x_i, x_j) of the training items that have features."""
        return self._between(self.inside, self.inside)

    def matrix(self) -> Floats:
        """K_ij = k(x_i, x_j); identity rows for items without features."""
        K = np.eye(self.n_items)
        here = np.flatnonzero(self.present)
        inner = self._within()
        K[np.ix_(here, here)] = (inner + inner.T) / 2
        return K

    def cross(self, new: Any) -> Floats:
        """k(y_i, x_j); zero where either item lacks features."""
        inside, present = self.read_new(new)
        values = np.zeros((len(present), self.n_items))
        if present.any():
            values[np.ix_(present, self.present)] = self._between(inside, self.inside)
        return values

    def read_new(self, new: Any) -> tuple[Any, Bools]:
        """Return the features of those new items that have any, checked, and which of the new items these are."""
        rows, present = self._read(new, None, "new features")
        inside = self._pick(rows, present)
        found, expected = self._describe(inside), self._describe(self.inside)
        if found != expected:
            raise ValueError(f"new features: found {found}, expected {expected}, as the training items have")
        return inside, present

    def map_parts(self, coefficients: Floats, route: Route = ()) -> tuple[list[MapPart], Floats]:
        """Return sum_j k(y, x_j) c_j over the training items that have features."""
        known = self._part(coefficients[self.present], route) if self._says_its_part() else None
        if known is None:
            return super().map_parts(coefficients, route)
        return [known], np.zeros(coefficients.shape[1])

    def _part(self, coefficients: Floats, route: Route) -> MapPart | None:
        """Return sum_j k(y, x_j) c_j over rows that are `inside`, where it has a form that a file can hold."""
        return None

    def _says_its_part(self) -> bool:
        """Whether `_part` is about this kernel: not where a class of somebody's own changes what it inherits."""
        home = next(cls for cls in type(self).__mro__ if "_part" in vars(cls))
        return all(getattr(type(self), name) is getattr(home, name) for name in ("_between", "_read", "cross"))

    def with_features(self, features: Any) -> Self:
        """Return a kernel with the same settings over other training items (missing ones as NaN)."""
        settings = {f.name: getattr(self, f.name) for f in fields(self) if f.init}
        return type(self)(**{**settings, "features": features, "present": None})

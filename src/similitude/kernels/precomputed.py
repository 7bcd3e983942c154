"""Kernels whose values are given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from similitude.engine.feature_checks import as_mask, as_numbers, row_names
from similitude.engine.map_parts import LinearPart, MapPart, Route
from similitude.feedback.columns import frozen
from similitude.kernels.base import Kernel
from similitude.kernels.matrices import TOLERANCE, as_square, check_psd, check_symmetric
from similitude.types import Bools, Floats, Table


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Precomputed(Kernel):
    """k(x_i, x_j) = K_ij, as given; symmetric and positive semidefinite up to rounding.

    New items are given as rows of kernel values with the training items (m × n), or, with `cross`, as whatever that
    function takes.

    Parameters
    ----------
    K : array (n × n); an item whose row and column are NaN lacks this modality
    cross : function from the features of new items to their kernel values (m × n)
    tol : how far from symmetric and positive semidefinite K may be, as a share of its largest entry or eigenvalue
    present : booleans, one per item: which items have features, where NaN does not say it

    Examples
    --------
    >>> import similitude as sm
    >>> sm.kernels.Precomputed([[1.0, 0.5], [0.5, 1.0]]).cross([[0.2, 0.4]])
    array([[0.2, 0.4]])
    """

    K: Floats
    rule: Callable[[Any], Any] | None
    tol: float
    present: Any = field(default=None, kw_only=True)
    _rows: tuple[str, ...] | None = field(init=False)

    def __init__(
        self, K: Table, cross: Callable[[Any], Any] | None = None, *, tol: float = TOLERANCE, present: Any = None
    ) -> None:
        matrix, here = _identity_rows(as_numbers(K, "K", (2,)), present)
        matrix = check_symmetric(as_square(matrix, "K"), "K", tol)
        check_psd(matrix[np.ix_(here, here)], "K", tol)
        for name, value in (("K", frozen(matrix)), ("rule", cross), ("tol", tol), ("present", frozen(here, bool))):
            object.__setattr__(self, name, value)
        named = row_names(K)
        object.__setattr__(self, "_rows", None if named is None else tuple(named))

    @property
    def rows(self) -> tuple[str, ...] | None:
        """Names of the training items, where a table gave some."""
        return self._rows

    def matrix(self) -> Floats:
        """K_ij as given; identity rows for items without features."""
        return self.K.copy()

    def cross(self, new: Any) -> Floats:
        """The values given for the new items; zero where either item lacks features."""
        values = as_numbers(new if self.rule is None else self.rule(new), "new features", (2,))
        if values.shape[1] != self.n_items:
            raise ValueError(
                f"new features: found kernel values with {values.shape[1]} items, expected {self.n_items}, one per "
                "training item"
            )
        values[np.isnan(values).all(1)] = 0.0
        values[:, ~self.present] = 0.0
        if not np.isfinite(values).all():
            row = np.flatnonzero(~np.isfinite(values).all(1))[0]
            raise ValueError(f"new features: found missing or infinite values in row {row}, expected all or none")
        return values

    def map_parts(self, coefficients: Floats, route: Route = ()) -> tuple[list[MapPart], Floats]:
        """Return sum_j k_j c_j: linear in the values that are given for new items; by a function, one of its own."""
        if self.rule is not None:
            return super().map_parts(coefficients, route)
        weights = coefficients * self.present[:, None]
        return [LinearPart(weights, route=route)], np.zeros(weights.shape[1])

    def with_features(self, features: Any) -> Self:
        """Return a kernel over other training items, given as their matrix K."""
        return type(self)(features, self.rule, tol=self.tol)


def _identity_rows(K: Floats, present: Any) -> tuple[Floats, Bools]:
    """Return K with an identity row for each item that is not there, and which are there."""
    if K.shape[0] != K.shape[1]:
        return K, np.ones(len(K), bool)
    here: Bools = np.logical_not(np.isnan(K).all(1)) if present is None else as_mask(present, len(K))
    if not here.any():
        raise ValueError("K: found no item that has kernel values, expected one at least; leave this modality out")
    result = np.eye(len(K))
    result[np.ix_(here, here)] = K[np.ix_(here, here)]
    return result, here

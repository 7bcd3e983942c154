"""Kernels over rows of numbers: linear, polynomial, RBF, chi-square, cosine."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy.spatial.distance import squareform

from similitude.engine import kernel_formulas
from similitude.engine.feature_checks import check_non_negative, check_positive, check_varied
from similitude.engine.map_parts import CosinePart, KernelPart, LinearPart, MapPart, Route
from similitude.kernels.base import FeatureKernel
from similitude.types import Bools, Floats


@dataclass(frozen=True, eq=False, repr=False)
class Linear(FeatureKernel):
    """k(x, y) = x'y. A plain array of features means this.

    Parameters
    ----------
    features : array (n × d): a row per item, NaN throughout where an item lacks this modality
    present : booleans, one per item: which items have features, where NaN does not say it

    Examples
    --------
    >>> import similitude as sm
    >>> kernel = sm.kernels.Linear([[1.0, 0.0], [1.0, 2.0]])
    >>> kernel.cross([[0.0, 3.0]])
    array([[0., 6.]])
    """

    def _between(self, A: Floats, B: Floats) -> Floats:
        return A @ B.T

    def _part(self, coefficients: Floats, route: Route) -> MapPart:
        return LinearPart(self.inside.T @ coefficients, route=route)


@dataclass(frozen=True, eq=False, repr=False)
class Polynomial(FeatureKernel):
    """k(x, y) = (x'y + offset)^degree.

    Parameters
    ----------
    features : array (n × d): a row per item, NaN throughout where an item lacks this modality
    degree : a whole number; others do not give a kernel
    offset : zero or more; above zero, lower degrees take part
    present : booleans, one per item: which items have features, where NaN does not say it

    Examples
    --------
    >>> import similitude as sm
    >>> sm.kernels.Polynomial([[1.0], [2.0]], degree=2).matrix()
    array([[ 4.,  9.],
           [ 9., 25.]])
    """

    degree: int = 2
    offset: float = 1.0

    def __post_init__(self) -> None:
        if check_positive(self.degree, "degree") != int(self.degree):
            raise ValueError(f"degree: found {self.degree}, expected a whole number, since others give no kernel")
        check_positive(self.offset, "offset", zero=True)
        super().__post_init__()

    def _between(self, A: Floats, B: Floats) -> Floats:
        return kernel_formulas.polynomial(A, B, degree=self.degree, offset=self.offset)

    def _part(self, coefficients: Floats, route: Route) -> MapPart:
        return KernelPart.of(
            coefficients, self.inside, route, "polynomial", degree=int(self.degree), offset=float(self.offset)
        )


@dataclass(frozen=True, eq=False, repr=False)
class RBF(FeatureKernel):
    """k(x, y) = exp(-|x - y|² / (2 width²)).

    The distance is squared; some texts print it without the square, which is another kernel (exp(-|x - y|)).

    Parameters
    ----------
    features : array (n × d): a row per item, NaN throughout where an item lacks this modality
    width : a number, or "median": the median distance between two training items
    present : booleans, one per item: which items have features, where NaN does not say it

    Attributes
    ----------
    width_ : the width in use

    Examples
    --------
    >>> import similitude as sm
    >>> sm.kernels.RBF([[0.0], [1.0], [3.0]]).width_
    2.0
    """

    width: float | Literal["median"] = "median"

    def __post_init__(self) -> None:
        if isinstance(self.width, str) and self.width != "median":
            raise ValueError(f"width: found {self.width!r}, expected a positive number or 'median'")
        super().__post_init__()
        self.width_  # noqa: B018  # a width that cannot be had is refused here, not later

    @cached_property
    def width_(self) -> float:
        """The width in use."""
        if self.width != "median":
            return check_positive(self.width, "width")
        from sklearn.metrics.pairwise import euclidean_distances

        _check_pairs(self.inside, "width")
        distances = euclidean_distances(self.inside - self.inside.mean(0))  # far from an origin digits are lost
        median = float(np.median(squareform(distances, checks=False)))
        if median == 0:
            raise ValueError(
                "width: found a median distance of 0, since most items have the same features, expected a positive "
                "one; give the width as a number"
            )
        return median

    def _between(self, A: Floats, B: Floats) -> Floats:
        return kernel_formulas.rbf(A, B, width=self.width_)

    def _part(self, coefficients: Floats, route: Route) -> MapPart:
        return KernelPart.of(coefficients, self.inside, route, "rbf", width=self.width_)

    def _within(self) -> Floats:
        K = self._between(self.inside, self.inside)
        np.fill_diagonal(K, 1.0)
        return K


@dataclass(frozen=True, eq=False, repr=False)
class ChiSquare(FeatureKernel):
    """k(x, y) = exp(-gamma · sum_a (x_a - y_a)² / (x_a + y_a)), with 0/0 = 0.

    For histograms: non-negative features.

    Parameters
    ----------
    features : array (n × d) without negative values: a row per item, NaN throughout where an item lacks this modality
    gamma : a number, or None: 1 / the mean chi-square distance between two training items
    present : booleans, one per item: which items have features, where NaN does not say it

    Attributes
    ----------
    gamma_ : the gamma in use

    Examples
    --------
    >>> import similitude as sm
    >>> kernel = sm.kernels.ChiSquare([[1.0, 0.0], [0.0, 1.0]])
    >>> kernel.gamma_, kernel.matrix()[0].round(2)
    (0.5, array([1.  , 0.37]))
    """

    gamma: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.gamma_  # noqa: B018  # a gamma that cannot be had is refused here, not later

    def _read(self, value: Any, present: Any, argument: str) -> tuple[Floats, Bools]:
        rows, here = super()._read(value, present, argument)
        check_non_negative(rows, here, argument, "ChiSquare")
        return rows, here

    @cached_property
    def gamma_(self) -> float:
        """The gamma in use."""
        if self.gamma is not None:
            return check_positive(self.gamma, "gamma")
        _check_pairs(self.inside, "gamma")
        count = len(self.inside)
        return float(count * (count - 1) / kernel_formulas.chi_square_distance(self.inside, self.inside).sum())

    def _between(self, A: Floats, B: Floats) -> Floats:
        return kernel_formulas.chi_square(A, B, gamma=self.gamma_)

    def _part(self, coefficients: Floats, route: Route) -> MapPart:
        return KernelPart.of(coefficients, self.inside, route, "chi_square", gamma=self.gamma_)


@dataclass(frozen=True, eq=False, repr=False)
class Cosine(FeatureKernel):
    """k(x, y) = x'y / (|x| |y|), on x_a · idf_a with tfidf=True.

    idf_a = log((1 + n) / (1 + n_a)) + 1, where n_a of the n training items have feature a: scikit-learn's. A row of
    zeros (an item without any tag) has no direction; it counts as an item without this modality.

    Parameters
    ----------
    features : array (n × d): a row per item, NaN or zero throughout where an item lacks this modality
    tfidf : whether features are counts, to be weighed by how rare they are among the training items
    present : booleans, one per item: which items have features, where NaN does not say it

    Attributes
    ----------
    idf_ : the weight of each feature; ones without tfidf

    Examples
    --------
    >>> import similitude as sm
    >>> sm.kernels.Cosine([[1, 0], [1, 1], [0, 2]]).matrix()[0].round(2)
    array([1.  , 0.71, 0.  ])
    """

    tfidf: bool = False

    def _read(self, value: Any, present: Any, argument: str) -> tuple[Floats, Bools]:
        rows, here = super()._read(value, present, argument)
        if self.tfidf:
            check_non_negative(rows, here, argument, "Cosine(tfidf=True)")
        return rows, here & (rows != 0).any(1)

    def _check_varied(self) -> None:
        check_varied(self.inside / np.linalg.norm(self.inside, axis=1, keepdims=True), "features")

    @cached_property
    def idf_(self) -> Floats:
        """The weight of each feature."""
        if not self.tfidf:
            return np.ones(self.inside.shape[1])
        return np.log((1 + len(self.inside)) / (1 + (self.inside != 0).sum(0))) + 1

    def _between(self, A: Floats, B: Floats) -> Floats:
        return self._directions(A) @ self._directions(B).T

    def _directions(self, rows: Floats) -> Floats:
        weighed = rows * self.idf_
        return weighed / np.linalg.norm(weighed, axis=1, keepdims=True)

    def _part(self, coefficients: Floats, route: Route) -> MapPart:
        weights = self.idf_[:, None] * (self._directions(self.inside).T @ coefficients)
        return CosinePart(weights, self.idf_, self.tfidf, route=route)


def _check_pairs(rows: Floats, argument: str) -> None:
    if len(rows) < 2:
        raise ValueError(
            f"{argument}: found {len(rows)} item with features, expected two at least to estimate it from; "
            "give it as a number"
        )

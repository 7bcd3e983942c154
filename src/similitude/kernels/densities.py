"""Kernels between distributions: items given as Gaussians or as mixtures of Gaussians, in closed form.

Covariances are full (d × d per Gaussian) or diagonal (d variances per Gaussian); the number of axes says which.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from similitude.engine import densities
from similitude.engine.densities import Parts
from similitude.engine.feature_checks import check_varied
from similitude.engine.map_parts import DensityPart, MapPart, Route
from similitude.kernels.base import FeatureKernel
from similitude.types import Bools, Floats


@dataclass(frozen=True, eq=False, repr=False)
class DensityKernel(FeatureKernel):
    """k(p, q) of distributions, each given as a tuple of arrays with a row per item."""

    def _pick(self, rows: Parts, present: Bools) -> Parts:
        return densities.pick(rows, present)

    def _check_varied(self) -> None:
        check_varied(np.hstack([part.reshape(len(part), -1) for part in self.inside]), "features")

    def _describe(self, inside: Parts) -> str:
        return densities.described(inside)


@dataclass(frozen=True, eq=False, repr=False)
class Bhattacharyya(DensityKernel):
    """k(p, q) = ∫ sqrt(p q) = exp(-m' S⁻¹ m / 8) · (|P| |Q|)^(1/4) / |S|^(1/2), m = p's mean - q's, S = (P + Q) / 2.

    For items that are single Gaussians; 1 on the diagonal (Bhattacharyya 1943; Jebara et al. 2004). For mixtures there
    is no closed form: see `ExpectedLikelihood`.

    Parameters
    ----------
    features : pair (means (n × d), covariances (n × d × d, or n × d when diagonal)); a mean that is NaN throughout says
        that an item lacks this modality
    present : booleans, one per item: which items have features, where NaN does not say it

    Examples
    --------
    >>> import similitude as sm
    >>> kernel = sm.kernels.Bhattacharyya(([[0.0], [2.0]], [[1.0], [1.0]]))
    >>> kernel.matrix().round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """

    def _read(self, value: Any, present: Any, argument: str) -> tuple[Parts, Bools]:
        return densities.read_gaussians(value, present, argument)

    def _between(self, A: Parts, B: Parts) -> Floats:
        return densities.bhattacharyya(A, B)

    def _part(self, coefficients: Floats, route: Route) -> MapPart:
        return DensityPart.of(coefficients, self.inside, route, "bhattacharyya")


@dataclass(frozen=True, eq=False, repr=False)
class ExpectedLikelihood(DensityKernel):
    """k(p, q) = ∫ p q = sum_ab p_a q_b N(m_a - m_b; 0, C_a + C_b), divided by sqrt(k(p, p) k(q, q)).

    For items that are mixtures of Gaussians (Jebara, Kondor & Howard 2004). Without the division, values have the unit
    of a density and a range of many powers of ten; sums run over logarithms.

    Parameters
    ----------
    features : triple (weights (n × c), means (n × c × d), covariances (n × c × d × d, or n × c × d when diagonal));
        weights of an item sum to 1, shorter mixtures are filled up with weights of 0; weights that are NaN throughout
        say that an item lacks this modality
    normalise : whether to divide, so that k(p, p) = 1
    present : booleans, one per item: which items have features, where NaN does not say it

    Examples
    --------
    >>> import similitude as sm
    >>> weights, means, variances = [[1.0], [1.0]], [[[0.0]], [[2.0]]], [[[1.0]], [[1.0]]]
    >>> sm.kernels.ExpectedLikelihood((weights, means, variances)).matrix()[0].round(2)
    array([1.  , 0.37])
    """

    normalise: bool = True

    def _read(self, value: Any, present: Any, argument: str) -> tuple[Parts, Bools]:
        return densities.read_mixtures(value, present, argument)

    def _between(self, A: Parts, B: Parts) -> Floats:
        return densities.expected_likelihood(A, B, normalise=self.normalise)

    def _part(self, coefficients: Floats, route: Route) -> MapPart:
        return DensityPart.of(coefficients, self.inside, route, "expected_likelihood", normalise=self.normalise)

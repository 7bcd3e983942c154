"""Penalties: what keeps a model small, and the set that it must stay in.

A penalty has `value(params)`, `prox(params, step)` (the point that minimises step · penalty + half the squared
distance to params: a projection where the penalty is a mere set), and, where it is smooth inside simple bounds,
`gradient(params)` and the bound `lower`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from itertools import pairwise

import numpy as np
from scipy import linalg

from similitude.engine.backend import Backend, joined
from similitude.types import Floats

_MOST_ALTERNATIONS = 500


class Penalty(ABC):
    """A convex function of the parameters, infinite outside its set."""

    smooth = False
    lower: float | Floats = -np.inf

    @abstractmethod
    def value(self, params: Floats) -> float:
        """Value at parameters inside the set."""

    @abstractmethod
    def prox(self, params: Floats, step: float) -> Floats:
        """argmin over p of step · penalty(p) + |p - params|²/2."""

    def gradient(self, params: Floats) -> Floats:
        """Derivative by the parameters, for smooth penalties."""
        raise TypeError(f"{type(self).__name__} has no gradient; use a solver that takes proximal steps, accelerated")


class Ridge(Penalty):
    """strength · |p - centre|² / count."""

    smooth = True

    def __init__(self, strength: float, count: int = 1, *, centre: float | Floats = 0.0) -> None:
        self.rate = strength / count
        self.centre = centre

    def value(self, params: Floats) -> float:
        """strength · |p - centre|² / count."""
        away = params - self.centre
        return float(self.rate * (away @ away))

    def gradient(self, params: Floats) -> Floats:
        """2 · strength · (p - centre) / count."""
        return 2.0 * self.rate * (params - self.centre)

    def prox(self, params: Floats, step: float) -> Floats:
        """centre + (p - centre) / (1 + 2 · step · strength / count)."""
        return self.centre + (params - self.centre) / (1.0 + 2.0 * step * self.rate)


class Parabola(Penalty):
    """sum_k strength_k (p_k - centre_k)², a strength and a centre of each parameter: what is known of them before."""

    smooth = True

    def __init__(self, strength: Floats, centre: Floats) -> None:
        self.strength, self.centre = strength, centre

    def value(self, params: Floats) -> float:
        """sum_k strength_k (p_k - centre_k)²."""
        away = params - self.centre
        return float((self.strength * away) @ away)

    def gradient(self, params: Floats) -> Floats:
        """2 · strength_k (p_k - centre_k)."""
        return 2.0 * self.strength * (params - self.centre)

    def prox(self, params: Floats, step: float) -> Floats:
        """centre_k + (p_k - centre_k) / (1 + 2 · step · strength_k)."""
        return self.centre + (params - self.centre) / (1.0 + 2.0 * step * self.strength)


class Trace(Penalty):
    """strength · trace(M) / count over positive semidefinite M."""

    def __init__(self, strength: float, count: int = 1) -> None:
        self.rate = strength / count

    def value(self, params: Floats) -> float:
        """strength · trace(M) / count."""
        order = _order(params)
        return float(self.rate * np.trace(params.reshape(order, order)))

    def prox(self, params: Floats, step: float) -> Floats:
        """Lower all eigenvalues by step · strength / count and drop those below 0."""
        order = _order(params)
        M = params.reshape(order, order)
        values, vectors = linalg.eigh(0.5 * (M + M.T), overwrite_a=True, check_finite=False)
        values -= step * self.rate
        kept = values > 0
        root = vectors[:, kept] * np.sqrt(values[kept])
        return (root @ root.T).ravel()


class UnitDiagonal(Penalty):
    """The set of positive semidefinite M with ones on the diagonal; no price."""

    def value(self, params: Floats) -> float:
        """0."""
        return 0.0

    def prox(self, params: Floats, step: float) -> Floats:
        """Return the nearest correlation matrix, by Dykstra's alternating projections (Higham 2002).

        Projecting once onto each set in turn, as printed in places, ends outside the cone or off the diagonal.
        """
        order = _order(params)
        M = params.reshape(order, order)
        M = 0.5 * (M + M.T)
        correction = np.zeros_like(M)
        for _ in range(_MOST_ALTERNATIONS):
            inside = _nearest_psd(M - correction)
            correction = inside - (M - correction)
            before, M = M, inside.copy()
            np.fill_diagonal(M, 1.0)
            if np.abs(M - before).max() < 1e-12 or np.abs(M - inside).max() < 1e-12:
                break
        return _unit_rows(inside).ravel()


class NonNegative(Penalty):
    """sum_k strength_k p_k + ridge · |p|² over p >= 0, one strength for all or one each: sparse weights.

    The bound alone makes sparse what is a factor of products: where two items share nothing, any value that is left
    would make them alike.
    """

    smooth = True
    lower = 0.0

    def __init__(self, strength: float | Floats, ridge: float = 0.0) -> None:
        self.rate, self.ridge = strength, ridge

    def value(self, params: Floats) -> float:
        """sum_k strength_k p_k + ridge · |p|²."""
        return float((self.rate * params).sum() + self.ridge * (params @ params))

    def gradient(self, params: Floats) -> Floats:
        """strength_k + 2 · ridge · p_k, inside the bound."""
        return self.rate + 2.0 * self.ridge * params

    def prox(self, params: Floats, step: float) -> Floats:
        """max(0, p - step · strength) / (1 + 2 · step · ridge)."""
        return np.maximum(params - step * self.rate, 0.0) / (1.0 + 2.0 * step * self.ridge)


class BesideFeatures(NonNegative):
    """The least of free · |X - F N|² + mapped · |N|² over maps N of features F, and a strength, over X >= 0.

    N has a closed form, `map_of`; put in, the price is free · |X|² - |B' X|², with B B' = free² · F M⁻¹ F' and
    M = mapped · I + free · F'F. As a prior: columns of X are normal with covariance proportional to F F' / mapped +
    I / free. `on` gives it numbers of a device.
    """

    def __init__(self, features: Floats, free: float, mapped: float, strength: float = 0.0) -> None:
        super().__init__(strength, free)
        self._factor = linalg.cho_factor(mapped * np.eye(features.shape[1]) + free * (features.T @ features))
        self._features, root = features, np.triu(self._factor[0])
        self.explained = free * linalg.solve_triangular(root, features.T, trans="T").T

    def map_of(self, X: Floats) -> Floats:
        """(q, d) the best map N of the features to vectors X."""
        found: Floats = linalg.cho_solve(self._factor, self.ridge * (self._features.T @ X))
        return found

    def on(self, backend: Backend) -> BesideFeatures:
        """Return the same where a backend works."""
        other = copy(self)
        other.explained = backend.tensor(self.explained)
        return other

    def value(self, params: Floats) -> float:
        """strength · sum p + free · |X|² - |B' X|²."""
        known = self.explained.T @ self._rows(params)
        return super().value(params) - float((known * known).sum())

    def gradient(self, params: Floats) -> Floats:
        """strength + 2 (free · X - B B' X)."""
        known = self.explained.T @ self._rows(params)
        return super().gradient(params) - 2.0 * (self.explained @ known).ravel()

    def prox(self, params: Floats, step: float) -> Floats:
        """There is no closed form within the bound."""
        raise TypeError("BesideFeatures has no proximal step in closed form; use lbfgs")

    def _rows(self, params: Floats) -> Floats:
        return params.reshape(len(self.explained), -1)


class Blocks(Penalty):
    """A penalty of its own for each stretch of the parameters, as a `SumOfModels` of models needs."""

    def __init__(self, parts: Sequence[tuple[Penalty, int]]) -> None:
        self.penalties = [penalty for penalty, _ in parts]
        self.ends = [0, *np.cumsum([size for _, size in parts]).tolist()]
        self.smooth = all(penalty.smooth for penalty in self.penalties)
        self.lower = np.concatenate([np.broadcast_to(penalty.lower, size) for penalty, size in parts])

    def value(self, params: Floats) -> float:
        """The sum over the stretches."""
        return sum(penalty.value(own) for penalty, own in self._own(params))

    def gradient(self, params: Floats) -> Floats:
        """Each stretch's own."""
        return joined([penalty.gradient(own) for penalty, own in self._own(params)])

    def prox(self, params: Floats, step: float) -> Floats:
        """Each stretch's own."""
        return np.concatenate([penalty.prox(own, step) for penalty, own in self._own(params)])

    def _own(self, params: Floats) -> zip[tuple[Penalty, Floats]]:
        return zip(self.penalties, [params[first:end] for first, end in pairwise(self.ends)], strict=True)


def _order(params: Floats) -> int:
    return round(len(params) ** 0.5)


def _nearest_psd(M: Floats) -> Floats:
    values, vectors = linalg.eigh(M, check_finite=False)
    return (vectors * np.maximum(values, 0.0)) @ vectors.T


def _unit_rows(M: Floats) -> Floats:
    """Scale a positive semidefinite matrix to ones on its diagonal: what rounding left to do."""
    scale = 1.0 / np.sqrt(np.maximum(np.diagonal(M), 1e-12))
    return M * scale * scale[:, None]

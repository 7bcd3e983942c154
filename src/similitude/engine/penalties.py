"""Penalties: what keeps a model small, and the set that it must stay in.

A penalty has `value(params)`, `prox(params, step)` (the point that minimises step · penalty + half the squared
distance to params: a projection where the penalty is a mere set), and, where it is smooth, `gradient(params)`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from scipy import linalg

from similitude.feedback.columns import Floats


class Penalty(ABC):
    """A convex function of the parameters, infinite outside its set."""

    smooth = False

    @abstractmethod
    def value(self, params: Floats) -> float:
        """Value at parameters inside the set."""

    @abstractmethod
    def prox(self, params: Floats, step: float) -> Floats:
        """argmin over p of step · penalty(p) + |p - params|²/2."""

    def gradient(self, params: Floats) -> Floats:
        """Derivative by the parameters, for smooth penalties."""
        raise TypeError(
            f"{type(self).__name__} has no gradient, so L-BFGS cannot use it; use the accelerated projected gradient"
        )


class Ridge(Penalty):
    """strength · |p|² / count."""

    smooth = True

    def __init__(self, strength: float, count: int = 1) -> None:
        self.rate = strength / count

    def value(self, params: Floats) -> float:
        """strength · |p|² / count."""
        return float(self.rate * (params @ params))

    def gradient(self, params: Floats) -> Floats:
        """2 · strength · p / count."""
        return 2.0 * self.rate * params

    def prox(self, params: Floats, step: float) -> Floats:
        """p / (1 + 2 · step · strength / count)."""
        return params / (1.0 + 2.0 * step * self.rate)


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


class NonNegative(Penalty):
    """strength · sum(p) over p >= 0: sparse weights."""

    def __init__(self, strength: float) -> None:
        self.rate = strength

    def value(self, params: Floats) -> float:
        """strength · sum(p)."""
        return float(self.rate * params.sum())

    def prox(self, params: Floats, step: float) -> Floats:
        """max(0, p - step · strength)."""
        return np.maximum(params - step * self.rate, 0.0)


class Blocks(Penalty):
    """A penalty of its own for each stretch of the parameters, as a `Sum` of models needs."""

    def __init__(self, parts: Sequence[tuple[Penalty, int]]) -> None:
        self.penalties = [penalty for penalty, _ in parts]
        self.cuts = np.cumsum([size for _, size in parts])[:-1]
        self.smooth = all(penalty.smooth for penalty in self.penalties)

    def value(self, params: Floats) -> float:
        """The sum over the stretches."""
        return sum(penalty.value(own) for penalty, own in self._own(params))

    def gradient(self, params: Floats) -> Floats:
        """Each stretch's own."""
        return np.concatenate([penalty.gradient(own) for penalty, own in self._own(params)])

    def prox(self, params: Floats, step: float) -> Floats:
        """Each stretch's own."""
        return np.concatenate([penalty.prox(own, step) for penalty, own in self._own(params)])

    def _own(self, params: Floats) -> zip[tuple[Penalty, Floats]]:
        return zip(self.penalties, np.split(params, self.cuts), strict=True)


def _order(params: Floats) -> int:
    return round(len(params) ** 0.5)

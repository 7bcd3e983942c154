"""The stretches of a convex problem, each a model with a penalty: how a solver holds one, and what its dual asks.

| block | of the problem | as L-BFGS holds it | what multipliers a with the slopes w may be |
|---|---|---|---|
| `Factor` | `Matrix` W ⪰ 0, `Trace` | N with W = N N', `Ridge` | share · Φ' L Φ + rate · I ⪰ 0 |
| `Priced` | weights u, `NonNegative` | u >= 0 | share · g + prices >= 0, g the loss' derivatives by u |
| `Ridged` | p of a model linear in it, `Ridge` | p | anything, at a cost of rate · |p(a)|², p(a) = Z'a / (2 rate) |

L is the Laplacian of w, Z' a the pullback of the incidence matrix of the similarity graph times a.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from similitude.engine.backend import CPU
from similitude.engine.models import Matrix, Model, Positions, matrix_root
from similitude.engine.penalties import NonNegative, Penalty, Ridge, Trace
from similitude.engine.solvers.semidefinite import laplacian_matrix, least_eigenpairs, proven_share
from similitude.engine.threads import one_blas_thread
from similitude.types import Array, Floats

_FEW = 10  # eigenvectors to look at, at least
_NONE: Floats = np.zeros((0, 0))


@dataclass(frozen=True)
class DualLimit:
    """What the dual of a stretch allows of multipliers.

    Attributes
    ----------
    share : the largest share of them that it allows, proven
    directions : columns by which a factor improves; None where there are none
    best : parameters that belong to the multipliers, where there are such
    cost : what they cost
    """

    share: float = np.inf
    directions: Floats | None = None
    best: Floats | None = None
    cost: float = 0.0


class Stretch(ABC):
    """A model and its penalty, held as they are."""

    def __init__(self, model: Model, penalty: Penalty) -> None:
        self.model, self.penalty = model, penalty

    def zero(self) -> Floats:
        """Parameters at which all distances are 0."""
        return np.zeros(self.model.size)

    def held(self, own: Floats) -> tuple[Model, Penalty]:
        """Model and penalty over parameters of this shape."""
        return self.model, self.penalty

    def taken(self, params: Floats) -> Floats:
        """Parameters of the problem, as they are held."""
        return params

    @abstractmethod
    def asked(self, own: Floats, pairs: Array, w: Floats, doubt: float) -> DualLimit:
        """What is asked of multipliers with slopes `w` on the pairs.

        An eigenvalue below -rate by no more than the share `doubt` may be a matter of precision: it is no direction.
        """

    def times(self, own: Floats, factor: float) -> Floats:
        """Parameters that give so many times the squared distances."""
        return own * factor

    def widened(self, own: Floats, directions: Floats | None, scale: float) -> Floats:
        """Parameters with directions appended."""
        return own


class Factor(Stretch):
    """Kernels Φ W Φ' with W = N N', at a price of a unit of trace(W)."""

    model: Matrix
    penalty: Trace

    def zero(self) -> Floats:
        """No columns at all."""
        return np.zeros((self.model.order, 0))

    def held(self, own: Floats) -> tuple[Model, Penalty]:
        """Positions Φ N, with a ridge."""
        return Positions(self.model.n_items, own.shape[1], features=self.model.features), Ridge(self.penalty.rate)

    def taken(self, params: Floats) -> Floats:
        """N with N N' = W."""
        return matrix_root(self.model.matrix(params))

    def asked(self, own: Floats, pairs: Array, w: Floats, doubt: float) -> DualLimit:
        """The eigenvectors that violate are what improves."""
        rate = self.penalty.rate
        S = self._slopes(pairs, w)
        values, vectors = least_eigenpairs(S, max(_FEW, own.shape[1]))
        violated = values < -rate * (1.0 + doubt)
        return DualLimit(proven_share(S, rate, float(values[0])), vectors[:, violated] if violated.any() else None)

    def _slopes(self, pairs: Array, w: Floats) -> Any:
        """Φ' L Φ: sparse where every item is a feature of its own, since there may be very many."""
        if self.model.features is None:
            return laplacian_matrix(self.model.n_items, pairs, w)
        return self.model.matrix(self.model.pullback(_NONE, pairs, w, CPU()))

    def times(self, own: Floats, factor: float) -> Floats:
        """N sqrt(factor)."""
        return own * np.sqrt(factor)

    def widened(self, own: Floats, directions: Floats | None, scale: float) -> Floats:
        """N with directions beside it, as long as its columns are on average times `scale`."""
        if directions is None:
            return own
        own = _compressed(own)
        typical = np.sqrt((own**2).sum() / own.shape[1]) if own.size else np.sqrt(len(own))
        room = min(len(own) - own.shape[1], directions.shape[1])
        return np.hstack([own, scale * (typical + 1e-3) * directions[:, :room]])


class Priced(Stretch):
    """Weights u >= 0, a price each."""

    def asked(self, own: Floats, pairs: Array, w: Floats, doubt: float) -> DualLimit:
        """Where the loss falls with a weight, no more than its price."""
        g = self.model.pullback(own, pairs, w, CPU())
        falling = g < 0
        return DualLimit(float((self.penalty.gradient(own)[falling] / -g[falling]).min(initial=1.0)))


class Ridged(Stretch):
    """Parameters of a model that is linear in them, with a ridge."""

    penalty: Ridge

    def asked(self, own: Floats, pairs: Array, w: Floats, doubt: float) -> DualLimit:
        """Nothing but the length of p(a)."""
        best = self.best(pairs, w)
        return DualLimit(best=best, cost=self.penalty.value(best))

    def best(self, pairs: Array, w: Floats) -> Floats:
        """p(a) = Z'a / (2 rate)."""
        return self.model.pullback(self.zero(), pairs, w, CPU()) / (-2.0 * self.penalty.rate)


def stretch_of(model: Model, penalty: Penalty) -> Stretch:
    """Return how a stretch is held; others than those of the table are refused."""
    if isinstance(model, Matrix) and isinstance(penalty, Trace):
        return Factor(model, penalty)
    if model.linear and isinstance(penalty, (NonNegative, Ridge)):
        return Priced(model, penalty) if isinstance(penalty, NonNegative) else Ridged(model, penalty)
    raise TypeError(
        "a bound is known for a Matrix with a Trace, and for models linear in their parameters with NonNegative or "
        f"Ridge; found {type(model).__name__} with {type(penalty).__name__}; use lbfgs or accelerated"
    )


def _compressed(factor: Floats) -> Floats:
    """Return a factor of the same W without the columns that hold nothing."""
    if not factor.size:  # which scipy before 1.15 cannot take apart
        return factor
    with one_blas_thread():
        left, size, _ = linalg.svd(factor, full_matrices=False, lapack_driver="gesvd")  # the default can fail
    kept = size > 1e-6 * size.max(initial=0.0)
    return left[:, kept] * size[kept]

"""The convex problems of kernel learning, their exact value, and a proof of how far a solution is from the optimum.

    min over W_p ⪰ 0 and u >= 0 of   mean loss + sum_p rate_p · trace(W_p) + prices · u

with a hinge or logistic loss, squared distances being those of the kernels Φ_p W_p Φ_p' plus those of the weights u.

Let a_t = -shape'(margin_t), and L the Laplacian of the loss' slopes. A share s in [0, 1] is *feasible* when
s · Φ_p' L Φ_p + rate_p · I ⪰ 0 for every p, and s · g + prices >= 0 for the derivatives g of the loss by the weights.
Every feasible share gives a lower bound of the optimum (weak duality): the mean of s·a for the hinge, of the binary
entropy of s·a for the logistic loss. An eigenvector that violates the first condition is a direction that improves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse import linalg as sparse_linalg

from similitude.engine.backend import CPU
from similitude.engine.comparison_terms import Compared
from similitude.engine.models import Model, Positions, Sum
from similitude.engine.penalties import Blocks, NonNegative, Ridge
from similitude.engine.problem import Problem, Term
from similitude.engine.terms import ComparisonLoss, hinge, logistic, squared
from similitude.engine.threads import one_blas_thread
from similitude.graph.build import SimilarityGraph
from similitude.types import Floats

_FEW = 10
_MOST = 80  # eigenvectors by Lanczos
_DENSE_BELOW = 1500
_SHARP = 1e-9
_DOUBTS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.5)  # of an eigenvalue by Lanczos, until the proof goes through


@dataclass(frozen=True)
class Part:
    """Kernels Φ W Φ' with W ⪰ 0: features Φ (n × q; None is the identity), and the price of a unit of trace(W)."""

    features: Floats | None
    rate: float


@dataclass(frozen=True)
class Point:
    """A place in such a problem: factors N_p (q × r) with W_p = N_p N_p', and the weights u."""

    factors: tuple[Floats, ...]
    weights: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def params(self) -> Floats:
        """All numbers, one after the other."""
        return np.concatenate([*(factor.ravel() for factor in self.factors), self.weights])

    def at(self, params: Floats) -> Point:
        """Return a point of the same shape with other numbers."""
        sizes = np.cumsum([factor.size for factor in self.factors])
        *flat, weights = np.split(params, sizes)
        shaped = (own.reshape(factor.shape) for own, factor in zip(flat, self.factors, strict=True))
        return Point(tuple(shaped), weights)


@dataclass(frozen=True)
class Bound:
    """A lower bound of the optimum, and per part the directions in which more columns improve."""

    lower: float
    directions: list[Floats]

    @property
    def improves(self) -> bool:
        """Whether there is a direction that improves."""
        return any(new.shape[1] for new in self.directions)


@dataclass(frozen=True)
class KernelProblem:
    """Parts and weights over the items of a graph.

    Attributes
    ----------
    graph : the comparisons
    loss : hinge or logistic shape on squared distances
    parts : the kernels to be learned
    weights : model of further squared distances with non-negative weights, or None
    prices : price of a unit of each weight
    """

    graph: SimilarityGraph
    loss: ComparisonLoss
    parts: tuple[Part, ...]
    weights: Model | None = None
    prices: Floats = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        if self.loss.scale.expression is not squared or self.loss.shape.expression not in (hinge, logistic):
            raise TypeError(
                "a bound is known for hinge and logistic on squared distances, found "
                f"{self.loss.scale.name} and {self.loss.shape.name}; fit such a loss by Embedding"
            )

    def order(self, part: Part) -> int:
        """Return the order q of a part's W."""
        return self.graph.n_items if part.features is None else part.features.shape[1]

    def zero(self) -> Point:
        """Return the point at which all distances are 0."""
        return Point(tuple(np.zeros((self.order(part), 0)) for part in self.parts), np.zeros(len(self.prices)))

    def factored(self, point: Point, term: Term | None = None) -> Problem:
        """Return the problem over factors as wide as the point's; a term may stand in for the comparisons' loss."""
        term = Compared(self.graph, self.loss) if term is None else term
        models: list[Model] = [
            Positions(self.graph.n_items, factor.shape[1], features=part.features)
            for part, factor in zip(self.parts, point.factors, strict=True)
        ]
        penalties = [(Ridge(part.rate), factor.size) for part, factor in zip(self.parts, point.factors, strict=True)]
        if len(models) == 1 and self.weights is None:
            return Problem(models[0], term, penalties[0][0])
        if self.weights is not None:
            models.append(self.weights)
        prices = (NonNegative(self.prices), len(self.prices))
        return Problem(Sum(models), term, Blocks([*penalties, prices]))

    def value(self, point: Point) -> float:
        """Return the objective, a hinge without its rounding."""
        return self.factored(point, Compared(self.graph, self.loss.smoothed(_SHARP))).value(point.params)

    def bound(self, point: Point, loss: ComparisonLoss, doubt: float = 0.0) -> Bound:
        """Return what is proven at a point with the slopes of a smoothed loss.

        An eigenvalue below -rate by no more than the share `doubt` may be a matter of precision: it is no direction.
        """
        problem = self.factored(point)
        d2 = problem.model.sqdist(point.params, self.graph.pairs, problem.backend)
        _, w = problem.backend.losses(loss, d2, self.graph)
        share, directions = self.feasible(point, w, doubt)
        slope = -share * loss.shape(loss.margin(d2[self.graph.near], d2[self.graph.far]))[1]
        gain = slope if loss.shape.expression is hinge else _entropy(slope)
        return Bound(float(np.average(gain, weights=self.graph.weight)), directions)

    def feasible(self, point: Point, w: Floats, doubt: float = 0.0) -> tuple[float, list[Floats]]:
        """Return the largest feasible share of slopes `w` on the pairs, proven, and the directions that violate."""
        L = laplacian_matrix(self.graph.n_items, self.graph.pairs, w)
        share, directions = 1.0, []
        for part, factor in zip(self.parts, point.factors, strict=True):
            S = L if part.features is None else part.features.T @ (L @ part.features)
            values, vectors = _least(S, max(_FEW, factor.shape[1]))
            share = min(share, _proven_share(S, part.rate, float(values[0])))
            directions.append(vectors[:, values < -part.rate * (1.0 + doubt)])
        return min(share, self._weights_share(point, w)), directions

    def _weights_share(self, point: Point, w: Floats) -> float:
        """Return the largest share s <= 1 with s · g + prices >= 0."""
        if self.weights is None:
            return 1.0
        g = self.weights.pullback(point.weights, self.graph.pairs, w, CPU())
        falling = g < 0
        return min(1.0, float((self.prices[falling] / -g[falling]).min(initial=1.0)))

    def widened(self, point: Point, directions: list[Floats], value: Callable[[Point], float] | None = None) -> Point:
        """Return the point with improving directions appended to the factors, at the best of a few lengths.

        Best by `value`, or else by the problem's own.
        """
        return min(self._longer(point, directions), key=value or self.value)

    def _longer(self, point: Point, directions: list[Floats]) -> list[Point]:
        """Return the point with directions appended at each of a few lengths."""
        pairs = [
            (_compressed(own) if new.shape[1] else own, new) for own, new in zip(point.factors, directions, strict=True)
        ]
        return [
            replace(point, factors=tuple(_append(own, new, scale) for own, new in pairs))
            for scale in (1e-3, 1e-2, 1e-1, 0.5)
        ]


def laplacian_matrix(n_items: int, pairs: Any, w: Floats) -> Any:
    """L = sum_p w_p (e_i - e_j)(e_i - e_j)' as a sparse matrix."""
    half = sparse.coo_matrix((w, (pairs[:, 0], pairs[:, 1])), shape=(n_items, n_items)).tocsr()
    both = half + half.T
    return sparse.diags_array(np.asarray(both.sum(1)).ravel()) - both


def _least(S: Any, count: int) -> tuple[Floats, Floats]:
    """The least eigenvalues of S with their vectors, `count` of them; by Lanczos `_MOST` at most."""
    order = S.shape[0]
    with one_blas_thread():
        if order <= _DENSE_BELOW:
            return linalg.eigh(_dense(S), subset_by_index=[0, min(count, order) - 1])
        start = np.random.default_rng(0).normal(size=order)
        few = min(count, _MOST)
        values, vectors = sparse_linalg.eigsh(S, few, which="SA", v0=start, ncv=2 * few + 40, tol=1e-6)
    ascending = np.argsort(values)
    return values[ascending], vectors[:, ascending]


def _proven_share(S: Any, rate: float, least: float) -> float:
    """The largest share s <= 1 with s · S + rate · I ⪰ 0, proven: Lanczos only searches, Cholesky proves."""
    share = 1.0 if least >= -rate else rate / -least
    if S.shape[0] <= _DENSE_BELOW:
        return share * (1.0 - 1e-10)  # `least` is the whole truth, to rounding
    for doubt in _DOUBTS:
        if _positive(S, share * (1.0 - doubt), rate * (1.0 + 1e-9)):
            return share * (1.0 - doubt)
    return 0.0


def _positive(S: Any, share: float, rate: float) -> bool:
    """Whether share · S + rate · I is positive definite: one dense copy, which its own Cholesky factor overwrites."""
    whole = np.asfortranarray(_dense(share * S))
    whole[np.diag_indices_from(whole)] += rate
    try:
        linalg.cholesky(whole, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        return False
    return True


def _dense(S: Any) -> Floats:
    return S if isinstance(S, np.ndarray) else S.toarray()


def _entropy(p: Floats) -> Floats:
    return -(p * np.log(np.maximum(p, 1e-300)) + (1.0 - p) * np.log(np.maximum(1.0 - p, 1e-300)))


def _compressed(factor: Floats) -> Floats:
    """Return a factor of the same W without the columns that hold nothing."""
    if not factor.size:  # which scipy before 1.15 cannot take apart
        return factor
    with one_blas_thread():
        left, size, _ = linalg.svd(factor, full_matrices=False, lapack_driver="gesvd")  # the default can fail
    kept = size > 1e-6 * size.max(initial=0.0)
    return left[:, kept] * size[kept]


def _append(factor: Floats, directions: Floats, scale: float) -> Floats:
    """Return a factor with directions beside it, as long as its columns are on average times `scale`."""
    typical = np.sqrt((factor**2).sum() / factor.shape[1]) if factor.size else np.sqrt(len(factor))
    room = min(len(factor) - factor.shape[1], directions.shape[1])
    return np.hstack([factor, scale * (typical + 1e-3) * directions[:, :room]])

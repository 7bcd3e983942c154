"""Convex kernel learning without n × n variables: factors that grow until a certificate says that they are optimal.

The problem is  min over K ⪰ 0 of  mean loss + rate · trace(K)  with a hinge or logistic loss. With K = X X', a
stationary X is globally optimal exactly when S = L + rate · I is positive semidefinite, L being the Laplacian of the
loss' slopes; otherwise an eigenvector of S with a negative eigenvalue is a direction that improves.

The duality gap proves it. With a_t = -shape'(margin_t), every choice t in [0, 1] for which t · L + rate · I ⪰ 0 gives a
lower bound of the optimum: the mean of t·a for the hinge, of the binary entropy of t·a for the logistic loss.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse import linalg as sparse_linalg

from similitude.engine.models import Positions
from similitude.engine.penalties import Ridge
from similitude.engine.problem import Problem
from similitude.engine.solvers.lbfgs import lbfgs
from similitude.engine.solvers.result import Callback
from similitude.engine.terms import ComparisonLoss, hinge
from similitude.engine.threads import one_blas_thread
from similitude.feedback.columns import Floats
from similitude.graph.build import SimilarityGraph

_DENSE_BELOW = 1500
SMOOTHING = (0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5)
_SHARP = 1e-9
_NEW_COLUMNS = 10
_FIRST_PRECISION, _LAST_PRECISION = 1e-8, 1e-14


@dataclass(frozen=True)
class Certified:
    """Factors of a kernel with a proof of how good they are: the optimum lies between `value - gap` and `value`."""

    X: Floats
    value: float
    gap: float
    status: str
    n_iter: int


def factored(
    graph: SimilarityGraph,
    loss: ComparisonLoss,
    rate: float,
    start: Floats,
    *,
    max_iter: int = 1000,
    tol: float = 1e-3,
    callback: Callback | None = None,
) -> Certified:
    """Minimise mean loss + rate · trace(K) over kernels, K = X X' with as many columns as it takes.

    Parameters
    ----------
    graph : the comparisons
    loss : hinge or logistic shape on squared distances
    rate : strength of the trace penalty
    start : (n, r) factors to start from
    max_iter : most L-BFGS iterations of one rank and smoothing
    tol : stop at a gap of this share of the objective
    callback : called with the number of iterations so far and the objective
    """
    best = Certified(start, np.inf, np.inf, "max_iter", 0)
    X: Floats = start
    lower, total = -np.inf, 0
    for smooth in _losses(loss):
        precision = _FIRST_PRECISION
        enough = max(tol, smooth.shape.parameter)  # a rounded hinge need not be solved beyond its rounding
        while precision >= _LAST_PRECISION:
            problem = Problem(Positions(len(X), X.shape[1]), graph, smooth, Ridge(rate))
            found = lbfgs(problem, X, max_iter=max_iter, tol=precision)
            X, total = found.params.reshape(X.shape), total + found.n_iter
            value = exact_value(graph, loss, rate, X)
            bound, directions = certificate(graph, smooth, rate, X, 5e6 * precision)
            lower = max(lower, bound)
            if value < best.value:
                best = Certified(X, value, np.inf, "max_iter", total)
            best = replace(best, gap=max(best.value - lower, 0.0), n_iter=total)
            if callback is not None:
                callback(total, best.value)
            if best.gap <= tol * abs(best.value):
                return replace(best, status="converged")
            if best.gap <= enough * abs(best.value):
                break
            if directions.size and X.size < graph.n_items**2:
                X = _widen(problem, X, directions)
            else:
                precision *= 0.03
    return best


def exact_value(graph: SimilarityGraph, loss: ComparisonLoss, rate: float, X: Floats) -> float:
    """Objective of K = X X', a hinge without its rounding."""
    model = Positions(len(X), X.shape[1])
    return Problem(model, graph, loss.smoothed(_SHARP), Ridge(rate)).value(X.ravel())


def certificate(
    graph: SimilarityGraph, loss: ComparisonLoss, rate: float, X: Floats, doubt: float = 0.0
) -> tuple[float, Floats]:
    """Return a proven lower bound of the optimum, and directions in which more columns improve.

    An eigenvalue of L below -rate by no more than the share `doubt` may be a matter of precision: it is no direction.
    """
    problem = Problem(Positions(len(X), X.shape[1]), graph, loss, Ridge(rate))
    d2 = problem.backend.sqdist(X, graph.pairs)
    _, w = problem.backend.losses(loss, d2, graph)
    L = laplacian_matrix(graph.n_items, graph.pairs, w)
    values, vectors = _least(L)
    share = _proven_share(L, rate, float(values[0]))
    slack = loss.margin(d2[graph.near], d2[graph.far])
    slope = -share * loss.shape(slack)[1]
    bound = slope if loss.shape.expression is hinge else _entropy(slope)
    improving = values < -rate * (1.0 + doubt)
    return float(np.average(bound, weights=graph.weight)), vectors[:, improving]


def laplacian_matrix(n_items: int, pairs: Any, w: Floats) -> Any:
    """L = sum_p w_p (e_i - e_j)(e_i - e_j)' as a sparse matrix."""
    half = sparse.coo_matrix((w, (pairs[:, 0], pairs[:, 1])), shape=(n_items, n_items)).tocsr()
    both = half + half.T
    return sparse.diags_array(np.asarray(both.sum(1)).ravel()) - both


def _losses(loss: ComparisonLoss) -> Iterator[ComparisonLoss]:
    """A hinge ever less rounded; other losses once."""
    if loss.shape.expression is hinge:
        yield from (loss.smoothed(gamma) for gamma in SMOOTHING)
    else:
        yield loss


def _least(L: Any) -> tuple[Floats, Floats]:
    """The least eigenvalues of L with their vectors, a few."""
    n = L.shape[0]
    count = min(_NEW_COLUMNS, n)
    with one_blas_thread():
        if n <= _DENSE_BELOW:
            return linalg.eigh(L.toarray(), subset_by_index=[0, count - 1])
        start = np.random.default_rng(0).normal(size=n)
        values, vectors = sparse_linalg.eigsh(L, count, which="SA", v0=start, ncv=60, tol=1e-6)
    order = np.argsort(values)
    return values[order], vectors[:, order]


def _proven_share(L: Any, rate: float, least: float) -> float:
    """The largest share t <= 1 with t · L + rate · I ⪰ 0, proven: Lanczos only searches, Cholesky proves."""
    share = 1.0 if least >= -rate else rate / -least
    if L.shape[0] <= _DENSE_BELOW:
        return share * (1.0 - 1e-10)  # `least` is the whole truth, to rounding
    dense = L.toarray()
    for _ in range(30):
        try:
            linalg.cholesky(share * dense + rate * (1.0 + 1e-9) * np.eye(len(dense)), check_finite=False)
        except linalg.LinAlgError:
            share *= 0.999
        else:
            return share
    return 0.0


def _entropy(p: Floats) -> Floats:
    return -(p * np.log(np.maximum(p, 1e-300)) + (1.0 - p) * np.log(np.maximum(1.0 - p, 1e-300)))


def _widen(problem: Problem, X: Floats, directions: Floats) -> Floats:
    """Append improving directions at the best of a few lengths, and enough room for the rank to double."""
    room = min(max(X.shape[1], _NEW_COLUMNS), problem.graph.n_items - X.shape[1], directions.shape[1])
    typical = np.sqrt((X**2).sum() / max(X.shape[1], 1)) + 1e-3
    candidates = [np.hstack([X, scale * typical * directions[:, :room]]) for scale in (1e-3, 1e-2, 1e-1, 0.5)]
    wide = replace(problem, model=Positions(problem.graph.n_items, X.shape[1] + room))
    return min(candidates, key=lambda candidate: wide.value(candidate.ravel()))

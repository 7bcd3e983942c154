"""Where to start: random positions, spectral positions, and lifted ones that slip around local optima."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse import linalg as sparse_linalg

from similitude.engine.comparison_terms import compared
from similitude.engine.models import Positions
from similitude.engine.problem import Problem
from similitude.engine.solvers.result import Result
from similitude.engine.threads import one_blas_thread
from similitude.graph.build import SimilarityGraph
from similitude.types import Array, Floats

Solve = Callable[[Problem, Floats, int], Result]

_DENSE_BELOW = 400
_TABLE_BELOW, _FILLED = 4096, 5  # items, and entries per vote, up to which a table is quicker than a sparse matrix
_SCALES = (0.1, 0.3, 1.0, 3.0)


def random_start(graph: SimilarityGraph, n_components: int, rng: np.random.Generator) -> Floats:
    """Normal positions; an item never compared stands at the centre."""
    return rng.normal(size=(graph.n_items, n_components)) * (graph.occurrences > 0)[:, None]


def given_start(init: Any, shape: tuple[int, ...]) -> Floats:
    """Numbers that the user gave to start from."""
    given = np.array(init, float)
    if given.shape != shape or not np.isfinite(given).all():
        raise ValueError(f"init: expected finite positions of shape {shape}, found shape {given.shape}")
    return given


def parameter_starts(problem: Problem, init: Any, count: int, rng: np.random.Generator) -> list[Floats]:
    """Parameters of any model to start from: those given, or random ones inside the penalty's set."""
    if not isinstance(init, str):
        return [given_start(init, (problem.model.size,))]
    drawn = (problem.penalty.prox(rng.normal(size=problem.model.size), 0.0) for _ in range(count))
    return [best_scale(problem, params) for params in drawn]


def spectral_start(problem: Problem, n_components: int, rng: np.random.Generator) -> Floats:
    """Positions from the leading eigenvectors of the normalised vote matrix, found where the comparisons are."""
    graph = compared(problem, "a spectral start").graph
    if isinstance(graph, SimilarityGraph):
        return spectral_positions(graph, n_components, rng)
    from similitude.engine.gpu import starts
    from similitude.engine.gpu.backend import TorchBackend

    assert isinstance(problem.backend, TorchBackend)
    return starts.spectral_positions(graph, problem.backend, n_components, rng)


def spectral_positions(graph: SimilarityGraph, n_components: int, rng: np.random.Generator) -> Floats:
    """Positions from the leading eigenvectors of the normalised vote matrix.

    A holds +weight at near pairs and -weight at far pairs, D the root of each item's total weight plus 1:
    X = D^-1 V sqrt(max(eigenvalue, 0)) of D^-1 A D^-1, centred, unit spread. Directions with no positive
    eigenvalue left are filled with a little noise.
    """
    pairs = np.concatenate([graph.near_pairs, graph.far_pairs])
    vote = np.concatenate([graph.weight, -graph.weight])
    n = graph.n_items
    total = np.bincount(pairs.ravel(), np.repeat(np.abs(vote), 2), n)
    inverse = 1.0 / np.sqrt(total / max(total.mean(), 1e-300) + 1.0 / max(total.mean(), 1.0))
    values, vectors = _leading(_normalised_votes(pairs, vote, inverse), min(n_components, n - 1), rng)
    X = np.zeros((n, n_components))
    X[:, : len(values)] = inverse[:, None] * vectors * np.sqrt(np.maximum(values, 0.0))
    compared = graph.occurrences > 0
    X -= X[compared].mean(0)
    spread = np.sqrt((X[compared] ** 2).sum(1).mean())
    X = X / spread if spread > 0 else X
    empty = (X**2).sum(0) < 1e-12
    X[:, empty] = 0.1 * rng.normal(size=(n, int(empty.sum())))
    return X * compared[:, None]


def _normalised_votes(pairs: Array, vote: Floats, inverse: Floats) -> Any:
    """D^-1 A D^-1: a table where most of it is filled, or it is small, else sparse."""
    n = len(inverse)
    if n <= _DENSE_BELOW or (n <= _TABLE_BELOW and _FILLED * len(pairs) >= n * n):
        half = np.bincount(pairs[:, 0].astype(np.int64) * n + pairs[:, 1], vote, n * n).reshape(n, n)
        return inverse[:, None] * (half + half.T) * inverse
    sums = sparse.coo_matrix((vote, pairs.T), shape=(n, n)).tocsr()
    return sparse.diags_array(inverse) @ (sums + sums.T) @ sparse.diags_array(inverse)


def _leading(matrix: Any, count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    n = matrix.shape[0]
    with one_blas_thread():
        if n <= _DENSE_BELOW or count >= n - 1:
            dense = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
            values, vectors = linalg.eigh(dense, subset_by_index=[n - count, n - 1])
        else:
            start = rng.normal(size=n)
            values, vectors = sparse_linalg.eigsh(matrix, count, which="LA", v0=start, tol=1e-2, ncv=max(20, 3 * count))
    order = np.argsort(-values)
    vectors = vectors[:, order]
    sign = np.sign(vectors[np.abs(vectors).argmax(0), np.arange(count)])  # eigenvectors come with a random sign
    return values[order], vectors * np.where(sign == 0, 1, sign)


def best_scale(problem: Problem, X: Floats) -> Floats:
    """Return X at the best of a few overall scales: losses differ in the size that suits them."""
    values = [problem.value(problem.start(scale * X)) for scale in _SCALES]
    return _SCALES[int(np.argmin(values))] * X


def lifted_start(problem: Problem, rng: np.random.Generator, solve: Solve, extra: int = 3) -> Floats:
    """Fit with a few dimensions more, where items can pass each other, then press the extra ones flat.

    `solve(problem, start, max_iter)` fits; twice the positions are rotated to their principal axes and the trailing
    ones shrunk (to a half, to a tenth) before a few more iterations, and then they are cut off.
    """
    model = problem.model
    assert isinstance(model, Positions)
    keep = model.shape[1]
    wide = problem.with_model(Positions(model.n_items, keep + extra, beside=model.beside))
    X = best_scale(wide, spectral_start(wide, keep + extra, rng))
    X = solve(wide, X, 60).params.reshape(X.shape)
    for press in (0.5, 0.1):
        X = _principal(X)
        X[:, keep:] *= press
        X = solve(wide, X, 15).params.reshape(X.shape)
    return _principal(X)[:, :keep]


def _principal(X: Floats) -> Floats:
    return X @ linalg.svd(X, full_matrices=len(X) < X.shape[1])[2].T  # all axes, even of fewer items

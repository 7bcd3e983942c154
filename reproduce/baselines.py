"""Short reference implementations of the methods that the papers compare with, on small tables.

RCA (Bar-Hillel et al. 2005), LMNN (Weinberger, Blitzer & Saul 2006), MLKR (Weinberger & Tesauro 2007) and SVM-Combo
(Nguyen, Valizadegan & Hauskrecht 2011). Each minimises its paper's objective, hinges squared where the paper has them
plain, so that L-BFGS can do it; none is tuned for speed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg, optimize
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from sklearn.metrics.pairwise import euclidean_distances


def rca(X: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return the map C^(-1/2), C the mean covariance within the groups that similar links join, with a small ridge."""
    n, d = X.shape
    group = connected_components(csr_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(n, n)), directed=False)[1]
    size = np.bincount(group)
    linked = np.flatnonzero(size[group] > 1)
    means = np.stack([np.bincount(group, column) for column in X.T], 1) / size[:, None]
    away = X[linked] - means[group[linked]]
    C = away.T @ away / len(linked)
    C += 1e-3 * np.trace(C) / d * np.eye(d)
    values, vectors = linalg.eigh(C)
    return (vectors / np.sqrt(values)) @ vectors.T


def lmnn(X: np.ndarray, y: np.ndarray, k: int = 3, max_iter: int = 60) -> np.ndarray:
    """Return L that minimises sum d²(i, target) + sum [1 + d²(i, target) - d²(i, other)]²_+ over the k targets of i."""
    same = y[:, None] == y
    far = np.where(same & ~np.eye(len(X), dtype=bool), euclidean_distances(X), np.inf)
    targets = np.argsort(far, axis=1)[:, : min(k, int(same.sum(1).min()) - 1)]
    return _minimised_map(lambda L: lmnn_objective(L, X, same, targets), X, max_iter)


def lmnn_objective(L: np.ndarray, X: np.ndarray, same: np.ndarray, targets: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the objective over n, and its derivative by L; `same` are the pairs of one class, `targets` (n, k)."""
    d2 = euclidean_distances(X @ L.T, squared=True)
    near = np.take_along_axis(d2, targets, 1)
    short = np.where(same[:, None, :], 0.0, np.maximum(1.0 + near[:, :, None] - d2[:, None, :], 0.0))
    weight = -2.0 * short.sum(1)
    np.put_along_axis(weight, targets, 1.0 + 2.0 * short.sum(2), 1)
    return float((near.sum() + (short**2).sum()) / len(X)), _metric_slope(L, X, weight / len(X))


def mlkr(X: np.ndarray, target: np.ndarray, max_iter: int = 60) -> np.ndarray:
    """Return L that minimises sum (target - its leave-one-out kernel regression)², k = exp(-d²_L)."""
    return _minimised_map(lambda L: mlkr_objective(L, X, target), X, max_iter)


def mlkr_objective(L: np.ndarray, X: np.ndarray, target: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the objective, and its derivative by L."""
    d2 = euclidean_distances(X @ L.T, squared=True)
    np.fill_diagonal(d2, np.inf)
    K = np.exp(-(d2 - d2.min(1, keepdims=True)))
    K /= K.sum(1, keepdims=True)
    rest = K @ target - target
    weight = 2.0 * rest[:, None] * K * ((K @ target)[:, None] - target)
    return float((rest**2).sum()), _metric_slope(L, X, weight)


def svm_combo(
    X: np.ndarray, y: np.ndarray, confidence: np.ndarray | None, cost: float, ranking: float
) -> tuple[np.ndarray, float]:
    """Return w, b of |w|²/2 + cost · mean hinge² + ranking · mean over ranked pairs of hinge²; y is +1 or -1.

    A pair is ranked when both are of a class and the rater was surer of the first: then y w'x should be larger for it.
    Without confidence it is a linear SVM.
    """
    first, second = ranked_pairs(y, confidence) if confidence is not None else (np.empty(0, int), np.empty(0, int))
    gap = y[first, None] * (X[first] - X[second])
    found = optimize.minimize(
        lambda flat: svm_combo_objective(flat, X, y, gap, cost, ranking),
        np.zeros(X.shape[1] + 1),
        jac=True,
        method="L-BFGS-B",
    ).x
    return found[:-1], float(found[-1])


def svm_combo_objective(
    flat: np.ndarray, X: np.ndarray, y: np.ndarray, gap: np.ndarray, cost: float, ranking: float
) -> tuple[float, np.ndarray]:
    """Return the objective at (w, b), and its derivative; `gap` has a row y_a (x_a - x_b) for each ranked pair."""
    w, b = flat[:-1], flat[-1]
    short = np.maximum(1.0 - y * (X @ w + b), 0.0)
    value, slope = 0.5 * w @ w + cost * (short**2).mean(), np.zeros(len(flat))
    slope[:-1] = w - 2.0 * cost * (short * y) @ X / len(y)
    slope[-1] = -2.0 * cost * (short * y).mean()
    if len(gap):
        wrong = np.maximum(1.0 - gap @ w, 0.0)
        value += ranking * (wrong**2).mean()
        slope[:-1] -= 2.0 * ranking * wrong @ gap / len(gap)
    return float(value), slope


def ranked_pairs(y: np.ndarray, confidence: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs (a, b) of one class with confidence a above that of b."""
    return np.nonzero((y[:, None] == y) & (confidence[:, None] > confidence))


def _minimised_map(
    objective: Callable[[np.ndarray], tuple[float, np.ndarray]], X: np.ndarray, max_iter: int
) -> np.ndarray:
    """Minimise from the identity, at the scale where the median distance is 1."""
    d = X.shape[1]
    start = np.eye(d) / np.sqrt(np.median(euclidean_distances(X, squared=True)))

    def flat_objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = objective(flat.reshape(d, d))
        return value, slope.ravel()

    options = {"maxiter": max_iter}
    found = optimize.minimize(flat_objective, start.ravel(), jac=True, method="L-BFGS-B", options=options)
    return found.x.reshape(d, d)


def _metric_slope(L: np.ndarray, X: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Derivative by L of sum weight_ij d²_L(i, j): 2 L X' (Laplacian of the weights) X."""
    both = weight + weight.T
    return 2.0 * L @ (X.T @ (both.sum(1)[:, None] * X - both @ X))

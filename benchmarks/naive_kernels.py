"""Kernel learning as the papers print it: projected gradient, a full eigendecomposition of every matrix in every step.

    W_p <- P(W_p - step · (Φ_p' L Φ_p + rate · I)),   P sets negative eigenvalues to zero

with L the Laplacian of the loss' slopes. The logistic loss is smooth and keeps its step; the hinge is not, and its
subgradient steps shrink as 1/sqrt(t).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import expit

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def seconds_to_reach(
    target: float, loss: str, triplets: Ints, features: Sequence[Floats | None], rate: float, step: float, limit: float
) -> tuple[float, float]:
    """Return the seconds until the objective is at most the target, infinite past the limit, and the best objective."""
    best, start = np.inf, time.perf_counter()
    for value in descend(loss, triplets, features, rate, step):
        best, passed = min(best, value), time.perf_counter() - start
        if best <= target or passed > limit:
            break
    return (passed if best <= target else np.inf), best


def descend(loss: str, triplets: Ints, features: Sequence[Floats | None], rate: float, step: float) -> Iterator[float]:
    """Give the objective of each step, from W = 0."""
    n = int(triplets.max()) + 1
    head, near, far = triplets.T
    kernels = [np.zeros((n, n)) if own is None else np.zeros((own.shape[1],) * 2) for own in features]
    steps = 0
    while True:
        K = sum(W if own is None else own @ W @ own.T for W, own in zip(kernels, features, strict=True))
        size = np.diagonal(K)
        margin = size[far] - 2.0 * K[head, far] - size[near] + 2.0 * K[head, near]
        yield mean_loss(loss, margin) + rate * sum(np.trace(W) for W in kernels)
        slope = (expit(-margin) if loss == "logistic" else (margin < 1.0).astype(float)) / len(margin)
        L = laplacian(n, head, near, slope) - laplacian(n, head, far, slope)
        steps += 1
        length = step if loss == "logistic" else step / np.sqrt(steps)
        for p, own in enumerate(features):
            gradient = L if own is None else own.T @ L @ own
            kernels[p] = nearest_psd(kernels[p] - length * (gradient + rate * np.eye(len(gradient))))


def mean_loss(loss: str, margin: Floats) -> float:
    return float((np.logaddexp(0.0, -margin) if loss == "logistic" else np.maximum(0.0, 1.0 - margin)).mean())


def laplacian(n: int, one: Ints, two: Ints, weight: Floats) -> Floats:
    """sum_t weight_t (e_one - e_two)(e_one - e_two)' as a matrix."""
    half = np.bincount(one * n + two, weight, n * n).reshape(n, n)
    both = half + half.T
    return np.diag(both.sum(0)) - both


def nearest_psd(M: Floats) -> Floats:
    values, vectors = np.linalg.eigh(M)
    kept = values > 0
    return (vectors[:, kept] * values[kept]) @ vectors[:, kept].T

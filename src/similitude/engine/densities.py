"""Gaussians and mixtures of them: how they are read, and kernels between them in closed form, with numpy alone.

Covariances are full (d × d per Gaussian) or diagonal (d variances per Gaussian); the number of axes says which. What
the kernels are stands in `kernels.densities`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from similitude.engine.feature_checks import as_numbers, which_present
from similitude.feedback.columns import frozen
from similitude.types import Bools, Floats

Parts = tuple[Floats, ...]
"""Arrays with a row per item: means and covariances, after weights where there are several of each."""


def read_gaussians(value: Any, present: Any, argument: str) -> tuple[Parts, Bools]:
    """Return (means, covariances), checked, and which items have them."""
    means, covariances = _parts(value, ("means", "covariances"), argument)
    M = frozen(as_numbers(means, f"{argument}, means", (2,)))
    here = which_present(M, present, f"{argument}, means")
    return (M, _read_covariances(covariances, M, here, argument)), here


def read_mixtures(value: Any, present: Any, argument: str) -> tuple[Parts, Bools]:
    """Return (weights, means, covariances), checked, and which items have them."""
    weights, means, covariances = _parts(value, ("weights", "means", "covariances"), argument)
    W = as_numbers(weights, f"{argument}, weights", (2,))
    here = which_present(W, present, f"{argument}, weights")
    _check_shares(W, here, f"{argument}, weights")
    M = as_numbers(means, f"{argument}, means", (3,))
    if M.shape[:2] != W.shape:
        raise ValueError(
            f"{argument}: found means of shape {M.shape} beside weights of shape {W.shape}, expected a mean for "
            "each weight"
        )
    M[W == 0] = 0.0  # what fills up a short mixture is never read
    which_present(M, here, f"{argument}, means")
    return (frozen(W), frozen(M), _read_covariances(covariances, M, here, argument, W == 0)), here


def pick(parts: Parts, rows: Any) -> Parts:
    """Return some items."""
    return tuple(part[rows] for part in parts)


def described(parts: Parts) -> str:
    """Say what new items must have in common with training items."""
    means, covariances = parts[-2:]
    kind = "full" if covariances.ndim > means.ndim else "diagonal"
    return f"Gaussians in {means.shape[-1]} dimensions with {kind} covariances"


def bhattacharyya(A: Parts, B: Parts) -> Floats:
    """∫ sqrt(p q) of every two Gaussians."""
    (means, covariances), (M, C) = A, B
    own, other = _log_det(covariances, means), _log_det(C, M)
    values = np.empty((len(means), len(M)))
    for i, (mean, covariance) in enumerate(zip(means, covariances, strict=True)):
        form, volume = _quadratic(mean - M, (covariance + C) / 2)
        values[i] = np.exp(-form / 8 - volume / 2 + (own[i] + other) / 4)
    return values


def expected_likelihood(A: Parts, B: Parts, *, normalise: bool) -> Floats:
    """∫ p q of every two mixtures, over sqrt(∫ p² ∫ q²) where normalised."""
    logs = np.array([_log_overlaps(parts, B) for parts in zip(*A, strict=True)])
    if normalise:
        logs -= (_log_own(A)[:, None] + _log_own(B)) / 2
    return np.exp(logs)


def _log_overlaps(item: Parts, others: Parts) -> Floats:
    """log ∫ p q of one mixture p with each of the others."""
    weights, means, covariances = item
    W, M, C = others
    with np.errstate(divide="ignore"):
        weight, log_W = np.log(weights), np.log(W)
    terms = []
    for a in np.flatnonzero(weights):
        form, volume = _quadratic(means[a] - M, covariances[a] + C)
        terms.append(weight[a] + log_W - (form + volume + M.shape[-1] * np.log(2 * np.pi)) / 2)
    logs = np.array(terms)
    top = logs.max(axis=(0, 2), keepdims=True)  # a mixture has one weight above 0 at least
    result: Floats = np.log(np.exp(logs - top).sum(axis=(0, 2))) + top[0, :, 0]
    return result


def _log_own(mixtures: Parts) -> Floats:
    """log ∫ p² of each mixture."""
    single = [tuple(part[i] for part in mixtures) for i in range(len(mixtures[0]))]
    return np.array([_log_overlaps(item, tuple(part[None] for part in item))[0] for item in single])


def _quadratic(m: Floats, C: Floats) -> tuple[Floats, Floats]:
    """m' C⁻¹ m and log |C|, for full or diagonal C, over all leading axes."""
    if C.ndim == m.ndim:
        return (m**2 / C).sum(-1), np.log(C).sum(-1)
    root = np.linalg.cholesky(C)
    z = np.linalg.solve(root, m[..., None])[..., 0]
    return (z**2).sum(-1), 2 * np.log(np.diagonal(root, axis1=-2, axis2=-1)).sum(-1)


def _log_det(C: Floats, means: Floats) -> Floats:
    return _quadratic(np.zeros_like(means), C)[1]


def _parts(value: Any, names: tuple[str, ...], argument: str) -> Any:
    if not isinstance(value, (tuple, list)) or len(value) != len(names):
        found = f"{len(value)} parts" if isinstance(value, (tuple, list)) else f"a {type(value).__name__}"
        raise ValueError(f"{argument}: found {found}, expected a tuple ({', '.join(names)})")
    return value


def _read_covariances(value: Any, M: Floats, here: Bools, argument: str, unused: Bools | None = None) -> Floats:
    """Return covariances that fit the means, positive definite wherever they are read."""
    C = as_numbers(value, f"{argument}, covariances", (M.ndim, M.ndim + 1))
    if M.shape + M.shape[-1:] != C.shape and M.shape != C.shape:
        full = M.shape + M.shape[-1:]
        raise ValueError(
            f"{argument}: found covariances of shape {C.shape} beside means of shape {M.shape}, expected {full}, or "
            f"{M.shape} when diagonal"
        )
    if unused is not None:
        C[unused] = 1.0 if C.ndim == M.ndim else np.eye(M.shape[-1])
    which_present(C, here, f"{argument}, covariances")
    least: Callable[[Floats], Floats] = _least_variance if C.ndim == M.ndim else _least_eigenvalue
    lowest = least(C[here]).reshape(int(here.sum()), -1).min(1)
    if not (lowest > 0).all():
        item = np.flatnonzero(here)[np.argmin(lowest)]
        raise ValueError(
            f"{argument}, covariances: found a least eigenvalue of {lowest.min():.3g} at item {item}, expected "
            "symmetric and positive definite ones; add a little to the diagonal"
        )
    return frozen(C)


def _least_variance(C: Floats) -> Floats:
    return C.min(-1)


def _least_eigenvalue(C: Floats) -> Floats:
    """The least eigenvalue, minus infinity where a matrix is not symmetric."""
    gap = np.abs(C - np.swapaxes(C, -1, -2)).max((-1, -2))
    lowest: Floats = np.linalg.eigvalsh(C).min(-1)
    return np.where(gap > 1e-8 * np.abs(C).max((-1, -2)), -np.inf, lowest)


def _check_shares(W: Floats, here: Bools, argument: str) -> None:
    wrong = np.flatnonzero(here & ((W < 0).any(1) | ~np.isclose(W.sum(1), 1.0, atol=1e-6)))
    if len(wrong):
        raise ValueError(
            f"{argument}: found {W[wrong[0]].round(4).tolist()} at item {wrong[0]}, expected shares of zero or more "
            "that sum to 1; divide them by their sum"
        )


class Density(NamedTuple):
    """How distributions of a kind are read, and the kernel between them."""

    read: Callable[[Any, Any, str], tuple[Parts, Bools]]
    values: Callable[..., Floats]


DENSITIES = {
    "bhattacharyya": Density(read_gaussians, bhattacharyya),
    "expected_likelihood": Density(read_mixtures, expected_likelihood),
}

"""Kernels between distributions: items given as Gaussians or as mixtures of Gaussians, in closed form.

Covariances are full (d × d per Gaussian) or diagonal (d variances per Gaussian); the number of axes says which.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import logsumexp

from similitude.engine.feature_checks import as_numbers, check_varied, which_present
from similitude.feedback.columns import frozen
from similitude.kernels.base import FeatureKernel
from similitude.types import Bools, Floats

Parts = tuple[Floats, ...]


@dataclass(frozen=True, eq=False, repr=False)
class DensityKernel(FeatureKernel):
    """k(p, q) of distributions, each given as a tuple of arrays with a row per item."""

    def _pick(self, rows: Parts, present: Bools) -> Parts:
        return tuple(part[present] for part in rows)

    def _check_varied(self) -> None:
        check_varied(np.hstack([part.reshape(len(part), -1) for part in self.inside]), "features")

    def _describe(self, inside: Parts) -> str:
        means, covariances = inside[-2:]
        kind = "full" if covariances.ndim > means.ndim else "diagonal"
        return f"Gaussians in {means.shape[-1]} dimensions with {kind} covariances"


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
        means, covariances = _parts(value, ("means", "covariances"), argument)
        M = frozen(as_numbers(means, f"{argument}, means", (2,)))
        here = which_present(M, present, f"{argument}, means")
        return (M, _read_covariances(covariances, M, here, argument)), here

    def _between(self, A: Parts, B: Parts) -> Floats:
        (means, covariances), (M, C) = A, B
        own, other = _log_det(covariances, means), _log_det(C, M)
        values = np.empty((len(means), len(M)))
        for i, (mean, covariance) in enumerate(zip(means, covariances, strict=True)):
            form, volume = _quadratic(mean - M, (covariance + C) / 2)
            values[i] = np.exp(-form / 8 - volume / 2 + (own[i] + other) / 4)
        return values


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

    def _between(self, A: Parts, B: Parts) -> Floats:
        logs = np.array([_log_overlaps(parts, B) for parts in zip(*A, strict=True)])
        if self.normalise:
            mine = self._own if A is self.inside else _log_own(A)
            logs -= (mine[:, None] + self._own) / 2
        return np.exp(logs)

    @cached_property
    def _own(self) -> Floats:
        return _log_own(self.inside)


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
    result: Floats = logsumexp(np.array(terms), axis=(0, 2))
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

"""From features to coordinates by a kernel and landmarks: which, Nyström's map, and locally linear weights.

A kernel over m landmarks, centred on them, is L = sum_r mu_r a_r a_r'. A point has coordinates u in the directions a_r
(a landmark's are its entries of the a_r, exactly), and its place in the kernel's space is sqrt(mu_r) u_r. Both maps
cost m kernel values a point and work block by block, so that n points cost n times as much as one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics.pairwise import euclidean_distances, pairwise_distances_argmin

from similitude.engine.threads import one_blas_thread
from similitude.kernels import Centred, Kernel, psd_root
from similitude.types import Array, Floats

_BLOCK_NUMBERS = 4_000_000  # numbers in a block of kernel values: 32 MB
_RIDGE = 1e-3  # of the mean of the local Gram matrix's diagonal, as in scikit-learn's locally linear embedding
_SAME = 1e-12  # of the mean squared size: nearer than this, a point is the landmark


@dataclass(frozen=True)
class LandmarkSpectrum:
    """The directions of a centred kernel over landmarks.

    Attributes
    ----------
    kernel : the kernel over the landmarks, centred on them
    spectrum : (q,) its positive eigenvalues mu_r, largest first
    landmarks : (m, q) unit coordinates of the landmarks: the eigenvectors a_r as columns
    back : (m, q) a_r / mu_r: a row of centred kernel values times this gives unit coordinates
    """

    kernel: Kernel
    spectrum: Floats
    landmarks: Floats
    back: Floats

    @classmethod
    def of(cls, kernel: Kernel) -> LandmarkSpectrum:
        """Decompose a kernel over landmarks."""
        centred = Centred(kernel)
        root = psd_root(centred.matrix())
        spectrum = np.einsum("ij,ij->j", root.factor, root.factor)
        scale = np.sqrt(spectrum)
        return cls(centred, spectrum, root.factor / scale, root.back / scale)

    def coordinates(self, X: Array, keep: int | None = None) -> Floats:
        """u_r(x) = sum_j k(x, x_j) a_rj / mu_r: Nyström's map, on the first `keep` directions."""
        back = self.back[:, :keep]
        return in_blocks(lambda rows: self.kernel.cross(rows) @ back, X, back.shape[1], len(back))


@dataclass(frozen=True)
class PlainFeatures:
    """Features as they are, in the shape of a spectrum: each is a direction, spectrum its sum of squares.

    Attributes
    ----------
    centre : (q,) the mean of each feature
    spectrum : (q,) mu_r; 1 for a feature that is constant, which may differ in new items
    """

    centre: Floats
    spectrum: Floats

    @classmethod
    def of(cls, X: Floats) -> PlainFeatures:
        """The features of X."""
        centre = X.mean(0)
        squares = ((X - centre) ** 2).sum(0)
        return cls(centre, np.where(squares > 0, squares, 1.0))

    def coordinates(self, X: Array) -> Floats:
        """u_r(x) = (x_r - mean) / sqrt(mu_r)."""
        return np.asarray((X - self.centre) / np.sqrt(self.spectrum), np.float64)


def choose_landmarks(X: Floats, linked: Array, count: int, how: str, rng: np.random.RandomState) -> Array:
    """Rows of X, ascending: linked ones first (some, where there are more), then others, random or by k-means."""
    if count >= len(X):
        return np.arange(len(X))
    chosen = rng.permutation(linked)[:count]
    others = np.setdiff1d(np.arange(len(X)), linked)
    wanted = count - len(chosen)
    if how == "kmeans" and wanted:
        others = others[_representatives(X[others], wanted, rng)]
    return np.sort(np.concatenate([chosen, rng.permutation(others)[:wanted]]))


def _representatives(X: Floats, count: int, rng: np.random.RandomState) -> Array:
    """Rows of X nearest to the centres of k-means, one a centre."""
    centres = KMeans(count, n_init=1, max_iter=20, random_state=rng).fit(X).cluster_centers_
    return np.unique(pairwise_distances_argmin(centres, X))


def in_blocks(work: Callable[[Any], Floats], X: Array, width: int, per_row: int) -> Floats:
    """Return work(X), computed on some rows at a time."""
    result = np.empty((len(X), width))
    step = max(1, _BLOCK_NUMBERS // max(per_row, 1))
    with one_blas_thread():
        for start in range(0, len(X), step):
            result[start : start + step] = work(X[start : start + step])
    return result


def linear_weights(places: Floats, landmarks: Floats, count: int) -> tuple[Array, Floats]:
    """w = argmin |y - sum_j w_j y_j|² over the nearest landmarks, sum w = 1: solve G w = 1, then divide by the sum.

    G_jk = (y - y_j)'(y - y_k), with a ridge of a thousandth of its mean diagonal: G is singular where there are more
    neighbours than local dimensions, and a ridge that does not scale with G (the paper's) means something else for
    every kernel. Where a point stands on a landmark, that landmark has all the weight (eq. 12).

    Returns
    -------
    nearest : (n, count) the landmarks
    weights : (n, count) their weights
    """
    d2 = euclidean_distances(places, landmarks, squared=True)
    nearest: Array = np.argpartition(d2, count - 1, axis=1)[:, :count] if count < len(landmarks) else _every(d2.shape)
    away = places[:, None, :] - landmarks[nearest]
    gram = away @ away.transpose(0, 2, 1)
    own = np.einsum("ijj->ij", gram).copy()
    np.einsum("ijj->ij", gram)[:] += _RIDGE * own.mean(1, keepdims=True) + np.finfo(float).tiny
    weights = np.asarray(np.linalg.solve(gram, np.ones((len(gram), count, 1)))[..., 0], np.float64)
    weights /= weights.sum(1, keepdims=True)
    here = own.min(1) <= _SAME * np.einsum("ij,ij->", landmarks, landmarks) / len(landmarks)
    weights[here] = np.arange(count) == own[here].argmin(1)[:, None]
    return nearest, weights


def _every(shape: tuple[int, ...]) -> Array:
    return np.broadcast_to(np.arange(shape[1]), shape)

"""Axes of positions, maps in two dimensions, and classical scaling: positions for a dissimilarity, where Euclidean."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy import linalg

from similitude.display.places import plane
from similitude.engine.threads import one_blas_thread
from similitude.types import Bools, Floats

_NOTHING = 1e-8  # of the largest eigenvalue: no axis
_ROUNDING = 1e-14  # of the largest eigenvalue: what is left of a zero


def scale_form(X: Floats, M: Floats) -> Floats:
    """(n, k) positions for the squared distances (x_i - x_j)' M (x_i - x_j), M symmetric of any sign.

    The matrix of classical scaling is H X M X' H, of rank q at most: it is never formed.
    """
    with one_blas_thread():
        basis, root = linalg.qr(X - X.mean(0), mode="economic")
        values, vectors = linalg.eigh(root @ M @ root.T)
    return _positive_axes(values, basis @ vectors)


def scale_ranks(d: Floats) -> Floats:
    """(n, k) positions for a symmetric table of which only the order means something.

    It is shifted so that its least value off the diagonal is 0, taken as squared distances, and scaled: the positive
    eigenvalues of -H D H / 2.
    """
    table = d - d[~np.eye(len(d), dtype=bool)].min(initial=np.inf)
    np.fill_diagonal(table, 0.0)
    return _scale(table)


def scale_distances(d: Floats) -> Floats:
    """(n, k) positions for a symmetric table of distances, axes in order: classical scaling of their squares."""
    return _scale(d * d)


def _scale(table: Floats) -> Floats:
    """Return positions for squared distances: the positive eigenvalues of -H D H / 2."""
    means = table.mean(0)
    with one_blas_thread():
        values, vectors = linalg.eigh(-0.5 * (table - means - means[:, None] + means.mean()))
    return _positive_axes(values, vectors)


def _positive_axes(values: Floats, vectors: Floats) -> Floats:
    kept = np.flatnonzero(values > _NOTHING * np.abs(values).max())[::-1]
    return vectors[:, kept] * np.sqrt(values[kept]) if len(kept) else np.zeros((len(vectors), 1))


def signed_axes(M: Floats) -> tuple[Floats, Floats]:
    """Return N (q × r) and signs s with M = N diag(s) N', for a symmetric M of any sign."""
    values, vectors = linalg.eigh(M)
    kept = np.abs(values) > _ROUNDING * np.abs(values).max(initial=0.0)
    return vectors[:, kept] * np.sqrt(np.abs(values[kept])), np.sign(values[kept])


def principal_axes(X: Floats, over: Bools | None = None, centred: bool = True) -> tuple[Floats, Floats]:
    """Return the centre of positions and the turn (d × k) to their principal axes, axes that hold nothing left out.

    The centre and the axes are those of the rows in `over`; where it is not to be `centred`, the centre is 0.
    """
    inside = X if over is None else X[over]
    centre = inside.mean(0) if centred else np.zeros(X.shape[1])
    if not X.any():
        return centre, np.zeros((X.shape[1], 1))
    with one_blas_thread():
        size, turn = _axes(inside - centre)
    return centre, turn[size > _NOTHING**0.5 * size[0]].T


def _axes(X: Floats) -> tuple[Floats, Floats]:
    """Singular values and right vectors; by the slower way where the faster one does not converge, which happens."""
    try:
        _, size, turn = linalg.svd(X, full_matrices=False)
    except linalg.LinAlgError:
        _, size, turn = linalg.svd(X, full_matrices=False, lapack_driver="gesvd")
    return size, turn


def project(positions: Floats, method: Literal["pca", "tsne"] = "pca", random_state: int | None = 0) -> Floats:
    """Return positions in two dimensions.

    Parameters
    ----------
    positions : (n, d); two dimensions are left as they are, one becomes a line
    method : "pca" keeps the two directions of largest spread; "tsne" keeps neighbourhoods, for more than two dimensions
    random_state : seed of "tsne"
    """
    if method not in ("pca", "tsne"):
        raise ValueError(f"projection: expected 'pca' or 'tsne', found {method!r}")
    X = np.asarray(positions, float)
    if X.shape[1] <= 2:
        return X @ plane(X)
    X = X - X.mean(0)
    if method == "tsne":
        from sklearn.manifold import TSNE

        perplexity = min(30.0, max(1.0, (len(X) - 1) / 3.0))
        return np.asarray(TSNE(2, perplexity=perplexity, init="pca", random_state=random_state).fit_transform(X), float)
    return X @ plane(X)

"""Kernel matrices as they stand: centring, unit trace, a thin root, and whether one is a kernel at all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import linalg

from similitude.engine.feature_checks import as_numbers
from similitude.engine.threads import one_blas_thread
from similitude.types import Floats, Table

TOLERANCE = 1e-6  # of the largest entry or eigenvalue: what single precision leaves of symmetry and definiteness

_LARGE = 1_000  # items from which it pays to ask first whether the rank is small
_TILE = 128  # items in a side of a tile that a core's cache holds
_THIN = 0.25  # of the items: the rank up to which a root by its factor is cheaper than by eigenvectors


def centred(K: Table) -> Floats:
    """H K H with H = I - 11'/n: the kernel with its origin at the mean of the items; distances stay as they are.

    Parameters
    ----------
    K : symmetric matrix (n × n)

    Examples
    --------
    >>> import similitude as sm
    >>> sm.kernels.centred([[1.0, 3.0], [3.0, 9.0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    matrix = check_symmetric(as_square(K, "K"), "K")
    means = matrix.mean(0)
    return matrix - (means + means[:, None] - means.mean())


def unit_trace(K: Table) -> Floats:
    """K / tr K: the kernel scaled so that kernels of different features can be weighed against each other.

    Parameters
    ----------
    K : matrix (n × n) with a positive trace

    Examples
    --------
    >>> import similitude as sm
    >>> sm.kernels.unit_trace([[1.0, 2.0], [2.0, 4.0]])
    array([[0.2, 0.4],
           [0.4, 0.8]])
    """
    matrix = as_square(K, "K")
    return matrix / positive_trace(matrix)


def positive_trace(K: Floats) -> float:
    """tr K, which must be positive to be divided by."""
    trace = float(np.trace(K))
    if not trace > 0:
        raise ValueError(
            f"K: found a trace of {trace:.3g}, expected a positive one; a kernel of zeros tells nothing, leave it out"
        )
    return trace


class Root(NamedTuple):
    """A thin root of a kernel matrix, and the way for new rows: `factor` (n × q), `back` (n × q).

    Parameters
    ----------
    factor : (n × q) F with F F' = K
    back : (n × q) what takes rows of kernel values to features

    Examples
    --------
    >>> import similitude as sm
    >>> K = [[4.0, 2.0], [2.0, 1.0]]
    >>> root = sm.kernels.psd_root(K)
    >>> (root.factor @ root.factor.T).round(6), root.apply([[2.0, 1.0]]).shape
    (array([[4., 2.],
           [2., 1.]]), (1, 1))
    """

    factor: Floats
    back: Floats

    def apply(self, rows: npt.ArrayLike) -> Floats:
        """K_new V L^(-1/2): features of new items from their rows of kernel values (m × n)."""
        values = np.asarray(rows, np.float64)
        if values.ndim != 2 or values.shape[1] != len(self.back):
            raise ValueError(
                f"rows: found an array of shape {values.shape}, expected a row per new item with {len(self.back)} "
                "values, one per training item"
            )
        return values @ self.back


def psd_root(K: Table, tol: float = 1e-10) -> Root:
    """K = V L V', factor = V L^(1/2), back = V L^(-1/2): factor factor' = K and K back = factor.

    The rank q is the number of eigenvalues above `tol` times the largest; the others are dropped. Of a large matrix a
    pivoted Cholesky factor tells whether q is small: then the root costs O(n² q), otherwise O(n³).

    Parameters
    ----------
    K : positive semidefinite matrix (n × n)
    tol : share of the largest eigenvalue below which one counts as zero

    Returns
    -------
    root : named pair `factor`, `back`, both n × q; `root.apply(rows)` for new items

    Examples
    --------
    >>> import similitude as sm
    >>> root = sm.kernels.psd_root([[4.0, 2.0], [2.0, 1.0]])
    >>> root.factor.shape
    (2, 1)
    """
    matrix = check_symmetric(as_square(K, "K"), "K")
    with one_blas_thread():
        thin = _thin_factor(matrix, tol) if len(matrix) > _LARGE else None
        if thin is not None:
            return _root_of_factor(thin, tol)
        values, vectors = linalg.eigh(matrix)
    top = max(float(values[-1]), 0.0)
    if values[0] < -max(tol, TOLERANCE) * top or top == 0.0:
        refuse_indefinite(float(values[0]), float(values[-1]), "K")
    kept = np.flatnonzero(values > tol * top)[::-1]
    scale = np.sqrt(values[kept])
    return Root(vectors[:, kept] * scale, vectors[:, kept] / scale)


def _thin_factor(K: Floats, tol: float) -> Floats | None:
    """Return F with K = F F' up to a small part of tol times the largest eigenvalue; None where F would not be thin.

    The largest eigenvalue is at least tr K² / tr K. Factoring stops where no diagonal entry is left to speak of, which
    proves nothing of a matrix that is not positive semidefinite: so what is left is looked at, every entry of it.
    """
    n, diagonal = len(K), np.diagonal(K)
    if not (diagonal >= 0).all() or not diagonal.any():
        return None
    enough = 0.1 * tol * float(np.einsum("ij,ij->", K, K)) / float(diagonal.sum()) / n
    stop = max(0.1 * enough, 32 * np.finfo(float).eps * float(diagonal.max()))
    lower, pivot, rank, _ = linalg.lapack.dpstrf(K, tol=stop, lower=1)
    if rank > _THIN * n:
        return None
    factor = np.empty((n, rank))
    factor[pivot - 1] = np.tril(lower[:, :rank])
    left = K - factor @ factor.T
    return factor if max(left.max(), -left.min()) <= enough else None


def _root_of_factor(factor: Floats, tol: float) -> Root:
    vectors, scale, _ = linalg.svd(factor, full_matrices=False)
    kept = scale**2 > tol * scale[0] ** 2
    return Root(vectors[:, kept] * scale[kept], vectors[:, kept] / scale[kept])


def as_square(K: npt.ArrayLike, argument: str) -> Floats:
    """Return a square matrix of finite numbers."""
    matrix = as_numbers(K, argument, (2,))
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"{argument}: found a matrix of shape {matrix.shape}, expected a square one, a row and a column per item"
        )
    if not np.isfinite(matrix).all():
        i, j = np.argwhere(~np.isfinite(matrix))[0]
        raise ValueError(f"{argument}: found {matrix[i, j]} at ({i}, {j}), expected finite numbers; fill it first")
    return matrix


def check_symmetric(K: Floats, argument: str, tol: float = TOLERANCE) -> Floats:
    """Return the symmetric half of a matrix that is symmetric up to rounding."""
    if _symmetric_bits(K):
        return K.copy()
    gap = np.abs(K - K.T)
    if gap.max() > tol * np.abs(K).max():
        i, j = sorted(int(place) for place in np.unravel_index(np.argmax(gap), gap.shape))
        raise ValueError(
            f"{argument}: not symmetric by {gap.max():.3g}: found {K[i, j]:.6g} at ({i}, {j}) and {K[j, i]:.6g} at "
            f"({j}, {i}), expected one value; use (K + K.T) / 2 if both are meant"
        )
    return (K + K.T) / 2


def _symmetric_bits(K: Floats) -> bool:
    """K = K', a tile at a time: reading all of K' against the grain takes longer than many a product."""
    sides = [slice(start, start + _TILE) for start in range(0, len(K), _TILE)]
    pairs = ((rows, columns) for k, rows in enumerate(sides) for columns in sides[k:])
    return all(np.array_equal(K[rows, columns], K[columns, rows].T) for rows, columns in pairs)


def check_psd(K: Floats, argument: str, tol: float = TOLERANCE) -> None:
    """Refuse a symmetric matrix with an eigenvalue below -tol times its largest.

    A Cholesky factor of K + tol · (largest diagonal) I proves that there is none; only without one are they computed.
    """
    try:
        linalg.cholesky(K + tol * max(float(np.diagonal(K).max()), 0.0) * np.eye(len(K)), lower=True)
    except linalg.LinAlgError:
        values = linalg.eigvalsh(K)
        if values[0] < -tol * values[-1] or values[-1] <= 0:
            refuse_indefinite(float(values[0]), float(values[-1]), argument)


def refuse_indefinite(least: float, largest: float, argument: str) -> None:
    """Say that a matrix is no kernel, and by how much."""
    if least >= 0:
        raise ValueError(f"{argument}: found zeros throughout, expected a kernel that tells items apart; leave it out")
    raise ValueError(
        f"{argument}: not positive semidefinite: found a least eigenvalue of {least:.3g} (largest {largest:.3g}), "
        "expected none below zero; set negative eigenvalues to zero, or give features instead"
    )

"""The least eigenpair of a symmetric matrix, and projection to the positive semidefinite cone."""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.linalg import blas

from similitude.types import Floats

TOL = 1e-8
"""Largest residual |K v - value · v| of the least eigenpair."""

_DENSE_BELOW = 200  # below it LAPACK is as fast
_MOST_STEPS = 300
_EVERY = 8


def least_eigenpair(K: Floats, start: Floats | None = None) -> tuple[float, Floats]:
    """Return the least eigenvalue with its vector: Lanczos from `start`, or LAPACK where there is none or K is small.

    Lanczos sees only eigenvectors in which `start` has a part, so it should have a part in all that matter.
    """
    found = None if start is None or len(K) < _DENSE_BELOW else lanczos(K, start, min(len(K), _MOST_STEPS))
    if found is not None:
        return found
    values, vectors = linalg.eigh(K, subset_by_index=[0, 0])
    return float(values[0]), np.ascontiguousarray(vectors[:, 0])


def lanczos(K: Floats, start: Floats, most: int) -> tuple[float, Floats] | None:
    """Return the least eigenpair to a residual of `TOL` by Lanczos, or None where `most` steps do not reach it.

    Every vector is made orthogonal to all before it, without which eigenvalues would come twice.
    """
    basis = np.empty((most + 1, len(K)))
    diagonal, beside = np.empty(most), np.empty(most)
    basis[0] = start / np.linalg.norm(start)
    for step in range(most):
        image = blas.dsymv(1.0, K.T, basis[step])  # reads one half of K: twice as fast as a full product
        diagonal[step] = image @ basis[step]
        image -= diagonal[step] * basis[step]
        if step:
            image -= beside[step - 1] * basis[step - 1]
        image -= (basis[: step + 1] @ image) @ basis[: step + 1]
        beside[step] = np.linalg.norm(image)
        whole = beside[step] < 1e-12  # the basis spans all that `start` can reach
        if whole or step % _EVERY == _EVERY - 1:
            value, small = linalg.eigh_tridiagonal(diagonal[: step + 1], beside[:step], select="i", select_range=(0, 0))
            if whole or beside[step] * abs(small[-1, 0]) <= TOL:
                return float(value[0]), small[:, 0] @ basis[: step + 1]
        basis[step + 1] = image / beside[step]
    return None


def project(K: Floats) -> float:
    """Take every direction below 0 out of a symmetric K, in place; returns the least eigenvalue that there was."""
    values, vectors = linalg.eigh(K)
    below = values < 0.0
    K -= (vectors[:, below] * values[below]) @ vectors[:, below].T
    K += K.T.copy()
    K *= 0.5
    return float(values[0])

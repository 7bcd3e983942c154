"""How far a matrix is from positive semidefinite, proven: eigenvectors to improve by, and a share that needs none.

Up to some order all eigenvalues are computed, and the least is the whole truth. Beyond that Lanczos only searches: an
eigenvalue that it missed would make a wrong proof, so a Cholesky decomposition has the last word.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse import linalg as sparse_linalg

from similitude.engine.threads import one_blas_thread
from similitude.types import Array, Floats

_MOST = 80  # eigenvectors by Lanczos
_DENSE_BELOW = 1500
_DOUBTS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.5)  # of an eigenvalue by Lanczos, until the proof goes through


def laplacian_matrix(n_items: int, pairs: Array, w: Floats) -> Any:
    """L = sum_p w_p (e_i - e_j)(e_i - e_j)' as a sparse matrix."""
    half = sparse.coo_matrix((w, (pairs[:, 0], pairs[:, 1])), shape=(n_items, n_items)).tocsr()
    both = half + half.T
    return sparse.diags_array(np.asarray(both.sum(1)).ravel()) - both


def least_eigenpairs(S: Any, count: int) -> tuple[Floats, Floats]:
    """The least eigenvalues of S with their vectors, `count` of them; by Lanczos `_MOST` at most."""
    order = S.shape[0]
    with one_blas_thread():
        if order <= _DENSE_BELOW:
            return linalg.eigh(_dense(S), subset_by_index=[0, min(count, order) - 1])
        start = np.random.default_rng(0).normal(size=order)
        few = min(count, _MOST)
        values, vectors = sparse_linalg.eigsh(S, few, which="SA", v0=start, ncv=2 * few + 40, tol=1e-6)
    ascending = np.argsort(values)
    return values[ascending], vectors[:, ascending]


def proven_share(S: Any, rate: float, least: float) -> float:
    """The largest share s <= 1 with s · S + rate · I ⪰ 0, proven, given what is believed to be the least eigenvalue."""
    share = 1.0 if least >= -rate else rate / -least
    if S.shape[0] <= _DENSE_BELOW:
        return share * (1.0 - 1e-10)  # but for rounding
    for doubt in _DOUBTS:
        if _positive(S, share * (1.0 - doubt), rate * (1.0 + 1e-9)):
            return share * (1.0 - doubt)
    return 0.0


def _positive(S: Any, share: float, rate: float) -> bool:
    """Whether share · S + rate · I is positive definite: one dense copy, which its own Cholesky factor overwrites."""
    whole = np.asfortranarray(_dense(share * S))
    whole[np.diag_indices_from(whole)] += rate
    try:
        linalg.cholesky(whole, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        return False
    return True


def _dense(S: Any) -> Floats:
    return S if isinstance(S, np.ndarray) else S.toarray()

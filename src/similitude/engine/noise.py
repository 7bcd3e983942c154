"""How strong a penalty must be so that answers given by chance teach nothing.

With a ridge strength · |X|²/n on vectors X, whose products are K = X X', nothing is learned from X = 0 as long as
strength >= n · (largest eigenvalue of minus the derivative of the mean loss by K). That derivative, S, is a sum over
pairs of their slopes: w_p (e_i - e_j)(e_i - e_j)' for squared distances, -w_p (e_i e_j' + e_j e_i') / 2 for dot
products; through features Φ it is Φ' S Φ. For answers by chance to the questions that were asked it is drawn: the
strength that keeps those at 0 is the noise level. For n items and W choices of one of three it is about
sqrt(4 n / 3 W) in dot products; drawing it serves every form, weight and set of features.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse import linalg as sparse_linalg

from similitude.engine.choice_terms import Picked
from similitude.types import Floats

_DENSE_BELOW = 400
_STEADY, _DRAWS = 100, 10
_SHARED_DRAWS = 3
_LEAST = 1e-9  # where nothing can be said of any pair


def slopes_at_zero(term: Picked, n_items: int, dot: bool) -> sparse.csr_array:
    """(n, n) minus the derivative of the mean loss by K, where all items stand at 0."""
    at = np.zeros(len(term.pairs))
    w = term.evaluate(at, term.start(at))[1] / term.total
    half = sparse.coo_array((w, term.pairs.T), shape=(n_items, n_items)).tocsr()
    across = half + half.T
    return 0.5 * across if dot else across - sparse.diags_array(np.asarray(across.sum(axis=1)).ravel())


def noise_level(
    term: Picked, n_items: int, dot: bool, features: Floats | None = None, *, rng: np.random.Generator
) -> float:
    """Return the strength of a ridge over n items at which answers by chance teach nothing.

    The largest eigenvalue of a wide matrix is nearly the same in every draw. That of a few columns is not, and may fall
    below 0: the level is then the root of its mean square over several draws.
    """
    order = n_items if features is None else features.shape[1]
    drawn = [_largest(term, n_items, dot, features, rng) for _ in range(1 if order >= _STEADY else _DRAWS)]
    return n_items * max(float(np.sqrt(np.mean(np.square(drawn)))), _LEAST)


def shared_level(term: Picked, n_items: int, dot: bool, free: float, *, rng: np.random.Generator) -> float:
    """Return the strength of a ridge on one vector b that all items share, beside free ones at the strength `free`.

    With X = 1 b' + E the products b' E say which items are like many, and answers by chance teach those nothing as long
    as |n S 1|² <= strength · (free - n u' S u), u along S 1. For odd ones out it is about n/8 times `free`: at the
    strength of what is free, b would be a way for chance to get in. Twice |n S 1|² / free leaves room for the
    eigenvalues of S, and for draws above the mean.
    """
    drawn = [slopes_at_zero(term.by_chance(rng), n_items, dot).sum(axis=1) for _ in range(_SHARED_DRAWS)]
    return 2.0 * max(n_items**2 * float(np.mean(np.square(drawn)) * n_items) / free, _LEAST)


def _largest(term: Picked, n_items: int, dot: bool, features: Floats | None, rng: np.random.Generator) -> float:
    S = slopes_at_zero(term.by_chance(rng), n_items, dot)
    return float(leading(S if features is None else features.T @ (S @ features), 1, rng)[0][0])


def leading(S: Any, count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the largest eigenvalues of a symmetric matrix, from the largest down, with their vectors."""
    order = S.shape[0]
    if order < _DENSE_BELOW or count > order // 2:
        dense = np.asarray(S @ np.eye(order))
        values, vectors = linalg.eigh(dense, subset_by_index=[order - min(count, order), order - 1])
    else:
        values, vectors = sparse_linalg.eigsh(S, count, which="LA", v0=rng.normal(size=order), tol=1e-4)
    return values[::-1], vectors[:, ::-1]

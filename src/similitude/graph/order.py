"""Acyclic feedback embedded exactly: every comparison holds, in n - 1 dimensions."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from similitude.feedback.comparisons import Comparisons
from similitude.graph.acyclic import strong_components, topological
from similitude.graph.votes import Votes, count_votes, directed
from similitude.types import Floats


def exact_embedding(comparisons: Comparisons) -> Floats:
    """Return positions (n, n - 1) for which every comparison of acyclic feedback holds.

    Algorithm 5 of McFee & Lanckriet (2011) gives each pair a level D_ij, 1 + the longest chain of pairs judged more
    alike, which stands for a *squared* dissimilarity. With A = -1/2 H D H (H centres) and its least eigenvalue l < 0,
    A - l I is positive semidefinite, and its positions have squared distances D_ij - 2 l (constant shift, Roth et al.
    2003): the order is the same. The least number of dimensions is NP-hard to find, and none is promised.

    Parameters
    ----------
    comparisons : feedback without contradictions (`clean`)

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> c = sm.Comparisons.from_triplets([(0, 1, 2), (1, 0, 2)])
    >>> X = sm.exact_embedding(c)
    >>> X.shape, bool(np.linalg.norm(X[0] - X[1]) < np.linalg.norm(X[0] - X[2]))
    ((3, 2), True)
    """
    if not len(comparisons):
        raise ValueError("comparisons: there are none to embed")
    votes = count_votes(comparisons)
    tail, head, _, _ = directed(votes)
    try:
        level, _ = topological(len(votes.pairs), tail, head)
    except ValueError:
        raise ValueError(
            f"comparisons: {_contradiction(comparisons, votes)}; make them acyclic first (clean)"
        ) from None
    D = np.ones((comparisons.n_items, comparisons.n_items))
    np.fill_diagonal(D, 0.0)
    i, j = votes.pairs.T
    D[i, j] = D[j, i] = 1.0 + level
    A = -0.5 * (D - D.mean(0) - D.mean(1)[:, None] + D.mean())
    values, vectors = linalg.eigh(A)
    return vectors[:, 1:] * np.sqrt(np.maximum(values[1:] - values[0], 0.0))


def _contradiction(comparisons: Comparisons, votes: Votes) -> str:
    """Name two judgments that contradict each other, directly or through others."""
    both = np.flatnonzero(votes.contradicted)
    if len(both):
        near, far = votes.pairs[votes.low[both[0]]], votes.pairs[votes.high[both[0]]]
        return f"{_pair(comparisons, near)} and {_pair(comparisons, far)} are each called more alike than the other"
    tail, head, _, _ = directed(votes)
    label = strong_components(len(votes.pairs), tail, head)
    edge = int(np.flatnonzero(label[tail] == label[head])[0])
    near, far = votes.pairs[tail[edge]], votes.pairs[head[edge]]
    return (
        f"{_pair(comparisons, near)} is called more alike than {_pair(comparisons, far)}, "
        "and other comparisons lead back to the contrary"
    )


def _pair(comparisons: Comparisons, pair: Floats) -> str:
    return f"({comparisons.label(int(pair[0]))}, {comparisons.label(int(pair[1]))})"

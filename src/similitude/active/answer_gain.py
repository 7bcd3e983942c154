"""What a whole answer tells: the expected information of a choice among alternatives, by draws from the posterior.

An odd one out is one of three, a pick of k from a grid one of all sets of k; the comparisons that follow from it are
not independent, so that their scores do not add up to what the answer tells.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from similitude.active.posterior import Posterior
from similitude.types import Array, Floats

_HALF = 32  # draws; their mirror images come on top
_DISTINCT = 1021  # items with draws of their own; others share those of one of them
_MOST_SETS = 1000
_AT_ONCE = 2000  # questions; bounds the memory


class AnswerGain:
    """I(answer; positions) = H(E p) - E H(p) in bits, with p the chances of all answers at positions drawn.

    Positions are drawn from the normal posterior of each item, 32 and their mirror images, with the variances of the
    draws made exact; the same draws serve all questions, so that questions differ by what is asked and not by chance.
    Distances (or products) and their scale are taken at the drawn positions: nothing is linear. H(E p) of S draws is
    too low by some (number of answers - 1) / (2 S ln 2) bits at the most, 0.02 for an odd one out, nearly alike for all
    questions. Where more than 1,000 sets could be picked, a pick of fewer of the same grid (or one that leaves fewer)
    stands for it.
    """

    def __init__(self, posterior: Posterior) -> None:
        self.posterior = posterior
        n, d = posterior.positions.shape
        half = np.random.default_rng(0).normal(size=(min(n, _DISTINCT), d, _HALF))
        half /= np.sqrt((half**2).mean(axis=2, keepdims=True))
        self._normal = np.concatenate([half, -half], axis=2)

    def of(self, pairs: Array, sign: float, picked: int) -> Floats:
        """(q,) gain of picking so many of the alternatives for which `pairs` (q, m, p, 2) speak."""
        parts = [self._of(pairs[k : k + _AT_ONCE], sign, picked) for k in range(0, len(pairs), _AT_ONCE)]
        return np.concatenate([np.zeros(0), *parts])

    def _of(self, pairs: Array, sign: float, picked: int) -> Floats:
        from similitude.active.compiled_answers import answer_gains, drawn_values

        count, m, p, _ = pairs.shape
        items, place = np.unique(pairs, return_inverse=True)
        drawn, loss = self._drawn(items), self.posterior.loss
        found = np.empty((count * m * p, drawn.shape[2]))
        drawn_values(drawn, self.posterior.signs, place.reshape(-1, 2), found)
        value = loss.scale(found)[0].reshape(count, m, p, -1).sum(2) * (sign * loss.shape.log_odds)
        out = np.empty(count)
        answer_gains(value, _sets(m, picked), out)
        return out

    def _drawn(self, items: Array) -> Floats:
        """(items, d, draws) positions."""
        root = np.linalg.cholesky(self.posterior.covariance[items])
        return self.posterior.positions[items][:, :, None] + root @ self._normal[items % len(self._normal)]


def _sets(m: int, picked: int) -> Array:
    """All sets of so many of m alternatives, or of a number of them nearer to none or all that gives fewer sets."""
    while comb(m, picked) > _MOST_SETS:
        picked += 1 if 2 * picked > m else -1
    return np.array(list(combinations(range(m), picked)))

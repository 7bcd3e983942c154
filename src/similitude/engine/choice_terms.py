"""Answers as choices: the likelihood of what was picked among all that could have been.

An alternative a has the value v_a = sign · (sum of the levels of the pairs that speak for it), a level being scale(d2);
the loss of picking the set S of k alternatives out of m is

    -log P(S) = log e_k(exp v) - sum over S of v_a

with e_k the elementary symmetric polynomial of degree k. For k = 1 it is the softmax, for two alternatives the logistic
loss of a comparison. Its derivative by v_a is (the probability that a is among those picked) - [a in S]; e_k and these
probabilities come from one recursion forward and one backward over the alternatives, in logarithms, O(m k).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import logsumexp

from similitude.engine.problem import Term
from similitude.engine.terms import Formula
from similitude.feedback.forms.alternatives import Alternatives
from similitude.types import Floats

_NONE = np.zeros(0)


class Picked(Term):
    """Choices, each with its likelihood."""

    size = 0

    def __init__(self, scale: Formula, choices: Sequence[Alternatives]) -> None:
        self.scale, self.choices = scale, tuple(choices)
        self.pairs = np.concatenate([np.zeros((0, 2), np.int32), *(one.pairs.reshape(-1, 2) for one in choices)])
        self._ends = np.cumsum([one.pairs[..., 0].size for one in choices])[:-1]
        self._weights = [np.ones(len(one)) if one.weight is None else one.weight for one in choices]
        self.total = float(sum(weight.sum() for weight in self._weights))

    def evaluate(self, d2: Floats, own: Floats) -> tuple[float, Floats, Floats]:
        """See the module."""
        level, slope, _ = self.scale(d2)
        value, pulls = 0.0, []
        for one, weight, part in zip(self.choices, self._weights, np.split(level, self._ends), strict=True):
            lost, by_value = set_losses(values_of(one, part), one.picked)
            value += float(weight @ lost)
            pull = (one.sign * weight)[:, None, None] * by_value[:, :, None]
            pulls.append(np.broadcast_to(pull, one.pairs.shape[:3]).ravel())
        return value, np.concatenate([_NONE, *pulls]) * slope, _NONE


def values_of(choices: Alternatives, level: Floats) -> Floats:
    """(q, m) the value of each alternative, from the levels of all pairs."""
    return choices.sign * level.reshape(choices.pairs.shape[:3]).sum(axis=2)


def set_losses(value: Floats, picked: int) -> tuple[Floats, Floats]:
    """(q,) -log of the chance that the first `picked` of the alternatives are those picked; (q, m) its derivative."""
    total, included = set_chances(value, picked)
    lost = total - value[:, :picked].sum(axis=1)
    included[:, :picked] -= 1.0
    return lost, included


def set_chances(value: Floats, picked: int) -> tuple[Floats, Floats]:
    """(q,) log e_k(exp v), and (q, m) the probability that each alternative is among the k that are picked."""
    if picked == 1:
        total = logsumexp(value, axis=1)
        return total, np.exp(value - total[:, None])
    before, after = _sums(value, picked), _sums(value[:, ::-1], picked)[:, ::-1]
    total = before[:, -1, picked]
    # the others that are picked stand before alternative a, or after it: r before, k - 1 - r after
    beside = before[:, :-1, :picked] + after[:, 1:, picked - 1 :: -1]
    return total, np.exp(value + logsumexp(beside, axis=2) - total[:, None])


def _sums(value: Floats, picked: int) -> Floats:
    """(q, m + 1, k + 1) log e_r of the exponentials of the first j values, for every j and r."""
    count, width = value.shape
    found = np.full((count, width + 1, picked + 1), -np.inf)
    found[:, :, 0] = 0.0
    for j in range(width):
        found[:, j + 1, 1:] = np.logaddexp(found[:, j, 1:], found[:, j, :-1] + value[:, j, None])
    return found

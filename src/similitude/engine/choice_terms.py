"""Answers as choices: the likelihood of what was picked among all that could have been.

An alternative a has the value v_a = sign · (sum of the levels of the pairs that speak for it), a level being scale(d2);
the loss of picking the set S of k alternatives out of m is

    -log P(S) = log e_k(exp v) - sum over S of v_a

with e_k the elementary symmetric polynomial of degree k. For k = 1 it is the softmax, for two alternatives the logistic
loss of a comparison. Its derivative by v_a is (the probability that a is among those picked) - [a in S]; e_k and these
probabilities come from one recursion forward and one backward over the alternatives, in logarithms, O(m k).

Compiled in `engine.compiled_choices`; on a device in `engine.gpu.choices`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from similitude.engine.backend import CPU
from similitude.engine.problem import Term
from similitude.engine.terms import Formula
from similitude.feedback.forms.alternatives import Alternatives
from similitude.graph.build import distinct_pairs
from similitude.types import Array, Floats

_NONE = np.zeros(0)


@dataclass(frozen=True, eq=False)
class Sets:
    """Choices of one size, as the kernels read them.

    Attributes
    ----------
    place : (q, m, p) where the pairs that speak for each alternative stand in a list of pairs, chosen ones first
    picked, sign : as in `Alternatives`
    weight : (q,) how much each counts
    source : (q,) who said it
    """

    place: Array
    picked: int
    sign: float
    weight: Floats
    source: Array

    @property
    def by_chance(self) -> float:
        """The chance of what is picked at random."""
        return 1.0 / comb(self.place.shape[1], self.picked)


class Picked(Term):
    """Choices, each with its likelihood."""

    size = 0
    merged = True

    def __init__(self, scale: Formula, choices: Sequence[Alternatives]) -> None:
        self.scale, self.choices = scale, tuple(choices)
        every = np.concatenate([np.zeros((0, 2), np.int32), *(one.pairs.reshape(-1, 2) for one in choices)])
        self.pairs, place = distinct_pairs(every, int(every.max(initial=0)) + 1)
        ends = np.cumsum([one.pairs[..., 0].size for one in choices])[:-1]
        self.sets = [_sets(one, part) for one, part in zip(choices, np.split(place, ends), strict=True)]
        self.total = float(sum(one.weight.sum() for one in self.sets))

    def evaluate(self, d2: Floats, own: Floats) -> tuple[float, Floats, Floats]:
        """See the module."""
        value, slope, _ = CPU().choices(self.scale, d2, self.sets, np.ones(1), np.zeros(1))
        return value, slope, _NONE


def _sets(choices: Alternatives, place: Array) -> Sets:
    weight = np.ones(len(choices)) if choices.weight is None else np.ascontiguousarray(choices.weight, float)
    shaped = place.reshape(choices.pairs.shape[:3])
    order = np.argsort(shaped.min(axis=(1, 2)), kind="stable")  # pairs of an item stand together: so they are cached
    return Sets(shaped[order], choices.picked, choices.sign, weight[order], np.zeros(len(choices), np.int32))


def values_of(choices: Alternatives, level: Floats) -> Floats:
    """(q, m) the value of each alternative, from the levels of all pairs."""
    return choices.sign * level.reshape(choices.pairs.shape[:3]).sum(axis=2)


def set_losses(value: Floats, picked: int) -> tuple[Floats, Floats]:
    """(q,) -log of the chance that the first `picked` of the alternatives are those picked; (q, m) its derivative."""
    from similitude.engine import compiled_choices

    lost, slope = np.empty(len(value)), np.empty(value.T.shape)
    compiled_choices.set_losses(np.ascontiguousarray(value.T, float), picked, lost, slope)
    return lost, slope.T

"""Answers as choices: the likelihood of what was picked among all that could have been.

An alternative a has the value v_a = sign · (sum of the levels of the pairs that speak for it), a level being scale(d2);
the loss of picking the set S of k alternatives out of m is

    -log P(S) = log e_k(exp v) - sum over S of v_a

with e_k the elementary symmetric polynomial of degree k. For k = 1 it is the softmax, for two alternatives the logistic
loss of a comparison. Its derivative by v_a is (the probability that a is among those picked) - [a in S]; e_k and these
probabilities come from one recursion forward and one backward over the alternatives, in logarithms, O(m k).

Whoever answers may have a sharpness s, by which all values are multiplied, and a lapse l, the share of answers by
chance (`engine.sources`): then the loss is -log((1 - l) P(S) + l / number of sets of k). A ranking lapses at each of
its choices.

Compiled in `engine.compiled_choices`; on a device in `engine.gpu.choices`.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from math import comb

import numpy as np

from similitude.engine.backend import CPU, Backend
from similitude.engine.penalties import Penalty
from similitude.engine.problem import Term
from similitude.engine.sources import Sources
from similitude.engine.terms import Formula
from similitude.feedback.forms.alternatives import Alternatives
from similitude.graph.build import distinct_pairs
from similitude.types import Array, Floats

_NONE = np.zeros(0)
_TINY = float(np.finfo(float).tiny)


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

    def shuffled(self, rng: np.random.Generator) -> Sets:
        """Return the same questions, answered by chance."""
        order = rng.permuted(np.tile(np.arange(self.place.shape[1]), (len(self.place), 1)), axis=1)
        return replace(self, place=np.take_along_axis(self.place, order[:, :, None], axis=1))

    def on(self, backend: Backend) -> Sets:
        """Return them where a device has them."""
        place, source = backend.indices(self.place), backend.indices(self.source)
        return replace(self, place=place, weight=backend.tensor(self.weight), source=source)


class Picked(Term):
    """Choices, each with its likelihood.

    Parameters
    ----------
    scale : what levels are made by
    choices : what was chosen, and from what
    rater, n_raters : (a,) who of so many gave each answer, -1 where nobody knows; None where all are taken as one
    spread : of the logarithms of the raters' sharpness
    lapse : share of answers by chance; None where it is learned, of each rater or of all as one
    backend : where it is evaluated
    """

    merged = True

    def __init__(
        self,
        scale: Formula,
        choices: Sequence[Alternatives],
        *,
        rater: Array | None = None,
        n_raters: int = 0,
        spread: float = 0.5,
        lapse: float | None = 0.0,
        backend: Backend | None = None,
    ) -> None:
        self.scale = scale
        every = np.concatenate([np.zeros((0, 2), np.int32), *(one.pairs.reshape(-1, 2) for one in choices)])
        self.pairs, place = distinct_pairs(every, int(every.max(initial=0)) + 1)
        ends = np.cumsum([one.pairs[..., 0].size for one in choices])[:-1]
        weight, source = _joined(choices, rater)
        self.sources = (
            Sources.alike(weight, lapse=lapse)
            if rater is None
            else Sources(source, n_raters, weight, spread=spread, lapse=lapse)
        )
        cuts = np.cumsum([len(one) for one in choices])[:-1]
        parts = (np.split(column, at) for column, at in ((place, ends), (weight, cuts), (self.sources.source, cuts)))
        self._sets = [_sets(*part) for part in zip(choices, *parts, strict=True)]
        self.total, self.size = float(weight.sum()), self.sources.size
        self._place_on(backend or CPU())

    def _place_on(self, backend: Backend) -> None:
        self.backend, self.on_device = backend, not isinstance(backend, CPU)
        self.sets = [one.on(backend) for one in self._sets]

    def on(self, backend: Backend) -> Picked:
        """Return the same, evaluated by a backend."""
        other = copy(self)
        other._place_on(backend)
        return other

    def alike(self) -> Picked:
        """Return the same answers, of people who do not differ and lapse as often as is given."""
        other = copy(self)
        other.sources = Sources.alike(self.sources.weight, lapse=self.sources.lapse or 0.0)
        other.size = 0
        other._sets = [replace(one, source=np.zeros(len(one.source), np.int32)) for one in self._sets]
        other._place_on(self.backend)
        return other

    def by_chance(self, rng: np.random.Generator) -> Picked:
        """Return the same questions, answered by chance."""
        other = copy(self)
        other._sets = [one.shuffled(rng) for one in self._sets]
        other._place_on(self.backend)
        return other

    def evaluate(self, d2: Floats, own: Floats) -> tuple[float, Floats, Floats]:
        """See the module."""
        backend, mine = self.backend, self.backend.host(own)
        sharp, lapse = (backend.tensor(one) for one in (self.sources.sharpness(mine), self.sources.lapses(mine)))
        value, slope, by_source = backend.choices(self.scale, d2, self.sets, sharp, lapse)
        if not self.size:
            return value, slope, _NONE
        by_sharpness, by_lapse = backend.host(by_source)
        return value, slope, backend.tensor(self.sources.gradient(by_sharpness, by_lapse, mine))

    def start(self, d2: Floats) -> Floats:
        """Everybody equally sharp, and the best of a few lapses for each at the distances at hand."""
        if not self.size:
            return _NONE
        level = self.scale(d2)[0]
        right = [np.exp(-set_losses(one.sign * level[one.place].sum(2), one.picked)[0]) for one in self._sets]

        def losses(own: Floats) -> Floats:
            lapse, total = self.sources.lapses(own), np.zeros(self.sources.count + 1)
            for one, chance in zip(self._sets, right, strict=True):
                mixed = (1.0 - lapse[one.source]) * chance + lapse[one.source] * one.by_chance
                total += np.bincount(one.source, -one.weight * np.log(np.maximum(mixed, _TINY)), len(total))
            return total[:-1]

        return self.sources.start(losses)

    def prior(self, total: float) -> Penalty:
        """Sharpness log-normal; lapses logistic-normal around 5 %."""
        return self.sources.prior(total)


def _joined(choices: Sequence[Alternatives], rater: Array | None) -> tuple[Floats, Array]:
    """Weights and raters of all choices, one after the other."""
    weight = [one.weights for one in choices]
    source = [np.zeros(len(one), np.int32) if rater is None else rater[one.row] for one in choices]
    return np.concatenate([np.zeros(0), *weight]), np.concatenate([np.zeros(0, np.int32), *source])


def _sets(choices: Alternatives, place: Array, weight: Floats, source: Array) -> Sets:
    shaped = place.reshape(choices.pairs.shape[:3])
    order = np.argsort(shaped.min(axis=(1, 2)), kind="stable")  # pairs of an item stand together: so they are cached
    return Sets(shaped[order], choices.picked, choices.sign, weight[order], source[order])


def values_of(choices: Alternatives, level: Floats) -> Floats:
    """(q, m) the value of each alternative, from the levels of all pairs."""
    return choices.sign * level.reshape(choices.pairs.shape[:3]).sum(axis=2)


def set_losses(value: Floats, picked: int) -> tuple[Floats, Floats]:
    """(q,) -log of the chance that the first `picked` of the alternatives are those picked; (q, m) its derivative."""
    from similitude.engine import compiled_choices

    lost, slope = np.empty(len(value)), np.empty(value.T.shape)
    compiled_choices.set_losses(np.ascontiguousarray(value.T, float), picked, lost, slope)
    return lost, slope.T

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

"Can't tell" may be one further outcome (Davidson 1970, J. Am. Stat. Assoc. 65, for two alternatives; Davidson & Beaver
1977, Biometrics 33). Its weight is the geometric mean of those of all sets, (k/m) sum of v in logarithms, times the
odds of c, the share of people who say it where nothing speaks for any alternative:

    T = c / (1 - c) · C(m, k) · exp(k/m · sum of v),   P(S) = exp(sum over S of v) / (e_k + T),   P(tie) = T / (e_k + T)

For two alternatives nu = 2 c / (1 - c) in Davidson's letters. The number of sets C(m, k), 2 there, is a factor so that
c means the same for every form: e_k >= C(m, k) exp(k/m · sum of v), so c is the most that P(tie) can be. With
q = P(tie) the derivative by v_a is (1 - q) (the probability of a without ties) + q k/m less [a in S], or less k/m for a
tie; by the logit of c it is q, less 1 for a tie. Whoever lapses picks something: P(tie) then is (1 - l) of it. A
ranking can be refused at its first choice alone.

Compiled in `engine.compiled_choices`; on a device in `engine.gpu.choices`.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from math import comb, inf, log

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
    picked, sign, tied : as in `Alternatives`
    ties : whether "can't tell" is an outcome
    weight : (q,) how much each counts
    source : (q,) who said it
    """

    place: Array
    picked: int
    sign: float
    weight: Floats
    source: Array
    tied: bool = False
    ties: bool = False

    @property
    def log_sets(self) -> float:
        """Log of the number of sets; minus infinity where "can't tell" is no outcome."""
        return log_sets(self.place.shape[1], self.picked) if self.ties else -inf

    @property
    def by_chance(self) -> float:
        """The chance of what was said at random: one of all sets, and never "can't tell"."""
        return 0.0 if self.tied else 1.0 / comb(self.place.shape[1], self.picked)

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
    choices : what was chosen, and from what; answers of "can't tell" among them need `unsure`
    rater, n_raters : (a,) who of so many gave each answer, -1 where nobody knows; None where all are taken as one
    spread : of the logarithms of the raters' sharpness
    lapse : share of answers by chance; None where it is learned, of each rater or of all as one
    unsure : share of "can't tell" where nothing speaks for any alternative; 0 where nobody may say it, None where it is
        learned
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
        unsure: float | None = 0.0,
        backend: Backend | None = None,
    ) -> None:
        self.scale = scale
        every = np.concatenate([np.zeros((0, 2), np.int32), *(one.pairs.reshape(-1, 2) for one in choices)])
        self.pairs, place = distinct_pairs(every, int(every.max(initial=0)) + 1)
        ends = np.cumsum([one.pairs[..., 0].size for one in choices])[:-1]
        weight, source = _joined(choices, rater)
        self.sources = (
            Sources.alike(weight, lapse=lapse, unsure=unsure)
            if rater is None
            else Sources(source, n_raters, weight, spread=spread, lapse=lapse, unsure=unsure)
        )
        cuts = np.cumsum([len(one) for one in choices])[:-1]
        parts = (np.split(column, at) for column, at in ((place, ends), (weight, cuts), (self.sources.source, cuts)))
        self._sets = [_sets(*part, ties=unsure != 0.0) for part in zip(choices, *parts, strict=True)]
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
        """Return the same answers, of people who do not differ, and lapse and cannot tell as often as is given.

        Where that is learned, they cannot tell as often as they said so, and never lapse.
        """
        other, own = copy(self), self.sources
        unsure = _said_so(self._sets) if own.unsure is None else own.unsure
        other.sources = Sources.alike(own.weight, lapse=own.lapse or 0.0, unsure=unsure)
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
        known = (self.sources.sharpness(mine), self.sources.lapses(mine), self.sources.unsure_logits(mine))
        value, slope, by_source = backend.choices(self.scale, d2, self.sets, [backend.tensor(one) for one in known])
        if not self.size:
            return value, slope, _NONE
        by_sharpness, by_lapse, by_unsure = backend.host(by_source)
        return value, slope, backend.tensor(self.sources.gradient(by_sharpness, by_lapse, mine, by_unsure.sum()))

    def start(self, d2: Floats) -> Floats:
        """Everybody equally sharp, and the best of a few lapses for each at the distances at hand."""
        if not self.size:
            return _NONE
        level = self.scale(d2)[0]
        values = [one.sign * level[one.place].sum(2) for one in self._sets]

        def losses(own: Floats) -> Floats:
            lapse, total = self.sources.lapses(own), np.zeros(self.sources.count + 1)
            unsure = self.sources.unsure_logits(own)[-1]
            for one, value in zip(self._sets, values, strict=True):
                odds = one.log_sets + unsure if one.ties else -inf
                chance = np.exp(-set_losses(value, one.picked, odds, one.tied)[0])
                mixed = (1.0 - lapse[one.source]) * chance + lapse[one.source] * one.by_chance
                total += np.bincount(one.source, -one.weight * np.log(np.maximum(mixed, _TINY)), len(total))
            return total[:-1]

        return self.sources.start(losses)

    def prior(self, total: float) -> Penalty:
        """Sharpness log-normal; lapses logistic-normal around 5 %."""
        return self.sources.prior(total)


def _joined(choices: Sequence[Alternatives], rater: Array | None) -> tuple[Floats, Array]:
    """Weights and raters of all choices, one after the other."""
    weight = [np.ones(len(one)) if one.weight is None else np.asarray(one.weight, float) for one in choices]
    source = [np.zeros(len(one), np.int32) if rater is None else rater[one.row] for one in choices]
    return np.concatenate([np.zeros(0), *weight]), np.concatenate([np.zeros(0, np.int32), *source])


def _said_so(sets: Sequence[Sets]) -> float:
    """The share of "can't tell" among the answers that could have been that, at least a thousandth."""
    count, said = (sum(float(one.weight.sum()) for one in sets if one.ties and one.tied >= tied) for tied in (0, 1))
    return min(max(said / count, 0.001), 0.999) if count else 0.001


def log_sets(alternatives: int, picked: int) -> float:
    """Log of how many sets of so many can be picked."""
    return log(comb(alternatives, picked))


def _sets(choices: Alternatives, place: Array, weight: Floats, source: Array, *, ties: bool) -> Sets:
    shaped = place.reshape(choices.pairs.shape[:3])
    order = np.argsort(shaped.min(axis=(1, 2)), kind="stable")  # pairs of an item stand together: so they are cached
    ties = ties and choices.can_tie
    return Sets(shaped[order], choices.picked, choices.sign, weight[order], source[order], choices.tied, ties)


def values_of(choices: Alternatives, level: Floats) -> Floats:
    """(q, m) the value of each alternative, from the levels of all pairs."""
    return choices.sign * level.reshape(choices.pairs.shape[:3]).sum(axis=2)


def set_losses(value: Floats, picked: int, odds: float = -inf, tied: bool = False) -> tuple[Floats, Floats]:
    """(q,) -log of the chance that the first `picked` of the alternatives are those picked; (q, m) its derivative.

    With `odds`, log C(m, k) and the logit of c, "can't tell" is an outcome, which was said where answers are `tied`.
    """
    from similitude.engine import compiled_choices

    lost, slope = np.empty(len(value)), np.empty(value.T.shape)
    every = np.full(max(len(value), 1), odds)
    compiled_choices.set_losses(np.ascontiguousarray(value.T, float), picked, tied, every, lost, slope)
    return lost, slope.T

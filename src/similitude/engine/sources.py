"""Those who said it (raters, forms of question), each with a sharpness and a lapse: own parameters of a term.

The mean sharpness of all answers is 1: the scale of the model says how sharp they are together, and the penalty on it
keeps its meaning. A sharpness is log-normal with the width that is given; a lapse, the share of answers given by
chance, logistic-normal around 5 %. "Can't tell" has one parameter for all, the logit of its share where nothing speaks
for any alternative (`engine.choice_terms`): normal, wide, around 20 %.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit, logit

from similitude.engine.penalties import Blocks, Penalty, Ridge
from similitude.types import Array, Floats

_LAPSE, _LAPSE_SPREAD = -3.0, 1.0  # logit of a lapse of 5 %, and how far sources differ
_UNSURE, _UNSURE_SPREAD = -1.4, 2.0  # logit of 20 % of "can't tell", and how far studies differ
_UNSURE_TRIED = np.log([0.03, 0.1, 0.25, 1.0, 4.0])  # where fits start: 3, 10, 20, 50 and 80 %
_LAPSES_TRIED = np.array([_LAPSE, *np.log([0.25, 1.0, 3.0])])  # where fits start: 5, 20, 50 and 75 %


def normal_prior(spread: float, total: float, centre: float = 0.0) -> Ridge:
    """Return minus the log of a normal density of that spread, per unit of total weight."""
    return Ridge(0.5 / (spread * spread * total), centre=centre)


class Sources:
    """Who said each row, with the sharpness and lapse of each; the last one is nobody known.

    Parameters
    ----------
    source : (m,) number of each, -1 where nobody knows
    count : how many there are
    weight : (m,) how much each row counts
    differ : whether they differ in sharpness
    spread : of the logarithms of sharpness
    lapse : share of answers given by chance, of everybody; None where each has its own, nobody known having none
    unsure : share of "can't tell" where nothing speaks for any alternative, of everybody; 0 where nobody may say so,
        None where it is learned
    """

    def __init__(
        self,
        source: Array,
        count: int,
        weight: Floats,
        *,
        differ: bool = True,
        spread: float = 0.5,
        lapse: float | None = 0.0,
        unsure: float | None = 0.0,
    ) -> None:
        self.source = np.where(source < 0, count, source)
        self.weight = weight
        self.count, self.differ, self.spread, self.lapse, self.unsure = count, differ, spread, lapse, unsure
        self.share = np.bincount(self.source, weight, count + 1) / weight.sum() if len(source) else np.ones(count + 1)
        self._n_sharp, self._n_lapses = count * differ, count * (lapse is None)
        self._n_unsure = int(unsure is None)
        self.size = self._n_sharp + self._n_lapses + self._n_unsure

    @classmethod
    def alike(cls, weight: Floats, *, lapse: float | None = 0.0, unsure: float | None = 0.0) -> Sources:
        """Return one source of everything, with a lapse and a share of "can't tell"."""
        return cls(np.zeros(len(weight), np.int32), 1, weight, differ=False, lapse=lapse, unsure=unsure)

    def sharpness(self, own: Floats) -> Floats:
        """Sharpness of each source and, last, of nobody known: e^p_r over its mean by weight, p = 0 for nobody."""
        if not self.differ:
            return np.ones(self.count + 1)
        power = np.append(own[: self.count], 0.0)
        relative = np.exp(power - power.max())
        return np.asarray(relative / (self.share @ relative))

    def lapses(self, own: Floats) -> Floats:
        """Lapse of each source and, last, of nobody known."""
        if self.lapse is not None:
            return np.full(self.count + 1, self.lapse)
        return np.append(expit(own[self._n_sharp : self._n_sharp + self._n_lapses]), 0.0)

    def unsure_logits(self, own: Floats) -> Floats:
        """Logit of the share of "can't tell" of each source and, last, of nobody known: that of all."""
        if self.unsure is None:
            return np.full(self.count + 1, own[-1])
        return np.full(self.count + 1, logit(self.unsure))

    def gradient(self, by_sharpness: Floats, by_lapse: Floats, own: Floats, by_unsure: float = 0.0) -> Floats:
        """Derivative by own parameters, from those by each log of a sharpness and by each logit of the others."""
        found = np.zeros(self.size)
        if self.differ:
            found[: self.count] = (by_sharpness - self.share * self.sharpness(own) * by_sharpness.sum())[:-1]
        if self.lapse is None:
            found[self._n_sharp : self._n_sharp + self._n_lapses] = by_lapse[:-1]
        if self.unsure is None:
            found[-1] = by_unsure
        return found

    def sums(self, value: Floats) -> Floats:
        """Sum of the values of each source's rows and, last, of nobody's."""
        return np.bincount(self.source, value, self.count + 1).astype(float)

    def start(self, losses: Callable[[Floats], Floats]) -> Floats:
        """Everybody equally sharp, and the best of a few shares of "can't tell", and of lapses for each.

        They are the best by each source's sum of losses at own parameters. From lapses of 5 % for all, the fit can end
        at a local optimum in which somebody who lapses often is somebody dull.
        """
        sharp, lapses, unsure = (np.zeros(size) for size in (self._n_sharp, self._n_lapses, self._n_unsure))
        if len(unsure):
            usual = [np.concatenate([sharp, lapses + _LAPSE, [one]]) for one in _UNSURE_TRIED]
            unsure[:] = _UNSURE_TRIED[np.argmin([losses(own).sum() for own in usual])]
        if len(lapses):
            tried = [np.concatenate([sharp, lapses + one, unsure]) for one in _LAPSES_TRIED]
            prior = 0.5 * ((_LAPSES_TRIED - _LAPSE) / _LAPSE_SPREAD) ** 2
            lapses = _LAPSES_TRIED[np.argmin(np.array([losses(own) for own in tried]) + prior[:, None], axis=0)]
        return np.concatenate([sharp, lapses, unsure])

    def prior(self, total: float) -> Penalty:
        """Return the prior of own parameters, per unit of total weight."""
        sharp = (normal_prior(self.spread, total), self._n_sharp)
        lapses = (normal_prior(_LAPSE_SPREAD, total, _LAPSE), self._n_lapses)
        return Blocks([sharp, lapses, (normal_prior(_UNSURE_SPREAD, total, _UNSURE), self._n_unsure)])

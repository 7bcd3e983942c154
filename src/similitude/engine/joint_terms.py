"""The terms of a joint problem: comparisons by raters who differ in sharpness or see things differently, and links.

A level is scale(d2), and every loss is built of a shape of `engine.terms` that has a probability P; links take the
logistic one, shape(m) = log(1 + e^-m):

| term | loss of one answer | own parameters |
|---|---|---|
| `Judged` | shape(s_r · (level_far - level_near)); with a lapse -log(l_r/2 + (1 - l_r) P) | log s_r; logit l_r |
| `Mixed` | -log of the mean over groups of each rater's probability | logits of the shares of the groups |
| `Linked` | shape(b (c - level)) if similar, shape(-b (c - level)) if not | threshold c, log b |

The mean sharpness of all answers is 1: the scale of the model says how sharp they are together, and the penalty on it
keeps its meaning. Own parameters have normal priors: those that say how far sources differ have the width that is given
(a sharpness is log-normal), the others a width so large that it only keeps them finite. Ratings stand in
`engine.rating_terms`.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_softmax, logsumexp, softmax

from similitude.engine.penalties import Blocks, Penalty, Ridge
from similitude.engine.problem import Term
from similitude.engine.terms import ComparisonLoss, Formula, logistic
from similitude.types import Array, Bools, Floats

LOGISTIC = Formula(logistic)
_LAPSE, _LAPSE_SPREAD = -3.0, 1.0  # logit of a lapse of 5 %, and how far raters differ
_LAPSES_TRIED = np.array([_LAPSE, *np.log([0.25, 1.0, 3.0])])  # where fits start: 5, 20, 50 and 75 %
SLOPE_SPREAD = 2.0  # of the logarithm of a slope or a width, a weak prior
PLACE_SPREAD = 10.0  # of a threshold or an offset


def normal_prior(spread: float, total: float, centre: float = 0.0) -> Ridge:
    """Return minus the log of a normal density of that spread, per unit of total weight."""
    return Ridge(0.5 / (spread * spread * total), centre=centre)


class Judged(Term):
    """Comparisons by sources (raters, forms of question), each with its sharpness and, if asked for, its lapse."""

    def __init__(
        self,
        loss: ComparisonLoss,
        near: Array,
        far: Array,
        weight: Floats,
        source: Array,
        n_sources: int,
        *,
        spread: float = 0.5,
        lapse: bool = False,
    ) -> None:
        if not loss.has_probability:
            raise ValueError(
                f"a loss of shape {loss.shape.name!r} gives no probability, so raters have no sharpness in it"
            )
        self.loss, self.weight = loss, weight
        source = np.where(source < 0, n_sources, source)
        self.source = source  # the last one is nobody known
        self.n_sources, self.spread, self.lapse = n_sources, spread, lapse
        self.pairs = np.concatenate([near, far])
        self.total = float(weight.sum())
        self.size = n_sources * (1 + lapse)
        self.share = np.bincount(source, weight, n_sources + 1) / self.total if len(source) else np.ones(n_sources + 1)

    def sharpness(self, own: Floats) -> Floats:
        """Sharpness of each source and, last, of nobody known: e^p_r over its mean by weight, p = 0 for nobody."""
        power = np.append(own[: self.n_sources], 0.0)
        relative = np.exp(power - power.max())
        return relative / (self.share @ relative)

    def lapses(self, own: Floats) -> Floats:
        """Lapse of each source, and 0 for nobody known."""
        return (
            np.append(LOGISTIC.probability(own[self.n_sources :]), 0.0) if self.lapse else np.zeros(self.n_sources + 1)
        )

    def margins(self, d2: Floats, own: Floats) -> Floats:
        """s_r · (level_far - level_near) of each comparison."""
        near, far = np.split(d2, 2)
        return self.sharpness(own)[self.source] * self.loss.margin(near, far)

    def evaluate(self, d2: Floats, own: Floats) -> tuple[float, Floats, Floats]:
        """See the table of the module."""
        level, slope, _ = self.loss.scale(d2)
        near, far = np.split(level, 2)
        sharp = self.sharpness(own)[self.source]
        margin = sharp * (far - near)
        value, steep, by_lapse = self._losses(margin, own)
        pull = self.weight * steep * sharp
        by_sharpness = self._by_source(self.weight * steep * margin)
        gradient = [(by_sharpness - self.share * self.sharpness(own) * by_sharpness.sum())[:-1]]
        if self.lapse:
            gradient.append(self._by_source(self.weight * by_lapse)[:-1])
        return float(self.weight @ value), np.concatenate([-pull, pull]) * slope, np.concatenate(gradient)

    def _losses(self, margin: Floats, own: Floats) -> tuple[Floats, Floats, Floats]:
        """Loss, its derivative by the margin and by the logit of the lapse."""
        value, steep, _ = self.loss.shape(margin)
        if not self.lapse:
            return value, steep, np.zeros(0)
        lapse, right = self.lapses(own)[self.source], np.exp(-value)
        chance = 0.5 * lapse + (1.0 - lapse) * right
        chance = np.maximum(chance, np.finfo(float).tiny)
        by_lapse = -lapse * (1.0 - lapse) * (0.5 - right) / chance
        return -np.log(chance), (1.0 - lapse) * right * steep / chance, by_lapse

    def losses_by_source(self, margin: Floats, own: Floats) -> Floats:
        """Weighted sum of the losses of each source, at other margins."""
        return self._by_source(self.weight * self._losses(margin, own)[0])[:-1]

    def information(self, margin: Floats) -> Floats:
        """Expected information on the logarithm of the sharpness of each source: that on the margin, times margin²."""
        return self._by_source(self.weight * self.loss.shape.information(margin) * margin**2)[:-1]

    def _by_source(self, value: Floats) -> Floats:
        return np.bincount(self.source, value, self.n_sources + 1).astype(float)

    def start(self, d2: Floats) -> Floats:
        """Everybody equally sharp, and the best of a few lapses for each at the distances at hand.

        From 5 % for all, the fit can end at a local optimum in which somebody who lapses often is somebody dull.
        """
        sharp = np.zeros(self.n_sources)
        if not self.lapse:
            return sharp
        margin = self.margins(d2, np.concatenate([sharp, sharp]))
        loss = [
            self.losses_by_source(margin, np.concatenate([sharp, np.full(self.n_sources, one)]))
            for one in _LAPSES_TRIED
        ]
        loss += (0.5 * ((_LAPSES_TRIED - _LAPSE) / _LAPSE_SPREAD) ** 2)[:, None]
        return np.concatenate([sharp, _LAPSES_TRIED[np.argmin(loss, axis=0)]])

    def prior(self, total: float) -> Penalty:
        """Sharpness log-normal; lapses logistic-normal around 5 %."""
        sharp = (normal_prior(self.spread, total), self.n_sources)
        return Blocks([sharp, (normal_prior(_LAPSE_SPREAD, total, _LAPSE), self.size - self.n_sources)])


class Mixed(Term):
    """Comparisons by raters each of whom belongs to one of several groups, unknown to which.

    -log sum_g share_g · exp(-(sum of shape over the rater's comparisons as group g sees them)), for each rater. The
    items of group g are numbered from g · n_items on, as by `engine.group_models`. Its gradient is that of the M
    step of EM with the memberships at hand. Own parameters are the logits of the shares.
    """

    def __init__(
        self,
        loss: ComparisonLoss,
        near: Array,
        far: Array,
        weight: Floats,
        rater: Array,
        n_raters: int,
        n_items: int,
        n_groups: int,
    ) -> None:
        self.loss, self.weight, self.rater, self.n_raters = loss, weight, rater, n_raters
        self.n_groups = self.size = n_groups
        self.pairs = np.concatenate([pair + g * n_items for g in range(n_groups) for pair in (near, far)])
        self.total = float(weight.sum())

    def evaluate(self, d2: Floats, own: Floats) -> tuple[float, Floats, Floats]:
        """See the class."""
        level, slope, _ = self.loss.scale(d2)
        by_group = level.reshape(self.n_groups, 2, -1)
        value, steep, _ = self.loss.shape(by_group[:, 1] - by_group[:, 0])
        member, total = self._members(value, own)
        pull = member[:, self.rater] * self.weight * steep
        gradient = self.n_raters * softmax(own) - member.sum(1)
        return -float(total.sum()), np.stack([-pull, pull], axis=1).ravel() * slope, gradient

    def memberships(self, d2: Floats, own: Floats) -> Floats:
        """(groups, raters) probability that a rater belongs to a group, given the answers."""
        by_group = self.loss.scale(d2)[0].reshape(self.n_groups, 2, -1)
        return self._members(self.loss.shape(by_group[:, 1] - by_group[:, 0])[0], own)[0]

    def _members(self, value: Floats, own: Floats) -> tuple[Floats, Floats]:
        said = np.array([np.bincount(self.rater, self.weight * one, self.n_raters) for one in value])
        joint = log_softmax(own)[:, None] - said
        total = logsumexp(joint, axis=0)
        return np.exp(joint - total), total

    def start(self, d2: Floats) -> Floats:
        """Groups of equal share."""
        return np.zeros(self.n_groups)

    def prior(self, total: float) -> Penalty:
        """Weak."""
        return normal_prior(SLOPE_SPREAD, total)


class Linked(Term):
    """Pairs called similar or dissimilar: a threshold on the level, with a slope."""

    def __init__(self, scale: Formula, pairs: Array, similar: Bools, weight: Floats) -> None:
        self.scale, self.pairs, self.weight = scale, pairs, weight
        self.sign = np.where(similar, 1.0, -1.0)
        self.total = float(weight.sum())
        self.size = 2

    def evaluate(self, d2: Floats, own: Floats) -> tuple[float, Floats, Floats]:
        """See the table of the module."""
        level, slope, _ = self.scale(d2)
        threshold, steepness = own[0], np.exp(own[1])
        margin = self.sign * steepness * (threshold - level)
        value, steep, _ = LOGISTIC(margin)
        pull = self.weight * steep * self.sign * steepness
        gradient = np.array([pull.sum(), self.weight @ (steep * margin)])
        return float(self.weight @ value), -pull * slope, gradient

    def start(self, d2: Floats) -> Floats:
        """The threshold at the mean level, the slope by its spread."""
        middle, spread = spread_of(self.scale(d2)[0])
        return np.array([middle, -np.log(spread)])

    def prior(self, total: float) -> Penalty:
        """Weak."""
        return Blocks([(normal_prior(PLACE_SPREAD, total), 1), (normal_prior(SLOPE_SPREAD, total), 1)])


def by_code(code: Array, value: Floats, count: int) -> Floats:
    """Sum of the values of each code; -1 is nobody."""
    known = code >= 0
    return np.bincount(code[known], value[known], count).astype(float)


def spread_of(level: Floats) -> tuple[float, float]:
    """Mean and standard deviation, the latter never 0."""
    return float(level.mean()), float(level.std()) or 1.0

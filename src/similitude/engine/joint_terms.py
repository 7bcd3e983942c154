"""The terms of a joint problem: comparisons by raters who differ in sharpness or see things differently, and links.

A level is scale(d2), and every loss is built of a shape of `engine.terms` that has a probability P; links take the
logistic one, shape(m) = log(1 + e^-m):

| term | loss of one answer | own parameters |
|---|---|---|
| `Judged` | shape(s_r · (level_far - level_near)); with a lapse -log(l_r/2 + (1 - l_r) P) | log s_r; logit l_r |
| `Mixed` | -log of the mean over groups of each rater's probability | logits of the shares of the groups |
| `Linked` | shape(b (c - level)) if similar, shape(-b (c - level)) if not | threshold c, log b |

Sharpness and lapses stand in `engine.sources`. Own parameters have normal priors: those that say how far sources differ
have the width that is given, the others a width so large that it only keeps them finite. Ratings stand in
`engine.rating_terms`.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_softmax, logsumexp, softmax

from similitude.engine.penalties import Blocks, Penalty
from similitude.engine.problem import Term
from similitude.engine.sources import Sources, normal_prior
from similitude.engine.terms import ComparisonLoss, Formula, logistic
from similitude.types import Array, Bools, Floats

LOGISTIC = Formula(logistic)
SLOPE_SPREAD = 2.0  # of the logarithm of a slope or a width, a weak prior
PLACE_SPREAD = 10.0  # of a threshold or an offset


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
        self.sources = Sources(source, n_sources, weight, spread=spread, lapse=None if lapse else 0.0)
        self.pairs = np.concatenate([near, far])
        self.total, self.size = float(weight.sum()), self.sources.size

    def margins(self, d2: Floats, own: Floats) -> Floats:
        """s_r · (level_far - level_near) of each comparison."""
        near, far = np.split(d2, 2)
        return self.sources.sharpness(own)[self.sources.source] * self.loss.margin(near, far)

    def evaluate(self, d2: Floats, own: Floats) -> tuple[float, Floats, Floats]:
        """See the table of the module."""
        level, slope, _ = self.loss.scale(d2)
        near, far = np.split(level, 2)
        sharp = self.sources.sharpness(own)[self.sources.source]
        margin = sharp * (far - near)
        value, steep, by_lapse = self._losses(margin, own)
        pull = self.weight * steep * sharp
        by_sharpness, by_lapse = (self.sources.sums(self.weight * one) for one in (steep * margin, by_lapse))
        gradient = self.sources.gradient(by_sharpness, by_lapse, own)
        return float(self.weight @ value), np.concatenate([-pull, pull]) * slope, gradient

    def _losses(self, margin: Floats, own: Floats) -> tuple[Floats, Floats, Floats]:
        """Loss, its derivative by the margin and by the logit of the lapse."""
        value, steep, _ = self.loss.shape(margin)
        if self.sources.lapse is not None:
            return value, steep, np.zeros_like(value)
        lapse, right = self.sources.lapses(own)[self.sources.source], np.exp(-value)
        chance = 0.5 * lapse + (1.0 - lapse) * right
        chance = np.maximum(chance, np.finfo(float).tiny)
        by_lapse = -lapse * (1.0 - lapse) * (0.5 - right) / chance
        return -np.log(chance), (1.0 - lapse) * right * steep / chance, by_lapse

    def losses_by_source(self, margin: Floats, own: Floats) -> Floats:
        """Weighted sum of the losses of each source, at other margins."""
        return self.sources.sums(self.weight * self._losses(margin, own)[0])[:-1]

    def information(self, margin: Floats) -> Floats:
        """Expected information on the logarithm of the sharpness of each source: that on the margin, times margin²."""
        return self.sources.sums(self.weight * self.loss.shape.information(margin) * margin**2)[:-1]

    def start(self, d2: Floats) -> Floats:
        """Everybody equally sharp, and the best of a few lapses for each at the distances at hand."""
        margin = self.margins(d2, np.zeros(self.size))
        return self.sources.start(lambda own: self.losses_by_source(margin, own))

    def prior(self, total: float) -> Penalty:
        """Sharpness log-normal; lapses logistic-normal around 5 %."""
        return self.sources.prior(total)


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

"""Ratings of pairs as terms of a joint problem: in steps, or as numbers.

A level is scale(d2), and shape(m) = log(1 + e^-m) is the logistic shape of `engine.terms`:

| term | loss of one rating | own parameters |
|---|---|---|
| `Graded` | -log(P(y <= k) - P(y < k)), P(y <= k) = 1/(1 + exp(b level + u_r - c_k)) | c_k, log b, shifts u_r |
| `Measured` | (y - a - u_r - b level)² / (2 v²) + log v | a, log b, log v, shifts u_r |

A larger rating is more different. The priors are those of `engine.joint_terms`: weak ones, but for the shifts u_r of
the raters, whose spread is given.
"""

from __future__ import annotations

import numpy as np

from similitude.engine.joint_terms import LOGISTIC, PLACE_SPREAD, SLOPE_SPREAD, by_code, spread_of
from similitude.engine.penalties import Blocks, Penalty
from similitude.engine.problem import Term
from similitude.engine.sources import normal_prior
from similitude.engine.terms import Formula
from similitude.types import Array, Floats


class Rated(Term):
    """What ratings share: a larger one is more different, and raters shift the whole scale."""

    def __init__(
        self, scale: Formula, pairs: Array, weight: Floats, rater: Array, n_raters: int, spread: float
    ) -> None:
        self.scale, self.pairs, self.weight = scale, pairs, weight
        self.rater, self.n_raters, self.spread = rater, n_raters, spread
        self.total = float(weight.sum())

    def _shift(self, own: Floats) -> Floats:
        return np.append(own[len(own) - self.n_raters :], 0.0)[self.rater]

    def _by_rater(self, value: Floats) -> Floats:
        return by_code(self.rater, value, self.n_raters)


class Graded(Rated):
    """Ratings in steps 0 to n_levels - 1: a cumulative logistic model with thresholds that rise.

    The thresholds are c_1 and the logarithms of the gaps between them. With m = c_k - b level - u_r for the upper and
    the lower threshold of a step, -log P = shape(upper) + shape(-lower) - log(1 - exp(lower - upper)).
    """

    def __init__(
        self,
        scale: Formula,
        pairs: Array,
        step: Array,
        n_levels: int,
        weight: Floats,
        rater: Array,
        n_raters: int,
        *,
        spread: float = 1.0,
    ) -> None:
        super().__init__(scale, pairs, weight, rater, n_raters, spread)
        self.step, self.n_levels = step, n_levels
        self.size = n_levels + n_raters

    def thresholds(self, own: Floats) -> Floats:
        """c_1 and the sums of the gaps from there on."""
        return own[0] + np.concatenate([[0.0], np.cumsum(np.exp(own[1 : self.n_levels - 1]))])

    def slope(self, own: Floats) -> float:
        """b, how steeply ratings rise with the level."""
        return float(np.exp(own[self.n_levels - 1]))

    def evaluate(self, d2: Floats, own: Floats) -> tuple[float, Floats, Floats]:
        """See the table of the module."""
        level, slope, _ = self.scale(d2)
        steepness, threshold = self.slope(own), self.thresholds(own)
        gaps = np.maximum(np.exp(own[1 : self.n_levels - 1]), np.finfo(float).tiny)  # a long step may close them
        eta = steepness * level + self._shift(own)
        below, above = self.step > 0, self.step < self.n_levels - 1
        high, up, _ = LOGISTIC(threshold[np.minimum(self.step, self.n_levels - 2)] - eta)
        low, down, _ = LOGISTIC(eta - threshold[np.maximum(self.step - 1, 0)])
        up, down = self.weight * up * above, self.weight * down * below
        inner = self.step[above & below] - 1
        within = np.bincount(inner, self.weight[above & below], len(gaps))
        value = self.weight @ (high * above + low * below) - within @ np.log(-np.expm1(-gaps))
        by_threshold = by_code(np.where(above, self.step, -1), up, self.n_levels - 1)
        by_threshold -= by_code(self.step - 1, down, self.n_levels - 1)
        by_gap: Floats = np.cumsum(by_threshold[::-1])[::-1]
        pull = down - up
        gradient = [
            by_gap[:1],
            gaps * (by_gap[1:] - within / np.expm1(np.minimum(gaps, 700.0))),  # a long step may part them by more
            np.array([steepness * (pull @ level)]),
            self._by_rater(pull),
        ]
        return float(value), pull * steepness * slope, np.concatenate(gradient)

    def start(self, d2: Floats) -> Floats:
        """A slope by the spread of the levels, and the thresholds that give each step its share there."""
        middle, spread = spread_of(self.scale(d2)[0])
        share = np.cumsum(np.bincount(self.step, self.weight, self.n_levels) + 0.5)
        cut = (share / share[-1])[:-1]
        threshold = np.log(cut / (1.0 - cut)) + middle / spread
        return np.concatenate([threshold[:1], np.log(np.diff(threshold)), [-np.log(spread)], np.zeros(self.n_raters)])

    def prior(self, total: float) -> Penalty:
        """Weak, but for the raters' shifts."""
        weak = [(normal_prior(PLACE_SPREAD, total), 1), (normal_prior(SLOPE_SPREAD, total), self.n_levels - 1)]
        return Blocks([*weak, (normal_prior(self.spread, total), self.n_raters)])


class Measured(Rated):
    """Ratings as numbers with normal noise, linear in the level."""

    def __init__(
        self,
        scale: Formula,
        pairs: Array,
        value: Floats,
        weight: Floats,
        rater: Array,
        n_raters: int,
        *,
        spread: float = 0.5,
    ) -> None:
        super().__init__(scale, pairs, weight, rater, n_raters, spread)
        self.value = value
        self.size = 3 + n_raters

    def evaluate(self, d2: Floats, own: Floats) -> tuple[float, Floats, Floats]:
        """See the table of the module."""
        level, slope, _ = self.scale(d2)
        steepness, width = np.exp(own[1]), np.exp(own[2])
        rest = (self.value - own[0] - self._shift(own) - steepness * level) / width
        loss = float(self.weight @ (0.5 * rest * rest) + self.total * own[2])
        pull = -self.weight * rest / width  # by the expected rating
        by_width = self.total - self.weight @ (rest * rest)
        gradient = np.array([pull.sum(), steepness * (pull @ level), by_width])
        return loss, pull * steepness * slope, np.concatenate([gradient, self._by_rater(pull)])

    def start(self, d2: Floats) -> Floats:
        """The line through the ratings' mean whose slope is a half of the ratio of the spreads."""
        middle, spread = spread_of(self.scale(d2)[0])
        centre, wide = spread_of(self.value)
        steepness = 0.5 * wide / spread
        return np.concatenate([[centre - steepness * middle, np.log(steepness), np.log(wide)], np.zeros(self.n_raters)])

    def prior(self, total: float) -> Penalty:
        """Weak, but for the raters' shifts."""
        weak = [(normal_prior(PLACE_SPREAD, total), 1), (normal_prior(SLOPE_SPREAD, total), 2)]
        return Blocks([*weak, (normal_prior(self.spread, total), self.n_raters)])

"""Ratings of pairs as losses of PyTorch's: in steps, or as numbers (`engine.rating_terms`)."""

from __future__ import annotations

import numpy as np
import torch

from similitude.engine.joint_terms import LOGISTIC, spread_of
from similitude.engine.rating_terms import Graded, Measured
from similitude.feedback.ratings import Ratings
from similitude.torch.batches import Batch
from similitude.torch.formulas import value_of
from similitude.torch.losses import PLAIN, TermLoss, value_said


class _RatedLoss(TermLoss):
    """What ratings share: raters shift the whole scale."""

    def __init__(self, term: Graded | Measured) -> None:
        super().__init__(term)
        self.n_raters = term.n_raters

    def _shift(self, batch: Batch, level: torch.Tensor) -> torch.Tensor:
        known = self.own[len(self.own) - self.n_raters :]
        return torch.cat([known, self.own.new_zeros(1)])[batch.rater].to(level)


class GradedLoss(_RatedLoss):
    """-log(P(y <= k) - P(y < k)), P(y <= k) = 1/(1 + exp(b level + u_r - c_k)): ratings in steps.

    Parameters
    ----------
    ratings : all of them: their distinct values are the steps
    spread : of the raters' shifts u_r

    Examples
    --------
    >>> import similitude as sm
    >>> from similitude.torch import GradedLoss
    >>> ratings = sm.Ratings.of([(0, 1), (0, 2), (1, 2)], [1, 2, 3], larger="different")
    >>> GradedLoss(ratings).thresholds().tolist() == sorted(GradedLoss(ratings).thresholds().tolist())
    True
    """

    def __init__(self, ratings: Ratings, *, spread: float = 1.0) -> None:
        step, count = ratings.steps()
        n_levels = max(count, 2)
        who, n_raters = ratings.rater.codes, len(ratings.rater.labels)
        weight = np.array(ratings.weight)
        super().__init__(Graded(PLAIN, ratings.pairs, step, n_levels, weight, who, n_raters, spread=spread))
        self.n_levels = n_levels
        self.register_buffer("_grades", torch.from_numpy(np.unique(ratings.difference).astype(np.float32)))

    def thresholds(self) -> torch.Tensor:
        """(n_levels - 1,) c_k, which rise."""
        gaps = torch.exp(self.own[1 : self.n_levels - 1])
        return self.own[0] + torch.cat([gaps.new_zeros(1), gaps.cumsum(0)])

    def losses(self, level: torch.Tensor, batch: Batch) -> torch.Tensor:
        """shape(upper) + shape(-lower) - log(1 - exp(lower - upper)), upper and lower the margins to the thresholds."""
        step = torch.searchsorted(self._grades, value_said(batch, "ratings").to(self._grades))
        threshold = self.thresholds().to(level)
        eta = torch.exp(self.own[self.n_levels - 1]) * level + self._shift(batch, level)
        upper = value_of(LOGISTIC, threshold[step.clamp(max=self.n_levels - 2)] - eta)
        lower = value_of(LOGISTIC, eta - threshold[(step - 1).clamp(min=0)])
        none = threshold.new_zeros(1)
        between = torch.cat([none, -torch.log(-torch.expm1(-threshold.diff())), none])
        return upper * (step < self.n_levels - 1) + lower * (step > 0) + between[step]


class MeasuredLoss(_RatedLoss):
    """(y - a - u_r - b level)² / (2 v²) + log v: ratings as numbers, in units of their own spread around their mean.

    Parameters
    ----------
    ratings : all of them
    spread : of the raters' shifts u_r

    Examples
    --------
    >>> import similitude as sm
    >>> from similitude.torch import MeasuredLoss
    >>> ratings = sm.Ratings.of([(0, 1), (0, 2), (1, 2)], [0.1, 2.5, 3.0], larger="different")
    >>> MeasuredLoss(ratings).own.shape  # a, log b, log v
    torch.Size([3])
    """

    def __init__(self, ratings: Ratings, *, spread: float = 0.5) -> None:
        value = ratings.difference
        mean, unit = spread_of(value)
        who, n_raters = ratings.rater.codes, len(ratings.rater.labels)
        weight, standard = np.array(ratings.weight), (value - mean) / unit
        super().__init__(Measured(PLAIN, ratings.pairs, standard, weight, who, n_raters, spread=spread))
        self.mean, self.unit = mean, unit

    def losses(self, level: torch.Tensor, batch: Batch) -> torch.Tensor:
        """See the class."""
        offset, log_slope, log_width = self.own[:3].to(level)
        expected = offset + self._shift(batch, level) + torch.exp(log_slope) * level
        value = (value_said(batch, "ratings").to(level) - self.mean) / self.unit
        return 0.5 * ((value - expected) * torch.exp(-log_width)).square() + log_width

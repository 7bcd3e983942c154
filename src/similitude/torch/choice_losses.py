"""Answers as choices, as a loss of PyTorch's: `engine.choice_terms` over the vectors of a batch."""

from __future__ import annotations

from math import comb

import numpy as np
import torch

from similitude.engine.choice_terms import Picked
from similitude.engine.gpu import choices
from similitude.engine.losses import LossLike, as_loss
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.feedback.whole_answers import choices_of
from similitude.torch.batches import Batch
from similitude.torch.losses import SourcesLoss, mean_loss


class PickedLoss(SourcesLoss):
    """-log of the chance of what was picked among all that could have been: answers as they were given.

    Batches come from `loader(comparisons, whole=True)`. Where several are picked at once, it is once differentiable.

    Parameters
    ----------
    comparisons : all of them, with their answers
    loss : "ste", "tste", "ckl", as in `ComparedLoss`: the scale of the squared distance
    products : whether alternatives are chosen by the dot products of vectors instead
    raters : whether raters differ in sharpness
    lapse : whether answers are given at random now and then: by each rater, where they differ, else by all alike
    spread : of the logarithms of the sharpness
    n_components : as in `ComparedLoss`

    Examples
    --------
    >>> import similitude as sm
    >>> import torch
    >>> from similitude.torch import FeedbackDataset, PickedLoss
    >>> answers = sm.Comparisons.from_odd_one_out([(0, 1, 2)])  # item 2 is the odd one
    >>> batch = FeedbackDataset(answers, whole=True)[:]
    >>> round(PickedLoss(answers)(torch.zeros(3, 1), batch).item(), 3)  # log(3)
    1.099
    """

    def __init__(
        self,
        comparisons: ComparisonsLike,
        loss: LossLike = "ste",
        *,
        products: bool = False,
        raters: bool = False,
        lapse: bool = False,
        spread: float = 0.5,
        n_components: int = 2,
    ) -> None:
        c, scale = as_comparisons(comparisons), as_loss(loss, n_components).scale
        who = np.array(c.answers.rater.codes) if raters else None
        count, share = len(c.answers.rater.labels), None if lapse else 0.0
        super().__init__(Picked(scale, choices_of(c), rater=who, n_raters=count, spread=spread, lapse=share), scale)
        self.products = products

    def forward(self, vectors: torch.Tensor, batch: Batch) -> torch.Tensor:
        """Weighted mean loss of vectors, one for each of `batch.items`, and the prior."""
        if not self.products:
            return super().forward(vectors, batch)
        i, j = batch.pairs.T
        return mean_loss(self.losses(-(vectors[i] * vectors[j]).sum(1), batch), batch) + self.prior()

    def losses(self, level: torch.Tensor, batch: Batch) -> torch.Tensor:
        """-log of the chance of each choice."""
        if batch.choice is None:
            raise ValueError(
                "batch: expected whole answers, found comparisons; make its batches with loader(answers, whole=True)"
            )
        width, picked, sign = batch.choice
        source = batch.rater if self.sources.differ else torch.zeros_like(batch.rater)
        value = sign * level.reshape(width, -1, len(batch)).sum(1).T * self.sharpness()[source].to(level)[:, None]
        return self.lapsed(_lost(value, picked), source, 1.0 / comb(width, picked))


def _lost(value: torch.Tensor, picked: int) -> torch.Tensor:
    if picked == 1:
        return torch.logsumexp(value, 1) - value[:, 0]
    # autograd would lose itself in the logarithms of 0 of the recursion: its derivative is known
    lost, slope, _ = choices.losses(value.detach(), picked)
    return lost + (slope * (value - value.detach())).sum(1)

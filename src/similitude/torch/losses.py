"""The terms of `similitude.engine` as losses of PyTorch's, over the vectors of a batch.

`loss(vectors, batch)` is the weighted mean over the rows of the batch, and, for losses with parameters of their own,
minus the log of their prior per unit of the whole feedback's weight: averaged over the batches of an epoch this is
the objective of `engine.problem` without its penalty, which is the optimiser's weight decay here. The formulas stand
in `engine.terms`, `engine.joint_terms` and `engine.rating_terms`, and the tests hold values and gradients of both
together. Own parameters are one vector, `own`, in the order of the engine. Ratings stand in `torch.rating_losses`,
answers as choices in `torch.choice_losses`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from similitude.engine.choice_terms import Picked
from similitude.engine.distances import pair_sqdist
from similitude.engine.joint_terms import LOGISTIC, Judged, Linked
from similitude.engine.losses import LossLike, as_loss
from similitude.engine.problem import Term
from similitude.engine.terms import Formula, squared
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.feedback.links import Links
from similitude.torch.batches import Batch
from similitude.torch.formulas import value_of
from similitude.types import Floats

PLAIN = Formula(squared)


class ComparedLoss(nn.Module):
    """shape(scale(d2_far) - scale(d2_near)): comparisons with one of the losses that `Embedding(loss=)` takes.

    Squared distances count as they are, so an encoder whose vectors have length 1 wants a scale to learn beside it:
    `loss(vectors * scale, batch)`.

    Parameters
    ----------
    loss : "ste", "tste", "ckl", "soe", "gnmds", "probit", or a pair of scale and shape, as in `Embedding`
    n_components : number of dimensions, from which "tste" takes its tails

    Examples
    --------
    >>> import torch
    >>> from similitude.torch import ComparedLoss
    >>> vectors = torch.tensor([[0.0], [1.0], [3.0]], requires_grad=True)
    >>> loss = ComparedLoss("ste")(vectors, [[0, 1, 2]])  # item 0 is more like item 1 than like item 2
    >>> loss.backward()
    >>> round(loss.item(), 5), (vectors.grad.ravel() < 0).tolist()  # downhill moves item 2 away
    (0.00034, [False, False, True])
    """

    def __init__(self, loss: LossLike = "ste", n_components: int = 2) -> None:
        super().__init__()
        self.loss = as_loss(loss, n_components)

    def margin(self, vectors: torch.Tensor, batch: Any) -> torch.Tensor:
        """(m,) how clearly the near pair of each comparison is nearer."""
        near, far = levels(self.loss.scale, vectors, compared(Batch.of(batch))).chunk(2)
        return far - near

    def probability(self, vectors: torch.Tensor, batch: Any) -> torch.Tensor:
        """(m,) probability that a person answers like that, where the loss has one."""
        if not self.loss.has_probability:
            raise ValueError(f"a loss of shape {self.loss.shape.name!r} gives no probability of an answer; 'ste' does")
        return torch.exp(-value_of(self.loss.shape, self.margin(vectors, batch)))

    def forward(self, vectors: torch.Tensor, batch: Any) -> torch.Tensor:
        """Weighted mean loss of vectors, one for each of `batch.items`."""
        said = Batch.of(batch)
        return mean_loss(value_of(self.loss.shape, self.margin(vectors, said)), said)


class TermLoss(nn.Module):
    """A term of the engine with parameters of its own.

    Parameters
    ----------
    term : of the whole feedback, from which come the start of the own parameters, their prior and the total weight
    scale : what levels are made by
    """

    def __init__(self, term: Term, scale: Formula = PLAIN) -> None:
        super().__init__()
        self.term, self.scale = term, scale
        self.own = nn.Parameter(torch.empty(term.size))
        self._set(term.start(np.ones(len(term.pairs))))
        prior = term.prior(term.total)  # a quadratic: what it is at 0, its slope there, its curvature
        at_0, at_1 = (prior.gradient(np.full(term.size, one)) for one in (0.0, 1.0))
        for name, numbers in (("_height", prior.value(np.zeros(term.size))), ("_slope", at_0), ("_bend", at_1 - at_0)):
            self.register_buffer(name, torch.as_tensor(numbers).to(self.own), persistent=False)

    def start(self, vectors: Any) -> None:
        """Set the own parameters to what suits vectors of all items, as the untrained encoder gives them."""
        numbers = torch.as_tensor(vectors).detach().cpu().numpy().astype(float)
        self._set(self.term.start(pair_sqdist(numbers, self.term.pairs)))

    def prior(self) -> torch.Tensor:
        """Minus the log of the prior of the own parameters, per unit of the total weight."""
        return self._height + (self.own * (self._slope + 0.5 * self._bend * self.own)).sum()

    def losses(self, level: torch.Tensor, batch: Batch) -> torch.Tensor:
        """(m,) loss of each row, given the levels of its pairs."""
        raise NotImplementedError

    def forward(self, vectors: torch.Tensor, batch: Batch) -> torch.Tensor:
        """Weighted mean loss of vectors, one for each of `batch.items`, and the prior."""
        return mean_loss(self.losses(levels(self.scale, vectors, batch), batch), batch) + self.prior()

    def _set(self, own: Floats) -> None:
        with torch.no_grad():
            self.own.copy_(torch.from_numpy(own))


class SourcesLoss(TermLoss):
    """A term whose sources, raters most often, have a sharpness and a lapse each (`engine.sources`)."""

    def __init__(self, term: Judged | Picked, scale: Formula) -> None:
        super().__init__(term, scale)
        self.sources = term.sources
        self.register_buffer("share", torch.as_tensor(term.sources.share).to(self.own), persistent=False)

    def sharpness(self) -> torch.Tensor:
        """(n + 1,) sharpness of each source and, last, of nobody known; 1 on average by weight."""
        if not self.sources.differ:
            return self.own.new_ones(self.sources.count + 1)
        power = torch.cat([self.own[: self.sources.count], self.own.new_zeros(1)])
        relative = torch.exp(power - power.max().detach())
        return relative / (self.share @ relative)

    def lapses(self) -> torch.Tensor:
        """(n + 1,) how often each answers at random; 0 for nobody known where it is learned."""
        if self.sources.lapse is not None:
            return self.own.new_full((self.sources.count + 1,), self.sources.lapse)
        logit = self.own[len(self.own) - self.sources.count :]
        return torch.cat([torch.exp(-value_of(LOGISTIC, logit)), self.own.new_zeros(1)])

    def lapsed(self, value: torch.Tensor, source: torch.Tensor, by_chance: float) -> torch.Tensor:
        """-log of a chance e^-value with the lapse of its source, where there are lapses."""
        if self.sources.lapse == 0.0:
            return value
        lapse = self.lapses()[source].to(value)
        chance = by_chance * lapse + (1.0 - lapse) * torch.exp(-value)
        return -torch.log(chance.clamp(min=torch.finfo(chance.dtype).tiny))


class JudgedLoss(SourcesLoss):
    """shape(s_r · margin): comparisons by raters r, each with a sharpness and, if asked for, a lapse.

    Parameters
    ----------
    comparisons : all of them: they say who the raters are, and how much of the weight is whose
    loss : as in `ComparedLoss`; it must have a probability
    lapse : whether a rater answers at random now and then
    spread : of the logarithms of the sharpness
    n_components : as in `ComparedLoss`

    Examples
    --------
    >>> import similitude as sm
    >>> from similitude.torch import JudgedLoss
    >>> c = sm.Comparisons.from_triplets([(0, 1, 2), (0, 2, 1)], rater=["ann", "bob"])
    >>> JudgedLoss(c).sharpness().tolist()  # of each rater and, last, of nobody known
    [1.0, 1.0, 1.0]
    """

    def __init__(
        self,
        comparisons: ComparisonsLike,
        loss: LossLike = "ste",
        *,
        lapse: bool = False,
        spread: float = 0.5,
        n_components: int = 2,
    ) -> None:
        c, one = as_comparisons(comparisons), as_loss(loss, n_components)
        who, n_raters = c.answers.rater.codes[c.answer], len(c.answers.rater.labels)
        weight = np.array(c.weight)
        term = Judged(one, c.near, c.far, weight, who, n_raters, spread=spread, lapse=lapse)
        super().__init__(term, one.scale)
        self.shape = one.shape

    def losses(self, level: torch.Tensor, batch: Batch) -> torch.Tensor:
        """shape(s_r · margin), or -log(l_r/2 + (1 - l_r) P)."""
        compared(batch)
        near, far = level.chunk(2)
        value = value_of(self.shape, self.sharpness()[batch.rater].to(level) * (far - near))
        return self.lapsed(value, batch.rater, 0.5)


class LinkedLoss(TermLoss):
    """shape(±b (c - level)): links, with a threshold c on the squared distance and its steepness b.

    Parameters
    ----------
    links : all of them

    Examples
    --------
    >>> import similitude as sm
    >>> from similitude.torch import LinkedLoss
    >>> links = sm.Links.from_pairs(similar=[(0, 1)], dissimilar=[(0, 2)])
    >>> loss = LinkedLoss(links)
    >>> loss.start([[0.0], [1.0], [2.0]])
    >>> round(loss.own[0].item(), 2)  # c begins at the mean of the squared distances 1 and 4
    2.5
    """

    def __init__(self, links: Links) -> None:
        super().__init__(Linked(PLAIN, links.pairs, links.similar, np.array(links.weight)))

    def losses(self, level: torch.Tensor, batch: Batch) -> torch.Tensor:
        """shape(b (c - level)) where a link is similar, shape(-b (c - level)) where it is not."""
        threshold, log_steepness = self.own.to(level)
        sign = 2.0 * value_said(batch, "links").to(level) - 1.0
        return value_of(LOGISTIC, sign * torch.exp(log_steepness) * (threshold - level))


def levels(scale: Formula, vectors: torch.Tensor, batch: Batch) -> torch.Tensor:
    """The scale of the squared distance of each pair of a batch."""
    if batch.items is not None and len(vectors) != len(batch.items):
        raise ValueError(
            f"vectors: expected one for each of the {len(batch.items)} items of the batch, in the order of its items, "
            f"found {len(vectors)}"
        )
    i, j = batch.pairs.T
    return value_of(scale, (vectors[i] - vectors[j]).square().sum(1))


def mean_loss(losses: torch.Tensor, batch: Batch) -> torch.Tensor:
    """Weighted mean over the rows of a batch."""
    weight = batch.weight.to(losses)
    return (weight * losses).sum() / weight.sum()


def compared(batch: Batch) -> Batch:
    """Return a batch, which must be of comparisons."""
    if batch.choice is not None:
        raise ValueError("batch: expected comparisons, found whole answers; make its batches without whole=True")
    return batch


def value_said(batch: Batch, what: str) -> torch.Tensor:
    """What was said of the pairs of a batch, which must be of links or ratings."""
    if batch.value is None:
        raise ValueError(f"batch: expected {what}, found comparisons; make its batches with loader({what})")
    return batch.value

"""What the embeddings that model who said what share: one of the methods with a probability, and who the raters are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from similitude.engine.backend import CPU
from similitude.engine.group_models import seen_by_groups
from similitude.engine.joint_terms import Mixed
from similitude.engine.losses import as_loss
from similitude.engine.terms import ComparisonLoss
from similitude.feedback.comparisons import Comparisons
from similitude.graph.build import SimilarityGraph
from similitude.methods.answering import raters_of
from similitude.methods.ordinal_base import OrdinalEmbedding
from similitude.types import Array, Bools, Floats

METHODS = {"STE": "ste", "TSTE": "tste", "CKL": "ckl", "probit": "probit"}
"""Losses with a probability, by what `method` calls them."""


class LikelihoodEmbedding(OrdinalEmbedding):
    """An ordinal embedding whose answers have a probability; `method` says which.

    Parameters
    ----------
    method : "STE", "TSTE", "CKL" or "probit" (normal noise), each with its default setting; it also sets the default
        penalty
    device : where the pooled fit runs, as of `STE`; what the raters add is fitted on the CPU
    """

    method: Literal["STE", "TSTE", "CKL", "probit"] = "STE"

    def comparison_loss(self) -> ComparisonLoss:
        """Return the loss of the method."""
        return as_loss(METHODS[self.method], self.n_components)

    def _check(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"method: expected one of {', '.join(METHODS)}, found {self.method!r}")
        super()._check()


def answer_counts(comparisons: Comparisons) -> Array:
    """Number of answers of each rater, "can't tell" included, raters in order of their names."""
    who = comparisons.answers.rater
    count = np.bincount(who.codes[who.codes >= 0], minlength=len(who.labels))
    return count[sorted(range(len(who.labels)), key=lambda code: who.labels[code])]


@dataclass(frozen=True)
class RatedAnswers:
    """Comparisons with their raters; an answer of nobody known is a rater of its own.

    Attributes
    ----------
    near, far, weight : the comparisons of some weight
    rater : (m,) who made each: the place in `raters`, and from there on strangers
    n_raters : number of raters and strangers
    raters, answers : names of the raters, and how many answers each gave
    n_items, names : the items
    """

    near: Array
    far: Array
    weight: Floats
    rater: Array
    n_raters: int
    raters: tuple[str, ...]
    answers: Array
    n_items: int
    names: tuple[str, ...] | None

    @classmethod
    def of(cls, c: Comparisons) -> RatedAnswers:
        """Read who made each comparison."""
        names, rater = raters_of(c)
        kept = np.flatnonzero(c.weight > 0)
        nobody = rater < 0
        strangers, place = np.unique(c.answer[nobody], return_inverse=True)
        rater[nobody] = len(names) + place
        return cls(
            c.near[kept], c.far[kept], np.array(c.weight[kept]), rater[kept], len(names) + len(strangers), names,
            answer_counts(c), c.n_items, c.names,
        )  # fmt: skip

    @property
    def compared(self) -> Bools:
        """Which items stand in a comparison."""
        return np.isin(np.arange(self.n_items), np.concatenate([self.near, self.far]))

    @property
    def n_compared(self) -> int:
        """How many items stand in a comparison."""
        return int(self.compared.sum())

    def term(self, loss: ComparisonLoss, n_groups: int) -> Mixed:
        """The likelihood of a mixture of so many groups."""
        return Mixed(loss, self.near, self.far, self.weight, self.rater, self.n_raters, self.n_items, n_groups)

    def graph(self, member: Floats) -> SimilarityGraph:
        """Every comparison once for each group, weighted by its rater's membership."""
        return seen_by_groups(self.n_items, self.near, self.far, member[:, self.rater] * self.weight, merged=True)

    def pulls(self, X: Floats, loss: ComparisonLoss) -> Floats:
        """(raters, n · d) where each rater pulls the pooled map to, over the root of the weight of what they said."""
        own = (self.rater * self.n_items)[:, None]  # a copy of the items for each rater: L X is then by rater
        near, far = ((pair + own).astype(np.int32) for pair in (self.near, self.far))
        graph = SimilarityGraph(self.n_raters * self.n_items, near, far, self.weight, merged=False)
        product = CPU().embedding(loss, np.tile(X, (self.n_raters, 1)), graph)[1]
        said = np.bincount(self.rater, self.weight, self.n_raters)
        pull = -graph.total_weight * product.reshape(self.n_raters, -1)
        return pull / np.sqrt(np.maximum(said, 1e-12))[:, None]

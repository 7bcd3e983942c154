"""What the embeddings that model who said what share: one of the methods with a probability, and who the raters are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from similitude.engine.backend import CPU
from similitude.engine.joint_terms import Mixed
from similitude.engine.losses import as_loss
from similitude.engine.terms import ComparisonLoss
from similitude.feedback.comparisons import Comparisons
from similitude.graph.build import SimilarityGraph
from similitude.methods.ordinal_base import OrdinalEmbedding
from similitude.types import Array, Bools, Floats, Table

METHODS = {"STE": "ste", "TSTE": "tste", "CKL": "ckl", "probit": "probit"}
"""Losses with a probability, by what `method` calls them."""


class LikelihoodEmbedding(OrdinalEmbedding):
    """An ordinal embedding whose answers have a probability; `method` says which.

    Parameters
    ----------
    method : "STE", "TSTE", "CKL" or "probit" (normal noise), each with its default setting; it also sets the default
        penalty
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        method: Literal["STE", "TSTE", "CKL", "probit"] = "STE",
        penalty: float | Literal["auto"] = "auto",
        n_init: int | Literal["auto"] = "auto",
        init: Literal["spectral", "random"] | Table = "spectral",
        n_items: int | None = None,
        random_state: int | np.random.Generator | None = None,
        max_iter: int = 1000,
        tol: float = 1e-6,
        solver: Literal["auto", "lbfgs", "minibatch"] = "auto",
    ) -> None:
        super().__init__(
            n_components, penalty=penalty, n_init=n_init, init=init, n_items=n_items, random_state=random_state,
            max_iter=max_iter, tol=tol, solver=solver,
        )  # fmt: skip
        self.method = method

    def comparison_loss(self) -> ComparisonLoss:
        """Return the loss of the method."""
        return as_loss(METHODS[self.method], self.n_components)

    def _check(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"method: expected one of {', '.join(METHODS)}, found {self.method!r}")
        super()._check()


def raters_of(comparisons: Comparisons) -> tuple[tuple[str, ...], Array]:
    """Return the raters in order of their names, and for each comparison the place of its rater, -1 where unknown."""
    labels = comparisons.answers.rater.labels
    order = sorted(range(len(labels)), key=lambda code: labels[code])
    place = np.full(len(labels) + 1, -1, np.int64)
    place[order] = np.arange(len(labels))
    return tuple(labels[code] for code in order), place[comparisons.answers.rater.codes][comparisons.answer]


def answer_counts(comparisons: Comparisons) -> Array:
    """Number of answers of each rater, "can't tell" included, raters in order of their names."""
    who = comparisons.answers.rater
    count = np.bincount(who.codes[who.codes >= 0], minlength=len(who.labels))
    return count[sorted(range(len(who.labels)), key=lambda code: who.labels[code])]


def places_among(names: tuple[str, ...], known: tuple[str, ...], code: Array) -> Array:
    """Turn codes into `names` into codes into `known`, -1 where a name is not known."""
    place = {name: k for k, name in enumerate(known)}
    return np.array([*(place.get(name, -1) for name in names), -1], np.int64)[code]


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
        shift = [g * self.n_items for g in range(len(member))]
        near, far = (np.concatenate([pair + k for k in shift]).astype(np.int32) for pair in (self.near, self.far))
        weight = (member[:, self.rater] * self.weight).ravel()
        return SimilarityGraph(len(member) * self.n_items, near, far, weight, True)

    def pulls(self, X: Floats, loss: ComparisonLoss) -> Floats:
        """(raters, n · d) where each rater pulls the pooled map to, over the root of the weight of what they said."""
        own = (self.rater * self.n_items)[:, None]  # a copy of the items for each rater: L X is then by rater
        near, far = ((pair + own).astype(np.int32) for pair in (self.near, self.far))
        graph = SimilarityGraph(self.n_raters * self.n_items, near, far, self.weight, merged=False)
        product = CPU().embedding(loss, np.tile(X, (self.n_raters, 1)), graph)[1]
        said = np.bincount(self.rater, self.weight, self.n_raters)
        pull = -graph.total_weight * product.reshape(self.n_raters, -1)
        return pull / np.sqrt(np.maximum(said, 1e-12))[:, None]

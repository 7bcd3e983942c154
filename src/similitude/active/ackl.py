"""A-CKL (Tamuz et al. 2011; Heim 2015, 3.4.2): the head stands where one of the other items stands."""

from __future__ import annotations

import numpy as np

from similitude.active.compiled import crowd_gains
from similitude.engine.terms import ComparisonLoss
from similitude.feedback.columns import Array, Floats
from similitude.feedback.comparisons import Comparisons
from similitude.methods.similarity import Similarity

_COVER = 0.999


class CrowdKernelGain:
    """Expected bits about the head's position, when it is that of one of the other items.

    tau_a(x), over the positions x of the other items, is the product of the probabilities of the answers with head a
    (3.20), made to sum to one. The gain of a question is H(tau) - E H(tau | answer) (3.24); computed by the identity
    h(sum tau p) - sum tau h(p), which needs no posterior entropies. (3.25) lacks the minus of the entropy in print, and
    (3.20)-(3.23) the normalisation. p is the model's own probability, mu included; print leaves mu out, where a
    head on top of an item makes answers certain. Points of the support beyond 99.9% of tau are left out.
    """

    name = "ackl"

    def __init__(self, similarity: Similarity, asked: Comparisons | None) -> None:
        self.levels = _levels(similarity.embedding, similarity.loss)
        self.n_items = similarity.n_items
        with_head = slice(0) if asked is None else asked.is_triplet
        self.triplets = np.empty((0, 3), np.int32) if asked is None else asked.rows(with_head).triplets
        self._by_head = np.argsort(self.triplets[:, 0], kind="stable")
        self._bounds = np.searchsorted(self.triplets[self._by_head, 0], np.arange(self.n_items + 1))

    def support(self, head: int) -> tuple[Array, Floats]:
        """The items whose positions the head may have, and their share of tau."""
        rows = self.triplets[self._by_head[self._bounds[head] : self._bounds[head + 1]]]
        margin = self.levels[:, rows[:, 2]] - self.levels[:, rows[:, 1]]
        log_tau = -np.logaddexp(0.0, -margin).sum(1)
        log_tau[head] = -np.inf
        tau = np.exp(log_tau - log_tau.max())
        tau /= tau.sum()
        order = np.argsort(-tau, kind="stable")
        kept = order[: int(np.searchsorted(np.cumsum(tau[order]), _COVER)) + 1]
        return kept, tau[kept] / tau[kept].sum()

    def of(self, near: Array, far: Array) -> Floats:
        """Score of each comparison; comparisons must have a head."""
        out = np.empty(len(near))
        order = np.argsort(near[:, 0], kind="stable")
        heads, starts = np.unique(near[order, 0], return_index=True)
        for head, rows in zip(heads.tolist(), np.split(order, starts[1:]), strict=True):
            kept, tau = self.support(head)
            part = np.empty(len(rows))
            crowd_gains(self.levels, kept, tau, near[rows, 1], far[rows, 1], part)
            out[rows] = part
        return out

    def table(self, head: int) -> Floats:
        """(n, n) symmetric scores of the pairs of a head."""
        kept, tau = self.support(head)
        b, c = np.triu_indices(self.n_items, 1)
        gains = np.empty(len(b))
        crowd_gains(self.levels, kept, tau, b, c, gains)
        out = np.zeros((self.n_items, self.n_items))
        out[b, c] = gains
        return out + out.T

    def learn(self, near: Array, far: Array) -> None:
        """Nothing: what a head may be is known once the question is answered."""


def _levels(X: Floats, loss: ComparisonLoss) -> Floats:
    square = (X**2).sum(1)
    table = np.maximum(square[:, None] + square - 2.0 * X @ X.T, 0.0)
    np.fill_diagonal(table, 0.0)
    return loss.scale(table)[0]

"""A-CKL (Tamuz et al. 2011; Heim 2015, 3.4.2): the head stands where one of the other items stands."""

from __future__ import annotations

import numpy as np

from similitude.active.head_gain import HeadGain
from similitude.engine.distances import sqdist_table
from similitude.feedback.comparisons import Comparisons
from similitude.methods.similarity import Similarity
from similitude.types import Array, Floats


class CrowdKernelGain(HeadGain):
    """Expected bits about the head's position, when it is that of one of the other items.

    tau_a(x), over the positions x of the other items, is the product of the probabilities of the answers with head a
    (3.20), made to sum to one. The gain of a question is H(tau) - E H(tau | answer) (3.24), by the identity of
    `HeadGain`. (3.25) lacks the minus of the entropy in print, and (3.20)-(3.23) the normalisation. p is the model's
    own probability, mu included; print leaves mu out, where a head on top of an item makes answers certain.
    """

    name = "ackl"

    def __init__(self, similarity: Similarity, asked: Comparisons | None) -> None:
        super().__init__(similarity.n_items, asked, similarity.loss.shape)
        self._table = similarity.loss.scale(sqdist_table(similarity.embedding))[0]

    def log_share(self, head: int) -> Floats:
        """The log of tau at the position of every item: -inf at the head's own."""
        answers = self.answers(head)
        log_tau = self.log_likelihood(self._table[answers[:, 1]], self._table[answers[:, 2]])
        log_tau[head] = -np.inf
        return log_tau

    def levels(self, _: int, pairs: Array, kept: Array) -> tuple[Floats, Array, Array]:
        """The whole table, which is the same for every head."""
        return self._table, pairs, kept

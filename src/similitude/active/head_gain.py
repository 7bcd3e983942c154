"""What an answer tells about its head, when the head is one of many samples: what A-CKL and A-TACKL share."""

from __future__ import annotations

import numpy as np

from similitude.active.compiled import crowd_gains
from similitude.active.scores import entropy
from similitude.engine.terms import Formula, logistic
from similitude.feedback.comparisons import Comparisons
from similitude.types import Array, Floats, Ints

_COVER = 0.999
_AT_ONCE = 1_000_000  # probabilities in memory


class HeadGain:
    """Expected bits about a head: h(sum tau p) - sum tau h(p) over samples of what it may be, tau their share.

    The gain H(tau) - E H(tau | answer) equals that exactly, and needs no posterior entropies. Samples beyond 99.9% of
    tau are left out.
    """

    def __init__(self, n_items: int, asked: Comparisons | None, shape: Formula) -> None:
        self.n_items, self.shape = n_items, shape
        with_head = slice(0) if asked is None else asked.is_triplet
        self.triplets = np.empty((0, 3), np.int32) if asked is None else asked.rows(with_head).triplets
        self._by_head = np.argsort(self.triplets[:, 0], kind="stable")
        self._bounds = np.searchsorted(self.triplets[self._by_head, 0], np.arange(n_items + 1))

    def log_share(self, head: int) -> Floats:
        """(S,) the log of tau, up to a constant."""
        raise NotImplementedError(f"{type(self).__name__} must define log_share")

    def levels(self, head: int, pairs: Array, kept: Array) -> tuple[Floats, Array, Array]:
        """Return a table of scale(d2) of items' distance to the head, items × samples, and where to read it.

        Its rows for the pairs (2, m), and its columns for the samples that are kept.
        """
        raise NotImplementedError(f"{type(self).__name__} must define levels")

    def answers(self, head: int) -> Ints:
        """(k, 3) the answers with that head."""
        return self.triplets[self._by_head[self._bounds[head] : self._bounds[head + 1]]]

    def support(self, head: int) -> tuple[Array, Floats]:
        """The samples that cover the head, and their share of tau."""
        log_tau = self.log_share(head)
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
            out[rows] = self._gains(head, near[rows, 1], far[rows, 1])
        return out

    def table(self, head: int) -> Floats:
        """(n, n) symmetric scores of the pairs of a head."""
        b, c = np.triu_indices(self.n_items, 1)
        out = np.zeros((self.n_items, self.n_items))
        out[b, c] = self._gains(head, b, c)
        return out + out.T

    def learn(self, near: Array, far: Array) -> None:
        """Nothing: what a head may be is known once the question is answered."""

    def _gains(self, head: int, b: Array, c: Array) -> Floats:
        kept, tau = self.support(head)
        table, rows, columns = self.levels(head, np.stack([b, c]), kept)
        out = np.empty(len(b))
        if self.shape.expression is logistic:  # in closed form
            crowd_gains(table, columns, tau, rows[0], rows[1], out)
            return out
        for some in np.array_split(np.arange(len(b)), 1 + len(b) * len(tau) // _AT_ONCE):
            p = self.shape.probability(table[rows[1, some]][:, columns] - table[rows[0, some]][:, columns])
            out[some] = np.maximum(entropy(p @ tau) - entropy(p) @ tau, 0.0)
        return out

    def log_likelihood(self, near: Floats, far: Floats) -> Floats:
        """(S,) log probability of a head's answers in each sample, from (k, S) levels of what was near and far."""
        return -np.asarray(self.shape(far - near)[0].sum(0))

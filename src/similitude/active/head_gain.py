"""What an answer tells about its head, when the head is one of many samples: what A-CKL and A-TACKL share."""

from __future__ import annotations

import numpy as np

from similitude.active.compiled import crowd_gains
from similitude.feedback.columns import Array, Floats, Ints
from similitude.feedback.comparisons import Comparisons

_COVER = 0.999


class HeadGain:
    """Expected bits about a head: h(sum tau p) - sum tau h(p) over samples of what it may be, tau their share.

    The gain H(tau) - E H(tau | answer) equals that exactly, and needs no posterior entropies. Samples beyond 99.9% of
    tau are left out.
    """

    def __init__(self, n_items: int, asked: Comparisons | None) -> None:
        self.n_items = n_items
        with_head = slice(0) if asked is None else asked.is_triplet
        self.triplets = np.empty((0, 3), np.int32) if asked is None else asked.rows(with_head).triplets
        self._by_head = np.argsort(self.triplets[:, 0], kind="stable")
        self._bounds = np.searchsorted(self.triplets[self._by_head, 0], np.arange(n_items + 1))

    def samples(self, head: int) -> tuple[Floats, Floats]:
        """Return (n, S) levels scale(d2) of each item's distance to the head in each sample, and the log of tau."""
        raise NotImplementedError(f"{type(self).__name__} must define samples")

    def answers(self, head: int) -> Ints:
        """(k, 3) the answers with that head."""
        return self.triplets[self._by_head[self._bounds[head] : self._bounds[head + 1]]]

    def support(self, head: int) -> tuple[Floats, Array, Floats]:
        """Levels, the samples that cover the head, and their share of tau."""
        levels, log_tau = self.samples(head)
        tau = np.exp(log_tau - log_tau.max())
        tau /= tau.sum()
        order = np.argsort(-tau, kind="stable")
        kept = order[: int(np.searchsorted(np.cumsum(tau[order]), _COVER)) + 1]
        return levels, kept, tau[kept] / tau[kept].sum()

    def of(self, near: Array, far: Array) -> Floats:
        """Score of each comparison; comparisons must have a head."""
        out = np.empty(len(near))
        order = np.argsort(near[:, 0], kind="stable")
        heads, starts = np.unique(near[order, 0], return_index=True)
        for head, rows in zip(heads.tolist(), np.split(order, starts[1:]), strict=True):
            levels, kept, tau = self.support(head)
            part = np.empty(len(rows))
            crowd_gains(levels, kept, tau, near[rows, 1], far[rows, 1], part)
            out[rows] = part
        return out

    def table(self, head: int) -> Floats:
        """(n, n) symmetric scores of the pairs of a head."""
        levels, kept, tau = self.support(head)
        b, c = np.triu_indices(self.n_items, 1)
        gains = np.empty(len(b))
        crowd_gains(levels, kept, tau, b, c, gains)
        out = np.zeros((self.n_items, self.n_items))
        out[b, c] = gains
        return out + out.T

    def learn(self, near: Array, far: Array) -> None:
        """Nothing: what a head may be is known once the question is answered."""


def log_likelihood(levels: Floats, answers: Ints) -> Floats:
    """(S,) log probability of a head's answers in each sample; levels are (n, S)."""
    margin = levels[answers[:, 2]] - levels[answers[:, 1]]
    return -np.asarray(np.logaddexp(0.0, -margin).sum(0))

"""What an answer tells about its head, when the head is one of many samples: A-CKL and A-TACKL.

In A-CKL (Tamuz et al. 2011; Heim 2015, 3.4.2) the head stands where one of the other items stands; A-TACKL (Heim 2015,
4.2.2) takes samples of the features' weights and of the head's free part.
"""

from __future__ import annotations

from math import ceil, sqrt

import numpy as np
from scipy.special import logsumexp

from similitude.active.compiled import crowd_gains
from similitude.active.scores import entropy
from similitude.engine.distances import sqdist_table
from similitude.engine.terms import Formula, logistic
from similitude.feedback.comparisons import Comparisons
from similitude.methods.similarity import Similarity
from similitude.methods.tackl import TACKL
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


class AuxiliaryGain(HeadGain):
    """Expected bits about the weights w and the head's free part xhat_a, all other items' free parts kept.

    sqrt(n) samples of w, uniform up to the largest weight, are crossed with n samples of xhat_a: the free parts of the
    items, as the thesis reads A-CKL, rather than points of a box, which in more than a few dimensions is empty around
    all items. The posterior is that of the two steps: p(w | T_a) by the features alone (4.22), times p(xhat_a | w, T_a)
    (4.24), each normalised, T_a being the answers with that head; of a joint fit, it is one likelihood. The gain is
    `HeadGain`'s. In print the entropy (4.27) is a product of two integrals without a minus, and the probability (4.29)
    integrates a normalised posterior, which gives 1: meant is the probability under the posterior before the answer.

    Attributes
    ----------
    weights : (s, q) the samples of w
    """

    name = "atackl"

    def __init__(self, model: TACKL, asked: Comparisons | None, rng: np.random.Generator) -> None:
        super().__init__(len(model.free_), asked, model.similarity_.loss.shape)
        self.scale, self.joint, self.features = model.similarity_.loss.scale, model.joint, model.features_
        largest = max(float(w.max()) for w in model.weights_.values())
        self.weights = rng.uniform(0.0, largest, size=(ceil(sqrt(self.n_items)), self.features.shape[1]))
        self._between = sqdist_table(model.free_)

    def log_share(self, head: int) -> Floats:
        """The log of the posterior of every sample of (w, xhat_a), w the slower of the two."""
        answers = self.answers(head)
        near, far = (self._by_features(head, answers[:, k]) for k in (1, 2))
        size = len(self.weights) * self.n_items
        whole = [
            self.scale((part[:, :, None] + self._between[answers[:, k], None]).reshape(len(answers), size))[0]
            for k, part in ((1, near), (2, far))
        ]
        log_tau = self.log_likelihood(*whole).reshape(len(self.weights), self.n_items)
        if not self.joint:
            of_weights = self.log_likelihood(self.scale(near)[0], self.scale(far)[0])
            log_tau = of_weights[:, None] + log_tau - logsumexp(log_tau, axis=1, keepdims=True)
        return log_tau.ravel()

    def levels(self, head: int, pairs: Array, kept: Array) -> tuple[Floats, Array, Array]:
        """A table of the items in the pairs and the samples kept alone: the whole one is large, and of one head."""
        items, rows = np.unique(pairs, return_inverse=True)
        w, x = np.divmod(kept, self.n_items)
        table = self.scale(self._by_features(head, items)[:, w] + self._between[items][:, x])[0]
        return table, rows.reshape(pairs.shape), np.arange(len(kept))

    def _by_features(self, head: int, items: Array) -> Floats:
        """(k, s) the features' part of the squared distance of items to the head, for each sample of w."""
        return np.asarray((self.features[head] - self.features[items]) ** 2 @ (self.weights**2).T)

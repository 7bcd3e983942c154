"""A-TACKL (Heim 2015, 4.2.2): samples of the features' weights and of the head's free part."""

from __future__ import annotations

from math import ceil, sqrt

import numpy as np
from scipy.special import logsumexp

from similitude.active.head_gain import HeadGain
from similitude.engine.distances import sqdist_table
from similitude.feedback.comparisons import Comparisons
from similitude.methods.tackl import TACKL
from similitude.types import Array, Floats


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

"""How sure the positions are: a normal (Laplace) posterior per item around the fitted positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from similitude.engine.distances import head_sqdist
from similitude.engine.information import Margins, item_information
from similitude.engine.terms import ComparisonLoss
from similitude.feedback.comparisons import Comparisons
from similitude.methods.similarity import Similarity
from similitude.types import Array, Floats


@dataclass(frozen=True, eq=False)
class Posterior:
    """Item i stands at X_i with covariance S_i, independently of the others.

    S_i^-1 = I/s² + sum over comparisons t of w_t i_t g_ti g_ti', with i_t the information of an answer on its margin,
    g_ti the derivative of its margin scale(d2_far) - scale(d2_near) by the position of item i, and s² the mean square
    of the fitted coordinates: the normal prior that `Similarity.place` uses, too. For STE the margin is linear in the
    head's position and this is the exact Hessian there; elsewhere it leaves out the margin's own curvature.

    The variance of a new margin is g' S g summed over its items, with the slope of scale taken at the *expected*
    squared distance: the logarithm of CKL is so steep near 0 that a slope at the fitted distance calls every question
    about close neighbours informative.

    i_t does not depend on what is answered (for the logistic shape it is p (1 - p)), so a question that is pending
    counts as if it were answered: `learn`.

    Attributes
    ----------
    positions : (n, d) the fitted positions
    covariance : (n, d, d)
    loss : gives scale and probability
    """

    positions: Floats
    covariance: Floats
    loss: ComparisonLoss

    @classmethod
    def of(cls, similarity: Similarity, asked: Comparisons | None) -> Posterior:
        """Return the posterior after the comparisons asked; without any it is the prior."""
        X = np.ascontiguousarray(similarity.embedding)
        n, d = X.shape
        variance = float(((X - X.mean(0)) ** 2).mean())
        precision = np.zeros((n, d, d))
        precision[:] = np.eye(d) / (variance if variance > 1e-12 else 1.0)
        if asked is not None and len(asked):
            precision += item_information(X, similarity.loss, asked.near, asked.far, asked.weight)
        return cls(X, np.asarray(np.linalg.inv(precision), float), similarity.loss)

    def logits(self, near: Array, far: Array) -> tuple[Floats, Floats]:
        """Mean and variance of the log-odds of comparisons "pair near is more alike than pair far"."""
        from similitude.active.compiled import logit_variance

        at = Margins.of(self.positions, self.loss, near, far, self.spread)
        variance = np.empty(len(near))
        logit_variance(self.positions, self.covariance, near, far, at.slope_near, at.slope_far, variance)
        unit = self.loss.shape.log_odds
        return unit * at.margin, unit**2 * variance

    @property
    def spread(self) -> Floats:
        """(n,) trace of each covariance: the expected squared distance of i and j is d2 + spread_i + spread_j."""
        return np.einsum("ndd->n", self.covariance)

    def of_head(self, head: int) -> tuple[Floats, Floats, Floats]:
        """Return level, F, q: the logit of (head; b, c) has mean level_c - level_b, variance |F_b - F_c|² + q_b + q_c.

        With g_b the derivative of level_b = scale(d2(head, b)) by the head's position: F_b = g_b' chol(S_head), and
        q_b = g_b' S_b g_b is what item b's own uncertainty adds. Levels are in the shape's units of log-odds.
        """
        unit = self.loss.shape.log_odds
        step = self.positions[head] - self.positions
        square = head_sqdist(self.positions, head)
        level, slope = self.loss.scale(square)[0], self.loss.scale(square + self.spread[head] + self.spread)[1]
        gradient = 2.0 * unit * slope[:, None] * step
        F = gradient @ np.linalg.cholesky(self.covariance[head])
        return unit * level, F, np.einsum("nd,nde,ne->n", gradient, self.covariance, gradient)

    def learn(self, near: Array, far: Array) -> None:
        """Count comparisons as answered, whatever the answer will be: a rank-one update of each item in them."""
        at = Margins.of(self.positions, self.loss, near, far)
        for t in range(len(near)):
            (i, j), (k, l) = near[t].tolist(), far[t].tolist()
            a = -2.0 * at.slope_near[t] * (self.positions[i] - self.positions[j])
            b = 2.0 * at.slope_far[t] * (self.positions[k] - self.positions[l])
            shared = {i: a + b} if i == k else {i: a, k: b}
            for item, gradient in (*shared.items(), (j, a), (l, b)):
                self._shrink(item, at.information[t], gradient)

    def _shrink(self, item: int, weight: float, gradient: Floats) -> None:
        """(S^-1 + w g g')^-1 = S - w S g g' S / (1 + w g' S g)."""
        column = self.covariance[item] @ gradient
        self.covariance[item] -= np.outer(column, column) * (weight / (1.0 + weight * float(gradient @ column)))

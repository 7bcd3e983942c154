"""How sure the positions are: a normal (Laplace) posterior per item around the fitted positions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from similitude.engine.choice_terms import values_of
from similitude.engine.distances import head_sqdist
from similitude.engine.information import item_information
from similitude.engine.measures import Euclidean, SignedProduct
from similitude.engine.terms import ComparisonLoss
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.forms.alternatives import Alternatives
from similitude.feedback.whole_answers import choices_of, has_wide_choices
from similitude.methods.similarity import Similarity
from similitude.types import Array, Floats

_NO_SIGNS = np.zeros(0)


@dataclass(frozen=True, eq=False)
class Posterior:
    """Item i stands at X_i with covariance S_i, independently of the others.

    S_i^-1 = I/s² + sum over answers t of w_t G_ti' C_t G_ti, with G_ti the derivative of the values of the alternatives
    of t by the position of item i, and C_t what the answer tells about these values: the covariance of who is among
    those picked (for the softmax diag(p) - p p'). Where an answer is one comparison, this is w_t i_t g_ti g_ti' with
    i_t the information of the answer on its margin scale(d2_far) - scale(d2_near) and g_ti the margin's derivative. s²
    is the mean square of the fitted coordinates: the normal prior that `Similarity.place` uses, too. For STE the margin
    is linear in the head's position and this is the exact Hessian there; elsewhere it leaves out the curvature of the
    values themselves.

    The variance of a new margin is g' S g summed over its items, with the slope of scale taken at the *expected*
    squared distance: the logarithm of CKL is so steep near 0 that a slope at the fitted distance calls every question
    about close neighbours informative.

    C_t does not depend on what is answered (for one comparison and the logistic shape it is p (1 - p)), so a question
    that is pending counts as if it were answered: `learn`, `learn_choices`.

    Attributes
    ----------
    positions : (n, d) the fitted positions
    covariance : (n, d, d)
    loss : gives scale and probability
    signs : (d,) where items are compared by sum_k s_k x_k y_k instead of squared distances; else empty
    """

    positions: Floats
    covariance: Floats
    loss: ComparisonLoss
    signs: Floats = field(default_factory=_NO_SIGNS.copy)

    @classmethod
    def of(cls, similarity: Similarity, asked: Comparisons | None) -> Posterior:
        """Return the posterior after the answers asked; without any it is the prior."""
        X, signs = _vectors(similarity)
        n, d = X.shape
        variance = float((X**2).mean() if len(signs) else ((X - X.mean(0)) ** 2).mean())
        precision = np.zeros((n, d, d))
        precision[:] = np.eye(d) / (variance if variance > 1e-12 else 1.0)
        bare = cls(X, precision, similarity.loss, signs)
        if asked is not None and len(asked):
            if len(signs) or has_wide_choices(asked):
                for choices in choices_of(asked):
                    bare._add_information(choices, precision)
            else:
                precision += item_information(X, similarity.loss, asked.near, asked.far, asked.weight)
        return cls(X, np.asarray(np.linalg.inv(precision), float), similarity.loss, signs)

    def values(self, pairs: Array) -> Floats:
        """Squared distances of pairs at the fitted positions, or their signed products."""
        measure = SignedProduct(self.positions, self.signs) if len(self.signs) else Euclidean(self.positions)
        return measure.of_pairs(pairs)

    def logits(self, near: Array, far: Array) -> tuple[Floats, Floats]:
        """Mean and variance of the log-odds of comparisons "pair near is more alike than pair far"."""
        from similitude.active.compiled import logit_variance

        levels, slopes = zip(*(self._level_and_slope(pairs) for pairs in (near, far)), strict=True)
        variance = np.empty(len(near))
        logit_variance(self.positions, self.signs, self.covariance, near, far, *slopes, variance)
        unit = self.loss.shape.log_odds
        return unit * (levels[1] - levels[0]), unit**2 * variance

    def _level_and_slope(self, pairs: Array) -> tuple[Floats, Floats]:
        """Levels of pairs, and the slopes of the scale at their expected squared distances."""
        value = self.values(pairs)
        level, slope, _ = self.loss.scale(value)
        return level, slope if len(self.signs) else self.loss.scale(value + self.spread[pairs].sum(1))[1]

    @property
    def spread(self) -> Floats:
        """(n,) trace of each covariance: the expected squared distance of i and j is d2 + spread_i + spread_j."""
        return np.einsum("ndd->n", self.covariance)

    def of_head(self, head: int) -> tuple[Floats, Floats, Floats]:
        """Return level, F, q: the logit of (head; b, c) has mean level_c - level_b, variance |F_b - F_c|² + q_b + q_c.

        With g_b the derivative of level_b = scale(d2(head, b)) by the head's position, h_b that by b's:
        F_b = g_b' chol(S_head), and q_b = h_b' S_b h_b is what item b's own uncertainty adds. Levels are in the shape's
        units of log-odds.
        """
        unit, X, scale = self.loss.shape.log_odds, self.positions, self.loss.scale
        if len(self.signs):
            by_head, by_other = self.signs * X, np.broadcast_to(self.signs * X[head], X.shape)
            level, slope, _ = scale(X @ (self.signs * X[head]))
        else:
            by_head, square = 2.0 * (X[head] - X), head_sqdist(X, head)
            by_other = -by_head
            level, slope = scale(square)[0], scale(square + self.spread[head] + self.spread)[1]
        steep = (unit * slope)[:, None]
        F = (steep * by_head) @ np.linalg.cholesky(self.covariance[head])
        return unit * level, F, np.einsum("nd,nde,ne->n", steep * by_other, self.covariance, steep * by_other)

    def learn(self, near: Array, far: Array) -> None:
        """Count comparisons as answered, whatever the answer will be: a rank-one update of each item in them."""
        near_level, near_slope = self._at(near)
        far_level, far_slope = self._at(far)
        told = self.loss.shape.information(far_level - near_level)
        for t in range(len(near)):
            (i, j), (k, l) = near[t].tolist(), far[t].tolist()
            by: dict[int, Floats] = {}
            for one, other, slope in ((i, j, -near_slope[t]), (k, l, far_slope[t])):
                by[one] = by.get(one, 0.0) + slope * self._by_first(one, other)
                by[other] = by.get(other, 0.0) + slope * self._by_first(other, one)
            for item, gradient in by.items():
                self._shrink(item, told[t], gradient)

    def learn_choices(self, choices: Alternatives) -> None:
        """Count choices as made, whatever will be picked."""
        items, place = np.unique(choices.pairs, return_inverse=True)
        S, told = self.covariance[items], np.zeros((len(items), *self.covariance.shape[1:]))
        among = Posterior(self.positions[items], S, self.loss, self.signs)
        among._add_information(replace(choices, pairs=place.reshape(choices.pairs.shape)), told)
        self.covariance[items] = np.linalg.solve(np.eye(S.shape[1]) + S @ told, S)

    def _at(self, pairs: Array) -> tuple[Floats, Floats]:
        level, slope, _ = self.loss.scale(self.values(pairs))
        return level, slope

    def _by_first(self, item: int, other: int) -> Floats:
        """Derivative of the squared distance (or product) of two items by the position of the first."""
        if len(self.signs):
            return self.signs * self.positions[other]
        return 2.0 * (self.positions[item] - self.positions[other])

    def _add_information(self, choices: Alternatives, precision: Floats) -> None:
        """Add what choices tell about each item, the others known; not logistic shapes count by their log-odds."""
        from similitude.active.compiled_answers import add_choice_information

        unit, shape = self.loss.shape.log_odds, choices.pairs.shape[:3]
        level, slope = self._at(choices.pairs.reshape(-1, 2))
        weight = np.ones(len(choices)) if choices.weight is None else np.asarray(choices.weight, float)
        add_choice_information(
            self.positions, self.signs, choices.pairs, choices.sign * unit * slope.reshape(shape),
            unit * values_of(choices, level), choices.picked, weight, precision,
        )  # fmt: skip

    def _shrink(self, item: int, weight: float, gradient: Floats) -> None:
        """(S^-1 + w g g')^-1 = S - w S g g' S / (1 + w g' S g)."""
        column = self.covariance[item] @ gradient
        self.covariance[item] -= np.outer(column, column) * (weight / (1.0 + weight * float(gradient @ column)))


def _vectors(similarity: Similarity) -> tuple[Floats, Floats]:
    """Positions and signs by which items are compared, without the dimensions that nobody needs."""
    form = similarity.form
    if not isinstance(form, SignedProduct):
        return np.ascontiguousarray(similarity.embedding), _NO_SIGNS
    used = np.flatnonzero(np.abs(form.positions).max(0) > 0)
    used = used if len(used) else np.arange(1)
    return np.ascontiguousarray(form.positions[:, used]), np.ascontiguousarray(form.signs[used], float)

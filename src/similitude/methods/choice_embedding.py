"""Vectors from answers as they were given: each answer is one choice among its alternatives.

    min over N, E of   mean of -log P(answer) + map_penalty · |N|²/n + penalty · |E|²/n,   vectors X = Φ N + E

P is the softmax over the pairs that could have been picked (`engine.choice_terms`), by the dot products of their
vectors, or by minus their squared distances. Φ holds the features of all modalities side by side, each whitened and
scaled to a mean squared distance of 2 between items, and for dot products a column of ones, without which vectors of
centred features could not say that an item is like many. Without features X = E.

Ridges on N and E are trace norms of the kernels they give, so that the number of dimensions is learned: it need only be
large enough. Their strengths are those at which answers by chance would teach nothing (`engine.noise`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import field
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from similitude.engine.choice_terms import Picked
from similitude.engine.measures import SignedProduct
from similitude.engine.models import DotProducts, Model, Positions
from similitude.engine.noise import leading, noise_level, slopes_at_zero
from similitude.engine.penalties import Blocks, Penalty, Ridge
from similitude.engine.problem import Problem
from similitude.engine.solvers.lbfgs import lbfgs
from similitude.engine.solvers.result import Callback, Result
from similitude.engine.starts import best_scale
from similitude.engine.terms import ComparisonLoss, Formula, logistic, squared
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.whole_answers import choices_of
from similitude.kernels.base import Kernel
from similitude.methods.feature_base import Feedback, FreeRestEstimator
from similitude.methods.modalities import Modality, per_modality, side_by_side, whitened
from similitude.settings import check_count, check_number, one_of
from similitude.types import Floats, Seed

_LOSS = ComparisonLoss(Formula(squared), Formula(logistic))


class ChoiceEmbedding(FreeRestEstimator):
    """Vectors whose dot products (or distances) give each answer its probability among what could have been said.

    An odd one out is one choice among three pairs, a pick of k from a grid one among all sets of k, a ranking a choice
    from what is left each time; triplets and comparisons of pairs are choices of two. The number of dimensions is
    learned: more of them than are needed do no harm.

    Parameters
    ----------
    n_components : most dimensions
    similarity : "dot", products of vectors, which know items that are like many others and items that are like none;
        or "distance", minus the squared distance
    penalty : strength of the ridge on what is free for each item; "auto" is the strength at which answers by chance
        would teach nothing
    map_penalty : the same for the map of the features
    n_items : number of items, where it is more than the comparisons show
    random_state : seed or generator, of the noise level and the start
    max_iter : most iterations
    tol : stop when an iteration gains less than this share of the objective

    Attributes
    ----------
    embedding_ : (n, d) the vectors
    residual_ : (n, d) what is free in each item's vector: what the features do not say
    n_dimensions_ : how many dimensions were needed: those with at least a hundredth of the largest one's weight
    penalty_, map_penalty_ : the penalties that were used
    similarity_ : the fitted model in use
    objective_ : value of the objective
    n_iter_, status_ : iterations, and how the solver ended ("converged", "max_iter", "stalled")

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 600, "odd_one_out", random_state=0)
    >>> model = sm.ChoiceEmbedding(10, similarity="distance", random_state=0).fit(answers)
    >>> model.n_dimensions_ < 10, sm.answer_accuracy(model, answers) > 0.9
    (True, True)
    """

    features_optional = learns_rank = True

    n_components: int = field(default=50, kw_only=False)
    similarity: Literal["dot", "distance"] = "dot"
    penalty: float | Literal["auto"] = "auto"
    map_penalty: float | Literal["auto"] = "auto"
    n_items: int | None = None
    random_state: Seed = None
    max_iter: int = 1000
    tol: float = 1e-6

    def _check(self) -> None:
        check_count("n_components", self.n_components)
        one_of("similarity", self.similarity, ("dot", "distance"))
        check_number("penalty", self.penalty, positive=True, also="auto")
        check_number("map_penalty", self.map_penalty, positive=True, also="auto")

    def _modality(self) -> Callable[[Kernel], Modality]:
        return whitened

    def _read_features(self, features: Any, c: Comparisons) -> tuple[dict[str, Modality], Comparisons]:
        return ({}, c) if features is None else super()._read_features(features, c)

    def _free_rest(self) -> Floats:
        return self.residual_

    @property
    def _dot(self) -> bool:
        return self.similarity == "dot"

    def _fit(self, feedback: Feedback, callback: Callback | None) -> None:
        rng, n = np.random.default_rng(self.random_state), feedback.graph.n_items
        term, features = Picked(_LOSS.scale, choices_of(feedback.comparisons)), self._columns(n)
        vectors = Positions(n, self.n_components, features=features, residual=features is not None)
        model: Model = DotProducts(vectors) if self._dot else vectors
        problem = Problem(model, term, self._priced(term, vectors, feedback.n_compared, rng))
        start = best_scale(problem, self._start(term, vectors, rng))
        best = lbfgs(problem, start, max_iter=self.max_iter, tol=self.tol, callback=callback)
        self._keep(best, vectors, feedback)

    def _columns(self, n_items: int) -> Floats | None:
        """Φ of all modalities; a column of ones beside it where products are learned."""
        if not self.modalities_:
            return None
        columns = side_by_side(self.modalities_)
        return np.hstack([columns, np.ones((n_items, 1))]) if self._dot else columns

    def _priced(self, term: Picked, vectors: Positions, count: int, rng: np.random.Generator) -> Penalty:
        n = vectors.n_items
        free = noise_level(term, n, self._dot, rng=rng) if self.penalty == "auto" else float(self.penalty)
        self.penalty_ = free
        if vectors.features is None:
            self.map_penalty_ = float("nan")
            return Ridge(free, count)
        mapped = vectors.features[:, : -1 if self._dot else None]
        automatic = self.map_penalty == "auto"
        self.map_penalty_ = noise_level(term, n, self._dot, mapped, rng=rng) if automatic else float(self.map_penalty)
        cut = vectors.features.shape[1] * self.n_components
        return Blocks([(Ridge(self.map_penalty_, count), cut), (Ridge(free, count), vectors.size - cut)])

    def _start(self, term: Picked, vectors: Positions, rng: np.random.Generator) -> Floats:
        """The leading directions in which the answers pull from 0, and a little chance in every other."""
        S, F = slopes_at_zero(term, vectors.n_items, self._dot), vectors.features
        pull = S if F is None else F.T @ (S @ F)
        values, directions = leading(pull, min(self.n_components, pull.shape[0]), rng)
        start = 0.01 * rng.normal(size=vectors.shape)
        strength = np.sqrt(np.maximum(values, 0.0) / max(float(values[0]), 1e-300) * pull.shape[0])
        start[: pull.shape[0], : len(values)] += directions * strength
        return start.ravel()

    def _keep(self, best: Result, vectors: Positions, feedback: Feedback) -> None:
        params, X = best.params.reshape(vectors.shape), vectors.positions(best.params)
        X, turn = _principal(X)
        params = params @ turn
        mapped = 0 if vectors.features is None else vectors.features.shape[1]
        self.residual_ = params[mapped:]
        self.maps_ = per_modality(self.modalities_, params[: mapped - self._dot]) if mapped else {}
        self.origin_ = -params[mapped - 1] if mapped and self._dot else np.zeros(self.n_components)
        weight = (X**2).sum(0)
        self.n_dimensions_ = int((weight > 0.01 * weight[0]).sum())
        further = {"form": SignedProduct(X, -np.ones(X.shape[1]))} if self._dot else {}
        self.similarity_ = self._in_use(X, _LOSS, feedback.comparisons.names, **further)
        self.objective_, self.n_iter_, self.status_ = best.value, best.n_iter, best.status
        if not best.ok:
            warnings.warn(
                f"ChoiceEmbedding did not converge ({best.status} after {best.n_iter} iterations): "
                "raise max_iter, or tol",
                ConvergenceWarning,
                stacklevel=4,
            )


def _principal(X: Floats) -> tuple[Floats, Floats]:
    """Return vectors turned so that the first dimension weighs most, and the turn."""
    turn = np.linalg.svd(X, full_matrices=False)[2].T
    signs = np.where((X @ turn).sum(0) < 0, -1.0, 1.0)
    return X @ (turn * signs), turn * signs

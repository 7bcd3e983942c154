"""Vectors from answers as they were given: each answer is one choice among its alternatives.

    min over N, E of   mean of -log P(answer) + map_penalty · |N|²/n + penalty · |E|²/n,   vectors X = Φ N + E

P is the softmax over the pairs that could have been picked (`engine.choice_terms`), by the dot products of their
vectors, or by minus a scale of their squared distances. Φ holds the features of all modalities side by side, each
whitened and scaled to a mean squared distance of 2 between items, and for dot products a column of ones, without which
vectors of centred features could not say that an item is like many. Without features X = E.

Ridges on N and E are trace norms of the kernels they give, so that the number of dimensions is learned: it need only be
large enough. Their strengths are those at which answers by chance would teach nothing (`engine.noise`). A lapse, and
the sharpness of raters, are fitted at once with the vectors (`engine.sources`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import field, replace
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from similitude.engine.backend import Backend
from similitude.engine.choice_terms import Picked
from similitude.engine.devices import backend_on, choose_device, solvers_of
from similitude.engine.measures import SignedProduct
from similitude.engine.models import DotProducts, Positions
from similitude.engine.noise import leading, noise_level, slopes_at_zero
from similitude.engine.penalties import Blocks, Penalty, Ridge
from similitude.engine.problem import Problem
from similitude.engine.solvers.result import Callback, Result
from similitude.engine.sources import Sources
from similitude.engine.starts import best_scale
from similitude.engine.terms import ComparisonLoss, Formula, logarithm, logistic, squared, student
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.whole_answers import choices_of
from similitude.kernels.base import Kernel
from similitude.methods.answering import Sharpness, raters_of
from similitude.methods.feature_base import Feedback, FreeRestEstimator
from similitude.methods.likelihood import answer_counts
from similitude.methods.modalities import Modality, per_modality, side_by_side, whitened
from similitude.settings import check_count, check_number, one_of
from similitude.types import Floats, Seed

_SCALES = {
    "dot": Formula(squared),
    "distance": Formula(squared),
    "student": Formula(student, 1.0),
    "ratio": Formula(logarithm, 0.05),
}


class ChoiceEmbedding(FreeRestEstimator):
    """Vectors whose dot products (or distances) give each answer its probability among what could have been said.

    An odd one out is one choice among three pairs, a pick of k from a grid one among all sets of k, a ranking a choice
    from what is left each time; triplets and comparisons of pairs are choices of two. The number of dimensions is
    learned: more of them than are needed do no harm.

    Parameters
    ----------
    n_components : most dimensions
    similarity : "dot", products of vectors, which know items that are like many others and items that are like none;
        "distance", minus the squared distance, as in STE; "student", minus log(1 + squared distance), as in t-STE;
        "ratio", minus log(0.05 + squared distance), as in CKL
    penalty : strength of the ridge on what is free for each item; "auto" is the strength at which answers by chance
        would teach nothing
    map_penalty : the same for the map of the features
    lapse : share of answers given by chance, whatever was asked: a number, 0 for none, or "auto", learned with the rest
    raters : whether raters differ: each has a sharpness, and with lapse="auto" a lapse; who answered stands in the
        comparisons. `RaterEmbedding` learns how far they differ, too, and gives intervals
    n_items : number of items, where it is more than the comparisons show
    device : "cpu", "cuda" (a GPU, through torch, in 32-bit numbers), or "auto": a GPU where there is one and there are
        comparisons enough to pay for the way there
    random_state : seed or generator, of the noise level and the start
    max_iter : most iterations
    tol : stop when an iteration gains less than this share of the objective

    Attributes
    ----------
    embedding_ : (n, d) the vectors
    residual_ : (n, d) what is free in each item's vector: what the features do not say
    n_dimensions_ : how many dimensions were needed: those with at least a hundredth of the largest one's weight
    penalty_, map_penalty_ : the penalties that were used
    lapse_ : the share of answers given by chance; with raters that of a typical one
    raters_ : table with a row per rater, where they differ: `rater`, `answers`, `sharpness` (1 on average), `lapse`
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
    similarity: Literal["dot", "distance", "student", "ratio"] = "dot"
    penalty: float | Literal["auto"] = "auto"
    map_penalty: float | Literal["auto"] = "auto"
    lapse: float | Literal["auto"] = 0.0
    raters: bool = False
    n_items: int | None = None
    device: str = "auto"
    random_state: Seed = None
    max_iter: int = 1000
    tol: float = 1e-6

    def _check(self) -> None:
        check_count("n_components", self.n_components)
        one_of("similarity", self.similarity, tuple(_SCALES))
        check_number("penalty", self.penalty, positive=True, also="auto")
        check_number("map_penalty", self.map_penalty, positive=True, also="auto")
        check_number("lapse", self.lapse, also="auto")
        if self.lapse != "auto" and not 0.0 <= self.lapse < 1.0:
            raise ValueError(f"lapse: expected a share of at least 0 and less than 1, or 'auto', found {self.lapse}")

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
        rng, n, c = np.random.default_rng(self.random_state), feedback.graph.n_items, feedback.comparisons
        names, term = self._term(c)
        vectors = self._vectors(self._columns(n), n)
        penalty = self._priced(term, vectors, feedback.n_compared, rng)
        start = self._start(term, vectors, rng)
        backend = backend_on(choose_device(self.device, len(c)))
        alike = self._problem(term.alike(), vectors, penalty, backend)
        best = self._solve(alike, best_scale(alike, backend.tensor(start)), callback)
        if term.size:  # from where people do not differ: else who lapses often may end as somebody dull
            problem = self._problem(term, vectors, penalty, backend)
            best = self._solve(problem, problem.start(backend.tensor(best.params)), callback)
        self._keep(best, vectors, feedback)
        self._keep_sources(term.sources, names, best.params[vectors.size :], c)

    def _term(self, c: Comparisons) -> tuple[tuple[str, ...], Picked]:
        """Who the raters are, where they differ, and the likelihood of the answers."""
        names, said_by = raters_of(c) if self.raters else ((), np.zeros(0, int))
        lapse = None if self.lapse == "auto" else float(self.lapse)
        if not names:
            return names, Picked(_SCALES[self.similarity], choices_of(c), lapse=lapse)
        rater = np.full(c.n_answers, -1)
        rater[c.answer] = said_by
        return names, Picked(_SCALES[self.similarity], choices_of(c), rater=rater, n_raters=len(names), lapse=lapse)

    def _vectors(self, features: Any, n_items: int) -> Positions:
        return Positions(n_items, self.n_components, features=features, residual=features is not None)

    def _problem(self, term: Picked, vectors: Positions, penalty: Penalty, backend: Backend) -> Problem:
        """The problem where a backend works."""
        features = None if vectors.features is None else backend.tensor(vectors.features)
        there = self._vectors(features, vectors.n_items)
        return Problem(DotProducts(there) if self._dot else there, term.on(backend), penalty, backend=backend)

    def _solve(self, problem: Problem, start: Any, callback: Callback | None) -> Result:
        lbfgs, at = solvers_of(problem.backend)[0], problem.backend.host(start)
        return lbfgs(problem, at, max_iter=self.max_iter, tol=self.tol, callback=callback)

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
        found = best.params[: vectors.size]
        params, X = found.reshape(vectors.shape), vectors.positions(found)
        X, turn = _principal(X)
        params = params @ turn
        mapped = 0 if vectors.features is None else vectors.features.shape[1]
        self.residual_ = params[mapped:]
        self.maps_ = per_modality(self.modalities_, params[: mapped - self._dot]) if mapped else {}
        self.origin_ = -params[mapped - 1] if mapped and self._dot else np.zeros(self.n_components)
        weight = (X**2).sum(0)
        self.n_dimensions_ = int((weight > 0.01 * weight[0]).sum())
        further = {"form": SignedProduct(X, -np.ones(X.shape[1]))} if self._dot else {}
        loss = ComparisonLoss(_SCALES[self.similarity], Formula(logistic))
        self.similarity_ = self._in_use(X, loss, feedback.comparisons.names, **further)
        self.objective_, self.n_iter_, self.status_ = best.value, best.n_iter, best.status
        if not best.ok:
            warnings.warn(
                f"ChoiceEmbedding did not converge ({best.status} after {best.n_iter} iterations): "
                "raise max_iter, or tol",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _keep_sources(self, sources: Sources, names: tuple[str, ...], own: Floats, c: Comparisons) -> None:
        """What was learned of those who answered."""
        import pandas as pd

        known = Sharpness.of(names, sources, own)
        self.lapse_ = float(known.lapse[-1])
        figures = {"sharpness": known.sharpness[:-1], "lapse": known.lapse[:-1]}
        self.raters_ = pd.DataFrame({"rater": names, "answers": answer_counts(c) if names else []} | figures)
        if names or self.lapse_ > 0:
            self.similarity_ = replace(self.similarity_, answering=known)


def _principal(X: Floats) -> tuple[Floats, Floats]:
    """Return vectors turned so that the first dimension weighs most, and the turn."""
    turn = np.linalg.svd(X, full_matrices=False)[2].T
    signs = np.where((X @ turn).sum(0) < 0, -1.0, 1.0)
    return X @ (turn * signs), turn * signs

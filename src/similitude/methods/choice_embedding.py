"""Vectors from answers as they were given: each answer is one choice among its alternatives.

    min over N, E of   mean of -log P(answer) + map_penalty · |N|²/n + penalty · |E|²/n,   vectors X = Φ N + E

P is the softmax over the pairs that could have been picked (`engine.choice_terms`), by the dot products of their
vectors, or by minus a scale of their squared distances. Φ holds the features of all modalities side by side, each
whitened and scaled to a mean squared distance of 2 between items, and for dot products a column of ones, without which
vectors of centred features could not say that an item is like many. Without features X = E.

Ridges on N and E are trace norms of the kernels they give, so that the number of dimensions is learned: it need only be
large enough. At the strengths at which answers by chance would teach nothing (`engine.noise`) they find it; but there
they also press the vectors together, so that without features those dimensions are fitted again at a lower price, 0.3
of it (chosen on simulated answers, 30 to 100 items in 2 to 20 dimensions, after a look at cars, food and THINGS). With
features the noise level serves as it is: on validation answers of THINGS lower ones are worse. A lapse, and the
sharpness of raters, are fitted at once with the vectors (`engine.sources`), and so is how often people cannot tell.
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
from similitude.engine.penalties import Blocks, Ridge
from similitude.engine.problem import Problem
from similitude.engine.solvers.result import Callback, Result
from similitude.engine.sources import Sources
from similitude.engine.starts import best_scale
from similitude.engine.terms import ComparisonLoss, Formula, logarithm, logistic, squared, student
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.whole_answers import choices_of
from similitude.kernels.base import Kernel
from similitude.methods.answering import Sharpness, answerers
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
_RELAXED = 0.3  # of the noise level: where the dimensions that it leaves are fitted
_NEEDED = 0.01  # of the weight of the largest dimension: one with less is none
_NOTHING = 0.02  # the mean square of a dimension that moves the odds of answers by some hundredths at most


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
        would teach nothing; without features, it finds the dimensions, which are then fitted at 0.3 of it
    map_penalty : the same for the map of the features
    lapse : share of answers given by chance, whatever was asked: a number, 0 for none, or "auto", learned with the rest
    cant_tell : share of "can't tell" where nothing speaks for any alternative: a number, "auto", learned with the rest,
        or 0, where such answers teach nothing. As an outcome of its own (Davidson's) it says that alternatives are
        about equal
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
    cant_tell_ : the share of "can't tell" where nothing speaks for any alternative; `similarity_.predict_cant_tell`
        has that of any question
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
    cant_tell: float | Literal["auto"] = 0.0
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
        for name, share in (("lapse", self.lapse), ("cant_tell", self.cant_tell)):
            check_number(name, share, also="auto")
            if share != "auto" and not 0.0 <= share < 1.0:
                raise ValueError(f"{name}: expected a share of at least 0 and less than 1, or 'auto', found {share}")

    def _modality(self) -> Callable[[Kernel], Modality]:
        return whitened

    def _free_rest(self) -> Floats:
        return self.residual_

    @property
    def _dot(self) -> bool:
        return self.similarity == "dot"

    def _fit(self, feedback: Feedback, callback: Callback | None) -> None:
        rng, n, c = np.random.default_rng(self.random_state), feedback.graph.n_items, feedback.comparisons
        names, term = self._term(c)
        vectors = self._vectors(self._columns(n), n, self.n_components)
        strengths = self._strengths(term, vectors, rng)
        backend, count = backend_on(choose_device(self.device, len(c))), feedback.n_compared
        alike = self._problem(term.alike(), vectors, strengths, count, backend)
        best = self._solve(alike, best_scale(alike, backend.tensor(self._start(term, vectors, rng))), callback)
        asked, start = _asked_for(best, vectors)
        if asked and self.penalty == "auto" and not self.modalities_:
            vectors, strengths = self._vectors(None, n, asked), (_RELAXED * strengths[0], strengths[1])
            alike = self._problem(term.alike(), vectors, strengths, count, backend)
            best = self._solve(alike, backend.tensor(start), callback)
        if term.size:  # from where people do not differ: else who lapses often may end as somebody dull
            problem = self._problem(term, vectors, strengths, count, backend)
            best = self._solve(problem, problem.start(backend.tensor(best.params)), callback)
        self.penalty_, self.map_penalty_ = strengths
        self._keep(best, vectors, feedback)
        self._keep_sources(term.sources, names, best.params[vectors.size :], c)

    def _term(self, c: Comparisons) -> tuple[tuple[str, ...], Picked]:
        """Who the raters are, where they differ, and the likelihood of the answers."""
        names, rater = answerers(c) if self.raters else ((), None)
        lapse, unsure = (None if share == "auto" else float(share) for share in (self.lapse, self.cant_tell))
        who = rater if names else None
        said = choices_of(c, cant_tell=unsure != 0.0)
        term = Picked(_SCALES[self.similarity], said, rater=who, n_raters=len(names), lapse=lapse, unsure=unsure)
        return names, term

    def _vectors(self, features: Any, n_items: int, n_components: int) -> Positions:
        return Positions(n_items, n_components, features=features, residual=features is not None)

    def _problem(
        self, term: Picked, vectors: Positions, strengths: tuple[float, float], count: int, backend: Backend
    ) -> Problem:
        """The problem where a backend works."""
        features = None if vectors.features is None else backend.tensor(vectors.features)
        there = self._vectors(features, vectors.n_items, vectors.shape[1])
        free, mapped = (Ridge(one, count) for one in strengths)
        cut = vectors.size - vectors.n_items * vectors.shape[1]
        penalty = free if features is None else Blocks([(mapped, cut), (free, vectors.size - cut)])
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

    def _strengths(self, term: Picked, vectors: Positions, rng: np.random.Generator) -> tuple[float, float]:
        """Penalties of what is free and of the map: those given, else the noise level; without a map it has none."""
        n, F = vectors.n_items, vectors.features
        free = noise_level(term, n, self._dot, rng=rng) if self.penalty == "auto" else float(self.penalty)
        if F is None:
            return free, float("nan")
        if self.map_penalty != "auto":
            return free, float(self.map_penalty)
        return free, noise_level(term, n, self._dot, F[:, : -1 if self._dot else None], rng=rng)

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
        X, params = _principal(best, vectors)
        weight = (X**2).sum(0)
        self.n_dimensions_ = int((weight > _NEEDED * weight[0]).sum())
        more = ((0, 0), (0, self.n_components - vectors.shape[1]))  # dimensions that nobody asked for
        X, params = np.pad(X, more), np.pad(params, more)
        mapped = 0 if vectors.features is None else vectors.features.shape[1]
        self.residual_ = params[mapped:]
        self.maps_ = per_modality(self.modalities_, params[: mapped - self._dot]) if mapped else {}
        self.origin_ = -params[mapped - 1] if mapped and self._dot else np.zeros(self.n_components)
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
        self.lapse_, self.cant_tell_ = float(known.lapse[-1]), known.cant_tell
        figures = {"sharpness": known.sharpness[:-1], "lapse": known.lapse[:-1]}
        self.raters_ = pd.DataFrame({"rater": names, "answers": answer_counts(c) if names else []} | figures)
        if names or self.lapse_ > 0 or self.cant_tell_ > 0:
            self.similarity_ = replace(self.similarity_, answering=known)


def _asked_for(best: Result, vectors: Positions) -> tuple[int, Floats]:
    """Return how many dimensions the answers ask for, 0 where they teach nothing, and the parameters in these."""
    X, params = _principal(best, vectors)
    size = (X**2).mean(0)
    count = int((size > _NEEDED * size[0]).sum()) if size[0] > _NOTHING else 0
    return count, params[:, :count]


def _principal(best: Result, vectors: Positions) -> tuple[Floats, Floats]:
    """Return vectors turned so that the first dimension weighs most, and the model's parameters turned alike."""
    found = best.params[: vectors.size]
    X, params = vectors.positions(found), found.reshape(vectors.shape)
    turn = np.linalg.svd(X, full_matrices=len(X) < X.shape[1])[2].T  # all axes, even of fewer items
    turn *= np.where((X @ turn).sum(0) < 0, -1.0, 1.0)
    return X @ turn, params @ turn

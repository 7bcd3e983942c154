"""Vectors from answers as they were given: each answer is one choice among its alternatives.

    min over N, E of   mean of -log P(answer) + map_penalty · |N|²/n + penalty · |E|²/n,   vectors X = Φ N + E

P is the softmax over the pairs that could have been picked (`engine.choice_terms`), by the dot products of their
vectors, or by minus a scale of their squared distances. Φ holds the features of all modalities side by side, each
whitened and scaled to a mean squared distance of 2 between items, and for dot products a column of ones, without which
vectors of centred features could not say that an item is like many. Without features X = E, and for dot products
1 b' + E with a vector b that all share: the ridge would else take what is like many for a dimension as dear as any.

Ridges on N and E are trace norms of the kernels they give, so that the number of dimensions is learned: it need only be
large enough. At the strengths at which answers by chance would teach nothing (`engine.noise`) they find it; but there
they also press the vectors together, so that without features those dimensions are fitted again at a lower price, 0.3
of it (chosen on simulated answers, 30 to 100 items in 2 to 20 dimensions, after a look at cars, food and THINGS). With
features that make up most of the vectors the noise level serves as it is: on validation answers of THINGS lower ones
are worse. Where they make up less, what is free is fitted at the lower price, too, so that features which say little do
no harm. Where answers are few and items many, held-out answers are asked whether all this says too much (on THINGS with
1,000 to 12,000 answers it did, and was worse than chance below 6,000). A lapse, and the sharpness of raters, are fitted
at once with the vectors (`engine.sources`), and so is how often people cannot tell. Weights of raters come after these
(`methods.rater_weights`), in up to three dimensions more: what one rater looks at, answers of all may not ask for.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from similitude.engine.backend import CPU, Backend
from similitude.engine.choice_shards import ChoiceRule
from similitude.engine.choice_terms import Picked
from similitude.engine.devices import backend_on, choose_device, solvers_of
from similitude.engine.measures import Euclidean, Measure, SignedProduct
from similitude.engine.models import DotProducts, Positions
from similitude.engine.noise import noise_level, shared_level
from similitude.engine.problem import Problem
from similitude.engine.solvers.result import Callback, Result
from similitude.engine.starts import best_scale
from similitude.engine.terms import ComparisonLoss, Formula, logistic
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike
from similitude.feedback.forms.alternatives import Alternatives
from similitude.feedback.items import Names
from similitude.feedback.shards import Shards
from similitude.feedback.whole_answers import choices_of
from similitude.kernels.base import Kernel
from similitude.kernels.modalities import Features
from similitude.methods.answering import Sharpness, Weighed, answerers
from similitude.methods.choice_stages import (
    NEEDED,
    SCALES,
    Solve,
    Staged,
    Stages,
    are_few,
    asked_for,
    principal,
    ridges,
    vectors_of,
)
from similitude.methods.feature_base import Feedback, FreeRestEstimator
from similitude.methods.held_out_dimensions import folds
from similitude.methods.likelihood import answer_counts
from similitude.methods.modalities import Modality, per_modality, side_by_side, whitened
from similitude.methods.provenance import described_shards
from similitude.methods.rater_weights import HeldOutPart, WithoutWeights, as_raters_see, spread_asked_for
from similitude.methods.sharded_choices import InShards
from similitude.methods.unpressed import unpressed_share
from similitude.settings import check_count, check_number, one_of
from similitude.types import Array, Floats, Seed

_MORE = 3  # dimensions beyond those that everybody's answers together ask for, where raters weigh them differently


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
    penalty : strength of the ridge on what is free for each item; "noise_level" is the strength at which answers by
        chance would teach nothing; without features, it finds the dimensions, which are then fitted at 0.3 of it.
        "auto" is the same, or more where there are fewer than ten answers an item and held-out ones ask for it
    map_penalty : the same for the map of the features
    lapse : share of answers given by chance, whatever was asked: a number, 0 for none, or "auto", learned with the rest
    cant_tell : share of "can't tell" where nothing speaks for any alternative: a number, "auto", learned with the rest,
        or 0, where such answers teach nothing. As an outcome of its own (Davidson's) it says that alternatives are
        about equal
    raters : whether raters differ: each has a sharpness, and with lapse="auto" a lapse; who answered stands in the
        comparisons. `RaterEmbedding` learns how far they differ, too, and gives intervals. "weights": each also weighs
        the dimensions in a way of their own (INDSCAL, Carroll & Chang 1970), where held-out answers surely ask for it:
        squared distances are sum_k w_rk (x_ik - x_jk)², products sum_k w_rk x_ik x_jk. Raters who differ fix the
        dimensions, up to order and sign
    spread : how far raters differ in their weights, the standard deviation of the weights' logarithms; "auto" learns it
        from held-out answers, and takes no weights where these do not surely ask for any
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
    cant_tell_ : the share of "can't tell" where nothing speaks for any alternative, freed of the press of the penalty
        (`methods.unpressed`); `similarity_.cant_tell` is smaller, as it suits the pressed vectors, and
        `similarity_.predict_cant_tell` has the share of any question
    raters_ : table with a row per rater, where they differ: `rater`, `answers`, `sharpness` (1 on average), `lapse`,
        and with weights that of each dimension needed, `w1`, `w2`, ...
    weights_ : (raters, d) weight of each dimension to each rater, 1 on average over answers; 1 for all without weights
    spread_ : of the logarithms of the weights, as given or as held-out answers ask for it; 0 where all are 1
    similarity_ : the fitted model in use
    levels_ : the penalties at which dimensions were found: those given, else the levels of noise
    point_ : (q + n, d) the parameters, of the map and free, where a further fit may start
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

    Raters who weigh the dimensions differently, here each one alone:

    >>> said = [
    ...     sm.simulate(truth * see, 150, "odd_one_out", raters=sm.Raters.of([3.0], names=[who]), random_state=0)
    ...     for who, see in {"ann": [1.5, 0.1], "ben": [0.1, 1.5], "cem": [1.5, 0.1], "dot": [0.1, 1.5]}.items()
    ... ]
    >>> model = sm.ChoiceEmbedding(4, similarity="distance", raters="weights", random_state=0)
    >>> table = model.fit(sm.Comparisons.concatenate(said)).raters_.set_index("rater")
    >>> (table.loc[["ann", "cem"]] > table.loc[["ben", "dot"]].values).w1.nunique()  # both above, or both below
    1
    """

    features_optional = learns_rank = True

    n_components: int = field(default=50, kw_only=False)
    similarity: Literal["dot", "distance", "student", "ratio"] = "dot"
    penalty: float | Literal["auto", "noise_level"] = "auto"
    map_penalty: float | Literal["auto"] = "auto"
    lapse: float | Literal["auto"] = 0.0
    cant_tell: float | Literal["auto"] = 0.0
    raters: bool | Literal["weights"] = False
    spread: float | Literal["auto"] = "auto"
    n_items: int | None = None
    device: str = "auto"
    random_state: Seed = None
    max_iter: int = 1000
    tol: float = 1e-6

    lapse_: float = field(init=False)
    cant_tell_: float = field(init=False)
    raters_: Any = field(init=False)
    weights_: Floats = field(init=False)
    spread_: float = field(init=False)

    def _check(self) -> None:
        check_count("n_components", self.n_components)
        one_of("similarity", self.similarity, tuple(SCALES))
        if self.penalty != "noise_level":
            check_number("penalty", self.penalty, positive=True, also="auto")
        check_number("map_penalty", self.map_penalty, positive=True, also="auto")
        if not isinstance(self.raters, (bool, np.bool_)):
            one_of("raters", self.raters, (False, True, "weights"))
        check_number("spread", self.spread, positive=True, also="auto")
        if self.spread != "auto" and self.raters != "weights":
            raise ValueError(f"spread: {self.spread} is that of raters' weights; expected raters='weights' beside it")
        for name, share in (("lapse", self.lapse), ("cant_tell", self.cant_tell)):
            check_number(name, share, also="auto")
            if share != "auto" and not 0.0 <= share < 1.0:
                raise ValueError(f"{name}: expected a share of at least 0 and less than 1, or 'auto', found {share}")

    def _modality(self) -> Callable[[Kernel], Modality]:
        return whitened

    def _free_rest(self) -> Floats:
        return self.residual_

    @property
    def _by_noise(self) -> bool:
        return self.penalty in ("auto", "noise_level")

    @property
    def _dot(self) -> bool:
        return self.similarity == "dot"

    @property
    def _stages(self) -> Stages:
        return Stages(self.similarity, bool(self.modalities_), self.map_penalty == "auto")

    def _fit(self, feedback: Feedback, callback: Callback | None) -> None:
        rng, n, c = np.random.default_rng(self.random_state), feedback.graph.n_items, feedback.comparisons
        names, rater = answerers(c) if self.raters else ((), None)
        said, who = choices_of(c, cant_tell=self.cant_tell != 0.0), None if rater is None or not names else rater
        term = self._picked(said, who, len(names))
        wide = vectors_of(self._columns(n), n, self.n_components)
        self.levels_ = levels = self._strengths(term, wide, rng)
        backend, count = backend_on(choose_device(self.device, len(c))), feedback.n_compared

        def solver(term: Picked, callback: Callback | None = callback) -> Solve:
            def solve(vectors: Positions, strengths: tuple[float, float], start: Floats | None) -> Result:
                alike = self._problem(term.alike(), vectors, strengths, count, backend)
                given = backend.tensor(self._stages.start(term, vectors, rng) if start is None else start)
                return self._solve(alike, best_scale(alike, given) if start is None else given, callback)

            return solve

        relaxed = self._by_noise
        if self.penalty == "auto" and are_few(c.n_answers, count):

            def solver_of(training: Sequence[Alternatives]) -> Solve:
                return solver(self._picked(training), None)

            per_item = c.n_answers / count
            levels, relaxed = self._stages.without_harm(choices_of(c), per_item, solver_of, wide, levels, rng)

        def fitted(term: Picked, callback: Callback | None = callback, more: int = 0) -> Staged:
            best, narrow, at = self._stages(solver(term, callback), wide, levels, relaxed, more)
            if term.size:  # from where people do not differ: else who lapses often may end as somebody dull
                problem = self._problem(term, narrow, at, count, backend)
                best = self._solve(problem, problem.start(backend.tensor(best.params)), callback)
            return best, narrow, at

        best, vectors, strengths = fitted(term)
        weights, unlike, self.spread_ = None, None, 0.0
        if self.raters == "weights" and who is not None and len(np.unique(who)) > 1:  # who is alone differs from nobody
            weighed = self._weigh(fitted, c, who, len(names), count, rng)
            best, vectors, weights, term, unlike = (best, vectors, None, term, None) if weighed is None else weighed
        own = best.params[len(best.params) - term.size :]
        self.penalty_, self.map_penalty_ = strengths[0], strengths[1] if self.modalities_ else float("nan")
        turn = self._keep(best, vectors, c.names, turned=weights is None)
        if unlike is None:
            unlike = self.similarity_.measure.of_pairs(term.pairs)
        self._keep_sources(term, unlike, names, own, c, None if weights is None else weights @ np.abs(turn))

    def fit(
        self,
        comparisons: ComparisonsLike | Shards,
        y: npt.ArrayLike | None = None,
        *,
        features: Features | None = None,
        callback: Callback | None = None,
    ) -> Self:
        """Learn from answers and, where there are some, features.

        Parameters
        ----------
        comparisons : a `Comparisons`, or an array of rows `(i, j, k)` or `(i, j, k, l)`; or, where they do not fit in
            memory, a `ComparisonDataset` of whole answers (`ComparisonWriter(whole=True)`) or what `spread` makes of it
        y : booleans or +1/-1 per comparison, False or -1 where it is the other way round
        features : None, an array with a row per item, a kernel, or a dict of these by modality
        callback : called after each iteration with its number and the objective, of each start in turn; it may raise
            to interrupt
        """
        if not isinstance(comparisons, Shards):
            return super().fit(comparisons, y, features=features, callback=callback)
        self._check()
        if y is not None or self.raters or self.n_items not in (None, comparisons.n_items):
            raise ValueError(
                "y, raters, n_items: answers in shards know their items, and not who answered; leave them out"
            )
        said = InShards(self, comparisons, features, np.random.default_rng(self.random_state), callback)
        self._learned_from = described_shards(comparisons, said.compared)
        self._fit_shards(said)
        return self

    def _fit_shards(self, said: InShards) -> None:
        """As `_fit`, begun by the fit of a sample."""
        sample, n = said.sample, said.shards.n_items
        self.modalities_ = sample.modalities_
        vectors = vectors_of(self._columns(n), n, self.n_components)

        def solve(vectors: Positions, strengths: tuple[float, float], start: Floats | None) -> Result:
            return said.solve(vectors, ridges(vectors, strengths, int(said.compared.sum())), start)

        best, vectors, strengths = self._stages(solve, vectors, said.levels, self._by_noise)
        self.penalty_, self.map_penalty_ = strengths[0], strengths[1] if self.modalities_ else float("nan")
        self._keep(best, vectors, said.shards.names)
        self.levels_, self.lapse_, self.cant_tell_, self.raters_, self.weights_, self.spread_ = (
            said.levels, sample.lapse_, sample.cant_tell_, sample.raters_, sample.weights_, sample.spread_,
        )  # fmt: skip
        self.similarity_ = replace(self.similarity_, answering=sample.similarity_.answering)

    def choice_rule(self) -> ChoiceRule:
        """Return how choices depend on vectors, as it was learned."""
        return ChoiceRule(SCALES[self.similarity], self._dot, self.lapse_, self.similarity_.cant_tell)

    def _weigh(
        self,
        fitted: Callable[[Picked, None, int], Staged],
        c: Comparisons,
        rater: Array,
        n_raters: int,
        count: int,
        rng: np.random.Generator,
    ) -> tuple[Result, Positions, Floats, Picked, Floats] | None:
        """The fit with weights of raters, its vectors, the weights, and what was said about pairs that are so unlike.

        None where weights are not sure to help.

        They are fitted on the CPU, in a few more dimensions than are needed without them.
        """

        def usual(problem: Problem, start: Floats, steps: int | None) -> Result:
            return self._solve(problem, start, None, steps)

        def begun(said: Sequence[Alternatives], more: int = _MORE) -> WithoutWeights | None:
            best, vectors, strengths = fitted(self._picked(said, rater, n_raters), None, more)
            asked, rows = asked_for(best, vectors)
            narrow = vectors_of(vectors.features, vectors.n_items, asked)
            params = np.concatenate([rows.ravel(), best.params[vectors.size :]])
            seen = self._picked(as_raters_see(said, rater, n_raters, c.n_items), rater, n_raters)
            model = DotProducts(narrow) if self._dot else narrow
            return WithoutWeights(model, ridges(narrow, strengths, count), seen, params) if asked else None

        whole = begun(choices_of(c, cant_tell=self.cant_tell != 0.0))
        if whole is None:
            return None

        def spread_by_held_out() -> float | None:
            parts = []
            for training, held_out in folds(choices_of(c), rng):
                part, rival = begun(training), begun(training, 0)
                if part is not None and rival is not None:
                    parts.append(HeldOutPart(part, held_out, rater, self._measure, rival))
            return spread_asked_for(parts, usual, rng)

        spread = spread_by_held_out() if self.spread == "auto" else float(self.spread)
        if spread is None:
            return None
        self.spread_ = spread
        best = whole.weighed(whole.on_likely_axes(spread, usual, rng), spread, usual)
        weighing, params = whole.weighing, best.params[: whole.weighing.size]
        unlike = weighing.sqdist(params, whole.term.pairs, CPU())
        return best, weighing.vectors, weighing.weights(params), whole.term, unlike

    def _measure(self, X: Floats) -> Measure:
        """How unlike items are, by their vectors."""
        return SignedProduct(X, -np.ones(X.shape[1])) if self._dot else Euclidean(X)

    def _picked(self, said: Sequence[Alternatives], rater: Array | None = None, n_raters: int = 0) -> Picked:
        lapse, unsure = (None if share == "auto" else float(share) for share in (self.lapse, self.cant_tell))
        return Picked(SCALES[self.similarity], said, rater=rater, n_raters=n_raters, lapse=lapse, unsure=unsure)

    def _problem(
        self, term: Picked, vectors: Positions, strengths: tuple[float, float], count: int, backend: Backend
    ) -> Problem:
        """The problem where a backend works."""
        features = None if vectors.features is None else backend.tensor(vectors.features)
        there, penalty = vectors_of(features, vectors.n_items, vectors.shape[1]), ridges(vectors, strengths, count)
        return Problem(DotProducts(there) if self._dot else there, term.on(backend), penalty, backend=backend)

    def _solve(self, problem: Problem, start: Any, callback: Callback | None, steps: int | None = None) -> Result:
        lbfgs, at = solvers_of(problem.backend)[0], problem.backend.host(start)
        return lbfgs(problem, at, max_iter=steps or self.max_iter, tol=self.tol, callback=callback)

    def _columns(self, n_items: int) -> Floats | None:
        """Φ of all modalities; a column of ones beside it where products are learned; None where there is nothing."""
        shared = np.ones((n_items, int(self._dot)))
        columns = np.hstack([side_by_side(self.modalities_), shared]) if self.modalities_ else shared
        return columns if columns.shape[1] else None

    def _strengths(self, term: Picked, vectors: Positions, rng: np.random.Generator) -> tuple[float, float]:
        """Penalties of what is free and of the map: those given, else the noise level; nan without a map.

        Without features the map is what all share, in the proportion in which both would learn from noise.
        """
        n, F = vectors.n_items, vectors.features
        given = not self._by_noise
        free = float(self.penalty) if given else noise_level(term, n, self._dot, rng=rng)
        if F is None:
            return free, float("nan")
        if not self.modalities_:
            level = noise_level(term, n, self._dot, rng=rng) if given else free
            return free, free / level * shared_level(term, n, self._dot, level, rng=rng)
        if self.map_penalty != "auto":
            return free, float(self.map_penalty)
        return free, noise_level(term, n, self._dot, F[:, : -1 if self._dot else None], rng=rng)

    def _keep(self, best: Result, vectors: Positions, names: Names | None, turned: bool = True) -> Floats:
        """Keep vectors turned to principal axes, or with their own ones in order; return what they were turned by."""
        X, params, turn = principal(best, vectors, turned)
        weight = (X**2).sum(0)
        self.n_dimensions_ = int((weight > NEEDED * weight[0]).sum())
        more = ((0, 0), (0, self.n_components - vectors.shape[1]))  # dimensions that nobody asked for
        X, params = np.pad(X, more), np.pad(params, more)
        self.point_ = params
        mapped = 0 if vectors.features is None else vectors.features.shape[1]
        self.residual_ = params[mapped:] if self.modalities_ else X
        self.maps_ = per_modality(self.modalities_, params[: mapped - self._dot]) if self.modalities_ else {}
        self.origin_ = -params[mapped - 1] if mapped and self._dot else np.zeros(self.n_components)
        further = {"form": self._measure(X)} if self._dot else {}
        loss = ComparisonLoss(SCALES[self.similarity], Formula(logistic))
        self.similarity_ = self._in_use(X, loss, names, **further)
        self.objective_, self.n_iter_, self.status_ = best.value, best.n_iter, best.status
        if not best.ok:
            warnings.warn(
                f"ChoiceEmbedding did not converge ({best.status} after {best.n_iter} iterations): "
                "raise max_iter, or tol",
                ConvergenceWarning,
                stacklevel=4,
            )
        return turn

    def _keep_sources(
        self,
        term: Picked,
        unlike: Floats,
        names: tuple[str, ...],
        own: Floats,
        c: Comparisons,
        weights: Floats | None,
    ) -> None:
        """What was learned of those who answered, to whom the pairs of the term are so unlike."""
        import pandas as pd

        known = Sharpness.of(names, term.sources, own)
        self.lapse_, self.cant_tell_ = float(known.lapse[-1]), known.cant_tell
        if self.cant_tell == "auto":
            self.cant_tell_ = unpressed_share(term, unlike, own)
        figures = {"sharpness": known.sharpness[:-1], "lapse": known.lapse[:-1]}
        self.weights_ = np.ones((len(names), self.n_components))
        if weights is not None:
            self.weights_[:, : weights.shape[1]] = weights[:-1]
            typical = np.ones(self.n_components)
            known = Weighed(**vars(known), weights=np.vstack([self.weights_, typical]))
        if self.raters == "weights":
            figures |= {f"w{k + 1}": self.weights_[:, k] for k in range(self.n_dimensions_)}
        self.raters_ = pd.DataFrame({"rater": names, "answers": answer_counts(c) if names else []} | figures)
        if names or self.lapse_ > 0 or self.cant_tell_ > 0:
            self.similarity_ = replace(self.similarity_, answering=known)

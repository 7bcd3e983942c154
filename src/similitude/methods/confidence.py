"""A classifier that says how sure it is, from labels and how sure raters were: CAMEL and CAMEL-CL (Heim 2015, ch. 6).

It learns a sparse linear map into a space of few factors; there, an item belongs to the class to whose items it is most
similar. With confidences (CAMEL-CL), items of which raters were surer must score higher within their class.

Examples
--------
>>> import numpy as np, similitude as sm
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(120, 6))
>>> margin = X[:, 0] + X[:, 1]
>>> model = sm.CAMEL(random_state=0).fit(X, margin > 0, confidence=1 / (1 + np.exp(-np.abs(margin))))
>>> bool(model.score(X, margin > 0) > 0.9), bool(model.sparsity_ > 0.5)
(True, True)
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from similitude.engine.confidence import Classes, ConfidenceProblem, split
from similitude.engine.confidence_ranking import ConfidenceRanking
from similitude.engine.distances import cross_sqdist
from similitude.engine.solvers.lbfgs import lbfgs
from similitude.engine.threads import one_blas_thread
from similitude.feedback.checks import check_share
from similitude.methods.confidence_starts import early_rows, first_maps
from similitude.methods.explanation import Explanation, explained
from similitude.methods.landmark_maps import in_blocks
from similitude.renaming import renamed
from similitude.settings import check_count, check_number
from similitude.types import Array, Floats

_PATH = (0.01, 0.1, 1.0)  # of penalty: from small to large, since from large the fit stays at L = 0
_NOTHING = 1e-10  # an entry so small is what a step to 0 left by rounding: it changes no similarity
_SHORT = 15  # iterations by which starts are compared


@renamed(l1="penalty")
class CAMEL(ClassifierMixin, TransformerMixin, BaseEstimator):
    """Minimise mean_i w_i s_i + penalty |L|_1 + ranking · mean over ranked pairs of [s_a - s_b + margin]_+.

    k = exp(-|L x - L x'|²); S^y(x) is the mean similarity of x to the training items of class y, itself left out; the
    loss of an item, s_i = S^(not y_i) - S^(y_i), is minus its score; pairs of a class are ranked where c_a > c_b.
    The confidence score of a class is C^y = S^y / (S^y + S^(not y)).

    Differs from print (6.5, 6.7) in: means where sums are printed, so that settings mean the same for any number of
    items (the printed lambda_1 is n · penalty); a margin, without which equal scores are a perfect ranking; items left
    out by position, not by value, so that duplicates count. The problem is not convex, and L = 0 is a local minimum for
    every penalty > 0: the fit starts elsewhere and walks from a small penalty to the one asked for.

    Features are standardised and divided by the root of their number; a feature that never varies has no weight.

    Parameters
    ----------
    n_components : number of factors, rows of L; as many as features when not given
    penalty : price of the size of the entries of L: the larger, the sparser
    ranking : weight of the ranking by confidence; without confidences it does nothing
    margin : by how much the scores of a ranked pair should differ
    balanced : whether the items of each class count together as much as those of any other; otherwise every item
        counts the same. Similarities to a class are means over it, so that a rare class is predicted as readily as a
        common one in any case
    max_iter : most iterations at each of the three steps of the path
    tol : the fit stops where an iteration gains less than this of the objective
    n_init : number of starts; short runs decide which goes on
    random_state : seed of the starts after the second

    Attributes
    ----------
    classes_ : the classes
    n_features_in_ : number of features
    components_ : (n_components, m) L on standardised features, the largest factor first; unused entries are exactly 0
    sparsity_ : share of the entries of L that are 0
    rank_ : rank of L
    penalty_ : the price in use: less than penalty where penalty would leave L empty (a warning says so)
    objective_ : its value
    optimality_ : largest breach of the conditions of a minimum, per entry of L
    mean_, scale_ : how features are standardised
    n_iter_ : iterations in all
    status_ : why the last step of the path stopped: "converged", "max_iter" or "stalled"

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 3))
    >>> y = np.where(X[:, 0] > 0, "calm", "alert")
    >>> model = sm.CAMEL(n_components=1, n_init=1, random_state=0).fit(X, y, confidence=np.clip(np.abs(X[:, 0]), 0, 1))
    >>> model.score(X, y) > 0.9, model.predict(X[:2]).shape, bool(np.abs(model.components_).argmax() == 0)
    (True, (2,), True)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        penalty: float = 0.01,
        ranking: float = 4.0,
        margin: float = 0.3,
        balanced: bool = False,
        max_iter: int = 500,
        tol: float = 1e-9,
        n_init: int = 3,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.penalty = penalty
        self.ranking = ranking
        self.margin = margin
        self.balanced = balanced
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: Any, y: Any, confidence: npt.ArrayLike | None = None) -> Self:
        """Learn the map.

        Parameters
        ----------
        X : (n, m) features
        y : (n,) classes
        confidence : (n,) how sure the rater is of the item's own label, 0 to 1. Where raters gave the probability c of
            one class, give 1 - c for the items of the other: as given, their ranking would be upside down
        """
        self._check_settings()
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        check_classification_targets(y)
        self.classes_, code = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y: found one class only, {self.classes_[0]!r}, expected two classes at least")
        sure = _checked_confidence(confidence, len(X))
        self._standardise(X)
        order = np.argsort(code, kind="stable")
        self._items, self._code = self._scaled(X)[order], code[order]
        self._fit_path(None if sure is None else sure[order])
        return self

    def _check_settings(self) -> None:
        check_number("penalty", self.penalty)
        check_number("ranking", self.ranking)
        check_number("margin", self.margin, positive=True)
        if self.n_components is not None:
            check_count("n_components", self.n_components)
        check_count("max_iter", self.max_iter)
        check_count("n_init", self.n_init)

    def _standardise(self, X: Floats) -> None:
        self.mean_, self.scale_ = X.mean(0), X.std(0)
        varied = self.scale_ > 10 * np.finfo(float).eps * np.abs(self.mean_)
        if not varied.any():
            raise ValueError("X: no feature varies, expected one at least that differs between items")
        self.scale_ = np.where(varied, self.scale_, np.inf)  # a constant feature becomes 0 for every item

    def _scaled(self, X: Floats) -> Floats:
        return (X - self.mean_) / self.scale_ / np.sqrt(X.shape[1])

    def _problem(self, sure: Floats | None, penalty: float, rows: Array | slice) -> ConfidenceProblem:
        classes = Classes.of(self._code[rows])
        weight = np.ones(len(classes.size))
        if self.balanced:
            weight = len(classes.code) / (len(classes.size) * classes.size)
        pairs = None if sure is None or self.ranking == 0 else ConfidenceRanking(sure[rows], classes, self.margin)
        ranking = None if pairs is None or pairs.n_pairs == 0 else (self.ranking, pairs)
        return ConfidenceProblem(self._items[rows], classes, weight[classes.code], penalty, ranking)

    def _fit_path(self, sure: Floats | None) -> None:
        """Walk from a small price to the one asked for; stay at the last one that leaves L with entries."""
        rng = check_random_state(self.random_state)
        early = early_rows(self._code, rng)
        starts = first_maps(self._items, self._code, self._n_factors(), self.n_init, rng)
        kept, all_rows = self._problem(sure, 0.0, early), slice(None)
        best, self.n_iter_ = self._best_start(self._problem(sure, _PATH[0] * self.penalty, early), starts)
        for share in _PATH if self.penalty > 0 else (1.0,):
            problem = self._problem(sure, share * self.penalty, all_rows if share == 1.0 else early)
            found = lbfgs(problem, best, max_iter=self.max_iter, tol=self.tol)
            self.n_iter_, self.status_ = self.n_iter_ + found.n_iter, found.status
            L = _entries(problem, found.params)
            if not L.any():
                self._warn(
                    f"penalty: {self.penalty:g} leaves no entry of L, which says nothing; penalty_ is what was used"
                )
                break
            best, kept = split(L[L.any(1)]), problem  # a factor of zeros has no slope: it stays so
        if self.status_ == "max_iter":
            self._warn(f"max_iter: stopped after {self.max_iter} iterations, short of tol={self.tol:g}; allow more")
        self._keep(kept, kept.unsplit(best))

    def _best_start(self, problem: ConfidenceProblem, starts: list[Floats]) -> tuple[Floats, int]:
        """Return what the best of some short runs found, and the iterations that this took."""
        runs = [lbfgs(problem, split(start), max_iter=_SHORT, tol=self.tol) for start in starts]
        spent = sum(run.n_iter for run in runs)
        runs = [run for run in runs if _entries(problem, run.params).any()]
        return min(runs, key=lambda run: run.value).params if runs else split(starts[0]), spent

    def _n_factors(self) -> int:
        return self._items.shape[1] if self.n_components is None else self.n_components

    def _warn(self, message: str) -> None:
        warnings.warn(message, ConvergenceWarning, stacklevel=4)

    def _keep(self, problem: ConfidenceProblem, used: Floats) -> None:
        L = np.zeros((self._n_factors(), used.shape[1]))
        L[: len(used)] = used[np.argsort(-(used**2).sum(1), kind="stable")]
        self.components_ = L
        with one_blas_thread():  # as in the solver: the work comes in tiles, which have the cores
            self.penalty_, self.objective_ = problem.l1, problem.value(split(used))
            self.optimality_ = problem.breach(used)  # a factor of zeros has no slope
        self.sparsity_ = float((L == 0).mean())
        self.rank_ = int(np.linalg.matrix_rank(L))
        self._places = self._items @ self.components_.T
        self._n_features_out = len(L)

    def transform(self, X: Any) -> Floats:
        """Return (k, n_components) factors of items: squared distances there are -log of the similarity."""
        check_is_fitted(self, "components_")
        return self._scaled(validate_data(self, X, dtype=np.float64, reset=False)) @ self.components_.T

    def similarities(self, X: Any) -> Floats:
        """Return (k, c) log S^y(x): log of the mean similarity to the training items of each class."""
        return self._log_means(self.transform(X))

    def _log_means(self, places: Floats) -> Floats:
        classes = Classes.of(self._code)

        def some(Z: Floats) -> Floats:
            parts = np.split(-cross_sqdist(Z, self._places), classes.start[1:-1], axis=1)
            return np.stack([logsumexp(part, axis=1) for part in parts], 1) - np.log(classes.size)

        return in_blocks(some, places, len(self.classes_), 3 * len(self._places))

    def predict_proba(self, X: Any) -> Floats:
        """Return (k, c) S^y / sum of S over the classes; with two classes this is the confidence score."""
        return softmax(self.similarities(X), axis=1)

    def predict(self, X: Any) -> Array:
        """Return the class to whose items each item is most similar."""
        best = self.similarities(X).argmax(1)
        return self.classes_[best]

    def decision_function(self, X: Any) -> Floats:
        """Return log S^y - log S^(not y) of the second class, or (k, c) of every class where there are more."""
        odds = self._odds(self.similarities(X))
        return odds[:, 1] if len(self.classes_) == 2 else odds

    def confidence_score(self, X: Any, y: Any) -> Floats:
        """Return C^y(x) = S^y / (S^y + S^(not y)) of items and classes, one class each or one for all.

        Training items are not left out of their own class here; the fit did that.
        """
        odds = self._odds(self.similarities(X))
        wanted = np.broadcast_to(np.asarray(y), len(odds))
        self._need_known(wanted)
        own = odds[np.arange(len(odds)), np.searchsorted(self.classes_, wanted)]
        return 1.0 / (1.0 + np.exp(-np.clip(own, -700, 700)))

    def _odds(self, logs: Floats) -> Floats:
        """log S^y - log S^(not y) for every class."""
        size = np.bincount(self._code)
        result = np.empty_like(logs)
        for code in range(logs.shape[1]):
            others = np.arange(logs.shape[1]) != code
            rest = logsumexp(logs[:, others], axis=1, b=size[others] / size[others].sum())
            result[:, code] = logs[:, code] - rest
        return result

    def explain(self, row: npt.ArrayLike, y: Any = None) -> Explanation:
        """Say which factors and features speak for a class of one item, and which against it.

        Parameters
        ----------
        row : (m,) features of the item
        y : the class; the predicted one when not given

        Returns
        -------
        explanation : contributions that add up to log S^y - log S^(not y)
        """
        check_is_fitted(self, "components_")
        values = np.asarray(row, float)
        if values.shape != (self.n_features_in_,) or not np.isfinite(values).all():
            expected = f"{self.n_features_in_} finite numbers, the features of one item"
            raise ValueError(f"row: expected {expected}, found {values.tolist()} of shape {values.shape}")
        scaled = self._scaled(values[None])
        best = self._log_means(scaled @ self.components_.T).argmax()
        label = self.classes_[best] if y is None else y
        self._need_known(np.asarray([label]))
        own = self._code == np.searchsorted(self.classes_, label)
        names = getattr(self, "feature_names_in_", range(len(values)))
        return Explanation(label, explained(scaled - self._items, self.components_, own), tuple(map(str, names)))

    def _need_known(self, labels: Array) -> None:
        unknown = labels[~np.isin(labels, self.classes_)]
        if len(unknown):
            known = ", ".join(map(str, self.classes_))
            raise ValueError(f"y: found the class {unknown[0]}, expected one of {known}")


def _checked_confidence(confidence: npt.ArrayLike | None, length: int) -> Floats | None:
    if confidence is None:
        return None
    sure = np.asarray(confidence, float)
    if sure.shape != (length,):
        raise ValueError(f"confidence: expected one number per row of X ({length}), found shape {sure.shape}")
    check_share(sure, "confidence")
    return sure


def _entries(problem: ConfidenceProblem, params: Floats) -> Floats:
    """L, without what rounding left where P and N met."""
    L = problem.unsplit(params)
    return np.where(np.abs(L) < _NOTHING, 0.0, L)

"""Ranking dissimilarities: a function of two items' features that keeps the order in which people rank pairs.

    min over d in H of   mean of max(0, 1 - (d(far) - d(near))) + penalty · |d|²

H is the space of a kernel over pairs (`kernels.pairs`), so that d holds for any two items, seen or not: formulation F2
of Ouyang & Gray (2008), *Learning dissimilarities by ranking: from SDP to QP*, ICML. F1, positions without features,
is GNMDS: `RCKL(loss="hinge")`; F3, a projection to few dimensions, is `RankProjection`.

Examples
--------
>>> import numpy as np
>>> import similitude as sm
>>> X = np.random.default_rng(0).normal(size=(30, 2))
>>> c = sm.simulate(X * [3.0, 1.0], 500, form="quadruplet", random_state=1)
>>> model = sm.DRankingVM().fit(c, features=X)
>>> model.score(c) > 0.97, model.dissimilarity([[0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]).argmax()
(True, np.int64(0))
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from similitude.engine.comparison_terms import Compared
from similitude.engine.feature_maps import FeatureMap
from similitude.engine.measures import Signed, SignedDistance, SignedProduct, SignedSum
from similitude.engine.penalties import Ridge
from similitude.engine.problem import Problem
from similitude.engine.solvers.certificate import Certified
from similitude.engine.solvers.convex import Point
from similitude.engine.solvers.coordinates import coordinate_descent
from similitude.engine.solvers.least_norm import fits, least_norm
from similitude.engine.solvers.result import Callback
from similitude.engine.solvers.rounds import certified
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.kernels.base import Kernel
from similitude.kernels.modalities import Features, in_order
from similitude.kernels.pairs import MetricPairs, ProductPairs, SumPairs, SymmetricPairs
from similitude.kernels.vectors import RBF, Linear, Polynomial
from similitude.methods.feature_base import FeatureLearner, Feedback
from similitude.methods.hard_margins import refuse_equal, refuse_unmet
from similitude.methods.kernel_base import LOSSES
from similitude.methods.kernel_learning import refuse_circles
from similitude.methods.modalities import Modality, Plain, Rooted, Whitened
from similitude.methods.scaling import scale_form, scale_ranks, signed_axes
from similitude.methods.similarity import share_right
from similitude.renaming import by_name
from similitude.settings import check_count, check_number, one_of
from similitude.types import Bools, Floats

_KERNELS: dict[str, type[Kernel]] = {"linear": Linear, "rbf": RBF, "polynomial": Polynomial}
_FORMS: dict[str, type[Signed]] = {"metric": SignedDistance, "product": SignedProduct, "sum": SignedSum}
_PAIRS: dict[str, type[SymmetricPairs]] = {"metric": MetricPairs, "product": ProductPairs, "sum": SumPairs}
# Coordinates pay where the kernel over pairs is small and the features are not few (measured in benchmarks).
_DUAL_PAIRS, _FEW_FEATURES = 1000, 10
_LONGEST = 1e7  # of a dissimilarity that meets a hard margin, in units of the inverse of a comparison's typical length


@by_name("kernel")
class DRankingVM(FeatureLearner):
    """d-ranking vector machine: a dissimilarity of features that ranks pairs as people do, with a proven gap.

    What differs from print: (4) prints the slack with the wrong sign, which makes the margin hard; here it is soft by
    default, and its multipliers are at most w_t / W, the bound that (12) lacks. The printed hyperkernels can learn
    nothing (see `kernels.pairs`). Ranks that follow each other with a unit margin each force d to be spaced by rank:
    train on sampled comparisons (`Comparisons.from_distances`) rather than on the sorted chain.

    Parameters
    ----------
    kernel : "linear", "rbf" or "polynomial", over the features; None takes them as given (an array is linear, a kernel
        is itself)
    pair_kernel : "metric" (d(x, x) = 0; Mahalanobis distances for the linear kernel), "product" or "sum" (which sees no
        interplay of the two items); see `kernels.pairs`
    slack : "soft", or "hard" for the least norm at which every comparison holds with a margin of 1
    penalty : strength of the penalty (lambda in the paper); "auto" is n / (10 W) over the mean squared length of a
        comparison in the pair kernel's space, for n items compared and a total weight W. A hard margin has none.
    rank : how many leading directions of the kernel over items to keep; None keeps all. A pass costs in proportion.
    solver : "primal" (multipliers and L-BFGS over the matrix M), "dual" (coordinate descent over a multiplier for each
        comparison, for some thousand distinct pairs), or "auto": dual for up to 1,000 distinct pairs and more than 10
        features. Hard margins are solved by active sets first (up to 10 million parameters times comparisons), which
        tell a margin that cannot be met from one that is hard to meet
    n_items : number of items, where it is more than the comparisons show
    max_iter : most L-BFGS iterations of one round; most sweeps, in tens, of the dual
    tol : stop when the duality gap is this share of the objective

    Attributes
    ----------
    modality_ : the features that it learns from, the one of `modalities_`
    params_ : the function: the matrix M (q × q) over the features of the kernel, or a vector (q,) for "sum"
    objective_, gap_ : the objective, and how far at most it is above the optimum (proven by duality)
    penalty_, n_iter_, status_ : penalty used, iterations, "converged" or "max_iter"
    embedding_, similarity_ : a map by classical scaling of d, all axes with a positive eigenvalue, the longest first.
        d may be negative or far from Euclidean: `score`, `predict`, `distances` and `neighbors` go by d itself, not by
        the map.

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 400, random_state=0)
    >>> model = sm.DRankingVM(kernel="linear").fit(answers, features=truth)
    >>> model.score(answers) > 0.9, model.dissimilarity(truth[:2], truth[:3]).shape
    (True, (2, 3))
    """

    kernel: Literal["linear", "rbf", "polynomial"] | None = None
    pair_kernel: Literal["metric", "product", "sum"] = "metric"
    slack: Literal["soft", "hard"] = "soft"
    penalty: float | Literal["auto"] = "auto"
    rank: int | None = None
    solver: Literal["auto", "primal", "dual"] = "auto"
    n_items: int | None = None
    max_iter: int = 1000
    tol: float = 1e-3

    def _fit(self, feedback: Feedback, callback: Callback | None) -> None:
        if self.slack == "hard":
            refuse_circles(feedback.comparisons)
        found = self._solve(feedback, callback)
        if not np.isfinite(found.value):
            refuse_unmet(found, (found.lower / self.penalty_) ** 0.5)
        self._keep(found, feedback.comparisons)

    def dissimilarity(self, first: Any, second: Any = None) -> Floats:
        """(a, b) learned dissimilarity between any items by their features; only its order has a meaning.

        Parameters
        ----------
        first : features of a items, in the form in which `fit` got them
        second : features of b items; the first themselves when not given
        """
        found = [self._fitted().transform(one) for one in (first, first if second is None else second)]
        return self.similarity_.measure.between(*found)

    def predict(self, comparisons: ComparisonsLike, *, features: Features | None = None) -> Bools:
        """Whether the near pair of each comparison is the less dissimilar one.

        Parameters
        ----------
        comparisons : comparisons of the training items, or of the items in `features`
        features : of new items, a row per item that the comparisons name by position
        """
        return self._margins(self._asked(comparisons, None, features), features) > 0

    def score(
        self,
        comparisons: ComparisonsLike,
        y: npt.ArrayLike | None = None,
        sample_weight: Any = None,
        *,
        features: Features | None = None,
    ) -> float:
        """Weighted share of comparisons that the dissimilarity orders correctly; a tie counts half.

        Parameters
        ----------
        comparisons, y : comparisons of the training items, or of the items in `features`
        sample_weight : weights in place of the comparisons' own
        features : of new items, a row per item that the comparisons name by position
        """
        c = self._asked(comparisons, y, features)
        return share_right(c, self._margins(c, features), sample_weight)

    @property
    def _pairs(self) -> type[SymmetricPairs]:
        return _PAIRS[self.pair_kernel]

    def _check(self) -> None:
        if self.kernel is not None:
            one_of("kernel", self.kernel, tuple(_KERNELS))
        one_of("pair_kernel", self.pair_kernel, tuple(_PAIRS))
        one_of("slack", self.slack, ("soft", "hard"))
        one_of("solver", self.solver, ("auto", "primal", "dual"))
        check_number("penalty", self.penalty, positive=True, also="auto")
        if self.rank is not None:
            check_count("rank", self.rank)

    def _read_features(self, features: Any, c: Comparisons) -> tuple[dict[str, Modality], Comparisons]:
        given = features
        if self.kernel is not None and features is not None:
            if isinstance(features, (Kernel, dict)):
                raise TypeError(
                    f"features: expected an array for kernel={self.kernel!r}, found a {type(features).__name__}; "
                    "leave kernel out to use kernels as they are"
                )
            given = _KERNELS[self.kernel](in_order(features, c.names, c.n_items))  # type: ignore[call-arg]
        modalities, c = super()._read_features(given, c)
        if len(modalities) > 1:
            raise ValueError(f"features: found {len(modalities)} modalities, expected one; use kernels.Sum")
        return modalities, c

    def _modality(self) -> Callable[[Kernel], Modality]:
        return self._features_of

    def _features_of(self, kernel: Kernel) -> Modality:
        """Return the features of a kernel; linear ones as they are, which spares the root of an n × n matrix."""
        if self.pair_kernel != "metric":
            return Rooted(kernel)
        if isinstance(kernel, Linear) and kernel.present.all():
            width = kernel.inside.shape[1]
            if width < kernel.n_items and (self.rank is None or width <= self.rank):
                return Plain(kernel)
        return Whitened(kernel)

    @property
    def modality_(self) -> Modality:
        """The features that it learns from."""
        return next(iter(self.modalities_.values()))

    def _features_used(self) -> Floats:
        return self.modality_.features[:, : self.rank]

    def _typical(self, feedback: Feedback) -> float:
        """Return the typical length of a comparison in the pair kernel's space; set the penalty by it."""
        X, between, graph = self._features_used(), self._pairs.between, feedback.graph
        K, near, far = X @ X.T, graph.near_pairs, graph.far_pairs
        square = between(K, near, near) + between(K, far, far) - 2.0 * between(K, near, far)
        typical = max(float(np.average(square, weights=graph.weight)), 1e-300)
        if self.slack == "hard":
            refuse_equal(feedback.comparisons, graph, square)
        usual = feedback.sparsity / (10.0 * typical)
        self.penalty_ = 1.0 if self.slack == "hard" else float(usual if self.penalty == "auto" else self.penalty)
        return typical**0.5

    def _solve(self, feedback: Feedback, callback: Callback | None) -> Certified[Point]:
        """Return the optimum, whichever way it is found."""
        X, graph = self._features_used(), feedback.graph
        longest = _LONGEST / self._typical(feedback)
        given: dict[str, Any] = {"hard": self.slack == "hard", "most": self.penalty_ * longest**2}
        given |= {"max_iter": self.max_iter, "tol": self.tol, "callback": callback}
        merged = replace(graph, merged=True)
        few = len(merged.pairs) <= _DUAL_PAIRS and X.shape[1] > _FEW_FEATURES
        dual = self.solver == "dual" or (self.solver == "auto" and few)
        term = Compared(merged if dual else graph, LOSSES["hinge"])
        problem = Problem(self._pairs.model(X), term, Ridge(self.penalty_))
        if given["hard"] and fits(problem):
            found = least_norm(problem, most=given["most"], tol=self.tol, callback=callback)
            if found.status != "stalled":
                return found
        if dual:
            return coordinate_descent(problem, self._pairs.gram(X @ X.T, merged.pairs), **given)
        return certified(problem, **given)

    def _keep(self, found: Certified[Point], c: Comparisons) -> None:
        X, params = self._features_used(), found.point.params
        params = params if self.pair_kernel == "sum" else params.reshape(X.shape[1], -1)
        self.params_ = params if params.ndim == 1 else 0.5 * (params + params.T)
        self.objective_, self.gap_, self.n_iter_, self.status_ = found.value, found.gap, found.n_iter, found.status
        self.similarity_ = self._in_use(self._map(X), LOSSES["hinge"], c.names, **self._as_form(X))
        if found.status != "converged":
            warnings.warn(
                f"DRankingVM stopped {found.gap / abs(found.value):.1e} of the objective from its proven bound after "
                f"{found.n_iter} iterations: raise max_iter, or tol",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _map(self, X: Floats) -> Floats:
        """Return positions by classical scaling of d, taken as squared distances."""
        if self.pair_kernel == "metric":
            positions = scale_form(X, self.params_)
        else:
            positions = scale_ranks(self._pairs.table(X, X, self.params_.ravel()))
        return positions

    def _as_form(self, X: Floats) -> dict[str, Any]:
        """Return d as a form of coordinates with signs, along the eigenvectors of M, and the map of features to them.

        The file then needs neither the features of the training items nor M.
        """
        if self.pair_kernel == "sum":
            N, signs = self.params_[:, None], np.ones(1)
        else:
            N, signs = signed_axes(self.params_ * (np.sqrt(2.0) if self.pair_kernel == "product" else 1.0))
        whole = np.zeros((self.modality_.features.shape[1], N.shape[1]))
        whole[: len(N)] = N
        name = next(iter(self.modalities_))
        known = FeatureMap((self.modality_.mapped(name, whole),), np.zeros(N.shape[1]))
        return {"form": _FORMS[self.pair_kernel](X @ N, signs), "feature_map": known}

    def _asked(self, comparisons: ComparisonsLike, y: npt.ArrayLike | None, features: Any) -> Comparisons:
        known = self._fitted()
        return known.over_items(comparisons, y) if features is None else as_comparisons(comparisons, y)

    def _margins(self, c: Comparisons, features: Any) -> Floats:
        measure = self._fitted().measure
        if features is not None:
            measure = replace(measure, positions=self.similarity_.transform(features))
        largest = int(max(c.near.max(initial=-1), c.far.max(initial=-1)))
        if largest >= len(measure.positions):
            raise ValueError(f"features: found {len(measure.positions)} items, but the comparisons name item {largest}")
        return measure.of_pairs(c.far) - measure.of_pairs(c.near)

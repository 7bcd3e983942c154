"""Dimensions with a meaning of their own: vectors that are never negative, from answers as they were given.

    min over X >= 0 of   mean of -log P(answer) + penalty · ((1 - l1_ratio) · |X|² + l1_ratio · sum X) / n

P is the softmax over what could have been picked, by the dot products of vectors (`engine.choice_terms`): two items are
alike by what both have. Products do not change when vectors are turned, but turned vectors are negative somewhere, so
that the bound gives the dimensions themselves a meaning, and makes most values 0.

SPoSE (Zheng et al. 2019; Hebart et al. 2020) has the price of the sum alone, VICE (Muttenthaler et al. 2022) a mixture of
two normal priors. The default here is the ridge: with a bound it gives as many zeros, its price falls on a dimension as a
whole (a dimension of weight 0 stays there), and with more columns than are needed X X' is nearly a convex problem's
solution, the same from every start, while the price of the sum is lowest where a few items carry a dimension alone.
With features Φ the ridge is on what these do not say (`engine.penalties.BesideFeatures`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import field, replace
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from similitude.engine.choice_terms import Picked
from similitude.engine.devices import backend_on, choose_device, solvers_of
from similitude.engine.measures import SignedProduct
from similitude.engine.models import DotProducts, Positions
from similitude.engine.noise import noise_level
from similitude.engine.penalties import BesideFeatures, NonNegative
from similitude.engine.problem import Problem
from similitude.engine.solvers.result import Callback, Result
from similitude.engine.terms import ComparisonLoss, Formula, logistic, squared
from similitude.feedback.whole_answers import choices_of
from similitude.kernels.base import Kernel
from similitude.methods.feature_base import FeatureEstimator, Feedback
from similitude.methods.modalities import Modality, per_modality, side_by_side, whitened
from similitude.methods.similarity import Similarity
from similitude.settings import check_count, check_number
from similitude.types import Floats, Seed

_BOUNDED = 0.7  # of the noise level of vectors without a bound: about that of those with one
_RELAXED = 0.7  # of that: where the dimensions that it leaves are fitted
_START = 0.4  # the largest value at the start
_SAME = 0.9  # the cosine of dimensions that are copies of one
_NOTHING = 1e-3  # the mean square of a dimension that moves the odds of answers by a thousandth


class NonNegativeEmbedding(FeatureEstimator):
    """Dimensions that are never negative, mostly 0, and by which people seem to go: "metallic", "food", "animal".

    Parameters
    ----------
    n_components : most dimensions; those that the answers do not ask for are left out
    penalty : price of the values; "auto" is by the strength at which answers by chance would teach nothing
    l1_ratio : which share of the price is on the sum of the values (as in SPoSE); the rest is on their squares
    map_penalty : price of the map, with features; "auto" is as for `penalty`
    n_items : number of items, where it is more than the comparisons show
    device : "cpu", "cuda" (a GPU, through torch, in 32-bit numbers), or "auto": a GPU where there is one and there are
        comparisons enough to pay for the way there
    random_state : seed or generator, of the noise level and the start
    max_iter : most iterations
    tol : stop when an iteration gains less than this share of the objective

    Attributes
    ----------
    embedding_ : (n, d) the values, never negative, dimensions from the heaviest to the lightest
    n_dimensions_ : how many dimensions there are, d; 0 where the answers teach nothing
    penalty_, map_penalty_ : the penalties that were used
    similarity_ : the fitted model in use
    objective_ : value of the objective
    n_iter_, status_ : iterations, and how the solver ended ("converged", "max_iter", "stalled")

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.kron(np.eye(3), np.ones((6, 1))) * 2
    >>> rng = np.random.default_rng(0)
    >>> shown = np.array([rng.choice(18, 3, replace=False) for _ in range(1500)])
    >>> value = (truth @ truth.T)[shown[:, [1, 0, 0]], shown[:, [2, 2, 1]]] + rng.gumbel(size=shown.shape)
    >>> answers = sm.Comparisons.from_odd_one_out(shown, value.argmax(1))
    >>> model = sm.NonNegativeEmbedding(10, random_state=0).fit(answers)
    >>> model.n_dimensions_, bool((model.embedding_ >= 0).all())
    (3, True)
    """

    features_optional = learns_rank = True

    n_components: int = field(default=80, kw_only=False)
    penalty: float | Literal["auto"] = "auto"
    l1_ratio: float = 0.0
    map_penalty: float | Literal["auto"] = "auto"
    n_items: int | None = None
    device: str = "auto"
    random_state: Seed = None
    max_iter: int = 1000
    tol: float = 1e-6

    def _check(self) -> None:
        check_count("n_components", self.n_components)
        check_number("penalty", self.penalty, positive=True, also="auto")
        check_number("map_penalty", self.map_penalty, positive=True, also="auto")
        check_number("l1_ratio", self.l1_ratio)
        if not 0.0 <= self.l1_ratio <= 1.0:
            raise ValueError(f"l1_ratio: expected a share from 0 to 1, found {self.l1_ratio}")

    def _modality(self) -> Callable[[Kernel], Modality]:
        return whitened

    def _fit(self, feedback: Feedback, callback: Callback | None) -> None:
        rng, n, c = np.random.default_rng(self.random_state), feedback.graph.n_items, feedback.comparisons
        term = Picked(Formula(squared), choices_of(c))
        columns = np.hstack([side_by_side(self.modalities_), np.ones((n, 1))]) if self.modalities_ else None
        self.penalty_, self.map_penalty_ = self._strengths(term, columns, n, rng)
        backend = backend_on(choose_device(self.device, len(c)))
        start = rng.uniform(0.0, _START, (n, self.n_components)) * (feedback.graph.occurrences > 0)[:, None]
        for relaxed in (1.0, _RELAXED) if self.penalty == "auto" else (1.0,):
            price = self._price(columns, relaxed, feedback.n_compared)
            best = self._solve(term, price, start, backend, callback)
            start = _alive(_merged(best.params.reshape(n, -1)))
        self.penalty_ *= relaxed
        self._keep(start, best, price, feedback)

    def _strengths(
        self, term: Picked, columns: Floats | None, n: int, rng: np.random.Generator
    ) -> tuple[float, float]:
        """Prices of the values and of the map: those given, else by the noise level; without a map it has none."""
        free = _BOUNDED * noise_level(term, n, True, rng=rng) if self.penalty == "auto" else float(self.penalty)
        if columns is None:
            return free, float("nan")
        if self.map_penalty != "auto":
            return free, float(self.map_penalty)
        return free, _BOUNDED * noise_level(term, n, True, columns[:, :-1], rng=rng)

    def _price(self, columns: Floats | None, relaxed: float, count: int) -> NonNegative:
        rate = relaxed * self.penalty_ / count
        ridge, strength = (1.0 - self.l1_ratio) * rate, self.l1_ratio * rate
        if columns is None:
            return NonNegative(strength, ridge)
        return BesideFeatures(columns, ridge, self.map_penalty_ / count, strength)

    def _solve(self, term: Picked, price: NonNegative, start: Floats, backend: Any, callback: Callback | None) -> Result:
        there = price.on(backend) if isinstance(price, BesideFeatures) else price
        problem = Problem(DotProducts(Positions(*start.shape)), term.on(backend), there, backend=backend)
        lbfgs = solvers_of(backend)[0]
        return lbfgs(problem, start.ravel(), max_iter=self.max_iter, tol=self.tol, callback=callback)

    def _keep(self, X: Floats, best: Result, price: NonNegative, feedback: Feedback) -> None:
        self.n_dimensions_ = X.shape[1]
        N = price.map_of(X) if isinstance(price, BesideFeatures) else None
        self.maps_ = {} if N is None else per_modality(self.modalities_, N[:-1])
        self.origin_ = np.zeros(X.shape[1]) if N is None else -N[-1]
        loss, form = ComparisonLoss(Formula(squared), Formula(logistic)), SignedProduct(X, -np.ones(X.shape[1]))
        self.similarity_ = self._in_use(X, loss, feedback.comparisons.names, form=form)
        self.objective_, self.n_iter_, self.status_ = best.value, best.n_iter, best.status
        if not best.ok:
            warnings.warn(
                f"NonNegativeEmbedding did not converge ({best.status} after {best.n_iter} iterations): "
                "raise max_iter, or tol",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _in_use(self, X: Floats, loss: ComparisonLoss, names: Any, **further: Any) -> Similarity:
        found = super()._in_use(X, loss, names, **further)
        known = found.feature_map
        return found if known is None else replace(found, feature_map=replace(known, non_negative=True))


def _merged(X: Floats) -> Floats:
    """Return dimensions with copies of one put together.

    The ridge does not tell x from copies a x, b x with a² + b² = 1, since their products and prices are the same; where
    there are more columns than are needed, they are copies. Those that are nearly so give their leading direction.
    """
    length = np.linalg.norm(X, axis=0)
    found, left = [], [k for k in np.argsort(-length, kind="stable") if length[k] > 0.0]
    while left:
        alike = [k for k in left if X[:, k] @ X[:, left[0]] > _SAME * length[k] * length[left[0]]]
        u, size, _ = np.linalg.svd(X[:, alike], full_matrices=False)
        found.append(size[0] * np.abs(u[:, 0]))
        left = [k for k in left if k not in alike]
    return np.column_stack(found) if found else X[:, :0]


def _alive(X: Floats) -> Floats:
    """Return the dimensions that weigh something, from the heaviest to the lightest."""
    weight = (X**2).mean(0)
    order = np.argsort(-weight, kind="stable")
    return np.ascontiguousarray(X[:, order[weight[order] > _NOTHING]])

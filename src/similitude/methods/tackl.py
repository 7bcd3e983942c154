"""Two-step embedding with auxiliary features (Heim 2015, 4.2): weighted features, and free dimensions beside them.

    y_i = [w * x_i, xhat_i],   P(answer) = (mu + d2_far)/(2 mu + d2_near + d2_far) over y

    step 1   min over w >= 0 of   mean loss(w * x) + weight_penalty · |w|²
    step 2   min over xhat of     mean loss(y) + penalty · |xhat|²/n,   w as found
    joint    both at once, from where the two steps end

The features x are centred and of unit variance each, so that it does not matter what one was measured in. In print the
priors are improper and mu is 1e-4 (4.23, 4.26): CKL's likelihood then hardly depends on the scale of w, which drifts.
By default every number that is learned, a weight or a coordinate, has the same weak normal prior, which fixes the
scale: |w|² + |xhat|² against the sum of the losses. The solver works on u = w²: squared distances are linear in it.

The joint fit has the better objective and the worse predictions: n free positions can imitate any feature on the
answers at hand, and with few answers the weights fall to 0. That the features speak first is what makes TACKL
generalise (`reproduce/results/tackl.md`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, Self

import numpy as np
import numpy.typing as npt

from similitude.engine.comparison_terms import Compared
from similitude.engine.models import FeatureWeights, Positions, Sum
from similitude.engine.penalties import Blocks, NonNegative, Ridge
from similitude.engine.problem import Problem
from similitude.engine.solvers.lbfgs import lbfgs
from similitude.engine.solvers.result import Callback, Result
from similitude.engine.starts import best_scale
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.graph.build import build_graph
from similitude.kernels.modalities import Features
from similitude.methods.base import refuse_empty
from similitude.methods.feature_base import FeatureEstimator, Feedback
from similitude.methods.modalities import Modality, Plain, per_modality, read_modalities, side_by_side
from similitude.methods.ordinal import CKL
from similitude.methods.placement import place_items
from similitude.methods.settings import check_number
from similitude.methods.similarity import Similarity
from similitude.types import Floats, Seed, Table

_CONSTANT = 1e-9
_CLOSER = 1e-4  # the scale of the weights is nearly flat, and a few weights cost little to find


class TACKL(FeatureEstimator, CKL):
    """Weighted features, and free dimensions for what they do not say.

    Parameters
    ----------
    n_components : free dimensions, beside those of the features
    joint : whether weights and free dimensions are learned at once, from where the two steps end
    penalty : strength of the ridge on the free dimensions; "auto" is n / W, W the total weight of the comparisons: more
        than `CKL` has, as there is less left for them to say
    weight_penalty : strength of the ridge on the weights of the features; "auto" is 1 / W, the same for a weight as
        for a coordinate
    n_init : number of starts of the free dimensions, the best is kept; "auto" is 2 for a spectral start in one or two
        dimensions, else 1
    init : where the free dimensions start: "spectral", "random", or an (n, n_components) array
    n_items : number of items, where it is more than the comparisons show
    random_state : seed or generator of the starts
    max_iter : most iterations of a step, and of a start
    tol : stop when an iteration gains less than this share of the objective

    Attributes
    ----------
    weights_ : per modality (q,) the weight w of each feature, features of unit variance; 0 leaves a feature out
    free_ : (n, n_components) the free dimensions xhat, centred; an item never compared stands at their centre
    features_ : (n, q) the features, centred and of unit variance each
    embedding_ : (n, q + n_components) the weighted features, then the free dimensions
    components_ : per modality (q, q + n_components): what a unit of each feature adds to each dimension
    penalty_, weight_penalty_ : the penalties that were used
    objective_ : mean loss + penalty · |xhat|²/n + weight_penalty · |w|², of both steps' outcome or of the joint fit
    n_iter_, status_ : iterations of the last step, and how its solver ended ("converged", "max_iter", "stalled")

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 600, random_state=0)
    >>> noise = np.random.default_rng(1).normal(size=(12, 2))
    >>> model = sm.TACKL(n_components=1, random_state=0).fit(answers, features=np.hstack([truth, noise]))
    >>> weights = model.weights_["features"]
    >>> weights.shape, bool(weights[:2].min() > weights[2:].max()), model.free_.shape
    ((4,), True, (12, 1))
    """

    features_: Floats
    weights_: dict[str, Floats]
    free_: Floats

    def __init__(
        self,
        n_components: int = 2,
        *,
        joint: bool = False,
        mu: float = 0.05,
        penalty: float | Literal["auto"] = "auto",
        weight_penalty: float | Literal["auto"] = "auto",
        n_init: int | Literal["auto"] = "auto",
        init: Literal["spectral", "random"] | Table = "spectral",
        n_items: int | None = None,
        random_state: Seed = None,
        max_iter: int = 1000,
        tol: float = 1e-6,
    ) -> None:
        super().__init__(
            n_components, mu=mu, penalty=penalty, n_init=n_init, init=init, n_items=n_items, random_state=random_state,
            max_iter=max_iter, tol=tol, solver="lbfgs", device="cpu",
        )  # fmt: skip
        self.joint = joint
        self.weight_penalty = weight_penalty

    def fit(
        self,
        comparisons: ComparisonsLike,
        y: npt.ArrayLike | None = None,
        *,
        features: Features | None = None,
        callback: Callback | None = None,
    ) -> Self:
        """Find the weights of the features, and the free dimensions.

        Parameters
        ----------
        comparisons : a `Comparisons`, or an array of rows `(i, j, k)` or `(i, j, k, l)`
        y : booleans or +1/-1 per comparison, False or -1 where it is the other way round
        features : an array with a row per item, or a dict of these by modality; an item without features (NaN
            throughout) stands at their centre
        callback : called after each iteration with its number and the objective, in each step and start in turn; it may
            raise to interrupt
        """
        c = as_comparisons(comparisons, y, self.n_items)
        refuse_empty(c)
        self._check()
        check_number("weight_penalty", self.weight_penalty, positive=True, also="auto")
        self.modalities_, c = read_modalities(features, c, self._modality())
        feedback = Feedback(c, build_graph(c), self.modalities_)
        per_number = self._prior / float(feedback.graph.weight.sum())
        self.penalty_ = feedback.n_compared * per_number if self.penalty == "auto" else float(self.penalty)
        self.weight_penalty_ = per_number if self.weight_penalty == "auto" else float(self.weight_penalty)
        self.features_, spread = _unit_variance(side_by_side(self.modalities_))
        u, best = self._two_steps(feedback, callback)
        if self.joint:
            u, best = self._jointly(feedback, u, best, callback)
        self._keep_parts(u, best, spread, feedback)
        return self

    def place(
        self,
        comparisons: ComparisonsLike,
        *,
        features: Features | None = None,
        n_init: int = 5,
        random_state: Seed = None,
    ) -> Similarity:
        """Return the similarity with new items in it: at their `transform`, moved by comparisons as far as those ask.

        Parameters
        ----------
        comparisons : comparisons of new items with the items already there
        features : the features of the new items, in the order in which the comparisons number or name them; None
            places them by comparisons alone
        n_init, random_state : as for `Similarity.place`
        """
        if features is None:
            return self._fitted().place(comparisons, n_init=n_init, random_state=random_state)
        expected, variance = self.transform(features), float((self.free_**2).sum() / self.embedding_.size)
        return place_items(self.similarity_, comparisons, n_init, random_state, expected=expected, variance=variance)

    @property
    def _prior(self) -> float:
        """The same for every number that is learned."""
        return 1.0

    def _modality(self) -> type[Modality]:
        return Plain

    def _two_steps(self, feedback: Feedback, callback: Callback | None) -> tuple[Floats, Result]:
        """(4.23), then (4.26): squared weights, and the best free dimensions with the whole objective."""
        unit, price = self.features_, NonNegative(self.weight_penalty_)
        said = Compared(feedback.graph, self.comparison_loss())
        first = Problem(FeatureWeights(unit), said, price)
        start = best_scale(first, np.full(unit.shape[1], 1.0 / unit.shape[1]))
        u = lbfgs(first, start, max_iter=self.max_iter, tol=_CLOSER * self.tol, callback=callback).params
        model = Positions(feedback.graph.n_items, self.n_components, beside=unit * np.sqrt(u))
        second = Problem(model, said, Ridge(self.penalty_, feedback.n_compared))
        rng = np.random.default_rng(self.random_state)
        found = [self._solve(second, x, rng, callback=callback) for x in self._starts(second, rng)]
        best = min(found, key=lambda result: result.value)
        return u, replace(best, value=best.value + price.value(u))

    def _jointly(
        self, feedback: Feedback, u: Floats, steps: Result, callback: Callback | None
    ) -> tuple[Floats, Result]:
        parts = FeatureWeights(self.features_), Positions(feedback.graph.n_items, self.n_components)
        prices = NonNegative(self.weight_penalty_), Ridge(self.penalty_, feedback.n_compared)
        sizes = [part.size for part in parts]
        said = Compared(feedback.graph, self.comparison_loss())
        problem = Problem(Sum(parts), said, Blocks([*zip(prices, sizes, strict=True)]))
        start = np.concatenate([u, steps.params])
        best = lbfgs(problem, start, max_iter=self.max_iter, tol=self.tol, callback=callback)
        u, free = np.split(best.params, [len(u)])
        return u, replace(best, params=free)

    def _keep_parts(self, u: Floats, best: Result, spread: Floats, feedback: Feedback) -> None:
        """Keep weights, maps, free dimensions and positions."""
        w, compared = np.sqrt(u), feedback.compared[:, None]
        free = best.params.reshape(-1, self.n_components)
        self.free_ = (free - free[feedback.compared].mean(0)) * compared
        self.weights_ = per_modality(self.modalities_, w)
        onto = np.hstack([np.diag(w / spread), np.zeros((len(w), self.n_components))])
        self.maps_ = per_modality(self.modalities_, onto)
        self.origin_ = np.zeros(onto.shape[1])
        self._keep_positions(best, np.hstack([self.features_ * w, self.free_]), feedback.comparisons.names)


def _unit_variance(features: Floats) -> tuple[Floats, Floats]:
    """Features of unit variance, and what they were divided by; one that does not vary stays as it is, at 0."""
    spread = np.sqrt((features**2).mean(0))
    spread[spread < _CONSTANT] = 1.0
    return features / spread, spread

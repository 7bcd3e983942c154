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

from dataclasses import field, replace
from typing import Literal

import numpy as np

from similitude.engine.comparison_terms import Compared
from similitude.engine.models import FeatureWeights, Positions, SumOfModels
from similitude.engine.penalties import Blocks, NonNegative, Ridge
from similitude.engine.problem import Problem
from similitude.engine.solvers.lbfgs import lbfgs
from similitude.engine.solvers.result import Callback, Result
from similitude.engine.starts import best_scale
from similitude.methods.feature_base import Feedback, FreeRestEstimator
from similitude.methods.modalities import Modality, Plain, per_modality, side_by_side
from similitude.methods.ordinal import CKL
from similitude.settings import check_number
from similitude.types import Floats

_CONSTANT = 1e-9
_CLOSER = 1e-4  # the scale of the weights is nearly flat, and a few weights cost little to find


class TACKL(FreeRestEstimator, CKL):
    """Weighted features, and free dimensions for what they do not say.

    Features are arrays with a row per item; an item without any (NaN throughout) stands at their centre.

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
    coefficients_ : per modality (q, q + n_components): what a unit of each feature adds to each dimension
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

    features_: Floats = field(init=False)
    weights_: dict[str, Floats] = field(init=False)
    free_: Floats = field(init=False)

    joint: bool = False
    weight_penalty: float | Literal["auto"] = "auto"
    solver: Literal["auto", "lbfgs", "minibatch"] = field(default="lbfgs", init=False)
    device: str = field(default="cpu", init=False)

    def _check(self) -> None:
        super()._check()
        check_number("weight_penalty", self.weight_penalty, positive=True, also="auto")

    def _fit(self, feedback: Feedback, callback: Callback | None) -> None:
        per_number = self._prior / float(feedback.graph.weight.sum())
        self.penalty_ = feedback.n_compared * per_number if self.penalty == "auto" else float(self.penalty)
        self.weight_penalty_ = per_number if self.weight_penalty == "auto" else float(self.weight_penalty)
        self.features_, spread = _unit_variance(side_by_side(self.modalities_))
        u, best = self._two_steps(feedback, callback)
        if self.joint:
            u, best = self._jointly(feedback, u, best, callback)
        self._keep_parts(u, best, spread, feedback)

    def _free_rest(self) -> Floats:
        return self.free_

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
        problem = Problem(SumOfModels(parts), said, Blocks([*zip(prices, sizes, strict=True)]))
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
        together = np.hstack([self.features_ * w, self.free_])
        self._keep_positions(best, together, feedback.comparisons.names, self.free_)


def _unit_variance(features: Floats) -> tuple[Floats, Floats]:
    """Features of unit variance, and what they were divided by; one that does not vary stays as it is, at 0."""
    spread = np.sqrt((features**2).mean(0))
    spread[spread < _CONSTANT] = 1.0
    return features / spread, spread

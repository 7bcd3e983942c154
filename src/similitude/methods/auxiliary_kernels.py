"""Kernel learning with help from features: a weighted sum of given kernels, alone or with a free kernel added.

    RCKLMKL   min over mu >= 0 of            mean loss + penalty · sum(mu),                     K = sum_a mu_a K_a
    RCKLAK    min over K_0 ⪰ 0, mu >= 0 of   mean loss + penalty · trace(K_0)/n + auxiliary_penalty · sum(mu),
                                             K = K_0 + sum_a mu_a K_a

Each auxiliary kernel K_a is centred and scaled to a mean squared distance of 2 between items (a trace of n - 1, where
the thesis takes 1: mu_a is then a share of the trace per item, in the same unit as trace(K_0)/n). A unit of trace must
cost less in a given kernel than in the free one, or the free one, which can imitate it, is never worse: then K_a has no
part to play. In print the first is called a linear and the second a semidefinite program; with the logistic loss they
are smooth convex programs.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import Literal

import numpy as np

from similitude.engine.distances import sqdist_table
from similitude.engine.models import Matrix, Model, Weights
from similitude.engine.penalties import NonNegative, Penalty, Trace
from similitude.engine.solvers.certificate import Certified
from similitude.engine.solvers.convex import Convex, Point
from similitude.engine.solvers.result import Callback
from similitude.engine.solvers.rounds import certified
from similitude.graph.build import build_graph
from similitude.methods.feature_base import Feedback, FreeRestEstimator
from similitude.methods.kernel_base import FeatureKernelEstimator
from similitude.methods.scaling import principal_axes
from similitude.renaming import by_name
from similitude.types import Array, Floats

_PRICE = 0.3
_PRICES = (0.3, 0.03)  # of RCKLAK, to choose from
_FOLDS, _COARSE = 5, 0.03  # of the choice, and the gap of its fits


class _AuxiliaryKernels(FeatureKernelEstimator):
    """What the two share: weights on the distances of given kernels."""

    loss: Literal["logistic", "hinge"] = "logistic"
    weights_: dict[str, float] = field(init=False)

    @staticmethod
    def _given(feedback: Feedback, price: float) -> tuple[Model, Penalty]:
        """Weights on the distances of the given kernels, and the price of a unit of each."""
        tables = [sqdist_table(modality.features) for modality in feedback.modalities.values()]  # a mean of 2
        return Weights(np.stack(tables)), NonNegative(price)

    def _keep_weights(self, found: Certified[Point], free: Floats, feedback: Feedback) -> None:
        """Keep weights, maps and positions: the free part and the roots of the weighted kernels side by side."""
        self.weights_ = dict(zip(feedback.modalities, found.point.weights.tolist(), strict=True))
        roots = [np.sqrt(self.weights_[name]) * own.features for name, own in self.modalities_.items()]
        X = np.hstack([free, *roots])
        centre, turn = principal_axes(X)
        ends = np.cumsum([free.shape[1], *(root.shape[1] for root in roots)])
        own = np.split(turn, ends[:-1])[1:]
        self.origin_ = np.zeros(turn.shape[1])
        self.maps_ = {name: np.sqrt(self.weights_[name]) * rows for name, rows in zip(self.weights_, own, strict=True)}
        self._keep(found, (X - centre) @ turn, feedback)


@by_name("loss")
class RCKLMKL(_AuxiliaryKernels):
    """A weighted sum of given kernels, the weights learned from comparisons (Heim 2015, eq. 4.3).

    Parameters
    ----------
    loss : "logistic" or "hinge"
    penalty : price of the weights' sum; "auto" is 0.3 · n / (total weight of the comparisons)
    solver : "factored" or "auto" (L-BFGS with bounds), "full" (accelerated projected gradient: the reference)
    max_iter : most iterations

    Attributes
    ----------
    weights_ : weight of each kernel by name, kernels scaled to a mean squared distance of 2 between items

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 600, random_state=0)
    >>> noise = np.random.default_rng(1).normal(size=(12, 2))
    >>> model = sm.RCKLMKL().fit(answers, features={"look": truth, "noise": noise})
    >>> model.weights_["look"] > model.weights_["noise"], model.score(answers) > 0.8
    (True, True)
    """

    def _find(self, feedback: Feedback, start: Point | None, callback: Callback | None) -> None:
        self.penalty_ = _PRICE * feedback.sparsity if self.penalty == "auto" else float(self.penalty)
        found = self._solve(self._problem(feedback, [self._given(feedback, self.penalty_)]), start, callback)
        self._keep_weights(found, np.zeros((feedback.graph.n_items, 0)), feedback)


@by_name("loss")
class RCKLAK(_AuxiliaryKernels, FreeRestEstimator):
    """A free kernel plus a weighted sum of given ones: features where they help, answers where they do not (eq. 4.6).

    Parameters
    ----------
    loss : "logistic" or "hinge"
    penalty : strength of the trace penalty on the free kernel; "auto" is sqrt(n / W) with W the total weight of the
        comparisons, twice that for the hinge
    auxiliary_penalty : price of the weights' sum; "auto" is 0.3 or 0.03 · n / W, or no use of the kernels at all (a
        price of twice the penalty), whichever predicts held-out answers best: five folds by answer; the kernels are
        used only where they lower the held-out loss by more than a standard error. Without them, new items are placed
        by answers alone: give a number where they should go by their features

    Attributes
    ----------
    weights_ : weight of each kernel by name, kernels scaled to a mean squared distance of 2 between items
    free_kernel_ : (n, n) the free part
    kernel_ : (n, n) the sum, centred
    auxiliary_penalty_ : the price that was used

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 600, random_state=0)
    >>> noise = np.random.default_rng(1).normal(size=(12, 2))
    >>> model = sm.RCKLAK().fit(answers, features={"look": truth, "noise": noise})
    >>> model.weights_["look"] > model.weights_["noise"], model.score(answers) > 0.8
    (True, True)
    """

    auxiliary_penalty: float | Literal["auto"] = "auto"

    def _find(self, feedback: Feedback, start: Point | None, callback: Callback | None) -> None:
        self.penalty_ = feedback.trace_penalty(self.penalty, self.loss)
        asked = self.auxiliary_penalty
        self.auxiliary_penalty_ = self._chosen(feedback) if asked == "auto" else float(asked)
        problem = self._problem(feedback, self._stretches(feedback, self.auxiliary_penalty_))
        found = self._solve(problem, start, callback)
        self._keep_weights(found, found.point.factors[0], feedback)

    def _stretches(self, feedback: Feedback, price: float) -> list[tuple[Model, Penalty]]:
        free = Matrix(feedback.graph.n_items), Trace(self.penalty_, feedback.n_compared)
        return [free, self._given(feedback, price)]

    def _chosen(self, feedback: Feedback) -> float:
        """Return the price that predicts held-out answers best; without a clear gain, one at which nothing is used."""
        none, c = 2.0 * self.penalty_, feedback.comparisons
        prices = [none, *(factor * feedback.sparsity for factor in _PRICES)]
        answers = np.random.default_rng(0).permutation(np.unique(c.answer[c.weight > 0]))  # others take no part
        folds = [part for part in np.array_split(answers, _FOLDS) if 0 < len(part) < len(answers)]
        losses = np.array([self._held_out(feedback, part, prices) for part in folds]).reshape(-1, len(prices))
        saved = losses[:, :1] - losses
        if len(saved) < 2:
            return none
        surely = saved.mean(0) - saved.std(0, ddof=1) / len(saved) ** 0.5
        best = int(np.argmax(saved.mean(0)))
        return prices[best] if surely[best] > 0 else none

    def _held_out(self, feedback: Feedback, held: Array, prices: list[float]) -> list[float]:
        """Return the mean loss of some answers at each price, learned from the others."""
        c = feedback.comparisons
        rest = c.select(np.setdiff1d(np.arange(c.n_answers), held))
        learns = replace(feedback, comparisons=rest, graph=build_graph(rest))
        asks = replace(feedback, graph=build_graph(c.select(np.sort(held))))
        losses = []
        for price in prices:
            stretches = self._stretches(learns, price)
            found = certified(self._problem(learns, stretches), max_iter=self.max_iter, tol=max(self.tol, _COARSE))
            test = Convex(self._problem(asks, stretches))
            losses.append(test.mean_loss(test.sqdist(found.point)))
        return losses

    @property
    def free_kernel_(self) -> Floats:
        """(n, n) the free part of the kernel."""
        return self.point_.factors[0] @ self.point_.factors[0].T

    def _free_rest(self) -> Floats:
        return self.point_.factors[0]

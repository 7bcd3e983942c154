"""Positions from features and answers at once: a low-rank map of the features plus what the answers add for each item.

    min over N, E of   mean loss + map_penalty · |N|²/n + penalty · |E|²/n,   positions X = Φ N + E

Φ holds the features of all modalities side by side, each whitened and scaled to a mean squared distance of 2 between
items (`methods.modalities.Whitened`). The map is cheap, the rest of each item dear: with few answers the features
speak, with many the answers do. New items stand at the map's value.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import field
from typing import Any, Literal

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning

from similitude.engine.backend import CPU, Backend
from similitude.engine.comparison_terms import Compared
from similitude.engine.devices import choose_device, on_device, solvers_of
from similitude.engine.models import Positions
from similitude.engine.penalties import Blocks, Ridge
from similitude.engine.problem import Problem
from similitude.engine.solvers.result import Callback, Result
from similitude.engine.starts import best_scale, spectral_start
from similitude.engine.terms import ComparisonLoss, Formula, hinge, logarithm, logistic, squared
from similitude.kernels.base import Kernel
from similitude.methods.feature_base import Feedback, FreeRestEstimator
from similitude.methods.modalities import Modality, per_modality, side_by_side, whitened
from similitude.settings import check_count, check_number, one_of
from similitude.types import Floats, Seed

_LOSSES = {
    "ckl": ComparisonLoss(Formula(logarithm, 0.05), Formula(logistic)),
    "logistic": ComparisonLoss(Formula(squared), Formula(logistic)),
    "hinge": ComparisonLoss(Formula(squared), Formula(hinge, 0.1)),
}
_REST = 2.0  # how much dearer the free rest is than the map


class FeatureEmbedding(FreeRestEstimator):
    """Positions = a low-rank map of the features + a free rest per item, each with its penalty.

    Parameters
    ----------
    n_components : dimensions of the embedding; the penalties leave those empty that answers do not ask for
    loss : "logistic", "ckl" (ratios of distances), or "hinge"
    penalty : strength of the ridge on the free rest; "auto" is 2 · sqrt(n / W), W the total weight of the comparisons
    map_penalty : strength of the ridge on the map; "auto" is half of that
    n_items : number of items, where it is more than the comparisons show
    device : "cpu", "cuda" (a GPU, through torch, in 32-bit numbers), or "auto": a GPU where there is one and there are
        comparisons enough to pay for the way there
    random_state : seed or generator of the start
    max_iter : most iterations
    tol : stop when an iteration gains less than this share of the objective

    Attributes
    ----------
    embedding_ : (n, d) positions; an item never compared stands where its features put it
    residual_ : (n, d) the free rest of each item: what the features do not say
    coefficients_ : per modality (q, d): what a unit of each feature adds to each dimension; of a kernel (n, d): what
        each training item's kernel values contribute
    penalty_, map_penalty_ : the penalties that were used
    similarity_ : the fitted model in use
    objective_ : value of the objective
    n_iter_, status_ : iterations, and how the solver ended ("converged", "max_iter", "stalled")

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 600, random_state=0)
    >>> model = sm.FeatureEmbedding(n_components=2, random_state=0).fit(answers, features=truth)
    >>> model.score(answers) > 0.9, model.transform([[0.0, 1.0]]).shape
    (True, (1, 2))
    """

    n_components: int = field(default=10, kw_only=False)
    loss: Literal["logistic", "hinge", "ckl"] = "logistic"
    penalty: float | Literal["auto"] = "auto"
    map_penalty: float | Literal["auto"] = "auto"
    n_items: int | None = None
    device: str = "auto"
    random_state: Seed = None
    max_iter: int = 1000
    tol: float = 1e-6

    def _fit(self, feedback: Feedback, callback: Callback | None) -> None:
        usual = feedback.sparsity**0.5
        self.penalty_ = _REST * usual if self.penalty == "auto" else float(self.penalty)
        self.map_penalty_ = usual if self.map_penalty == "auto" else float(self.map_penalty)
        features = side_by_side(self.modalities_)
        graph, backend = self._there(feedback)
        problem = self._problem(feedback, features, graph, backend)
        start, lbfgs = self._start(problem, features), solvers_of(backend)[0]
        best = lbfgs(problem, start, max_iter=self.max_iter, tol=self.tol, callback=callback)
        self._keep(best, self._model(features), feedback)

    def _modality(self) -> Callable[[Kernel], Modality]:
        return whitened

    def _there(self, feedback: Feedback) -> tuple[Any, Backend]:
        """The comparisons where the fit runs, and that device's functions."""
        device = choose_device(self.device, len(feedback.comparisons))
        return (feedback.graph, CPU()) if device == "cpu" else on_device(feedback.comparisons, device)

    def _free_rest(self) -> Floats:
        return self.residual_

    def _check(self) -> None:
        check_count("n_components", self.n_components)
        one_of("loss", self.loss, tuple(_LOSSES))
        check_number("penalty", self.penalty, positive=True, also="auto")
        check_number("map_penalty", self.map_penalty, positive=True, also="auto")

    def _model(self, features: Any) -> Positions:
        return Positions(len(features), self.n_components, features=features, residual=True)

    def _problem(self, feedback: Feedback, features: Floats, graph: Any, backend: Backend) -> Problem:
        model = self._model(backend.tensor(features))
        mapped = features.shape[1] * self.n_components
        penalty = Blocks(
            [
                (Ridge(self.map_penalty_, feedback.n_compared), mapped),
                (Ridge(self.penalty_, feedback.n_compared), model.size - mapped),
            ]
        )
        return Problem(model, Compared(graph, _LOSSES[self.loss]), penalty, backend=backend)

    def _start(self, problem: Problem, features: Floats) -> Floats:
        """Spectral positions, the map being what the features explain of them, by a ridge of their mean square."""
        rng = np.random.default_rng(self.random_state)
        X = spectral_start(problem, self.n_components, rng)
        square = features.T @ features
        square.flat[:: len(square) + 1] += np.trace(square) / len(square)
        N = linalg.solve(square, features.T @ X, assume_a="pos")
        start = problem.backend.tensor(np.concatenate([N, 0.1 * (X - features @ N)]))
        return problem.backend.host(best_scale(problem, start))

    def _keep(self, best: Result, model: Positions, feedback: Feedback) -> None:
        params = best.params.reshape(model.shape)
        count = len(params) - feedback.graph.n_items
        self.residual_ = params[count:] - params[count:].mean(0)
        self.maps_ = per_modality(self.modalities_, params[:count])
        X = model.positions(best.params)
        self.origin_ = np.zeros(self.n_components)
        self.similarity_ = self._in_use(X - X.mean(0), _LOSSES[self.loss], feedback.comparisons.names)
        self.objective_, self.n_iter_, self.status_ = best.value, best.n_iter, best.status
        if not best.ok:
            warnings.warn(
                f"FeatureEmbedding did not converge ({best.status} after {best.n_iter} iterations): "
                "raise max_iter, or tol",
                ConvergenceWarning,
                stacklevel=3,
            )

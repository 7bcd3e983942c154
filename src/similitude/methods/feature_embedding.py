"""Positions from features and answers at once: a low-rank map of the features plus what the answers add for each item.

    min over N, E of   mean loss + map_penalty · |N|²/n + penalty · |E|²/n,   positions X = Φ N + E

Φ holds the features of all modalities side by side, each whitened and scaled to a mean squared distance of 2 between
items (`methods.modalities.Whitened`). The map is cheap, the rest of each item dear: with few answers the features
speak, with many the answers do. New items stand at the map's value.

With `map="fourier"` Φ holds random waves of the features beside them, so that the map is a smooth function of these.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import field
from functools import partial
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning

from similitude.engine.backend import CPU
from similitude.engine.comparison_terms import Compared
from similitude.engine.devices import choose_device, on_device, solvers_of
from similitude.engine.models import Positions
from similitude.engine.penalties import Parabola
from similitude.engine.problem import Problem
from similitude.engine.solvers.result import Callback, Result
from similitude.engine.starts import best_scale, spectral_start
from similitude.engine.terms import ComparisonLoss, Formula, hinge, logarithm, logistic, squared
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike
from similitude.graph.build import build_graph
from similitude.kernels.base import Kernel
from similitude.kernels.modalities import Features
from similitude.methods.base import refuse_empty
from similitude.methods.feature_base import Feedback, FreeRestEstimator
from similitude.methods.feature_memory import Memory, with_new_items
from similitude.methods.modalities import Modality, per_modality, side_by_side, waved, whitened
from similitude.settings import check_count, check_number, one_of
from similitude.types import Floats, Seed

_LOSSES = {
    "ckl": ComparisonLoss(Formula(logarithm, 0.05), Formula(logistic)),
    "logistic": ComparisonLoss(Formula(squared), Formula(logistic)),
    "hinge": ComparisonLoss(Formula(squared), Formula(hinge, 0.1)),
}
_REST = 2.0  # how much dearer the free rest is than the map
_CURVATURE = 0.3  # about that of the losses by an item's position, times the number of items; the best of 0.3 and 1


class FeatureEmbedding(FreeRestEstimator):
    """Positions = a low-rank map of the features + a free rest per item, each with its penalty.

    Parameters
    ----------
    n_components : dimensions of the embedding; the penalties leave those empty that answers do not ask for
    loss : "logistic", "ckl" (ratios of distances), or "hinge"
    map : "linear", or "fourier": the features and 500 random waves of them, for what people see that is no weighted sum
        of features. It is for arrays; a kernel is such a map already, and stays as it is.
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

    _memory: Memory = field(init=False)

    n_components: int = field(default=10, kw_only=False)
    loss: Literal["logistic", "hinge", "ckl"] = "logistic"
    map: Literal["linear", "fourier"] = "linear"
    penalty: float | Literal["auto"] = "auto"
    map_penalty: float | Literal["auto"] = "auto"
    n_items: int | None = None
    device: str = "auto"
    random_state: Seed = None
    max_iter: int = 1000
    tol: float = 1e-6

    def partial_fit(
        self,
        comparisons: ComparisonsLike,
        y: npt.ArrayLike | None = None,
        *,
        features: Features | None = None,
        callback: Callback | None = None,
    ) -> Self:
        """Learn further comparisons, those of a day, say; the first call is `fit`.

        The answers before count by the parabola that touches the sum of their losses at what was learned: a model that
        learns in parts ends near one that has learned everything at once, and keeps nothing of the answers themselves.
        Where these do not fit in memory, give them part by part, the first large enough to find the dimensions.

        Parameters
        ----------
        comparisons : a `Comparisons`, or an array of rows `(i, j, k)` or `(i, j, k, l)`; items that are not known yet
            are appended
        y : booleans or +1/-1 per comparison, False or -1 where it is the other way round
        features : of the new items alone, a row each in the order in which the comparisons number or name them; None
            where there are none. They are centred and scaled as those of `fit` were.
        callback : called after each iteration with its number and the objective; it may raise to interrupt
        """
        if not hasattr(self, "_memory"):
            return self.fit(comparisons, y, features=features, callback=callback)
        self._check()
        c = self._memory.read(comparisons, y)
        refuse_empty(c)
        rows, c = with_new_items(self.modalities_, features, c, len(self._memory.features))
        so_far, n_answers = self._learned_from, getattr(comparisons, "n_answers", len(c))
        self._learned_from = {
            "comparisons": so_far["comparisons"] + len(c),
            "answers": so_far["answers"] + n_answers,
        }
        self._learn(self._memory.grown(rows), c, callback)
        return self

    def _fit(self, feedback: Feedback, callback: Callback | None) -> None:
        features = side_by_side(self.modalities_)
        self._learn(Memory.nothing(features, self.n_components), feedback.comparisons, callback)

    def _learn(self, memory: Memory, c: Comparisons, callback: Callback | None) -> None:
        """Learn comparisons on top of what is remembered of others, and remember them."""
        graph, device = build_graph(c), choose_device(self.device, len(c))
        there, backend = (graph, CPU()) if device == "cpu" else on_device(c, device)
        begun, memory = memory.weight > 0, memory.counting(graph, c.names)
        ridge = self._ridge(memory)
        strength, centre = memory.with_ridge(ridge, graph.total_weight)
        penalty = Parabola(backend.tensor(strength), backend.tensor(centre))
        model = self._model(backend.tensor(memory.features))
        problem = Problem(model, Compared(there, _LOSSES[self.loss]), penalty, backend=backend)
        start = memory.point if begun else self._start(problem, memory.features)
        units = self._units(memory, strength)
        lbfgs = solvers_of(backend)[0]
        best = lbfgs(problem, start, max_iter=self.max_iter, tol=self.tol, units=units, callback=callback)
        self._memory = memory.learned(best.params.reshape(memory.point.shape), ridge, graph, _LOSSES[self.loss])
        self._keep(best)

    def _modality(self) -> Callable[[Kernel], Modality]:
        if self.map == "linear":
            return whitened
        return partial(waved, rng=np.random.default_rng(self.random_state))

    def _free_rest(self) -> Floats:
        return self.residual_

    def _check(self) -> None:
        check_count("n_components", self.n_components)
        one_of("loss", self.loss, tuple(_LOSSES))
        one_of("map", self.map, ("linear", "fourier"))
        check_number("penalty", self.penalty, positive=True, also="auto")
        check_number("map_penalty", self.map_penalty, positive=True, also="auto")

    def _model(self, features: Any) -> Positions:
        return Positions(len(features), self.n_components, features=features, residual=True)

    def _ridge(self, memory: Memory) -> Floats:
        """(q + n,) the ridge of each row against the sum of the losses so far, penalty · W/n; keeps the penalties."""
        n, usual = memory.n_compared, (memory.n_compared / memory.weight) ** 0.5
        self.penalty_ = _REST * usual if self.penalty == "auto" else float(self.penalty)
        self.map_penalty_ = usual if self.map_penalty == "auto" else float(self.map_penalty)
        each = np.repeat([self.map_penalty_, self.penalty_], memory.features.shape[::-1])
        return each * memory.weight / n

    def _units(self, memory: Memory, strength: Floats) -> Floats:
        """1 / the root of the curvature along each parameter: 0.3 |φ_k|²/n of a map's, 0.3/n of a rest's, + the ridge.

        |φ_k|² is that of a column of Φ. A map hears all items and a rest its own alone, so that without units a fit
        goes the map's way first, the longer the more items there are; with them it goes the same way for any number.
        """
        columns = np.einsum("ik,ik->k", memory.features, memory.features)
        losses = np.concatenate([columns, np.ones(len(memory.features))]) * (_CURVATURE / memory.n_compared)
        return 1.0 / np.sqrt(np.repeat(losses, self.n_components) + strength)

    def _start(self, problem: Problem, features: Floats) -> Floats:
        """Spectral positions, the map being what the features explain of them, by a ridge of their mean square."""
        rng = np.random.default_rng(self.random_state)
        X = spectral_start(problem, self.n_components, rng)
        square = features.T @ features
        square.flat[:: len(square) + 1] += np.trace(square) / len(square)
        N = linalg.solve(square, features.T @ X, assume_a="pos")
        start = problem.backend.tensor(np.concatenate([N, 0.1 * (X - features @ N)]))
        return problem.backend.host(best_scale(problem, start))

    def _keep(self, best: Result) -> None:
        memory = self._memory
        N, rests = np.split(memory.point, [memory.features.shape[1]])
        self.residual_ = rests - rests.mean(0)
        self.maps_ = per_modality(self.modalities_, N)
        X = memory.features @ N + rests
        self.origin_ = np.zeros(self.n_components)
        self.similarity_ = self._in_use(X - X.mean(0), _LOSSES[self.loss], memory.names)
        self.objective_, self.n_iter_, self.status_ = best.value, best.n_iter, best.status
        if not best.ok:
            warnings.warn(
                f"FeatureEmbedding did not converge ({best.status} after {best.n_iter} iterations): "
                "raise max_iter, or tol",
                ConvergenceWarning,
                stacklevel=4,
            )

"""A projection of features to few dimensions that keeps the order in which people rank pairs.

    min over N (q × L) of   mean loss + penalty · |N|²/n,   positions X = Φ N

The problem F3 that Ouyang & Gray (2008) leave open. With N N' = W it is the partial order embedding of features
(`LPOE`, `KPOE`), over matrices W of rank L at most instead of all. Those are convex and proven optimal, of whatever
rank the trace leaves; here the number of dimensions is yours, and the problem is not convex.
"""

from __future__ import annotations

import warnings
from dataclasses import field
from typing import Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from similitude.engine.comparison_terms import Compared
from similitude.engine.models import Positions
from similitude.engine.penalties import Ridge
from similitude.engine.problem import Problem
from similitude.engine.solvers.lbfgs import lbfgs
from similitude.engine.solvers.result import Callback, Result
from similitude.engine.starts import best_scale, spectral_start
from similitude.engine.terms import ComparisonLoss, Formula, hinge, logistic, squared
from similitude.methods.feature_base import FeatureEstimator, Feedback
from similitude.methods.modalities import per_modality, side_by_side
from similitude.methods.scaling import principal_axes
from similitude.settings import check_count, check_number, one_of
from similitude.types import Floats, Seed

_LOSSES = {
    "logistic": ComparisonLoss(Formula(squared), Formula(logistic)),
    "hinge": ComparisonLoss(Formula(squared), Formula(hinge, 0.1)),
}


class RankProjection(FeatureEstimator):
    """f: R^D -> R^L, a linear map of features, or of a kernel's feature space, that keeps ranks.

    Parameters
    ----------
    n_components : dimensions of the projection
    loss : "logistic", which gives probabilities, or "hinge", its corner rounded over 0.1
    penalty : strength of the ridge on the map; "auto" is n / W for n items compared and a total weight W
    n_init : number of starts, the best is kept: one from the votes, the others at random
    n_items : number of items, where it is more than the comparisons show
    random_state : seed or generator of the starts
    max_iter : most iterations of each start
    tol : stop when an iteration gains less than this share of the objective

    Attributes
    ----------
    embedding_ : (n, L) positions of the training items, principal axes first; an item never compared stands where its
        features put it
    coefficients_ : per modality (n, L): what each training item's kernel values contribute to each dimension
    penalty_ : the penalty that was used
    similarity_ : the fitted model in use
    objective_ : value of the objective
    n_iter_, status_ : iterations of the best start, and how the solver ended ("converged", "max_iter", "stalled")

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 600, random_state=0)
    >>> noise = np.random.default_rng(1).normal(size=(12, 2))
    >>> model = sm.RankProjection(n_components=2, random_state=0).fit(answers, features=np.hstack([truth, noise]))
    >>> model.embedding_.shape, model.score(answers) > 0.9, model.transform([[0.0, 1.0, 0.0, 0.0]]).shape
    ((12, 2), True, (1, 2))
    """

    n_components: int = field(default=2, kw_only=False)
    loss: Literal["logistic", "hinge"] = "logistic"
    penalty: float | Literal["auto"] = "auto"
    n_init: int = 3
    n_items: int | None = None
    random_state: Seed = None
    max_iter: int = 1000
    tol: float = 1e-6

    def _fit(self, feedback: Feedback, callback: Callback | None) -> None:
        self.penalty_ = feedback.sparsity if self.penalty == "auto" else float(self.penalty)
        model = Positions(feedback.graph.n_items, self.n_components, features=side_by_side(self.modalities_))
        problem = Problem(
            model, Compared(feedback.graph, _LOSSES[self.loss]), Ridge(self.penalty_, feedback.n_compared)
        )
        starts = self._starts(problem, model)
        runs = [lbfgs(problem, start, max_iter=self.max_iter, tol=self.tol, callback=callback) for start in starts]
        self._keep(min(runs, key=lambda run: run.value), model, feedback)

    def _check(self) -> None:
        one_of("loss", self.loss, tuple(_LOSSES))
        check_number("penalty", self.penalty, positive=True, also="auto")
        check_count("n_components", self.n_components)
        check_count("n_init", self.n_init)

    def _starts(self, problem: Problem, model: Positions) -> list[Floats]:
        """What the features explain of spectral positions, and maps at random."""
        assert model.features is not None
        rng = np.random.default_rng(self.random_state)
        square = (model.features**2).sum(0)[:, None]
        votes = model.features.T @ spectral_start(problem, self.n_components, rng) / (square + square.mean())
        others = [rng.normal(size=model.shape) / np.sqrt(model.shape[0]) for _ in range(self.n_init - 1)]
        return [best_scale(problem, start) for start in (votes, *others)]

    def _keep(self, best: Result, model: Positions, feedback: Feedback) -> None:
        X = model.positions(best.params)
        centre, turn = principal_axes(X)
        self.maps_ = per_modality(self.modalities_, best.params.reshape(model.shape) @ turn)
        self.origin_ = centre @ turn
        self.similarity_ = self._in_use((X - centre) @ turn, _LOSSES[self.loss], feedback.comparisons.names)
        self.objective_, self.n_iter_, self.status_ = best.value, best.n_iter, best.status
        if not best.ok:
            warnings.warn(
                f"RankProjection did not converge ({best.status} after {best.n_iter} iterations): "
                "raise max_iter, or tol",
                ConvergenceWarning,
                stacklevel=3,
            )

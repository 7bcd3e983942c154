"""The recipe of convex kernel learning: a problem over matrices and weights, solved with a proof."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import field
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from similitude.engine.comparison_terms import Compared
from similitude.engine.models import Model, SumOfModels
from similitude.engine.penalties import Blocks, Penalty
from similitude.engine.problem import Problem
from similitude.engine.solvers.certificate import Certified
from similitude.engine.solvers.convex import Point
from similitude.engine.solvers.full import full_matrices
from similitude.engine.solvers.result import Callback
from similitude.engine.solvers.rounds import certified
from similitude.engine.terms import ComparisonLoss, Formula, hinge, logistic, squared
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.graph.build import build_graph
from similitude.kernels.modalities import Features
from similitude.methods.base import ComparisonEstimator, FeedbackWarning, refuse_empty, warn_of_gaps
from similitude.methods.feature_base import FeatureEstimator, Feedback
from similitude.methods.modalities import Modality
from similitude.methods.provenance import described_data
from similitude.settings import check_number, one_of
from similitude.types import Floats

LOSSES = {
    "logistic": ComparisonLoss(Formula(squared), Formula(logistic)),
    "hinge": ComparisonLoss(Formula(squared), Formula(hinge, 1e-4)),
}


class KernelEstimator(ComparisonEstimator):
    """Learns a kernel; what its fits have in common.

    Parameters
    ----------
    solver : "factored" (grows the rank until a certificate holds; for any number of items), "full" (accelerated
        projected gradient on the whole kernel: the reference, for a few hundred items), or "auto", which is "factored"
    n_items : number of items, where it is more than the comparisons show
    max_iter : most iterations (of one rank, for "factored")
    tol : stop when the duality gap is this share of the objective

    Attributes
    ----------
    kernel_ : (n, n) the kernel, centred
    embedding_ : (n, rank) positions with the kernel's distances, principal axes first
    objective_, gap_ : the exact objective, and how far at most it is above the optimum (proven by duality)
    penalty_, n_iter_, status_ : penalty used, iterations, "converged" or "max_iter"
    similarity_ : the fitted model in use
    point_ : the factors of the solution, where a further fit may start: `fit(..., start=point_)`
    """

    _losses: ClassVar[tuple[str, ...]] = tuple(LOSSES)
    loss: str = "logistic"
    penalty: float | Literal["auto"] = "auto"
    solver: Literal["auto", "factored", "full"] = "auto"
    n_items: int | None = None
    max_iter: int = 1000
    tol: float = 1e-3
    objective_: float = field(init=False)
    gap_: float = field(init=False)
    n_iter_: int = field(init=False)
    status_: str = field(init=False)
    penalty_: float = field(init=False)

    @property
    def kernel_(self) -> Floats:
        """(n, n) the kernel, centred."""
        return self.embedding_ @ self.embedding_.T

    def _read(self, comparisons: Any, y: npt.ArrayLike | None, features: Any = None) -> Feedback:
        c = as_comparisons(comparisons, y, self.n_items)
        refuse_empty(c)
        self._check()
        self._learned_from = described_data(c)
        modalities: dict[str, Modality] = {}
        if isinstance(self, FeatureEstimator):
            modalities, c = self._read_features(features, c)
        graph = build_graph(c)
        if not modalities:
            warn_of_gaps(c, graph)
        return Feedback(c, graph, modalities)

    def _check(self) -> None:
        one_of("loss", self.loss, self._losses)
        one_of("solver", self.solver, ("auto", "factored", "full"))
        for name in ("penalty", "auxiliary_penalty"):
            check_number(name, getattr(self, name, "auto"), positive=True, also="auto")

    def _problem(self, feedback: Feedback, stretches: Sequence[tuple[Model, Penalty]]) -> Problem:
        """Return the problem over the sum of some models, each with its penalty."""
        models = [model for model, _ in stretches]
        penalty = Blocks([(penalty, model.size) for model, penalty in stretches])
        return Problem(SumOfModels(models), Compared(feedback.graph, LOSSES[self.loss]), penalty)

    def _solve(self, problem: Problem, start: Point | None, callback: Callback | None) -> Certified[Point]:
        if self.solver == "full":
            return full_matrices(problem, max_iter=self.max_iter, tol=self.tol, callback=callback)
        return certified(problem, start, max_iter=self.max_iter, tol=self.tol, callback=callback)

    def _keep(self, found: Certified[Point], X: Floats, feedback: Feedback) -> None:
        """Keep positions and how the solver ended; say so where it did not get there."""
        self.similarity_ = self._in_use(X, self._similarity_loss(), feedback.comparisons.names)
        self.point_ = found.point
        self.objective_, self.gap_, self.n_iter_, self.status_ = found.value, found.gap, found.n_iter, found.status
        if not X.any():
            warnings.warn(
                f"{type(self).__name__}: at a penalty of {self.penalty_:.3g} the best kernel is zero, and all items "
                "are at one point: lower the penalty (see penalty_path)",
                FeedbackWarning,
                stacklevel=3,
            )
        if found.status != "converged":
            proven = f" {found.gap / abs(found.value):.1e} of the objective from its proven bound"
            warnings.warn(
                f"{type(self).__name__} stopped{'' if np.isnan(found.gap) else proven} after {found.n_iter} "
                f"iterations: raise {'tol' if found.status == 'stalled' else 'max_iter, or tol'}",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _similarity_loss(self) -> ComparisonLoss:
        """Return the loss with which the fitted similarity predicts."""
        return LOSSES[self.loss]


class FeatureKernelEstimator(KernelEstimator, FeatureEstimator):
    """A convex method that learns from comparisons and features."""

    def fit(
        self,
        comparisons: ComparisonsLike,
        y: npt.ArrayLike | None = None,
        *,
        features: Features | None = None,
        start: Point | None = None,
        callback: Callback | None = None,
    ) -> Self:
        """Find the best kernel, and where features stand in it.

        Parameters
        ----------
        comparisons : a `Comparisons`, or an array of rows `(i, j, k)` or `(i, j, k, l)`
        y : booleans or +1/-1 per comparison, False or -1 where it is the other way round
        features : an array with a row per item (then its kernel is linear), a kernel, or a dict of these by modality
        start : `point_` of a fit to start from, at another penalty, say
        callback : called with the number of iterations so far and the objective; it may raise to interrupt
        """
        feedback = self._read(comparisons, y, features)
        self.modalities_ = feedback.modalities
        self._find(feedback, start, callback)
        return self

    def _find(self, feedback: Feedback, start: Point | None, callback: Callback | None) -> None:
        """Find it, and keep it."""
        raise NotImplementedError(f"{type(self).__name__} must define _find")

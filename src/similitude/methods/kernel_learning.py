"""Kernel learning: the kernel over items that fits comparisons best, found exactly.

`RCKL` minimises  mean loss + penalty · trace(K)/n  over all positive semidefinite kernels K: unlike an embedding of a
chosen dimension, the problem is convex, and the fit comes with a proof of how far from the optimum it can be (`gap_`).
The trace keeps the rank low by itself. With the hinge this is kernel GNMDS (Agarwal et al. 2007), with the logistic
loss kernel STE (van der Maaten & Weinberger 2012).

Examples
--------
>>> import similitude as sm
>>> c = sm.simulate([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [3.0, 1.0]], 300, random_state=0)
>>> model = sm.RCKL().fit(c)
>>> model.score(c) > 0.9, bool(model.gap_ <= 1e-3 * model.objective_)
(True, True)
"""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
import numpy.typing as npt
from scipy import linalg

from similitude.engine.comparison_terms import Compared
from similitude.engine.models import Matrix
from similitude.engine.penalties import Trace, UnitDiagonal
from similitude.engine.problem import Problem
from similitude.engine.solvers.accelerated import accelerated
from similitude.engine.solvers.certificate import Certified
from similitude.engine.solvers.convex import Point
from similitude.engine.solvers.result import Callback
from similitude.engine.solvers.rounds import certified
from similitude.engine.terms import ComparisonLoss, Formula, logarithm, logistic
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike
from similitude.graph.circles import find_circle
from similitude.methods.feature_base import Feedback
from similitude.methods.kernel_base import LOSSES, KernelEstimator
from similitude.methods.scaling import principal_axes
from similitude.renaming import by_name
from similitude.settings import one_of
from similitude.types import Floats


@by_name("loss")
class RCKL(KernelEstimator):
    """Relative comparison kernel learning: a kernel over the items by convex optimisation (Heim 2015, 3.2.2.1).

    Algorithm 1 there prints the step K - delta · grad + lambda · I; the gradient of the objective is
    grad + lambda · I, and so is ours. Losses are means, where the papers print sums.

    Parameters
    ----------
    loss : "logistic" (kernel STE, with probabilities), "hinge" (kernel GNMDS), or "ckl", the crowd kernel of Tamuz et
        al. (2011): ones on the diagonal take the place of the penalty; not convex, so without `gap_`, and with an
        eigendecomposition a step
    penalty : strength of the trace penalty; "auto" is sqrt(n / W) with W the total weight of the comparisons, twice
        that for the hinge: a kernel of any rank needs a stronger one than an embedding of few dimensions. Where it
        matters, choose it by cross-validation (`penalty_path`).
    slack : "soft", or "hard" for the kernel of least trace in which every comparison holds with a margin of 1 (the
        hinge, with nothing forgiven): only for feedback without contradictions
    mu : of loss="ckl": the probability is (mu + d²_far) / (2 mu + d²_near + d²_far)

    Attributes
    ----------
    kernel_ : (n, n) the kernel, centred (ones on the diagonal for "ckl")

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 600, random_state=0)
    >>> model = sm.RCKL(loss="logistic").fit(answers)
    >>> model.kernel_.shape, bool(model.gap_ <= 1e-3 * model.objective_), model.score(answers) > 0.9
    ((12, 12), True, True)
    """

    _losses = (*LOSSES, "ckl")

    loss: Literal["logistic", "hinge", "ckl"] = "logistic"
    slack: Literal["soft", "hard"] = "soft"
    mu: float = 0.05

    def fit(
        self,
        comparisons: ComparisonsLike,
        y: npt.ArrayLike | None = None,
        *,
        start: Point | None = None,
        callback: Callback | None = None,
    ) -> Self:
        """Find the kernel.

        Parameters
        ----------
        comparisons : a `Comparisons`, or an array of rows `(i, j, k)` or `(i, j, k, l)`
        y : booleans or +1/-1 per comparison, False or -1 where it is the other way round
        start : `point_` of a fit to start from, at another penalty, say
        callback : called with the number of iterations so far and the objective; it may raise to interrupt
        """
        feedback = self._read(comparisons, y)
        if self.loss == "ckl":
            return self._fit_ckl(feedback, callback)
        self.penalty_ = feedback.trace_penalty(self.penalty, self.loss)
        free = Matrix(feedback.graph.n_items), Trace(self.penalty_, feedback.n_compared)
        problem = self._problem(feedback, [free])
        if self.slack == "hard":
            refuse_circles(feedback.comparisons)
            found = certified(problem, hard=True, max_iter=self.max_iter, tol=self.tol, callback=callback)
        else:
            found = self._solve(problem, start, callback)
        centre, turn = principal_axes(found.point.factors[0], feedback.compared)
        X = (found.point.factors[0] - centre) @ turn
        self._keep(found, X * feedback.compared[:, None], feedback)
        return self

    @property
    def kernel_(self) -> Floats:
        """(n, n) the kernel: centred, or with ones on the diagonal for "ckl"."""
        if self.loss == "ckl":
            return self.point_.factors[0] @ self.point_.factors[0].T
        return super().kernel_

    def _check(self) -> None:
        super()._check()
        one_of("slack", self.slack, ("soft", "hard"))
        if self.slack == "hard" and self.loss != "hinge":
            raise ValueError(f"slack: a hard margin goes with loss='hinge', found loss={self.loss!r}")
        if self.loss == "ckl" and self.solver == "factored":
            raise ValueError("solver: expected 'auto' or 'full' for loss='ckl', found 'factored'")
        if self.loss == "ckl" and not 0 < self.mu < np.inf:
            raise ValueError(f"mu: expected a positive number, found {self.mu!r}")

    def _similarity_loss(self) -> ComparisonLoss:
        if self.loss == "ckl":
            return ComparisonLoss(Formula(logarithm, self.mu), Formula(logistic))
        return super()._similarity_loss()

    def _fit_ckl(self, feedback: Feedback, callback: Callback | None) -> Self:
        n = feedback.graph.n_items
        problem = Problem(Matrix(n), Compared(feedback.graph, self._similarity_loss()), UnitDiagonal())
        found = accelerated(problem, np.eye(n).ravel(), max_iter=self.max_iter, tol=1e-3 * self.tol, callback=callback)
        values, vectors = linalg.eigh(found.params.reshape(n, n))
        X = vectors * np.sqrt(np.maximum(values, 0.0))
        centre, turn = principal_axes(X, feedback.compared)
        self.penalty_ = 0.0
        end = Certified(Point((X,)), found.value, np.nan, found.status, found.n_iter)
        self._keep(end, (X - centre) @ turn * feedback.compared[:, None], feedback)
        return self


def refuse_circles(comparisons: Comparisons) -> None:
    """Refuse feedback that no distances satisfy, naming comparisons that cannot all hold."""
    circle = find_circle(comparisons)
    if not circle:
        return
    label = comparisons.label
    said = [f"{label(i)}, {label(j)}" for i, j in circle]
    steps = " than ".join(f"({pair})" for pair in [*said, said[0]])
    raise ValueError(
        f"slack: a hard margin needs feedback without contradictions, but these pairs are each called more alike than "
        f"the next, in a circle: {steps}; use slack='soft', or take contradictions out first with similitude.clean"
    )

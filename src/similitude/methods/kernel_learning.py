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
>>> model.score(c) > 0.9, model.gap_ <= 1e-3 * model.objective_
(True, True)
"""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning

from similitude.engine.models import Matrix
from similitude.engine.penalties import Trace
from similitude.engine.problem import Problem
from similitude.engine.solvers.accelerated import accelerated
from similitude.engine.solvers.factored import SMOOTHING, Certified, certificate, exact_value, factored
from similitude.engine.solvers.result import Callback
from similitude.engine.starts import spectral_start
from similitude.engine.terms import ComparisonLoss, Formula, hinge, logistic, squared
from similitude.feedback.columns import Floats
from similitude.feedback.convert import as_comparisons
from similitude.graph.build import SimilarityGraph, build_graph
from similitude.methods.base import ComparisonEstimator, refuse_empty, warn_of_gaps
from similitude.methods.similarity import Similarity

_FIRST_RANK = 10
_PRIOR = 10.0
_LOSSES = {
    "logistic": ComparisonLoss(Formula(squared), Formula(logistic)),
    "hinge": ComparisonLoss(Formula(squared), Formula(hinge, 1e-4)),
}


class RCKL(ComparisonEstimator):
    """Relative comparison kernel learning: a kernel over the items by convex optimisation (Heim 2015, 3.2.2.1).

    Algorithm 1 there prints the step K - delta · grad + lambda · I; the gradient of the objective is
    grad + lambda · I, and so is ours. Losses are means, where the papers print sums.

    Parameters
    ----------
    loss : "logistic" (kernel STE, with probabilities) or "hinge" (kernel GNMDS)
    penalty : strength of the trace penalty; "auto" is 10 · n / (total weight of the comparisons): a kernel of any rank
        needs a stronger one than an embedding of few dimensions. Where it matters, choose it by cross-validation.
    solver : "factored" (grows the rank until a certificate holds; for any number of items), "full" (accelerated
        projected gradient on the n × n kernel: the reference, for a few hundred items), or "auto", which is "factored"
    n_items : number of items, where it is more than the comparisons show
    max_iter : most iterations (of one rank, for "factored")
    tol : stop when the duality gap is this share of the objective
    random_state : seed or generator of the start

    Attributes
    ----------
    kernel_ : (n, n) the kernel, centred
    embedding_ : (n, rank) positions with the kernel's distances, principal axes first
    objective_, gap_ : the exact objective, and how far at most it is above the optimum (proven by duality)
    penalty_, n_iter_, status_ : penalty used, iterations, "converged" or "max_iter"
    similarity_ : the fitted model in use
    """

    def __init__(
        self,
        loss: str = "logistic",
        *,
        penalty: float | str = "auto",
        solver: str = "auto",
        n_items: int | None = None,
        max_iter: int = 1000,
        tol: float = 1e-3,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.solver = solver
        self.n_items = n_items
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, comparisons: Any, y: npt.ArrayLike | None = None, *, callback: Callback | None = None) -> Self:
        """Find the kernel.

        Parameters
        ----------
        comparisons : a `Comparisons`, or an array of rows `(i, j, k)` or `(i, j, k, l)`
        y : booleans or +1/-1 per comparison, False or -1 where it is the other way round
        callback : called with the number of iterations so far and the objective; it may raise to interrupt
        """
        c = as_comparisons(comparisons, y, self.n_items)
        refuse_empty(c)
        self._check()
        graph = build_graph(c)
        warn_of_gaps(c, graph)
        compared = graph.occurrences > 0
        auto = _PRIOR * int(compared.sum()) / float(graph.weight.sum())
        self.penalty_ = auto if self.penalty == "auto" else float(self.penalty)
        found = self._solve(graph, self.penalty_ / int(compared.sum()), callback)
        X = principal_positions(found.X, compared)
        about = {"method": "RCKL", "settings": {"loss": self.loss, "penalty": self.penalty_}}
        self.similarity_ = Similarity(X, _LOSSES[self.loss], c.names, about)
        self.objective_, self.gap_, self.n_iter_, self.status_ = found.value, found.gap, found.n_iter, found.status
        if found.status != "converged":
            warnings.warn(
                f"RCKL stopped {found.gap / abs(found.value):.1e} of the objective from its proven bound: "
                "raise max_iter, or tol",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    @property
    def kernel_(self) -> Floats:
        """(n, n) the kernel, centred."""
        return self.embedding_ @ self.embedding_.T

    def _check(self) -> None:
        if self.loss not in _LOSSES:
            raise ValueError(f"loss: expected 'logistic' or 'hinge', found {self.loss!r}")
        if self.solver not in ("auto", "factored", "full"):
            raise ValueError(f"solver: expected 'auto', 'factored' or 'full', found {self.solver!r}")
        positive = isinstance(self.penalty, Real) and 0 < self.penalty < np.inf
        if self.penalty != "auto" and not positive:
            raise ValueError(f"penalty: expected 'auto' or a positive number, found {self.penalty!r}")

    def _solve(self, graph: SimilarityGraph, rate: float, callback: Callback | None) -> Certified:
        loss = _LOSSES[self.loss]
        if self.solver == "full":
            return _solve_full(graph, loss, rate, self.max_iter, self.tol, callback)
        rng = np.random.default_rng(self.random_state)
        start = spectral_start(graph, min(_FIRST_RANK, graph.n_items - 1), rng)
        return factored(graph, loss, rate, start, max_iter=self.max_iter, tol=self.tol, callback=callback)


def principal_positions(X: Floats, compared: npt.NDArray[np.bool_]) -> Floats:
    """Return positions centred and turned to their principal axes, without axes that hold nothing."""
    centred = (X - X[compared].mean(0)) * compared[:, None]
    left, size, _ = linalg.svd(centred, full_matrices=False)
    kept = size > 1e-7 * max(size[0], 1e-300)
    kept[0] = True
    positions = left[:, kept] * size[kept]
    positions.flags.writeable = False
    return positions


def _solve_full(
    graph: SimilarityGraph, loss: ComparisonLoss, rate: float, max_iter: int, tol: float, callback: Callback | None
) -> Certified:
    """Accelerated projected gradient on the whole kernel, a hinge ever less rounded: the reference."""
    n = graph.n_items
    K, lower, total = np.zeros((n, n)), -np.inf, 0
    gammas = SMOOTHING if loss.shape.expression is hinge else (0.0,)
    value, gap, X = np.inf, np.inf, np.zeros((n, 1))
    for gamma in gammas:
        smooth = loss.smoothed(gamma)
        problem = Problem(Matrix(n), graph, smooth, Trace(rate))
        found = accelerated(problem, K.ravel(), max_iter=max_iter, tol=tol * 1e-6, callback=callback)
        K, total = found.params.reshape(n, n), total + found.n_iter
        values, vectors = linalg.eigh(K)
        X = vectors * np.sqrt(np.maximum(values, 0.0))
        value = exact_value(graph, loss, rate, X)
        lower = max(lower, certificate(graph, smooth, rate, X)[0])
        gap = max(value - lower, 0.0)
        if gap <= tol * abs(value):
            return Certified(X, value, gap, "converged", total)
    return Certified(X, value, gap, "max_iter", total)

"""The recipe of convex kernel learning: parts and weights of a `KernelProblem`, solved with a proof."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from similitude.engine.solvers.certificate import Certified
from similitude.engine.solvers.convex import KernelProblem, Point
from similitude.engine.solvers.factored import factored
from similitude.engine.solvers.full import full_matrices
from similitude.engine.solvers.multipliers import multipliers
from similitude.engine.solvers.result import Callback
from similitude.engine.terms import ComparisonLoss, Formula, hinge, logistic, squared
from similitude.engine.threads import one_blas_thread
from similitude.feedback.columns import Bools, Floats
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import as_comparisons
from similitude.graph.build import SimilarityGraph, build_graph
from similitude.methods.base import ComparisonEstimator, FeedbackWarning, refuse_empty, warn_of_gaps
from similitude.methods.modalities import Modality, Whitened, new_features, read_modalities

LOSSES = {
    "logistic": ComparisonLoss(Formula(squared), Formula(logistic)),
    "hinge": ComparisonLoss(Formula(squared), Formula(hinge, 1e-4)),
}


_NOISE = {"logistic": 1.0, "hinge": 2.0}
_NOTHING = 1e-4  # of the longest axis: a share of 1e-8 of its eigenvalue


@dataclass(frozen=True)
class Feedback:
    """What a fit learns from: the comparisons, their graph, which items were compared, and features by modality."""

    comparisons: Comparisons
    graph: SimilarityGraph
    modalities: dict[str, Modality]

    @property
    def compared(self) -> Bools:
        """Which items were compared."""
        return self.graph.occurrences > 0

    @property
    def n_compared(self) -> int:
        """How many items were compared."""
        return int(self.compared.sum())

    @property
    def sparsity(self) -> float:
        """Items compared per unit of the comparisons' weight, n / W."""
        return self.n_compared / float(self.graph.weight.sum())

    def trace_penalty(self, asked: float | str, loss: str) -> float:
        """Return the penalty asked for; "auto" is sqrt(n / W) for the logistic loss, twice that for the hinge.

        Noise in the answers raises the largest eigenvalue of the votes by about that much (their slopes at zero are 1/2
        and 1): a smaller trace penalty learns noise. On people's answers, 500 to 8,000 of them, it is near the best.
        """
        return _NOISE[loss] * self.sparsity**0.5 if asked == "auto" else float(asked)


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
    """

    _losses: tuple[str, ...] = tuple(LOSSES)
    loss: str
    solver: str
    n_items: int | None
    max_iter: int
    tol: float
    objective_: float
    gap_: float
    n_iter_: int
    status_: str
    penalty_: float

    @property
    def kernel_(self) -> Floats:
        """(n, n) the kernel, centred."""
        return self.embedding_ @ self.embedding_.T

    def _read(self, comparisons: Any, y: npt.ArrayLike | None, features: Any = None) -> Feedback:
        c = as_comparisons(comparisons, y, self.n_items)
        refuse_empty(c)
        self._check()
        modalities: dict[str, Modality] = {}
        if isinstance(self, FeatureEstimator):
            modalities, c = read_modalities(features, c, self._modality())
        graph = build_graph(c)
        if not modalities:
            warn_of_gaps(c, graph)
        return Feedback(c, graph, modalities)

    def _check(self) -> None:
        one_of("loss", self.loss, self._losses)
        one_of("solver", self.solver, ("auto", "factored", "full"))
        for name in ("penalty", "auxiliary_penalty"):
            check_penalty(name, getattr(self, name, "auto"))

    def _solve(self, problem: KernelProblem, start: Point | None, callback: Callback | None) -> Certified[Point]:
        if self.solver == "full":
            return full_matrices(problem, max_iter=self.max_iter, tol=self.tol, callback=callback)
        solve = multipliers if self.loss == "hinge" else factored
        return solve(problem, start, max_iter=self.max_iter, tol=self.tol, callback=callback)

    def _keep(self, found: Certified[Point], X: Floats, feedback: Feedback) -> None:
        """Keep positions and how the solver ended; say so where it did not get there."""
        self.similarity_ = self._in_use(X, self._similarity_loss(), feedback.comparisons.names)
        self.point_ = found.point
        self.objective_, self.gap_, self.n_iter_, self.status_ = found.value, found.gap, found.n_iter, found.status
        if not X.any():
            warnings.warn(
                f"{type(self).__name__}: at a penalty of {self.penalty_:.3g} the best kernel is zero, and all items "
                "stand in one point: lower the penalty (see penalty_path)",
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


class FeatureEstimator(ComparisonEstimator):
    """A method that places items by their features, ones never compared included.

    `fit` must set `modalities_`, `maps_`, per modality the map (q × d) from its Φ to positions, and `origin_`, what is
    taken from their sum.

    Attributes
    ----------
    components_ : per modality (n, d): what each training item's kernel values contribute to each dimension
    """

    needs_features = True
    modalities_: dict[str, Modality]
    maps_: dict[str, Floats]
    origin_: Floats

    def _modality(self) -> type[Modality]:
        """Return the form in which the method takes features."""
        return Whitened

    @property
    def components_(self) -> dict[str, Floats]:
        """Per modality: what each training item's kernel values (each feature, for LPOE) add to each dimension."""
        check_is_fitted(self, "maps_")
        return {name: self.modalities_[name].coefficients(N) for name, N in self.maps_.items()}

    def transform(self, features: Any) -> Floats:
        """(m, d) positions of new items, by their features alone.

        Parameters
        ----------
        features : as in `fit`, for the new items: an array, or a dict with some of the modalities. In a modality that
            a new item lacks, it stands at the centre.
        """
        check_is_fitted(self, "maps_")
        tables = new_features(self.modalities_, features)
        return np.sum([table @ self.maps_[name] for name, table in tables.items()], axis=0) - self.origin_


def one_of(argument: str, found: Any, expected: tuple[str, ...]) -> None:
    """Refuse a setting that is none of the expected."""
    if found not in expected:
        raise ValueError(f"{argument}: expected one of {', '.join(map(repr, expected))}, found {found!r}")


def check_penalty(argument: str, found: Any) -> None:
    """Refuse a penalty that is neither "auto" nor a positive number."""
    positive = isinstance(found, Real) and 0 < float(found) < np.inf
    if found != "auto" and not positive:
        raise ValueError(f"{argument}: expected 'auto' or a positive number, found {found!r}")


def principal_axes(X: Floats, over: Bools | None = None) -> tuple[Floats, Floats]:
    """Return the centre of positions and the turn (d × k) to their principal axes, axes that hold nothing left out.

    The centre and the axes are those of the rows in `over`.
    """
    inside = X if over is None else X[over]
    centre = inside.mean(0)
    if not X.any():
        return centre, np.zeros((X.shape[1], 1))
    with one_blas_thread():
        _, size, turn = linalg.svd(inside - centre, full_matrices=False)
    return centre, turn[size > _NOTHING * size[0]].T

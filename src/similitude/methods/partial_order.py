"""Partial order embedding (McFee & Lanckriet 2011): maps of features under which comparisons hold.

    min over W_p ⪰ 0 of   mean loss + penalty · sum_p trace(W_p K_p) / n,   squared distances
    sum_p (k_p(i) - k_p(j))' W_p (k_p(i) - k_p(j)),   k_p(i) the i-th column of K_p

The paper's beta weighs the losses instead: penalty = n / beta. `LPOE` learns on features as they stand, `KPOE` on one
kernel, `MKPOE` on several, a map each, the maps side by side. With K_p = Φ Φ' and W'_p = Φ' W_p Φ the problem is over
trace(W'_p) and distances of Φ W'_p Φ': same optimum, without K_p's squared condition number. The gradient printed in
appendix B lacks the factor beta/|C|.

**diagonal**: W_p = diag(u_p) with u_p >= 0, one weight per training item and kernel: a linear program with the hinge,
sparse, and readable ("item i is a landmark of kernel p"). Kernels are taken as they are, scaled to a mean of 1 on the
diagonal.

**combination="weighted"** (K_2 in the paper): one map of a learned weighted sum of the kernels. Positions are
sum_p Φ_p N_p, the N_p *added* instead of side by side. With weights nu_p on the kernels (sum 1) the penalty is
sum_p |N_p|²/nu_p, least at nu_p = |N_p| / sum_q |N_q|: the fit alternates. Not convex; built for the comparison, as are
**combination="shared"** (K_3), one map for all kernels without cross terms, and the diagonal forms of both
(`methods.kernel_combinations`).

With the identity kernel, `KPOE` is kernel GNMDS, that is `RCKL(loss="hinge")`.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import Literal

import numpy as np

from similitude.engine.comparison_terms import Compared
from similitude.engine.models import FeatureWeights, Matrix, Positions
from similitude.engine.penalties import Blocks, NonNegative, Ridge, Trace
from similitude.engine.problem import Problem
from similitude.engine.solvers.certificate import Certified
from similitude.engine.solvers.convex import Convex, Point
from similitude.engine.solvers.lbfgs import lbfgs
from similitude.engine.solvers.result import Callback
from similitude.engine.starts import spectral_positions
from similitude.methods.feature_base import Feedback
from similitude.methods.kernel_base import LOSSES, FeatureKernelEstimator
from similitude.methods.kernel_combinations import Combination
from similitude.methods.modalities import KernelColumns, Modality, Plain, Whitened, per_modality, side_by_side
from similitude.methods.scaling import principal_axes
from similitude.renaming import by_name
from similitude.settings import check_count, one_of
from similitude.types import Floats, Seed

# of combination="weighted": rounding of the hinge, what each alternation must gain, least weight of a kernel
_ROUNDING = 1e-2
_GAIN = 1e-5
_LEAST_SHARE = 1e-6


@by_name("loss")
class KPOE(FeatureKernelEstimator):
    """Kernel partial order embedding: a linear map of one kernel's feature space (Algorithm 3).

    Parameters
    ----------
    loss : "hinge" (the paper's) or "logistic", which gives probabilities
    penalty : strength of the trace penalty (n / beta in the paper); "auto" is sqrt(n / W) with W the total weight of
        the comparisons, twice that for the hinge
    diagonal : learn one weight per training item instead of a full matrix

    Attributes
    ----------
    weights_ : trace(W_p K_p) of each modality: how much of the embedding it carries
    diagonal_ : with `diagonal`, per modality (n,) the weight of each training item as a landmark

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 600, random_state=0)
    >>> model = sm.KPOE().fit(answers, features=sm.kernels.RBF(truth))
    >>> model.score(answers) > 0.8, len(model.transform([[0.0, 0.0], [1.0, 1.0]]))
    (True, 2)
    """

    weights_: dict[str, float] = field(init=False)

    loss: Literal["logistic", "hinge"] = "hinge"
    diagonal: bool = False

    def _find(self, feedback: Feedback, start: Point | None, callback: Callback | None) -> None:
        self._check_count(feedback.modalities)
        self.penalty_ = feedback.trace_penalty(self.penalty, self.loss)
        if self.diagonal:
            self._fit_diagonal(feedback, start, callback)
        else:
            self._fit_full(feedback, start, callback)

    def _check_count(self, modalities: dict[str, Modality]) -> None:
        if len(modalities) > 1:
            raise ValueError(f"features: found {len(modalities)} modalities, expected one; use MKPOE, or kernels.Sum")

    def _modality(self) -> type[Modality]:
        return KernelColumns if self.diagonal else Whitened

    def _fit_full(self, feedback: Feedback, start: Point | None, callback: Callback | None) -> None:
        price = Trace(self.penalty_, feedback.n_compared)
        maps = [Matrix(feedback.graph.n_items, features=own.features) for own in self.modalities_.values()]
        found = self._solve(self._problem(feedback, [(map_, price) for map_ in maps]), start, callback)
        factors = dict(zip(self.modalities_, found.point.factors, strict=True))
        self.weights_ = {name: float((N**2).sum()) for name, N in factors.items()}
        self._keep_maps(found, beside(factors), feedback)

    def _fit_diagonal(self, feedback: Feedback, start: Point | None, callback: Callback | None) -> None:
        each = np.concatenate([modality.prices for modality in self.modalities_.values()])
        prices = NonNegative(self.penalty_ / feedback.n_compared * each)
        problem = self._problem(feedback, [(FeatureWeights(side_by_side(self.modalities_)), prices)])
        found = without_crumbs(problem, self._solve(problem, start, callback), self.tol)
        u = found.point.weights
        self.diagonal_ = per_modality(self.modalities_, u)
        self.weights_ = {name: float(own.sum()) for name, own in per_modality(self.modalities_, u * each).items()}
        used = np.flatnonzero(u > 0)
        N = np.zeros((len(u), max(len(used), 1)))
        N[used, np.arange(len(used))] = np.sqrt(u[used])
        self._keep_maps(found, per_modality(self.modalities_, N), feedback)

    def _keep_maps(self, found: Certified[Point], maps: dict[str, Floats], feedback: Feedback) -> None:
        """Keep maps to one space, turned to the principal axes of the items."""
        X = np.sum([self.modalities_[name].features @ N for name, N in maps.items()], axis=0)
        centre, turn = principal_axes(X)
        self.maps_ = {name: N @ turn for name, N in maps.items()}
        self.origin_ = centre @ turn
        self._keep(found, (X - centre) @ turn, feedback)


class LPOE(KPOE):
    """Linear partial order embedding: a linear map of features as they stand (Algorithm 2).

    The same optimum as `KPOE` with the linear kernel, over a matrix of the features' order instead of the items'. With
    `diagonal`, a weight per feature: which of them matter to people. Features are centred and scaled by one number;
    standardise them first if their units differ.

    Parameters
    ----------
    diagonal : learn one weight per feature instead of a full matrix

    Attributes
    ----------
    coefficients_ : {"features": (q, d)} what a unit of each feature adds to each dimension
    diagonal_ : with `diagonal`, {"features": (q,)} the weight of each feature

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 600, random_state=0)
    >>> noise = np.random.default_rng(1).normal(size=(12, 2))
    >>> model = sm.LPOE(diagonal=True).fit(answers, features=np.hstack([truth, noise]))
    >>> weights = model.diagonal_["features"]
    >>> weights.shape, bool(weights[:2].min() > weights[2:].max())
    ((4,), True)
    """

    def _modality(self) -> type[Modality]:
        return Plain


@by_name("loss")
class MKPOE(KPOE):
    """Multiple kernel partial order embedding: a map of each modality, side by side (Algorithm 4).

    Parameters
    ----------
    combination : "concatenate" (K_4 in the paper, convex); or, not convex and for the comparison, "weighted" (K_2): one
        map of a learned weighted sum of the kernels, or "shared" (K_3): one map for every kernel, each with a weight.
        Full maps of these two may end in a local optimum, above all with the hinge; "shared" takes the best of three
        starts
    n_components : of "weighted" and "shared": dimensions of full maps
    random_state : of "weighted" and "shared": seed of the starts
    max_iter : most iterations; of "weighted" and "shared" also the most rounds between map and weights

    Attributes
    ----------
    weights_ : trace(W_p K_p) of each modality: how much of the embedding it carries (its weight in the sum, for
        "weighted" and "shared"; a full map that is "shared" makes up for them, so that there they say nothing of which
        modality matters)
    diagonal_ : with `diagonal`, per modality (n,) the weight of each training item as a landmark
    gap_ : how far at most the objective is above the optimum (proven by duality); NaN where it is not convex

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 600, random_state=0)
    >>> noise = np.random.default_rng(1).normal(size=(12, 2))
    >>> model = sm.MKPOE().fit(answers, features={"look": truth, "noise": noise})
    >>> model.weights_["look"] > model.weights_["noise"], model.transform({"look": [[0.0, 0.0]]}).shape[0]
    (True, 1)
    """

    combination: Literal["concatenate", "weighted", "shared"] = "concatenate"
    n_components: int = 10
    random_state: Seed = None

    def _check(self) -> None:
        super()._check()
        one_of("combination", self.combination, ("concatenate", "weighted", "shared"))
        check_count("n_components", self.n_components)

    def _modality(self) -> type[Modality]:
        return KernelColumns if self.diagonal or self.combination == "shared" else Whitened

    def _check_count(self, modalities: dict[str, Modality]) -> None:
        """Any number of modalities will do."""

    def _fit_full(self, feedback: Feedback, start: Point | None, callback: Callback | None) -> None:
        if self.combination == "concatenate":
            super()._fit_full(feedback, start, callback)
        elif self.combination == "weighted":
            self._fit_weighted(feedback, callback)
        else:
            self._fit_combined(feedback)

    def _fit_diagonal(self, feedback: Feedback, start: Point | None, callback: Callback | None) -> None:
        if self.combination == "concatenate":
            super()._fit_diagonal(feedback, start, callback)
        else:
            self._fit_combined(feedback)

    def _fit_combined(self, feedback: Feedback) -> None:
        """K_3, and the diagonal forms of K_2 and K_3."""
        shared, kernels = self.combination == "shared", np.stack([own.features for own in self.modalities_.values()])
        rate, loss = self.penalty_ / feedback.n_compared, LOSSES[self.loss].smoothed(_ROUNDING)
        fit = Combination(feedback.graph, kernels, loss, rate, self.n_components, self.random_state, self.max_iter)
        found = fit.solve(shared=shared, diagonal=self.diagonal)
        self.weights_ = dict(zip(self.modalities_, found.shares.tolist(), strict=True))
        if self.diagonal:
            self.diagonal_ = {name: share * np.diagonal(found.factor) ** 2 for name, share in self.weights_.items()}
        sizes = np.sqrt(found.shares) if shared else found.shares
        maps = {name: size * found.factor for name, size in zip(self.modalities_, sizes, strict=True)}
        end = Certified(Point((found.factor,)), found.value, np.nan, found.status, found.n_iter)
        self._keep_maps(end, beside(maps) if shared else maps, feedback)

    def _fit_weighted(self, feedback: Feedback, callback: Callback | None) -> None:
        """Alternate between the map at given kernel weights and the weights that make its penalty least."""
        loss, rate = LOSSES[self.loss].smoothed(_ROUNDING), self.penalty_ / feedback.n_compared
        features = side_by_side(self.modalities_)
        model = Positions(feedback.graph.n_items, self.n_components, features=features)
        sizes = [own.features.shape[1] * self.n_components for own in self.modalities_.values()]
        start = spectral_positions(feedback.graph, self.n_components, np.random.default_rng(self.random_state))
        N = (features.T @ start / (features**2).sum(0)[:, None]).ravel()
        shares, values, total = np.full(len(sizes), 1.0 / len(sizes)), [np.inf], 0
        while len(values) <= self.max_iter:
            ridges = [Ridge(rate / share) for share in shares]
            problem = Problem(model, Compared(feedback.graph, loss), Blocks(list(zip(ridges, sizes, strict=True))))
            found = lbfgs(problem, N, max_iter=self.max_iter, callback=callback)
            N, total = found.params, total + found.n_iter
            norms = np.array([np.linalg.norm(own) for own in np.split(N, np.cumsum(sizes)[:-1])])
            shares = np.maximum(norms / norms.sum(), _LEAST_SHARE)
            values.append(problem.data(N)[0] + rate * float(norms.sum()) ** 2)
            if values[-2] - values[-1] <= _GAIN * values[-1]:
                break
        self.weights_ = dict(zip(self.modalities_, shares.tolist(), strict=True))
        status = "converged" if len(values) <= self.max_iter else "max_iter"
        map_ = N.reshape(model.shape)
        end = Certified(Point((map_,)), values[-1], np.nan, status, total)
        self._keep_maps(end, per_modality(self.modalities_, map_), feedback)


def beside(factors: dict[str, Floats]) -> dict[str, Floats]:
    """Return maps into one space in which each modality has dimensions of its own."""
    ends = np.cumsum([0, *(N.shape[1] for N in factors.values())])
    return {
        name: np.hstack([np.zeros((len(N), first)), N, np.zeros((len(N), ends[-1] - first - N.shape[1]))])
        for (name, N), first in zip(factors.items(), ends, strict=False)
    }


def without_crumbs(problem: Problem, found: Certified[Point], tol: float) -> Certified[Point]:
    """Return the solution with its least weights set to zero, as many of them as cost nothing to speak of.

    A solver stops a little before weights are exactly zero; a reader wants to see which are.
    """
    exact, u = Convex(problem), found.point.weights
    for share in (1e-2, 1e-3, 1e-4, 1e-6):
        kept = Point((np.where(u > share * u.max(), u, 0.0),))
        value = exact.valued(kept, exact.sqdist(kept))[1]
        if value - found.value <= 0.1 * tol * abs(found.value):
            return replace(found, point=kept, value=value)
    return found

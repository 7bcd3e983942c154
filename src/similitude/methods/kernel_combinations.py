"""Maps of several kernels that are not convex in their weights: K2 and K3 of McFee & Lanckriet (2011), section 4.2.

With mu on the kernels (sum 1), k_p(i) the i-th column of K_p, W full or diagonal:

    K2   d² = k(i, j)' W k(i, j),           k(i, j) = sum_p mu_p (k_p(i) - k_p(j)):  one map of the weighted sum
    K3   d² = sum_p mu_p (k_p(i) - k_p(j))' W (k_p(i) - k_p(j)):                     one map shared by all kernels

(the paper's mu_p of K3 is the root of ours), penalty · sum_p mu_p trace(W K_p) / n. For given mu both are problems over
W like any other, and for given W over mu: the fits alternate until that gains nothing. Full maps, above all with the
hinge, end in local optima: they begin at spectral and at random positions, the best end is kept, and even that need not
be the best there is. K4, a W of its own for each kernel, contains K3 and is convex: that is what `MKPOE` does by
default; these are there for the comparison.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg, optimize

from similitude.engine.backend import CPU
from similitude.engine.comparison_terms import Compared
from similitude.engine.distances import sqdist_table
from similitude.engine.models import Copies, FeatureWeights, Positions, Weights
from similitude.engine.penalties import NonNegative, Ridge
from similitude.engine.problem import Problem
from similitude.engine.solvers.lbfgs import lbfgs
from similitude.engine.solvers.rounds import certified
from similitude.engine.starts import random_start, spectral_positions
from similitude.engine.terms import ComparisonLoss
from similitude.graph.build import SimilarityGraph
from similitude.types import Floats, Seed

_GAIN = 1e-4
_LEAST_SHARE = 1e-6
_TOLERANCE = 1e-3
_RANDOM_STARTS = 2
MapStep = Callable[[Floats, bool, Floats | None], Floats]  # shares, shared, the last factor: the next one


@dataclass(frozen=True)
class Combined:
    """Shares mu of the kernels (P,), the factor N (n, d) of W = N N', the objective, alternations, and how it ended."""

    shares: Floats
    factor: Floats
    value: float
    n_iter: int
    status: str


@dataclass(frozen=True)
class Combination:
    """What the fits of K2 and K3 share.

    Attributes
    ----------
    graph : the comparisons
    kernels : (P, n, n)
    loss : hinge or logistic; its rounding counts
    rate : price of a unit of trace(W K)
    n_components : dimensions of a full map
    seed : of the random starts of a full map
    most : alternations
    """

    graph: SimilarityGraph
    kernels: Floats
    loss: ComparisonLoss
    rate: float
    n_components: int = 10
    seed: Seed = None
    most: int = 1000

    def solve(self, *, shared: bool, diagonal: bool) -> Combined:
        """The best of where some starts end; `shared` is K3, otherwise K2."""
        step = self._weights_of_items if diagonal else self._full_map
        starts = [None] if diagonal else self._positions_to_start()
        ends = [self._alternate(step, shared, start) for start in starts]
        return min(ends, key=lambda end: end.value)

    def _positions_to_start(self) -> list[Floats | None]:
        """Spectral ones and, since full maps end in local optima, random ones."""
        rng = np.random.default_rng(self.seed)
        drawn = [random_start(self.graph, self.n_components, rng) for _ in range(_RANDOM_STARTS)]
        return [spectral_positions(self.graph, self.n_components, rng), *drawn]

    def _alternate(self, step: MapStep, shared: bool, start: Floats | None) -> Combined:
        """Alternate between the map and the shares until that gains nothing."""
        shares = np.full(len(self.kernels), 1.0 / len(self.kernels))
        seen = self._seen(shares, shared)[: self.graph.n_items]
        first = None if start is None else np.asarray(linalg.lstsq(seen, start, 1e-6)[0], np.float64)
        factor = step(shares, shared, first)
        best = Combined(shares, factor, self.value(shares, factor, shared), 0, "max_iter")
        for count in range(1, self.most + 1):
            shares = self._shares(best.shares, best.factor, shared)
            factor = step(shares, shared, best.factor)
            value = self.value(shares, factor, shared)
            if best.value - value <= _GAIN * best.value:
                return replace(best, status="converged")
            best = Combined(shares, factor, value, count, "max_iter")
        return best

    def value(self, shares: Floats, factor: Floats, shared: bool) -> float:
        """The objective."""
        d2 = CPU().sqdist(self.places(shares, factor, shared), self.graph.pairs)
        return self._mean_loss(d2)[0] + self.rate * float(shares @ self._traces(factor))

    def places(self, shares: Floats, factor: Floats, shared: bool) -> Floats:
        """Positions of the items: a block of dimensions for each kernel (K3), or one for all (K2)."""
        if shared:
            return np.hstack([np.sqrt(share) * K @ factor for share, K in zip(shares, self.kernels, strict=True)])
        return np.tensordot(shares, self.kernels, 1) @ factor

    def _mean_loss(self, d2: Floats) -> tuple[float, Floats]:
        return CPU().losses(self.loss, d2, self.graph)

    def _traces(self, factor: Floats) -> Floats:
        """trace(W K_p) of each kernel."""
        return np.einsum("ld,plm,md->p", factor, self.kernels, factor, optimize=True)

    def _seen(self, shares: Floats, shared: bool) -> Floats:
        """Rows of features, those of one kernel after the other (K3) or of the sum (K2)."""
        if shared:
            return np.vstack([np.sqrt(share) * K for share, K in zip(shares, self.kernels, strict=True)])
        return np.asarray(np.tensordot(shares, self.kernels, 1))

    def _weights_of_items(self, shares: Floats, shared: bool, _: Floats | None) -> Floats:
        """N of the best diagonal W for given shares: convex, a weight for each training item."""
        prices = self.rate * np.einsum("p,pll->l", shares, self.kernels)
        model = Copies(FeatureWeights(self._seen(shares, shared)), self.graph.n_items)
        problem = Problem(model, Compared(self.graph, self.loss), NonNegative(prices))
        return np.diag(np.sqrt(np.maximum(certified(problem, tol=_TOLERANCE).point.weights, 0.0)))

    def _full_map(self, shares: Floats, shared: bool, last: Floats | None) -> Floats:
        """N of a full W for given shares, from the last one: over M = K^1/2 N, so that the penalty is a ridge."""
        assert last is not None  # a full map begins somewhere
        values, vectors = linalg.eigh(np.tensordot(shares, self.kernels, 1))
        kept = values > 1e-8 * values[-1]
        back = vectors[:, kept] / np.sqrt(values[kept])
        n = self.graph.n_items
        rows = self._seen(shares, shared) @ back
        positions = Positions(len(rows), self.n_components, features=rows)
        first = (vectors[:, kept] * np.sqrt(values[kept])).T @ last
        problem = Problem(Copies(positions, n), Compared(self.graph, self.loss), Ridge(self.rate))
        return back @ lbfgs(problem, first.ravel()).params.reshape(positions.shape)

    def _shares(self, shares: Floats, factor: Floats, shared: bool) -> Floats:
        """The best shares for a given map: convex for K3, over the simplex; for K2 a descent from the last ones."""
        places, prices = self.kernels @ factor, self.rate * self._traces(factor)
        i, j = self.graph.pairs.T
        steps = places[:, i] - places[:, j]
        if shared:
            tables = np.stack([sqdist_table(own) for own in places])
            problem = Problem(Weights(tables), Compared(self.graph, self.loss), NonNegative(prices))
            return _to_simplex(certified(problem, tol=_TOLERANCE).point.weights)

        def objective(mu: Floats) -> tuple[float, Floats]:
            gap = np.tensordot(mu, steps, 1)
            value, slope = self._mean_loss((gap**2).sum(1))
            return value + float(prices @ mu), 2.0 * np.einsum("t,td,ptd->p", slope, gap, steps, optimize=True) + prices

        return _descended(objective, shares)


def _to_simplex(weights: Floats) -> Floats:
    """Shares with a sum of 1; what leaves out every kernel leaves them equal."""
    total = weights.sum()
    return np.maximum(weights / total, _LEAST_SHARE) if total > 0 else np.full(len(weights), 1.0 / len(weights))


def _descended(objective: Callable[[Floats], tuple[float, Floats]], shares: Floats) -> Floats:
    """Minimise over shares, as the softmax of free numbers."""

    def free(logits: Floats) -> tuple[float, Floats]:
        mu = np.exp(logits - logits.max())
        mu /= mu.sum()
        value, slope = objective(mu)
        return value, mu * (slope - slope @ mu)

    found = optimize.minimize(free, np.log(np.maximum(shares, _LEAST_SHARE)), jac=True, method="L-BFGS-B").x
    mu = np.exp(found - found.max())
    return np.asarray(mu / mu.sum())

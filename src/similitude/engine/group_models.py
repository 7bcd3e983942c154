"""Models of several groups of people who see the same items: what they share, and how each departs from it.

| model | parameters | positions of group g | pullback, with G = 2 L X over all groups |
|---|---|---|---|
| `GroupShifts` | X (n × r) and E_g (n × r) | X + E_g | sum_g G_g; G_g |
| `GroupWeights` | X (n × r) and v_g (r) | X · e^v_g | sum_g G_g · e^v_g; sum_i of X · G_g · e^v_g |
| `PlacedInViews` | X of new items (m × D) beside fixed ones | X V_g, views V_g given | sum_g G_g V_g', new rows |
| `RaterWeights` | those of X, and v_r (r) | X · sqrt(w_r), w = e^v over its mean | as above, half of it for v |
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from similitude.engine.backend import Backend
from similitude.engine.models import DotProducts, Model, Positions
from similitude.graph.build import SimilarityGraph
from similitude.types import Array, Floats


def seen_by_groups(n_items: int, near: Array, far: Array, weight: Floats, merged: bool) -> SimilarityGraph:
    """Every comparison once for each group, of weights (g, m): item i as group g sees it is item g · n_items + i."""
    shifts = [g * n_items for g in range(len(weight))]
    near, far = (np.concatenate([pairs + k for k in shifts]).astype(np.int32) for pairs in (near, far))
    return SimilarityGraph(len(weight) * n_items, near, far, weight.ravel(), merged)


class GroupShifts(Positions):
    """Positions as several groups of people see them: a common map, and shifts of every item for each group.

    Item i as group g sees it is item g · n_items + i of this model.
    """

    def __init__(self, n_items: int, n_components: int, n_groups: int) -> None:
        super().__init__(n_items * (1 + n_groups), n_components)
        self.n_items, self.n_groups = n_items, n_groups

    def positions(self, params: Floats) -> Floats:
        """x_i + e_gi, group after group."""
        common, shifts = self._parts(params)
        return (common + shifts).reshape(-1, self.shape[1])

    def pull_positions(self, gradient: Floats) -> Floats:
        """The sum over groups for the common map, each group's own for its shifts."""
        by_group = gradient.reshape(self.n_groups, -1)
        return np.concatenate([by_group.sum(0), by_group.ravel()])

    def _parts(self, params: Floats) -> tuple[Floats, Floats]:
        every = params.reshape(1 + self.n_groups, self.n_items, self.shape[1])
        return every[0], every[1:]


class GroupWeights(Model):
    """Positions as several groups of people see them: a common map whose dimensions each group stretches by e^v.

    Squared distances then weigh dimension k by e^(2 v_gk), as in individual-differences scaling (Carroll & Chang 1970).
    Item i as group g sees it is item g · n_items + i of this model.
    """

    def __init__(self, n_items: int, n_components: int, n_groups: int) -> None:
        self.n_items, self.n_groups = n_items, n_groups
        self.shape = (n_items + n_groups, n_components)
        self.size = self.shape[0] * n_components

    def positions(self, params: Floats) -> Floats:
        """x_i · e^v_g, group after group."""
        common, stretch = self.parts(params)
        return (common * stretch[:, None, :]).reshape(-1, self.shape[1])

    def parts(self, params: Floats) -> tuple[Floats, Floats]:
        """Return the common map and the stretches e^v of each group."""
        own = params.reshape(self.shape)
        return own[: self.n_items], np.exp(own[self.n_items :])

    def sqdist(self, params: Floats, pairs: Array, backend: Backend) -> Floats:
        """|x_i e^v_g - x_j e^v_g|²."""
        return backend.sqdist(self.positions(params), pairs)

    def pullback(self, params: Floats, pairs: Array, w: Floats, backend: Backend) -> Floats:
        """2 L X, taken back to the common map and the logarithms of the stretches."""
        common, stretch = self.parts(params)
        slope = 2.0 * backend.laplacian(self.positions(params), pairs, w)
        by_group = slope.reshape(self.n_groups, self.n_items, -1) * stretch[:, None, :]
        return np.concatenate([by_group.sum(0).ravel(), (by_group * common).sum(1).ravel()])


class PlacedInViews(Positions):
    """New items beside fixed ones in a map of which several groups of people have given views.

    Item i as group g sees it is item g · n_items + i of this model, with as many items as are fixed and new together.
    """

    def __init__(self, n_new: int, fixed: Floats, views: Floats) -> None:
        super().__init__(n_new, fixed.shape[1], fixed=fixed)
        self.views = views

    def positions(self, params: Floats) -> Floats:
        """X V_g, group after group."""
        return np.concatenate(super().positions(params) @ self.views)

    def pull_positions(self, gradient: Floats) -> Floats:
        """Every group's, taken back through its view."""
        by_group = gradient.reshape(len(self.views), self.n_items, -1)
        return super().pull_positions((by_group @ self.views.transpose(0, 2, 1)).sum(0))


class RaterWeights(Model):
    """Items as raters see them who weigh the dimensions of one map differently (Carroll & Chang 1970, INDSCAL).

    Squared distances are sum_k w_rk (x_ik - x_jk)², products sum_k w_rk x_ik x_jk. The mean of w_rk over all that was
    said is 1 for each k, w being e^v over that mean: the map is what all see together, and its penalty keeps its
    meaning. Nobody known is the last rater, with v = 0. Item i as rater r sees it is item r · n + i of this model, n
    being the items of the map; both items of a pair are one rater's, and pairs are sorted by rater.

    A map of hundreds of raters at once would not fit in a cache, so each is made as its pairs come.

    Parameters
    ----------
    model : the map that they share, without weights
    share : (r + 1,) the share of each rater, and last of nobody known, in what was said
    """

    def __init__(self, model: Positions | DotProducts, share: Floats) -> None:
        self.vectors = model.vectors if isinstance(model, DotProducts) else model
        self.share = share
        self.n_seen, dimensions = model.n_items, self.vectors.shape[1]
        self.n_items, self.shape = len(share) * model.n_items, (len(share) - 1, dimensions)
        free = Positions(model.n_items, dimensions)
        self._seen: Model = DotProducts(free) if isinstance(model, DotProducts) else free
        self.size = self.vectors.size + self.shape[0] * dimensions

    def weights(self, params: Floats) -> Floats:
        """(r + 1, d) weight of each dimension to each rater, and last to nobody known."""
        power = np.vstack([params[self.vectors.size :].reshape(self.shape), np.zeros(self.shape[1])])
        relative = np.exp(power - power.max(0))
        return np.asarray(relative / (self.share @ relative))

    def sqdist(self, params: Floats, pairs: Array, backend: Backend) -> Floats:
        """sum_k w_rk (x_ik - x_jk)², or -sum_k w_rk x_ik x_jk."""
        found = np.empty(len(pairs))
        X, stretch = self.vectors.positions(params[: self.vectors.size]), np.sqrt(self.weights(params))
        for rater, rows, own in self._by_rater(pairs):
            found[rows] = self._seen.sqdist((X * stretch[rater]).ravel(), own, backend)
        return found

    def pullback(self, params: Floats, pairs: Array, w: Floats, backend: Backend) -> Floats:
        """Each rater's slopes by X · sqrt(w_r), taken back to the map and, through the mean, to v.

        Values are of degree 2 in X · sqrt(w_r), so that their derivative by log w_rk is half of position times slope.
        """
        X, weights = self.vectors.positions(params[: self.vectors.size]), self.weights(params)
        by_map, by_weight = np.zeros(X.shape), np.zeros(weights.shape)
        for rater, rows, own in self._by_rater(pairs):
            stretch = np.sqrt(weights[rater])
            slope = self._seen.pullback((X * stretch).ravel(), own, w[rows], backend).reshape(X.shape) * stretch
            by_map += slope
            by_weight[rater] = 0.5 * np.einsum("ik,ik->k", X, slope)
        by_power = by_weight - self.share[:, None] * weights * by_weight.sum(0)
        return np.concatenate([self.vectors.pull_positions(by_map), by_power[:-1].ravel()])

    def _by_rater(self, pairs: Array) -> Iterator[tuple[int, slice, Array]]:
        """Each rater of whom there are pairs, where these stand, and the pairs as items of the map."""
        ends = np.searchsorted(pairs[:, 0] // self.n_seen, np.arange(len(self.share) + 1))
        for rater, (first, last) in enumerate(pairwise(ends)):
            if last > first:
                rows = slice(int(first), int(last))
                yield rater, rows, pairs[rows] - np.int32(rater * self.n_seen)

"""Models of several groups of people who see the same items: what they share, and how each departs from it.

| model | parameters | positions of group g | pullback, with G = 2 L X over all groups |
|---|---|---|---|
| `GroupShifts` | X (n × r) and E_g (n × r) | X + E_g | sum_g G_g; G_g |
| `GroupWeights` | X (n × r) and v_g (r) | X · e^v_g | sum_g G_g · e^v_g; sum_i of X · G_g · e^v_g |
| `PlacedInViews` | X of new items (m × D) beside fixed ones | X V_g, views V_g given | sum_g G_g V_g', new rows |
"""

from __future__ import annotations

import numpy as np

from similitude.engine.backend import Backend
from similitude.engine.models import Model, Positions
from similitude.types import Array, Floats


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

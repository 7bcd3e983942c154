"""A problem: model × comparisons × loss × penalty, ready for a solver; and what solvers ask of any problem."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol

from similitude.engine.backend import CPU, Backend
from similitude.engine.models import Model, Positions
from similitude.engine.penalties import Penalty
from similitude.engine.terms import ComparisonLoss
from similitude.feedback.columns import Floats
from similitude.graph.build import SimilarityGraph


class Objective(Protocol):
    """What a solver minimises: data(params) + penalty(params)."""

    @property
    def penalty(self) -> Penalty:
        """What keeps the parameters small, and their set."""

    def data(self, params: Floats) -> tuple[float, Floats]:
        """Value without the penalty, and its gradient."""

    def value(self, params: Floats) -> float:
        """Objective alone."""

    def value_and_gradient(self, params: Floats) -> tuple[float, Floats]:
        """Objective and its gradient, where the penalty is smooth."""


@dataclass(frozen=True)
class Problem:
    """Minimise over params: weighted mean of loss(comparison) + penalty(params)."""

    model: Model
    graph: SimilarityGraph
    loss: ComparisonLoss
    penalty: Penalty
    backend: Backend = field(default_factory=CPU)

    def data(self, params: Floats) -> tuple[float, Floats]:
        """Mean loss and its gradient, the penalty left out."""
        model = self.model
        if isinstance(model, Positions):  # positions are in hand: one pass over the comparisons does it all
            value, product = self.backend.embedding(self.loss, model.positions(params), self.graph)
            return value, model.pull_positions(2.0 * product)
        value, w = self.backend.losses(self.loss, model.sqdist(params, self.graph.pairs, self.backend), self.graph)
        return value, model.pullback(params, self.graph.pairs, w, self.backend)

    def value_and_gradient(self, params: Floats) -> tuple[float, Floats]:
        """Objective and its gradient, where the penalty is smooth."""
        value, gradient = self.data(params)
        return value + self.penalty.value(params), gradient + self.penalty.gradient(params)

    def value(self, params: Floats) -> float:
        """Objective alone."""
        return self.data(params)[0] + self.penalty.value(params)

    def with_loss(self, loss: ComparisonLoss) -> Problem:
        """Return the same problem with another loss (a step of a smoothing path, say)."""
        return replace(self, loss=loss)

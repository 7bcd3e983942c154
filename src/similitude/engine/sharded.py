"""A problem over comparisons that do not fit in memory: value and gradient are summed over shards."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from similitude.engine.backend import CPU, Backend
from similitude.engine.models import Positions
from similitude.engine.penalties import Penalty
from similitude.engine.terms import ComparisonLoss
from similitude.feedback.columns import Floats
from similitude.feedback.shards import Block, Shards, add
from similitude.graph.counts import block_graph


@dataclass(frozen=True)
class ShardedProblem:
    """Minimise over positions: weighted mean of loss(comparison) + penalty(params), shard by shard.

    Each shard builds its own pairs, so that no index over all comparisons exists; the sums have a fixed order, so that
    one process and a cluster give the same bits. `weight` is the total weight of the comparisons.
    """

    model: Positions
    shards: Shards
    loss: ComparisonLoss
    penalty: Penalty
    weight: float
    backend: Backend = field(default_factory=CPU)

    def data(self, params: Floats) -> tuple[float, Floats]:
        """Mean loss and its gradient, the penalty left out."""
        X = self.model.positions(params)
        value, product = self.shards.reduce(_loss_of_block, add, self.loss, X, self.backend)
        return value / self.weight, self.model.pull_positions(product * (2.0 / self.weight))

    def value_and_gradient(self, params: Floats) -> tuple[float, Floats]:
        """Objective and its gradient, where the penalty is smooth."""
        value, gradient = self.data(params)
        return value + self.penalty.value(params), gradient + self.penalty.gradient(params)

    def value(self, params: Floats) -> float:
        """Objective alone."""
        return self.data(params)[0] + self.penalty.value(params)


def _loss_of_block(block: Block, loss: ComparisonLoss, X: Floats, backend: Backend) -> tuple[Any, ...]:
    """Sum of the weighted losses of a block, and L X for its slopes."""
    weight = float(block.weight.sum())
    if not weight:
        return 0.0, 0.0 * X
    value, product = backend.embedding(loss, X, block_graph(block))
    return value * weight, product * weight

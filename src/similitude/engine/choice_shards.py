"""Choices that do not fit in memory: the same objective as in memory, summed shard by shard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from similitude.engine.backend import CPU
from similitude.engine.choice_terms import Picked
from similitude.engine.models import DotProducts, Positions
from similitude.engine.penalties import Penalty
from similitude.engine.problem import Objective
from similitude.engine.terms import Formula
from similitude.feedback.shards import Block, Shards, add
from similitude.types import Floats

_NONE = np.zeros(0)


@dataclass(frozen=True)
class ChoiceRule:
    """How choices depend on vectors.

    Attributes
    ----------
    scale : what levels are made by
    dot : whether products of vectors are compared, and not distances
    lapse, unsure : shares of answers by chance, and of "can't tell" where nothing speaks for any alternative
    """

    scale: Formula
    dot: bool
    lapse: float = 0.0
    unsure: float = 0.0


class ChoicesInShards(Objective):
    """Mean of -log P(answer) over shards, and a penalty on the vectors' parameters.

    Each shard lists its own pairs, so that no index over all choices exists; the sums have a fixed order.
    """

    def __init__(self, shards: Shards, rule: ChoiceRule, vectors: Positions, penalty: Penalty, total: float) -> None:
        self.shards, self.rule, self.vectors, self.total = shards, rule, vectors, total
        self._penalty = penalty

    @property
    def penalty(self) -> Penalty:
        """What keeps the vectors small."""
        return self._penalty

    def data(self, params: Floats) -> tuple[float, Floats]:
        """Value without the penalty, and its gradient."""
        value, gradient = self.shards.reduce(_of_block, add, self.rule, self.vectors.positions(params))
        return value / self.total, self.vectors.pull_positions(gradient / self.total)


def choice_weight(shards: Shards, cant_tell: bool) -> float:
    """Return the total weight of the choices."""
    return float(shards.reduce(_weight, add, cant_tell)[0])


def _weight(block: Block, cant_tell: bool) -> tuple[Any, ...]:
    return (float(sum(0.0 if one.weight is None else one.weight.sum() for one in block.choices(cant_tell=cant_tell))),)


def _of_block(block: Block, rule: ChoiceRule, X: Floats) -> tuple[Any, ...]:
    """Sum of the weighted losses of a block's choices, and its derivative by the vectors."""
    choices = block.choices(cant_tell=rule.unsure > 0.0)
    if not choices:
        return 0.0, 0.0 * X
    own = np.require(X, requirements=["C", "W"])  # one kind of array, so that the kernels are compiled once
    term, vectors = Picked(rule.scale, choices, lapse=rule.lapse, unsure=rule.unsure), Positions(*X.shape)
    model = DotProducts(vectors) if rule.dot else vectors
    value, slope, _ = term.evaluate(model.sqdist(own.ravel(), term.pairs, CPU()), _NONE)
    return value, model.pullback(own.ravel(), term.pairs, slope, CPU()).reshape(X.shape)

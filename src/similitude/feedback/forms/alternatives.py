"""What an answer chose, and from what: so that it has one probability, however many comparisons follow from it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from similitude.types import Array, Floats


@dataclass(frozen=True, eq=False)
class Alternatives:
    """Choices of one size: each has m alternatives, of which the first `picked` were chosen.

    Every alternative has a value, `sign` times the sum of the levels (scaled squared distances) of the pairs that
    speak for it, and the chance that a set S of k alternatives is picked is

        P(S) = exp(sum of the values in S) / e_k(exp of all values),   e_k the elementary symmetric polynomial,

    for k = 1 the softmax. A ranking is several choices, each from what is left (Plackett and Luce).

    Attributes
    ----------
    pairs : (q, m, p, 2) the pairs that speak for each alternative, those of the chosen ones first
    picked : k, how many were chosen
    row : (q,) the answer that each comes from
    sign : -1 where pairs speak for their alternative by being near, +1 where they do by being far apart
    weight : (q,) how much each counts
    tied : whether the answers were "can't tell" instead: k would have been picked
    can_tie : whether they could have been; what is left of an answer, or a later rank, is no question of its own
    """

    pairs: Array
    picked: int
    row: Array
    sign: float = -1.0
    weight: Floats | None = None
    tied: bool = False
    can_tie: bool = True

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def n_alternatives(self) -> int:
        """m."""
        return int(self.pairs.shape[1])

    @property
    def n_pairs(self) -> int:
        """How many pairs speak for the alternatives of a choice, together."""
        return int(self.pairs.shape[1] * self.pairs.shape[2])

    @property
    def weights(self) -> Floats:
        """(q,) how much each counts: 1 where nothing is said."""
        return np.ones(len(self)) if self.weight is None else np.asarray(self.weight, float)

    def select(self, rows: Array) -> Alternatives:
        """Return some of the choices, by number or by a mask."""
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, pairs=self.pairs[rows], row=self.row[rows], weight=weight)

    @classmethod
    def of_two(cls, near: Array, far: Array, row: Array, weight: Floats | None = None) -> Alternatives:
        """Comparisons as choices of two: the near pair was chosen."""
        return cls(np.stack([near, far], axis=1)[:, :, None], 1, row, weight=weight)


def chosen_first(alternatives: Array, chosen: Array) -> Array:
    """Return alternatives (q, m, ...) in an order that begins with the chosen places (q, k), in theirs."""
    taken = np.zeros(alternatives.shape[:2], bool)
    np.put_along_axis(taken, chosen, True, axis=1)
    others = np.argsort(taken, axis=1, kind="stable")[:, : alternatives.shape[1] - chosen.shape[1]]
    order = np.concatenate([chosen, others], axis=1)
    return alternatives[np.arange(len(order))[:, None], order]

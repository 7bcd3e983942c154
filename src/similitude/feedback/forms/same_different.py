"""Same or different: a pair is of one kind or not; the links of one rater are a sheet of pairs rated 1 or 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from similitude.feedback.forms.base import Setup
from similitude.feedback.forms.pieces import Piece
from similitude.feedback.forms.ratings import SIMILARITY
from similitude.feedback.pairs import link_edges
from similitude.types import Array

if TYPE_CHECKING:
    from similitude.feedback.simulation.mind import Mind, Said


class SameDifferent(Piece):
    """One pair: the same, or different."""

    name = page = "same_different"
    words = "judgments whether two items are the same"
    shows, says = "i, j", "1: same, 0: different"
    ask = "Are these two the same, or different?"
    n_shown = 2
    sheet = SIMILARITY
    compares = "similar and dissimilar pairs of one rater"

    def expected(self, setup: Setup) -> tuple[range, int]:
        """Yes or no."""
        return range(2), 1

    def thinned(self, shown: Array, response: Array, most: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Similar pairs with dissimilar ones, as `Links` compares them: those that share an item first."""
        pairs = shown.reshape(-1, 2)
        near, far = link_edges(pairs, response == 1, np.arange(len(pairs)), most, rng)
        return pairs[near], pairs[far]

    def answer(self, mind: Mind, shown: Array) -> Said:
        """Call the same what is nearer than 1."""
        closeness = 1.0 - mind.truth.squared(shown[:, 0], shown[:, 1])
        said, _, clear = mind.pick(np.stack([np.zeros(len(shown)), closeness], axis=1))
        return said, np.full(len(shown), -1, np.int32), clear

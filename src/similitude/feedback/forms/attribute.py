"""Attribute rankings: items in the order of a named attribute."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from similitude.feedback.columns import Rows
from similitude.feedback.forms.base import Edges, Form, Setup, check_three
from similitude.types import Array

if TYPE_CHECKING:
    from similitude.feedback.simulation.mind import Mind, Said


class Attribute(Form):
    """Of three, the middle one is nearer to each end than the ends are to each other."""

    name = page = "attribute"
    words = "rankings of items on an attribute"
    says = "positions from the least to the most of the attribute"
    ask = "Put these in order, from {low} to {high}."
    settings = ("grid_size", "low", "high")

    def expected(self, setup: Setup) -> tuple[range, int]:
        """The positions of all items, each once."""
        return range(setup.grid_size), setup.grid_size

    def check_setup(self, setup: Setup) -> None:
        """It must be said what they are ordered by."""
        check_three(setup)
        if not (setup.low and setup.high):
            raise ValueError(
                'low: an attribute has a name for its least and its most, such as low = "the smallest" and '
                f'high = "the largest"; found {setup.low!r} and {setup.high!r}'
            )

    def rearranged(self, response: Sequence[float], shown: Sequence[str], other: Sequence[str]) -> list[float]:
        """The same order of the items where they stand now."""
        return [float(list(other).index(shown[int(place)])) for place in response]

    def said(self, shown: Sequence[str], response: Sequence[float]) -> list[str]:
        """The items in their order."""
        return [shown[int(place)] for place in response]

    def in_words(self, shown: Sequence[str], response: Sequence[float]) -> str:
        """The order, the least first."""
        return f"from the least to the most: {', '.join(self.said(shown, response))}"

    def comparisons(self, shown: Array, response: Array) -> Edges:
        """Items ranked on a named attribute: of three, the middle one is nearer to each end than the ends are."""
        ordered = np.take_along_axis(shown, self.places(response, range(shown.shape[1])), axis=1)
        triples = np.array(list(combinations(range(response.shape[1]), 3)), np.intp).reshape(-1, 3)
        low, middle, high = (ordered[:, triples[:, k]] for k in range(3))
        near = np.stack([np.stack([low, middle], -1), np.stack([high, middle], -1)], 2)
        far = np.stack([np.stack([low, high], -1), np.stack([high, low], -1)], 2)
        return near.reshape(-1, 2), far.reshape(-1, 2), np.repeat(np.arange(len(shown)), 2 * len(triples))

    def answer(self, mind: Mind, shown: Array) -> Said:
        """Order the items by their first coordinate, or by the first principal one where only distances are known."""
        known = mind.truth.positions
        attribute = (mind.truth.layout() if known is None else known)[:, 0]
        order = np.argsort(mind.value(attribute[shown]), axis=1, kind="stable")
        return order.astype(np.int32), *mind.whole_sheet(len(shown))

    def count(self, shown: Rows, response: Rows) -> Array:
        """Two for every three items."""
        ranked = response.lengths
        return ranked * (ranked - 1) * (ranked - 2) // 3

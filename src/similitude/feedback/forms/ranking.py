"""Rankings: items in order of their nearness to the head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from similitude.feedback.columns import Rows
from similitude.feedback.forms.alternatives import Alternatives, chosen_first
from similitude.feedback.forms.base import Edges, Setup
from similitude.feedback.forms.picking import FromGrid, with_head
from similitude.types import Array

if TYPE_CHECKING:
    from similitude.feedback.simulation.mind import Mind, Said


class Ranking(FromGrid):
    """The items from nearest on; those that are not ranked are farther than all that are."""

    name = page = "ranking"
    words = "rankings by similarity to an item"
    shows, says = "head, then the items", "positions from nearest on; what is not ranked is farther"
    fill_in = 'a list of names, the nearest first: ["cat", "dog"], or of their places from 1: [3, 1]'
    ask = "Pick the {pick} that are most like the one on top, the most alike first."
    grid = 4
    settings = ("grid_size", "pick")

    @property
    def asks(self) -> dict[str, str]:
        """Of all it is asked in other words than of some."""
        every = "Pick all of them in order, from the one that is most like the one on top to the least alike."
        return {**super().asks, "ask_ranking_all": every}

    def ask_as(self, setup: Setup) -> str:
        """By how many are ranked."""
        return "ask_ranking_all" if setup.pick == setup.grid_size else super().ask_as(setup)

    def n_picked(self, setup: Setup) -> int:
        """As the study says."""
        return setup.pick

    def check_setup(self, setup: Setup) -> None:
        """An order is of two or more, and of no more than there are."""
        if not 2 <= setup.pick <= setup.grid_size:
            raise ValueError(
                f"pick: expected 2 to {setup.grid_size}, so many of the {setup.grid_size} items are put in order, "
                f"found {setup.pick}"
            )

    def in_words(self, shown: Sequence[str], response: Sequence[float]) -> str:
        """The order, nearest first."""
        order = ", ".join(shown[int(place)] for place in response)
        return f"of {', '.join(shown[1:])}, most like {shown[0]} in this order: {order}"

    def same_response(self, one: Sequence[float], other: Sequence[float]) -> bool:
        """Whether the order is the same."""
        return list(one) == list(other)

    def comparisons(self, shown: Array, response: Array) -> Edges:
        """Each ranked item is nearer to the head than all that follow it and all that were not ranked."""
        width = shown.shape[1]
        order = self.places(response, self.codes(width))
        rank = np.full(shown.shape, width)
        np.put_along_axis(rank, order, np.arange(order.shape[1])[None], axis=1)
        row, near, far = np.nonzero(rank[:, :, None] < rank[:, None, :])
        keep = (near > 0) & (far > 0)
        return with_head(shown, row[keep], near[keep], far[keep])

    def chosen(self, shown: Array, response: Array) -> list[Alternatives]:
        """The nearest of all, then the nearest of the rest, and so on."""
        place = self.places(response, self.codes(shown.shape[1])) - 1
        in_order, row = chosen_first(self.alternatives(shown), place), np.arange(len(shown))
        ranks = range(min(place.shape[1], shown.shape[1] - 2))  # the last one left is no choice
        return [Alternatives(in_order[:, rank:], 1, row, can_tie=rank == 0) for rank in ranks]

    def undecided(self, shown: Array, picked: int) -> list[Alternatives]:
        """Not even the nearest of all."""
        return super().undecided(shown, 1)

    def picks(self, n_alternatives: int, wanted: int | None = None) -> int | None:
        """None: an order is several choices."""
        return None

    def count(self, shown: Rows, response: Rows) -> Array:
        """Ranked × left, and each two that are ranked."""
        ranked = response.lengths
        return ranked * (shown.lengths - 1 - ranked) + ranked * (ranked - 1) // 2

    def answer(self, mind: Mind, shown: Array) -> Said:
        """Rank the items by nearness to the head."""
        size = shown.shape[1] - 1
        count = size if mind.n_chosen is None else mind.n_chosen
        if not 1 <= count <= size:
            raise ValueError(f"n_chosen: expected 1 to {size} ranks for {size} items, found {count}")
        return self.rank(mind, shown, count)

"""Choices: pick those of a grid that are most like the head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from similitude.feedback.columns import Rows
from similitude.feedback.forms.base import Edges, FileColumns, Setup
from similitude.feedback.forms.picking import FromGrid, with_head
from similitude.feedback.forms.triplet import HEAD_COLUMN
from similitude.types import Array

if TYPE_CHECKING:
    from similitude.feedback.simulation.mind import Mind, Said


class Choice(FromGrid):
    """Some of a grid are most like the head."""

    name = page = "choice"
    words = "choices of the most similar items from a grid"
    shows, says = "head, then the grid", "positions of the chosen"
    fill_in = (
        'the name of the one that was chosen, or a list of several: ["cat", "dog"], or their places from 1: [1, 3]'
    )
    ask = "Pick the {pick} that are most like the one on top."
    grid = 12
    also_called = ("grid",)
    settings = ("grid_size", "pick")
    columns = (
        FileColumns((HEAD_COLUMN, ("chosen", "chosen_near"), ("not_chosen",)), "lists"),
        FileColumns((("trial",), HEAD_COLUMN, ("item",), ("chosen",)), "long"),
    )

    @property
    def asks(self) -> dict[str, str]:
        """Of one it is asked in other words than of several."""
        return {**super().asks, "ask_choice_one": "Pick the one that is most like the one on top."}

    def ask_as(self, setup: Setup) -> str:
        """By how many are picked."""
        return "ask_choice_one" if setup.pick == 1 else super().ask_as(setup)

    def n_picked(self, setup: Setup) -> int:
        """As the study says."""
        return setup.pick

    def check_setup(self, setup: Setup) -> None:
        """Something must be left."""
        if setup.pick >= setup.grid_size:
            raise ValueError(f"pick: expected fewer than the {setup.grid_size} items of the grid, found {setup.pick}")

    def in_words(self, shown: Sequence[str], response: Sequence[float]) -> str:
        """Which were picked as most like the head."""
        picked = ", ".join(shown[int(place)] for place in response)
        return f"of {', '.join(shown[1:])}, {picked} most like {shown[0]}"

    def comparisons(self, shown: Array, response: Array) -> Edges:
        """Every chosen item is nearer to the head than every item that was not chosen."""
        picked = np.zeros(shown.shape, bool)
        np.put_along_axis(picked, self.places(response, self.codes(shown.shape[1])), True, axis=1)
        left = ~picked
        left[:, 0] = False
        return with_head(shown, *np.nonzero(picked[:, :, None] & left[:, None, :]))

    def count(self, shown: Rows, response: Rows) -> Array:
        """Chosen × left."""
        return response.lengths * (shown.lengths - 1 - response.lengths)

    def answer(self, mind: Mind, shown: Array) -> Said:
        """Pick the items of the grid that are nearest to the head."""
        return self.rank(mind, shown, self.picks(shown.shape[1] - 1, mind.n_chosen))

    def picks(self, n_alternatives: int, wanted: int | None = None) -> int:
        """As many as are wanted; a third of the grid where nobody says."""
        count = max(1, n_alternatives // 3) if wanted is None else wanted
        if not 1 <= count < n_alternatives:
            raise ValueError(
                f"n_chosen: expected 1 to {n_alternatives - 1} picks from {n_alternatives} items, found {count}"
            )
        return count

"""Placements: items laid out on a table, alike ones close together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from similitude.feedback.columns import Rows
from similitude.feedback.forms.base import Edges, FileColumns, Form, Setup, check_three, finite, item_by_item
from similitude.feedback.forms.ratings import ordered_pairs, unequal
from similitude.types import Array

if TYPE_CHECKING:
    from similitude.feedback.simulation.mind import Mind, Said

_EDGE = 1.000_001  # radius of the table of a study's page; what lies on its edge may be rounded past it
LARGEST = 20  # items of a study's table
_ALIKE = 0.7  # correlation of the distances of two arrangements that say the same
ITEM_COLUMN = ("item", "object")


class Placement(Form):
    """A pair that lies closer is more alike."""

    name = page = "placement"
    words = "arrangements of items on a table"
    says = "x, y (or any number of coordinates) of each item in turn"
    ask = "Lay these on the table: the more alike two of them are, the closer together."
    settings = ("grid_size",)
    columns = (FileColumns((ITEM_COLUMN, ("x",), ("y",)), "places"),)

    def check_setup(self, setup: Setup) -> None:
        """Distances are compared with distances: of 20 items already 18,000 times."""
        check_three(setup)
        if setup.grid_size > LARGEST:
            raise ValueError(
                f"grid_size: expected at most {LARGEST} items on the table, of more lay out some at a time; "
                f"found {setup.grid_size}"
            )

    def check_response(self, response: Sequence[float], setup: Setup) -> list[float]:
        """Two coordinates of each item, upon a round table of radius 1."""
        said, size = finite(response), setup.grid_size
        if len(said) != 2 * size:
            raise ValueError(f"response: expected x and y of each of {size} items, found {len(said)} numbers")
        if any(x * x + y * y > _EDGE for x, y in zip(said[::2], said[1::2], strict=True)):
            raise ValueError("response: expected places upon the table, no farther than 1 from its middle")
        return said

    def same_response(self, one: Sequence[float], other: Sequence[float]) -> bool:
        """Whether the distances of two arrangements go together: a correlation of at least 0.7."""
        if list(one) == list(other):
            return True
        items = np.arange(len(one) // 2)[None]
        first, second = (self.distances(items, np.array([said]))[1][0] for said in (one, other))
        first, second = first - first.mean(), second - second.mean()
        return bool(first @ second >= _ALIKE * np.sqrt(first @ first * (second @ second)) > 0)

    def rearranged(self, response: Sequence[float], shown: Sequence[str], other: Sequence[str]) -> list[float]:
        """The same places of the items in another order."""
        return item_by_item(response, shown, other)

    def comparisons(self, shown: Array, response: Array) -> Edges:
        """A pair that lies closer than another is more alike."""
        return ordered_pairs(*self.distances(shown, response))

    def count(self, shown: Rows, response: Rows) -> Array:
        """Pairs of unequal distances."""
        distances = self.distances_by_answer(shown, response)[1]
        return np.array([unequal(distances[row]) for row in range(len(shown))], np.int64)

    def distances(self, shown: Array, response: Array) -> tuple[Array, Array]:
        """Return all pairs of answers of one size, (answers, pairs, 2), and their distances on the table."""
        count = shown.shape[1]
        self.check_size(response.shape[1] % count == 0, shown, response)
        position = response.reshape(len(shown), count, -1).astype(float)
        first, second = np.triu_indices(count, 1)
        distance = np.sqrt(((position[:, first] - position[:, second]) ** 2).sum(-1))
        return np.stack([shown[:, first], shown[:, second]], -1), distance

    def distances_by_answer(self, shown: Rows, response: Rows) -> tuple[Rows, Rows]:
        """Return the same of answers of any size: the items of the pairs one after the other, and the distances."""
        found = [self.distances(shown[row][None], response[row][None]) for row in range(len(shown))]
        return Rows.of([pairs.ravel() for pairs, _ in found]), Rows.of([distance[0] for _, distance in found])

    def answer(self, mind: Mind, shown: Array) -> Said:
        """Lay the items as they stand in truth, each with Gaussian noise of variance 1 / sharpness, to fill a table.

        The table is round, of radius 1: what was laid out is moved to its middle and stretched as a whole.
        """
        if mind.flip:
            raise ValueError("flip: a placement has no contrary; use sharpness and lapse")
        place = mind.truth.layout()[shown]
        lapsed = mind.rng.random(shown.shape) < mind.lapse[:, None]
        other = np.take_along_axis(place, mind.rng.integers(0, shown.shape[1], shown.shape)[:, :, None], axis=1)
        noise = np.maximum(mind.sharpness, 1e-12) ** -0.5
        place = np.where(lapsed[:, :, None], other, place)
        place = place + noise[:, None, None] * mind.rng.standard_normal(place.shape)
        place -= place.mean(axis=1, keepdims=True)
        farthest = np.sqrt((place**2).sum(axis=2, keepdims=True)).max(axis=1, keepdims=True)
        place /= np.maximum(farthest, np.finfo(float).tiny)
        return place.reshape(len(shown), -1), *mind.whole_sheet(len(shown))


PLACEMENT = Placement()

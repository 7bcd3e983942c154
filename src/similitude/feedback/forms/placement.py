"""Placements: items laid out on a table, alike ones close together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from similitude.feedback.columns import Rows
from similitude.feedback.forms.base import Edges, FileColumns, Form
from similitude.feedback.forms.ratings import ordered_pairs, unequal
from similitude.types import Array

if TYPE_CHECKING:
    from similitude.feedback.simulation.mind import Mind, Said

ITEM_COLUMN = ("item", "object")


class Placement(Form):
    """A pair that lies closer is more alike."""

    name = "placement"
    words = "arrangements of items on a table"
    says = "x, y (or any number of coordinates) of each item in turn"
    columns = (FileColumns((ITEM_COLUMN, ("x",), ("y",)), "places"),)

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
        """Lay the items on a table as they stand in truth, each with Gaussian noise of variance 1 / sharpness."""
        if mind.flip:
            raise ValueError("flip: a placement has no contrary; use sharpness and lapse")
        place = mind.truth.layout()[shown]
        lapsed = mind.rng.random(shown.shape) < mind.lapse[:, None]
        other = np.take_along_axis(place, mind.rng.integers(0, shown.shape[1], shown.shape)[:, :, None], axis=1)
        noise = np.maximum(mind.sharpness, 1e-12) ** -0.5
        place = np.where(lapsed[:, :, None], other, place)
        place = place + noise[:, None, None] * mind.rng.standard_normal(place.shape)
        return place.reshape(len(shown), -1), *mind.whole_sheet(len(shown))


PLACEMENT = Placement()

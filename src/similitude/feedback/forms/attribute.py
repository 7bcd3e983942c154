"""Attribute rankings: items in the order of a named attribute."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from similitude.feedback.columns import Rows
from similitude.feedback.forms.base import Edges, Form
from similitude.types import Array


class Attribute(Form):
    """Of three, the middle one is nearer to each end than the ends are to each other."""

    name = "attribute"
    words = "rankings of items on an attribute"
    says = "positions from the least to the most of the attribute"

    def comparisons(self, shown: Array, response: Array) -> Edges:
        """Items ranked on a named attribute: of three, the middle one is nearer to each end than the ends are."""
        ordered = np.take_along_axis(shown, self.places(response, range(shown.shape[1])), axis=1)
        triples = np.array(list(combinations(range(response.shape[1]), 3)), np.intp).reshape(-1, 3)
        low, middle, high = (ordered[:, triples[:, k]] for k in range(3))
        near = np.stack([np.stack([low, middle], -1), np.stack([high, middle], -1)], 2)
        far = np.stack([np.stack([low, high], -1), np.stack([high, low], -1)], 2)
        return near.reshape(-1, 2), far.reshape(-1, 2), np.repeat(np.arange(len(shown)), 2 * len(triples))

    def count(self, shown: Rows, response: Rows) -> Array:
        """Two for every three items."""
        ranked = response.lengths
        return ranked * (ranked - 1) * (ranked - 2) // 3

"""What each rater says beyond a map of everybody's answers: the raw material of a test of groups.

A map is fitted to all answers together. A rater's *scores* are what is left of their answers: for each pair of items
how much more alike than the map says they call it, summed over comparisons, sum (1 - p) (e_near - e_far) with p the
map's probability of what was said. Were all of one mind but for chance and habit, scores would scatter about 0 in every
group alike. What goes along the map's own distances is left out: it says how sharply a rater answers, not what they
see.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from similitude.engine.distances import pair_sqdist
from similitude.feedback.comparisons import Comparisons
from similitude.graph.build import distinct_pairs
from similitude.methods.ordinal import STE
from similitude.types import Array, Floats, Ints

_NEIGHBOURING = 0.25  # correlation of squared distances of two pairs that share an item, for positions drawn at random


@dataclass(frozen=True, eq=False)
class RaterScores:
    """Scores of so many units: raters, or a rater under one condition.

    Attributes
    ----------
    pairs : (P, 2) the pairs of items that were compared
    scores : (units, P) what is left of each unit's answers
    weight : (units,) how many comparisons they rest on
    unit : (m,) the unit of each comparison
    places : (n, d) the map of everybody
    """

    comparisons: Comparisons
    pairs: Ints
    near: Array
    far: Array
    scores: Floats
    weight: Floats
    unit: Array
    places: Floats

    @classmethod
    def of(cls, c: Comparisons, unit: Array, n_units: int, n_components: int, seed: int) -> RaterScores:
        """Fit everybody's map and take it off; `unit` is that of each comparison."""
        places = STE(n_components, random_state=seed).fit(c).embedding_
        pairs, index = distinct_pairs(np.concatenate([c.near, c.far]), c.n_items)
        near, far = index[: len(c)].astype(np.int64), index[len(c) :].astype(np.int64)
        empty = np.zeros((n_units, len(pairs)))
        made = cls(c, pairs, near, far, empty, np.bincount(unit, c.weight, n_units).astype(float), unit, places)
        left = 1.0 - made.probability(places)
        return made.with_scores(made.summed(left))

    def with_scores(self, scores: Floats) -> RaterScores:
        """Return the same with other scores, less what goes along the map's own distances."""
        d2 = pair_sqdist(self.places, self.pairs)
        along = scores @ d2 / float(d2 @ d2)
        return RaterScores(
            self.comparisons, self.pairs, self.near, self.far, scores - along[:, None] * d2, self.weight, self.unit,
            self.places,
        )  # fmt: skip

    def probability(self, places: Floats) -> Floats:
        """The chance of what was said if items stood at these places, for each comparison."""
        d2 = pair_sqdist(places, self.pairs)
        return np.asarray(1.0 / (1.0 + np.exp(np.clip(d2[self.near] - d2[self.far], -50, 50))))

    def summed(self, left: Floats) -> Floats:
        """Scores from what is left of each comparison."""
        value, size = left * self.comparisons.weight, self.scores.shape
        flat = np.bincount(self.unit * size[1] + self.near, value, size[0] * size[1]).astype(float)
        flat -= np.bincount(self.unit * size[1] + self.far, value, size[0] * size[1])
        return flat.reshape(size)

    def alike(self, scores: Floats) -> Floats:
        """(units, units) how far scores go together: by pair (and those that share an item), and along the map.

        Each kind counts as much as the other. Directions are products of differences along two dimensions, so that
        going by colour where others go by shape is one number, however many items there are.
        """
        n_items = len(self.places)
        by_item = np.zeros((len(scores), n_items))
        for end in range(2):
            np.add.at(by_item.T, self.pairs[:, end], scores.T)
        own = (1 - 2 * _NEIGHBOURING) * scores @ scores.T + _NEIGHBOURING * by_item @ by_item.T
        gap = self.places[self.pairs[:, 0]] - self.places[self.pairs[:, 1]]
        products = np.einsum("pi,pj->pij", gap, gap).reshape(len(gap), -1)
        along = scores @ products
        return _in_units(own) + _in_units(along @ along.T)


def _in_units(gram: Floats) -> Floats:
    size = float(np.trace(gram))
    return gram * (len(gram) / size) if size > 0 else gram

"""What a map of features and rests of items keep of the answers that they were learned from, for those that come later.

The sum of the losses of all answers so far is kept as the parabola that touches it at what was learned (Laplace's
approximation), with the information of the answers on each single parameter for its curvature:

    past(p) = sum_k a_k (p_k - p0_k)² / 2 - 2 r0 p0'(p - p0)        r0 the ridge at which p0 was learned

Its slope at p0 is what the ridge stood against, so that a stronger ridge, as more answers bring it, counts as it would
have counted for all of them. Further answers are learned by

    min over p of   sum of their losses + past(p) + r |p|²

which is one ridge around a centre for each parameter, and takes no more room however many answers there were.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from similitude.engine.information import mapped_information
from similitude.engine.terms import ComparisonLoss
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike
from similitude.feedback.items import Names
from similitude.graph.build import SimilarityGraph
from similitude.kernels.modalities import in_order
from similitude.methods.modalities import Modality, rows_of_new, side_by_side
from similitude.methods.online.stream import KnownItems
from similitude.types import Bools, Floats


@dataclass(frozen=True, eq=False)
class Memory:
    """What was learned, and how sure the answers so far make it.

    Attributes
    ----------
    features : (n, q) Φ of the items
    point : (q + n, d) p0, the map and then the rests
    information : (q + n, d) a, of all answers so far
    ridge : (q + n,) r0 of each row, against the sum of the losses
    weight : total weight of the answers
    compared : (n,) which items were compared
    names : of the items
    """

    features: Floats
    point: Floats
    information: Floats
    ridge: Floats
    weight: float
    compared: Bools
    names: Names | None

    @property
    def n_compared(self) -> int:
        """How many items were compared."""
        return int(self.compared.sum())

    @classmethod
    def nothing(cls, features: Floats, n_components: int) -> Memory:
        """Of no answers."""
        n, q = features.shape
        empty = np.zeros((q + n, n_components))
        return cls(features, empty, empty, np.zeros(q + n), 0.0, np.zeros(n, bool), None)

    def read(self, comparisons: ComparisonsLike, y: npt.ArrayLike | None) -> Comparisons:
        """Return further comparisons over all items: those known, then new ones."""
        rows, weight, items = KnownItems(len(self.features), self.names).read(comparisons, y, grow=True)
        return Comparisons.from_quadruplets(rows, weight=weight, n_items=items.count, names=items.names)

    def grown(self, rows: Floats) -> Memory:
        """Return the memory with new items, of which nothing is known but their features."""
        if not len(rows):
            return self
        nothing = np.zeros((len(rows), self.point.shape[1]))
        return replace(
            self,
            features=np.concatenate([self.features, rows]),
            point=np.concatenate([self.point, nothing]),
            information=np.concatenate([self.information, nothing]),
            ridge=np.concatenate([self.ridge, np.zeros(len(rows))]),
            compared=np.concatenate([self.compared, np.zeros(len(rows), bool)]),
        )

    def counting(self, graph: SimilarityGraph, names: Names | None) -> Memory:
        """Return the memory with comparisons counted that are about to be learned."""
        compared = self.compared | (graph.occurrences > 0)
        return replace(self, compared=compared, weight=self.weight + graph.total_weight, names=names)

    def with_ridge(self, ridge: Floats, weight: float) -> tuple[Floats, Floats]:
        """Strengths and centres: past(p) + r |p|² = weight · sum_k strength_k (p_k - centre_k)² + a constant."""
        half = 0.5 * self.information
        strength = half + ridge[:, None]
        centre = (half + self.ridge[:, None]) * self.point / strength
        return strength.ravel() / weight, centre.ravel()

    def learned(self, point: Floats, ridge: Floats, graph: SimilarityGraph, loss: ComparisonLoss) -> Memory:
        """Return the memory of what was learned from comparisons."""
        q = self.features.shape[1]
        X = self.features @ point[:q] + point[q:]
        told = mapped_information(X, self.features, loss, graph.near_pairs, graph.far_pairs, graph.weight)
        return replace(self, point=point, ridge=ridge, information=self.information + told)


def with_new_items(
    modalities: dict[str, Modality], features: Any, c: Comparisons, known: int
) -> tuple[Floats, Comparisons]:
    """(m, q) Φ of the items beyond those known, and the comparisons over all; a table is read by the items' names."""
    width = side_by_side(modalities).shape[1]
    if features is None and c.n_items == known:
        return np.zeros((0, width)), c
    if features is None:
        raise TypeError(f"features: found none, expected those of the {c.n_items - known} new items, a row each")
    given = features if isinstance(features, Mapping) else {next(iter(modalities)): features}
    rows = rows_of_new(modalities, in_order(given, c.names, c.n_items, known))
    count = known + len(rows)
    if count < c.n_items or (c.names is not None and count > c.n_items):
        raise ValueError(f"features: found rows for {len(rows)} items, expected the {c.n_items - known} new ones alone")
    return rows, c if count == c.n_items else c.with_items(n_items=count)

"""What is compared: distances, and positions where there are any, of a model or of a given table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from similitude.feedback.items import Names, check_names
from similitude.methods.base import similarity_of
from similitude.methods.scaling import scale_distances
from similitude.types import Array, Floats


@dataclass(frozen=True, eq=False)
class View:
    """A similarity as distances.

    Attributes
    ----------
    distances : (n, n), NaN where unknown
    positions : (n, d) of a model, None of a table
    names : of the items, or None
    """

    distances: Floats
    positions: Floats | None
    names: Names | None

    @classmethod
    def of(cls, given: Any, argument: str) -> View:
        """Read a fitted estimator, a `Similarity`, or a table of dissimilarities."""
        similarity = similarity_of(given, argument) if hasattr(given, "fit") else given
        if hasattr(similarity, "distances"):
            positions = getattr(similarity, "embedding", None)
            return cls(similarity.distances(), positions, getattr(similarity, "names", None))
        table = np.array(given, float)
        if table.ndim != 2 or table.shape[0] != table.shape[1]:
            raise ValueError(f"{argument}: expected a model or a square table, found an array of shape {table.shape}")
        if not np.allclose(table, table.T, equal_nan=True):
            worst = float(np.nanmax(np.abs(table - table.T)))
            raise ValueError(
                f"{argument}: the table is not symmetric (up to {worst:.3g} apart); average it with its transpose"
            )
        np.fill_diagonal(table, 0.0)
        index = getattr(given, "index", None)
        named = index is not None and all(isinstance(name, str) for name in index)
        return cls(table, None, check_names(index) if named else None)

    @property
    def named(self) -> bool:
        """Whether items are known by name."""
        return self.names is not None

    def take(self, items: Array) -> View:
        """Return some items alone."""
        positions = None if self.positions is None else self.positions[items]
        names = None if self.names is None else tuple(self.names[k] for k in items)
        return replace(self, distances=self.distances[np.ix_(items, items)], positions=positions, names=names)

    def scaled(self, width: int | None) -> Floats | None:
        """Positions: the model's own, or the leading axes of classical scaling; None where a table has gaps."""
        if self.positions is not None:
            return self.positions
        return None if np.isnan(self.distances).any() else scale_distances(self.distances)[:, :width]

    def gap(self, near: Array, far: Array) -> Floats:
        """How much farther apart the far pairs are than the near ones."""
        return self.distances[far[:, 0], far[:, 1]] - self.distances[near[:, 0], near[:, 1]]


def share_items(one: View, two: View) -> tuple[View, View, Names, Names]:
    """Return both over the items in common, in the order of the first; the items' names; and whom that leaves out."""
    if one.names is None or two.names is None:
        count = len(one.distances)
        if len(two.distances) != count:
            raise ValueError(
                f"items cannot be matched: the first has {count} and the second {len(two.distances)}, and not both "
                "know them by name; give both names, or as many items"
            )
        names = one.names or two.names or tuple(str(k) for k in range(count))
        return replace(one, names=one.names or two.names), replace(two, names=two.names or one.names), names, ()
    common = tuple(name for name in one.names if name in set(two.names))
    views = [view.take(np.array([(view.names or ()).index(name) for name in common], int)) for view in (one, two)]
    left_out = tuple(name for name in (*one.names, *two.names) if name not in set(common))
    return views[0], views[1], common, left_out

"""What is compared: distances, and positions where there are any, of a model or of a given table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from similitude.feedback.items import Names, check_names
from similitude.methods.base import similarity_of
from similitude.methods.scaling import scale_distances
from similitude.methods.similarity import Similarity
from similitude.types import Array, Floats

_AT_A_TIME = 2**16  # pairs


@dataclass(frozen=True, eq=False)
class View:
    """A similarity as distances, which are worked out for the pairs that are asked about.

    Attributes
    ----------
    measure : distances of pairs, by the source's numbers of the items; NaN where unknown
    items : (n,) those numbers
    positions : (n, d) of a model, None of a table
    names : of the items, or None
    """

    measure: Callable[[Array], Floats]
    items: Array
    positions: Floats | None
    names: Names | None

    @classmethod
    def of(cls, given: Any, argument: str) -> View:
        """Read a fitted estimator, a `Similarity`, or a table of dissimilarities."""
        similarity = similarity_of(given, argument) if hasattr(given, "fit") else given
        if isinstance(similarity, Similarity):
            items = np.arange(similarity.n_items)
            return cls(similarity.pair_distance, items, similarity.embedding, similarity.names)
        table = np.array(_by_name(given, argument), float)
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
        return cls(
            lambda pairs: table[tuple(pairs.T)], np.arange(len(table)), None, check_names(index) if named else None
        )

    @property
    def named(self) -> bool:
        """Whether items are known by name."""
        return self.names is not None

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.items)

    def take(self, items: Array) -> View:
        """Return some items alone."""
        positions = None if self.positions is None else self.positions[items]
        names = None if self.names is None else tuple(self.names[k] for k in items)
        return replace(self, items=self.items[items], positions=positions, names=names)

    def distances(self, pairs: Array) -> Floats:
        """(p,) distance of each pair; NaN where it is unknown. Wide positions need room, so some pairs at a time."""
        parts = range(0, max(len(pairs), 1), _AT_A_TIME)
        return np.concatenate([self.measure(self.items[pairs[begin : begin + _AT_A_TIME]]) for begin in parts])

    def scaled(self, width: int | None) -> Floats | None:
        """Positions: the model's own, or the leading axes of classical scaling; None where a table has gaps."""
        if self.positions is not None:
            return self.positions
        table = self.measure(np.stack(np.meshgrid(self.items, self.items), axis=-1).reshape(-1, 2))
        return None if np.isnan(table).any() else scale_distances(table.reshape(self.n_items, -1))[:, :width]

    def gap(self, near: Array, far: Array) -> Floats:
        """How much farther apart the far pairs are than the near ones."""
        return self.distances(far) - self.distances(near)


def share_items(one: View, two: View) -> tuple[View, View, Names, Names]:
    """Return both over the items in common, in the order of the first; the items' names; and whom that leaves out."""
    if one.names is None or two.names is None:
        if two.n_items != one.n_items:
            raise ValueError(
                f"items cannot be matched: the first has {one.n_items} and the second {two.n_items}, and not both "
                "know them by name; give both names, or as many items"
            )
        names = one.names or two.names or tuple(str(k) for k in range(one.n_items))
        return replace(one, names=one.names or two.names), replace(two, names=two.names or one.names), names, ()
    place = [{name: k for k, name in enumerate(names)} for names in (one.names, two.names)]
    common = tuple(name for name in one.names if name in place[1])
    views = [
        view.take(np.array([own[name] for name in common], int)) for view, own in zip((one, two), place, strict=True)
    ]
    both = set(common)
    left_out = tuple(name for name in (*one.names, *two.names) if name not in both)
    return views[0], views[1], common, left_out


def _by_name(given: Any, argument: str) -> Any:
    """Return a table of pandas with its columns in the order of its rows; anything else as it is."""
    if not (hasattr(given, "columns") and hasattr(given, "index")):
        return given
    rows, columns = list(given.index), list(given.columns)
    if columns in (rows, list(range(len(columns)))):
        return given
    if len({*rows}) < len(rows) or sorted(map(str, rows)) != sorted(map(str, columns)):
        other = next((name for name in columns if name not in {*rows}), columns[0])
        raise ValueError(
            f"{argument}: rows and columns of the table are not the same items ({other!r} differs); name both alike"
        )
    return given[rows]

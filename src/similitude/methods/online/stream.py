"""A stream of answers as rows of items: checked once, at the edge, and cheaply for one answer at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from similitude.feedback.checks import check_pairs, head_first
from similitude.feedback.columns import Floats, Ints
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import as_comparisons
from similitude.feedback.items import Names
from similitude.feedback.sheets import as_right


@dataclass
class Items:
    """The items that a model knows, in the order in which they came."""

    count: int
    names: Names | None

    def __post_init__(self) -> None:
        self.place = {name: k for k, name in enumerate(self.names or ())}

    def read(self, comparisons: Any, y: npt.ArrayLike | None, grow: bool) -> tuple[Ints, Floats]:
        """Return rows (near, near, far, far) and weights; new items are appended when `grow`, else refused."""
        found = comparisons if isinstance(comparisons, Comparisons) else np.asarray(comparisons)
        if isinstance(found, Comparisons) or found.dtype.kind not in "iu" or found.ndim != 2:
            return self._from_comparisons(as_comparisons(found, y), grow)
        if found.shape[1] not in (3, 4):
            raise ValueError(f"comparisons: expected an array of shape (m, 3) or (m, 4), found shape {found.shape}")
        near, far = found[:, :2], found[:, -2:] if found.shape[1] == 4 else found[:, [0, 2]]
        if y is not None:
            wrong = ~as_right(y, len(found))[:, None]
            near, far = np.where(wrong, far, near), np.where(wrong, near, far)
        if found.size and found.min() < 0:
            raise ValueError(f"comparisons: expected item positions of at least 0, found {found.min()}")
        near, far = head_first(near, far)
        check_pairs(near, far)
        self._reach(int(found.max(initial=-1)) + 1, grow)
        return np.concatenate([near, far], axis=1), np.ones(len(found))

    def _from_comparisons(self, c: Comparisons, grow: bool) -> tuple[Ints, Floats]:
        rows = c.quadruplets
        if c.names is None:
            self._reach(int(rows.max(initial=-1)) + 1, grow)
        elif c.names != self.names:
            rows = self._renumbered(c, rows, grow)
        kept = c.weight > 0
        if kept.all():
            return rows, np.array(c.weight)
        return rows[kept], c.weight[kept]

    def _renumbered(self, c: Comparisons, rows: Ints, grow: bool) -> Ints:
        if self.names is None:
            raise ValueError("comparisons: these have item names, but the model knows its items by position")
        names = c.names or ()
        unknown = [names[k] for k in c.items_compared if names[k] not in self.place]
        if unknown and not grow:
            raise ValueError(
                f"comparisons: item {unknown[0]!r} is not among the {self.count} items of the model; "
                "give all items to the first call, or set grow=True"
            )
        self._append(unknown)
        return np.array([self.place.get(name, -1) for name in names], np.int32)[rows]

    def _append(self, names: list[str]) -> None:
        for name in names:
            self.place[name] = len(self.place)
        self.names = (*(self.names or ()), *names)
        self.count = len(self.names)

    def _reach(self, needed: int, grow: bool) -> None:
        """Have items up to a position."""
        if needed <= self.count:
            return
        if self.names is not None or not grow:
            remedy = "new items need a name" if self.names is not None else "give n_items, or set grow=True"
            raise ValueError(
                f"comparisons: item {needed - 1} is not among the {self.count} items of the model; {remedy}"
            )
        self.count = needed

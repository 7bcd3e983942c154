"""A stream of answers as rows of items: checked once, at the edge, and cheaply for one answer at a time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from similitude.feedback.checks import check_pairs, head_first
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.feedback.items import Names, refuse_too_large
from similitude.feedback.sheets import as_right
from similitude.feedback.spelling import nearly
from similitude.methods.base import warn_at_caller
from similitude.methods.known_items import called_alike
from similitude.methods.new_names import warn_of_spellings
from similitude.types import Array, Floats, Ints

_MANY, _GAPS = 1000, 10  # positions of which hardly one in ten is an item are ids, where they are large


class KnownItems:
    """The items that a model knows, in the order in which they came; never changed, but replaced by a longer one."""

    def __init__(self, count: int, names: Names | None) -> None:
        self.count = count
        self.names = names
        self.place = {name: k for k, name in enumerate(names or ())}
        self._spelled: dict[str, str] | None = None

    def read(
        self, comparisons: ComparisonsLike, y: npt.ArrayLike | None, grow: bool
    ) -> tuple[Ints, Floats, KnownItems]:
        """Return rows (near, near, far, far), weights, and the items: with new ones when `grow`, else refused."""
        found = comparisons if isinstance(comparisons, Comparisons) else np.asarray(comparisons)
        if isinstance(found, Comparisons) or found.dtype.kind not in "iu" or found.ndim != 2 or self.names is not None:
            return self._from_comparisons(called_alike(as_comparisons(found, y), self.names, self.count), grow)
        if found.shape[1] not in (3, 4):
            raise ValueError(f"comparisons: expected an array of shape (m, 3) or (m, 4), found shape {found.shape}")
        near, far = found[:, :2], found[:, -2:] if found.shape[1] == 4 else found[:, [0, 2]]
        if y is not None:
            wrong = ~as_right(y, len(found))[:, None]
            near, far = np.where(wrong, far, near), np.where(wrong, near, far)
        if found.size and found.min() < 0:
            raise ValueError(f"comparisons: expected item positions of at least 0, found {found.min()}")
        refuse_too_large(found)
        near, far = head_first(near, far)
        check_pairs(near, far)
        items = self._up_to(found, grow)
        return np.concatenate([near, far], axis=1), np.ones(len(found)), items

    def _from_comparisons(self, c: Comparisons, grow: bool) -> tuple[Ints, Floats, KnownItems]:
        rows, items = c.quadruplets, self
        if self.names is None:
            items = self._up_to(rows, grow)
        elif c.names != self.names:
            items = self._with_names_of(c, self.names, grow)
            rows = np.array([items.place.get(name, -1) for name in c.names or ()], np.int32)[rows]
        kept = c.weight > 0
        return (rows, np.array(c.weight), items) if kept.all() else (rows[kept], c.weight[kept], items)

    def _with_names_of(self, c: Comparisons, known: Names, grow: bool) -> KnownItems:
        unknown = [name for name in map(c.label, c.items_compared.tolist()) if name not in self.place]
        if unknown and not grow:
            raise ValueError(
                f"comparisons: item {unknown[0]!r} is not among the {self.count} items of the model; "
                "give all items to the first call, or set grow=True"
            )
        return self._and(unknown, known) if unknown else self

    def _and(self, new: list[str], known: Names) -> KnownItems:
        """Return the items with new ones; those that may be known ones are named."""
        spelled = {nearly(name): name for name in known} if self._spelled is None else self._spelled
        warn_of_spellings(spelled, new)
        items = KnownItems(self.count + len(new), (*known, *new))
        items._spelled = spelled | {nearly(name): name for name in new}
        return items

    def _up_to(self, rows: Array, grow: bool) -> KnownItems:
        """Return items up to the last of some positions."""
        needed = int(rows.max(initial=-1)) + 1
        if needed <= self.count:
            return self
        if not grow:
            raise ValueError(
                f"comparisons: item {needed - 1} is not among the {self.count} items of the model; give n_items, or "
                "set grow=True"
            )
        if needed > _MANY and needed > _GAPS * (self.count + rows.size):
            warn_at_caller(
                f"comparisons: the positions go up to {needed - 1}, but the model knows {self.count} items, and makes "
                "room for all between; if they are ids, give them as text, from the first answer on"
            )
        return KnownItems(needed, None)

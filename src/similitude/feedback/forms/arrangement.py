"""Where the items of a question stand, and which orders of them ask the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import factorial, perm
from typing import Any

import numpy as np

from similitude.types import Array


@dataclass(frozen=True)
class Arrangement:
    """The places of a question: perhaps a head, which stays first, and alternatives that may change places.

    Attributes
    ----------
    head : whether the first item is the one that the others are compared with
    unit : how many items make one alternative; within it they may change places too (2: pairs)
    """

    head: bool = False
    unit: int = 1

    def n_alternatives(self, width: int) -> int:
        """How many alternatives a question of so many items has."""
        return (width - self.head) // self.unit

    def canonical(self, shown: Array) -> Array:
        """Return questions (rows) in one order each, so that the same question is the same row.

        The head stays; the items of an alternative are sorted, and so are the alternatives.
        """
        first, rest = shown[:, : int(self.head)], shown[:, int(self.head) :]
        if self.unit == 1:
            rest = np.sort(rest, axis=1)
        else:
            units = np.sort(rest.reshape(len(rest), rest.shape[1] // self.unit, self.unit), axis=2)
            order = np.lexsort(np.moveaxis(units, 2, 0)[::-1], axis=-1)
            rest = np.take_along_axis(units, order[:, :, None], axis=1).reshape(rest.shape)
        return np.concatenate([first, rest], axis=1) if self.head else rest

    def shuffled(self, width: int, permutation: Callable[[int], Sequence[int] | Array]) -> list[int]:
        """Return the places of a question in another order that asks the same, so that no side is favoured.

        `permutation` draws an order of so many things: that of a numpy generator, or one of the standard library.
        """
        first = int(self.head)
        starts = range(first, width, self.unit)
        units = [[start + int(place) for place in permutation(self.unit)] for start in starts]
        return [*range(first), *(place for k in permutation(len(units)) for place in units[k])]

    def number(self, width: int, n_items: int) -> int:
        """Return how many different questions there are; items of one question differ."""
        heads, rest, units = (n_items if self.head else 1), width - self.head, self.n_alternatives(width)
        return heads * perm(n_items - self.head, rest) // (factorial(self.unit) ** units * factorial(units))

    def every(self, items: Sequence[Any], width: int) -> Iterator[list[Any]]:
        """Yield every different question once."""
        if not self.head:
            yield from self._without_head(items, width)
            return
        for head in items:
            others = [item for item in items if item != head]
            yield from ([head, *rest] for rest in self._without_head(others, width - 1))

    def _without_head(self, items: Sequence[Any], width: int) -> Iterator[list[Any]]:
        for chosen in combinations(items, width):
            yield from _units_of(list(chosen), self.unit)


def _units_of(items: list[Any], unit: int) -> Iterator[list[Any]]:
    """Yield every way to put items into units of one size, the units one after the other."""
    if unit == 1 or len(items) <= unit:
        yield items
        return
    for together in combinations(items[1:], unit - 1):
        left = [item for item in items[1:] if item not in together]
        yield from ([items[0], *together, *rest] for rest in _units_of(left, unit))

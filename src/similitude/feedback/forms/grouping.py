"""Groupings: items sorted into groups of those that belong together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from similitude.feedback.columns import Rows
from similitude.feedback.forms.base import Edges, FileColumns, Form, Setup, check_three, finite, item_by_item
from similitude.feedback.forms.placement import ITEM_COLUMN
from similitude.types import Array

if TYPE_CHECKING:
    from similitude.feedback.simulation.mind import Mind, Said


class Grouping(Form):
    """An item is more like its group's members than like the members of others."""

    name = page = "grouping"
    words = "groupings of items"
    says = "the number of each item's group"
    ask = "Sort these into piles, so that those in a pile are alike."
    settings = ("grid_size",)
    columns = (FileColumns((ITEM_COLUMN, ("group",)), "groups"),)

    def check_setup(self, setup: Setup) -> None:
        """Two would be alike, or not: a question of its own."""
        check_three(setup)

    def check_response(self, response: Sequence[float], setup: Setup) -> list[float]:
        """A number of a group for each item; there are no more groups than items."""
        said, size = finite(response), setup.grid_size
        if len(said) != size or not all(value == int(value) and 0 <= value < size for value in said):
            raise ValueError(f"response: expected a whole number from 0 to {size - 1} for each of {size}, found {said}")
        return said

    def same_response(self, one: Sequence[float], other: Sequence[float]) -> bool:
        """Whether the same items are together, whatever the numbers of the groups."""
        return _by_first(one) == _by_first(other)

    def rearranged(self, response: Sequence[float], shown: Sequence[str], other: Sequence[str]) -> list[float]:
        """The same groups of the items where they stand now."""
        return item_by_item(response, shown, other)

    def in_words(self, shown: Sequence[str], response: Sequence[float]) -> str:
        """Which are together."""
        groups: dict[float, list[str]] = {}
        for name, group in zip(shown, response, strict=True):
            groups.setdefault(group, []).append(name)
        return "together: " + "; ".join(", ".join(group) for group in list(groups.values())[:4])

    def comparisons(self, shown: Array, response: Array) -> Edges:
        """An item is more like its group's members than like the members of others."""
        self.check_size(shown.shape[1] == response.shape[1], shown, response)
        return within_over_across(shown, response)

    def count(self, shown: Rows, response: Rows) -> Array:
        """In the group × outside, for every item."""
        return np.array([count_within_over_across(response[row]) for row in range(len(response))], np.int64)

    def answer(self, mind: Mind, shown: Array) -> Said:
        """Sort the items into groups: each joins the most alike of the first few."""
        size = shown.shape[1]
        starts = shown[:, : max(2, round(size**0.5))]
        group = np.empty(shown.shape, np.int32)
        for k in range(size):
            group[:, k] = mind.value(-mind.truth.squared(shown[:, k : k + 1], starts)).argmax(1)
        group[:, : starts.shape[1]] = np.arange(starts.shape[1])
        return group, *mind.whole_sheet(len(shown))


def _by_first(group: Sequence[float]) -> list[int]:
    """Groups numbered as they come: for each item, the first one that is in its group."""
    return [list(group).index(number) for number in group]


def within_over_across(shown: Array, group: Array) -> Edges:
    """Return comparisons of every item with one of its group (near) and one of another (far)."""
    same = group[:, :, None] == group[:, None, :]
    beside = same & ~np.eye(shown.shape[1], dtype=bool)
    row, head, near, far = np.nonzero(beside[:, :, :, None] & ~same[:, :, None, :])
    heads = shown[row, head]
    return np.stack([heads, shown[row, near]], 1), np.stack([heads, shown[row, far]], 1), row


def count_within_over_across(group: Array) -> int:
    """Return how many such comparisons the groups of one answer give."""
    size = np.unique(group, return_counts=True)[1]
    return int((size * (size - 1) * (size.sum() - size)).sum())

"""Which of the items shown was picked: said by its name, by its position, or by the place that it had."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from similitude.feedback.columns import is_none
from similitude.feedback.spelling import folded
from similitude.types import Array, Floats

_PLACES = (("left", "right"), ("left", "middle", "right"), ("left", "center", "right"), ("first", "second", "third"))


def positions(shown: Array, picked: Array, first: int = 0, called: Sequence[Sequence[str]] = ()) -> tuple[Floats, str]:
    """Return the position of what was picked in each row, NaN where nothing was, and how it was told.

    Parameters
    ----------
    shown : (rows, width) items, by name or number
    picked : (rows,) what was picked: an item of its row, else its place (a word such as left, or what the column of the
        item is called), else a position counted from 1, or from 0 where one is 0; None is "can't tell"
    first : the first position that can be picked: 1 where a head stands in front
    called : what the columns of the alternatives are called, in one way or several
    """
    said = np.flatnonzero(~is_none(picked))
    found = np.full(len(picked), np.nan)
    ways = [("by name", _named), ("by place", _placed), ("by position", _counted)]
    if len(said) and _are_positions(shown[:, first:], picked[said]):
        ways.insert(0, ways.pop())
    for how, place in ways:
        where = place(shown[said, first:], picked[said], called)
        if len(said) and (where >= 0).all():
            found[said] = where + first
            return found, how
        if how == "by name" and (where >= 0).any():
            break
    if not len(said):
        return found, "by name"
    wrong = int(said[np.flatnonzero(where < 0)[0]])
    raise NotShown(wrong, picked[wrong], shown[wrong, first:].tolist())


class NotShown(ValueError):
    """Something was picked that is none of the items shown."""

    def __init__(self, row: int, picked: Any, shown: Sequence[Any]) -> None:
        items = ", ".join(map(str, shown))
        super().__init__(f"row {row + 1}: expected one of the items shown ({items}), found {picked!r}")
        self.row = row


def _are_positions(shown: Array, picked: Array) -> bool:
    """Whether numbers were picked that are no larger than a position, of items that are numbers, too, and larger."""
    try:
        small = max(float(value) for value in set(picked.tolist())) <= shown.shape[1]
        return small and max(float(value) for value in set(shown.ravel().tolist())) > shown.shape[1]
    except (TypeError, ValueError):
        return False


def _named(shown: Array, picked: Array, _: Sequence[Sequence[str]]) -> Array:
    where = _first_equal(shown, picked)
    lost = np.flatnonzero(where < 0)
    if len(lost):  # a space too many or another case is no other item
        where[lost] = _first_equal(_folded(shown[lost]), _folded(picked[lost]))
    return where


def _first_equal(shown: Array, picked: Array) -> Array:
    same = (shown == picked[:, None]) if len(picked) else np.zeros(shown.shape, bool)
    return np.where(same.any(axis=1), same.argmax(axis=1), -1)


def _folded(cells: Array) -> Array:
    import pandas as pd

    codes, distinct = pd.factorize(cells.ravel())
    plain = np.array([folded(str(cell)) for cell in distinct.tolist()], object)
    return plain[codes].reshape(cells.shape)


def _placed(shown: Array, picked: Array, called: Sequence[Sequence[str]]) -> Array:
    width = shown.shape[1]
    words = [place for place in (*called, *_PLACES, "abcd"[:width]) if len(place) == width]
    for place in words:
        position = {folded(word): k for k, word in enumerate(place)}
        where = np.array([position.get(folded(str(cell)), -1) for cell in picked.tolist()], int)
        if (where >= 0).all():
            return where
    return np.full(len(picked), -1)


def _counted(shown: Array, picked: Array, _: Sequence[Sequence[str]]) -> Array:
    try:
        number = np.array([float(cell) for cell in picked.tolist()])
    except (TypeError, ValueError):
        return np.full(len(picked), -1)
    start = 0 if (number == 0).any() else 1
    inside = (number == np.floor(number)) & (number >= start) & (number < start + shown.shape[1])
    return np.where(inside, number - start, -1).astype(int)

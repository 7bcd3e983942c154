"""A key to a map: items whose names find no room on it have a mark instead, which the key below the map explains.

Marks are numbers; where an item's own name is a number or a mark would equal a name, they are letters, so that what
stands on the map is a name or a mark and never might be both. A long key is no help: some items stay without a label.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from similitude.display.names import LETTERS, NEAR_LINES, Written, guessed_widths, write_names
from similitude.display.room import MapRoom
from similitude.display.words import shortened
from similitude.types import Floats

MOST_ENTRIES = 40
"""Of a key; more are not looked up."""

MOST_LINES = 80
"""Items on a map whose names may stand apart; lines among more are a tangle."""

_MARK_LINES = (*NEAR_LINES, 3.8, 4.8, 6.0)  # marks are small: the same length of paper is more of their lines

Measure = Callable[[Sequence[str], float], Floats]
"""How wide texts are, in letters of some size."""


@dataclass(frozen=True)
class MapLabels:
    """What is written on a map and below it.

    Attributes
    ----------
    names : of each item
    marks : of each item; without text where its name is written, or neither has room
    key : items that have a mark, and this, in the order of the marks
    kind : what marks are: "numbers" or "letters"
    bare : how many items have neither a name nor a mark
    """

    names: list[Written]
    marks: list[Written]
    key: list[tuple[int, str]]
    kind: str
    bare: int


def label(
    room: MapRoom, names: Sequence[str], small: float, letters: float = LETTERS, measure: Measure = guessed_widths
) -> MapLabels:
    """Write names, then marks for those without room.

    Parameters
    ----------
    room : the picture
    names : of the items
    small, letters : size of the letters of marks and of names
    measure : how wide texts are
    """
    wide = measure([shortened(name) for name in names], letters)
    written = write_names(room, names, letters=letters, wide=wide, lines=NEAR_LINES if len(names) <= MOST_LINES else ())
    silent = [k for k, one in enumerate(written) if names[k] and not one.shown]
    kind, in_order = marks_for(names, min(len(silent), MOST_ENTRIES))
    widest = max(in_order, key=len, default="")
    texts = ["" if not names[k] or one.shown else widest for k, one in enumerate(written)]
    marks = write_names(room, texts, letters=small, wide=measure(texts, small), lines=_MARK_LINES, most=MOST_ENTRIES)
    in_key = sorted((k for k in silent if marks[k].shown), key=lambda k: names[k].casefold())
    called = dict(zip(in_key, in_order, strict=False))
    marks = [replace(mark, text=called.get(k, "")) for k, mark in enumerate(marks)]
    return MapLabels(written, marks, list(called.items()), kind, len(silent) - len(called))


def marks_for(names: Sequence[str], count: int) -> tuple[str, list[str]]:
    """Return what so many marks are called, and these, none of which is a name or might be taken for one."""
    taken = {name.strip().casefold() for name in names}
    numbers = [str(k + 1) for k in range(count)]
    if not any(_is_number(name) for name in taken):
        return "numbers", numbers
    letters = [_in_letters(k) for k in range(count)]
    while taken & set(letters):
        letters = [f"({mark})" for mark in letters]
    return "letters", letters


def _is_number(name: str) -> bool:
    try:
        return bool(np.isfinite(float(name)))
    except ValueError:
        return False


def _in_letters(k: int) -> str:
    """a, b, ..., z, aa, ab, ..."""
    before, last = divmod(k, 26)
    return (_in_letters(before - 1) if before else "") + chr(ord("a") + last)

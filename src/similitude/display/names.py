"""Names on a map: beside their points where it is free, else a little further off with a line; never on a point.

All is in units of the picture, of which the size of the letters is some; y goes down. `room` says what is free, and
`key` what becomes of names that find no room.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from similitude.display.room import MapRoom, Spots, apart, beside
from similitude.display.words import shortened
from similitude.types import Floats

LETTERS = 12.0
"""Size of the letters on a screen."""

NEAR_LINES = (0.8, 1.4, 2.1, 2.9)
"""How far a name may stand apart from its point, in heights of a line of text; what is further is lost."""

_WIDTHS = (
    ("'ijlI|", 0.29),
    (" .,:;!()[]ft-", 0.38),
    ("mwMW#%@&…", 0.92),
)  # of letters, as shares of the size, in wide fonts
_SMALL, _CAPITAL, _FULL = 0.61, 0.7, 1.0  # of the other small letters, digits, capitals, and of ideographs


@dataclass(frozen=True)
class Written:
    """A name on the map.

    Attributes
    ----------
    text : what is written
    x, y : of its baseline, at its beginning, middle or end as `anchor` says ("start", "middle", "end")
    shown : whether there is room for it
    line : from the point to the name (x, y, x, y), where it stands apart; else None
    """

    text: str
    x: float
    y: float
    anchor: str
    shown: bool
    line: tuple[float, float, float, float] | None = None


def write_names(
    room: MapRoom,
    names: Sequence[str],
    *,
    letters: float = LETTERS,
    wide: Floats | None = None,
    lines: Sequence[float] = (),
    most: int | None = None,
) -> list[Written]:
    """Write names to the right of their points, or left, above or below; further off with a line where that is free.

    Items far from those written before come first: every region of a crowded map has a name, and the names of lonely
    items are in nobody's way.

    Parameters
    ----------
    room : the picture, and what is taken of it already; what is written is taken, too
    names : of the items; nothing is written for an empty one
    letters : size of the letters
    wide : (n,) how wide each name is, where it was measured; else guessed from its letters
    lines : how far names may stand apart from their points, with a line: in heights of a line of text, nearest first
    most : how many names to write at most, where not all that there is room for
    """
    texts = [shortened(name) for name in names]
    long = guessed_widths(texts, letters) if wide is None else wide
    written: dict[int, Written] = {}
    count, far = 0, np.linalg.norm(room.place - room.place.mean(0), axis=1) if len(names) else np.empty(0)
    left = np.ones(len(names), bool)
    while left.any():
        k = int(np.where(left, far, -1.0).argmax())
        left[k] = False
        about = room.place[k], long[k], room.radii[k], letters
        near = beside(*about)
        wanted = bool(texts[k]) and (most is None or count < most)
        found = _found(room, k, letters, near) if wanted else None
        if found is None and wanted and lines:
            found = _found(room, k, letters, apart(*about, lines))
        if found is not None:  # where there was no room for a name its neighbours come next
            away = np.linalg.norm(room.place - room.place[k], axis=1)
            far, count = np.minimum(far, away) if count else away, count + 1
        written[k] = _written(texts[k], *(found or (near, _first_inside(room, near))), letters, found is not None)
    return [written[k] for k in range(len(names))]


def _found(room: MapRoom, own: int, letters: float, spots: Spots) -> tuple[Spots, int] | None:
    """The first free place, which is taken."""
    free = room.free(spots, own, letters)
    if not free.any():
        return None
    room.take(spots, int(free.argmax()), letters)
    return spots, int(free.argmax())


def _first_inside(room: MapRoom, spots: Spots) -> int:
    return int(room.inside(spots).argmax())


def _written(text: str, spots: Spots, k: int, letters: float, shown: bool) -> Written:
    x, y = spots.baseline(k, letters)
    line = None if spots.lines is None else tuple(spots.lines[k].tolist())
    return Written(text, x, y, spots.anchors[k], shown, line)


def guessed_widths(texts: Sequence[str], letters: float) -> Floats:
    """(n,) how wide texts are about."""
    return np.array([guessed_width(text, letters) for text in texts], float)


def guessed_width(text: str, letters: float) -> float:
    """How wide a text is about: no narrower than a wide font, such as DejaVu or Verdana, writes it."""
    return letters * sum(map(_letter_width, text))


@functools.cache
def _letter_width(letter: str) -> float:
    known = next((wide for some, wide in _WIDTHS if letter in some), None)
    return known or (_FULL if letter >= "\u2e80" else _CAPITAL if letter.isupper() or letter.isdigit() else _SMALL)


def spread_first(place: Floats) -> list[int]:
    """Items in an order in which each is far from all before it; the first is far from the middle."""
    if not len(place):
        return []
    apart = np.linalg.norm(place - place.mean(0), axis=1)
    order = [int(apart.argmax())]
    apart = np.linalg.norm(place - place[order[0]], axis=1)
    left = np.ones(len(place), bool)
    left[order[0]] = False
    while left.any():
        order.append(int(np.where(left, apart, -1.0).argmax()))
        left[order[-1]] = False
        apart = np.minimum(apart, np.linalg.norm(place - place[order[-1]], axis=1))
    return order

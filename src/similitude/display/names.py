"""Room for names on a map: beside their points where it is free, else further off with a line; never on a point.

One layout for the page, the notebook and print. All is in units of the picture, of which the size of the letters is
some; y goes down.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from similitude.display.words import shortened
from similitude.types import Bools, Floats

LETTERS = 12.0
"""Size of the letters on a screen."""

_HIGH = 13.0 / 12  # of a line, as a share of the size
_WIDTHS = (
    ("'ijlI|", 0.29),
    (" .,:;!()[]ft-", 0.38),
    ("mwMW#%@&…", 0.92),
)  # of letters, as shares of the size, in wide fonts
_SMALL, _CAPITAL, _FULL = 0.61, 0.7, 1.0  # of the other small letters, digits, capitals, and of ideographs
_GAP = 0.25  # between a point and its name, as a share of the size
_POINT = 4.5
_FAR = (1.6, 2.6, 3.8, 5.2, 7.0, 9.0)  # lines of text between a point and a name that a line leads to
_DIRECTIONS = 12
_STEP = 4.0  # between the dots that stand for a line when room is looked for


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

    def box(self, letters: float, wide: float) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of the name, of so large letters and so wide."""
        left = self.x - {"start": 0.0, "middle": wide / 2, "end": wide}[self.anchor]
        return left, self.y - letters, left + wide, self.y + 0.3 * letters


@dataclass(frozen=True)
class _Spot:
    """A place that a name may take: its box (left, top, right, bottom), and where a line to it ends."""

    anchor: str
    box: tuple[float, float, float, float]
    line: tuple[float, float, float, float] | None = None

    def boxes(self) -> Floats:
        """The box, and the dots of the line as boxes."""
        if self.line is None:
            return np.array([self.box])
        start, end = np.array(self.line[:2]), np.array(self.line[2:])
        along = np.linspace(0.0, 1.0, max(int(np.linalg.norm(end - start) / _STEP), 2))[:, None]
        dots = start + along * (end - start)
        return np.concatenate([[self.box], np.concatenate([dots - 0.5, dots + 0.5], axis=1)])


def write_names(
    place: Floats,
    names: Sequence[str],
    width: float,
    height: float,
    radius: float | Floats = _POINT,
    *,
    letters: float = LETTERS,
    wide: Floats | None = None,
    lines: bool = False,
    others: Floats | None = None,
    most: int | None = None,
) -> list[Written]:
    """Write names to the right of their points, or left, above or below; further off with a line where that is free.

    Items far from those written before come first: every region of a crowded map has a name, and the names of lonely
    items are in nobody's way.

    Parameters
    ----------
    place : (n, 2) points of the picture
    names : of the items; nothing is written for an empty one
    width, height : of the picture
    radius : of a point, or of each, which no name covers
    letters : size of the letters
    wide : (n,) how wide each name is, where it was measured; else guessed from its letters
    lines : whether names may stand apart from their points, with a line
    others : (m, 4) boxes that no name may cover either
    most : how many names to write at most, where not all that there is room for
    """
    texts = [shortened(name) for name in names]
    long = np.array([guessed_width(text, letters) for text in texts]) if wide is None else wide
    radii = np.broadcast_to(np.asarray(radius, float), len(place))
    points = np.concatenate([place - radii[:, None], place + radii[:, None]], axis=1)
    taken = points if others is None else np.concatenate([points, others])
    written: dict[int, Written] = {}
    count = 0
    for k in spread_first(place):
        spots = _beside(place[k], long[k], radii[k], letters)
        wanted = texts[k] and (most is None or count < most)
        found = _free(spots, taken, k, width, height) if wanted else None
        if found is None and lines and wanted:
            spots_apart = _apart(place[k], long[k], radii[k], letters)
            found = _free(spots_apart, taken, k, width, height) or _free(
                spots_apart, taken, k, width, height, crossing=len(place)
            )
        count += found is not None
        written[k] = _written(texts[k], found or _first_inside(spots, width, height), letters, found is not None)
        if found is not None:
            taken = np.concatenate([taken, found.boxes()])
    return [written[k] for k in range(len(names))]


def guessed_width(text: str, letters: float) -> float:
    """How wide a text is about: no narrower than a wide font, such as DejaVu or Verdana, writes it."""
    return letters * sum(map(_letter_width, text))


@functools.cache
def _letter_width(letter: str) -> float:
    known = next((wide for some, wide in _WIDTHS if letter in some), None)
    return known or (_FULL if letter >= "\u2e80" else _CAPITAL if letter.isupper() or letter.isdigit() else _SMALL)


def numbered(names: Sequence[str], written: Sequence[Written]) -> dict[int, str]:
    """A number for each item whose name has no room, in the order of the alphabet, for a key."""
    left = [k for k, one in enumerate(written) if names[k] and not one.shown]
    by_name = sorted(left, key=lambda k: str(names[k]).casefold())
    return {k: str(count) for count, k in enumerate(by_name, 1)}


def key_of(number: Mapping[int, str], marks: Sequence[Written]) -> tuple[list[tuple[int, str]], list[Written]]:
    """Return the items of the key with their numbers, and the numbers on the map, counted anew among those with room.

    Items without room for a number come last, with a dash. The new numbers are never longer than the old ones.
    """
    in_order = sorted(number, key=lambda k: not marks[k].shown)
    called = {k: str(count) for count, k in enumerate((k for k in in_order if marks[k].shown), 1)}
    again = [replace(mark, text=called.get(k, "")) for k, mark in enumerate(marks)]
    return [(k, called.get(k, "–")) for k in in_order], again


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


def _beside(at: Floats, long: float, radius: float, letters: float) -> list[_Spot]:
    """The places next to a point, best first."""
    x, y = at.tolist()
    side, high = radius + _GAP * letters, _HIGH * letters
    half = high / 2
    return [
        _Spot("start", (x + side, y - half, x + side + long, y + half)),
        _Spot("end", (x - side - long, y - half, x - side, y + half)),
        _Spot("middle", (x - long / 2, y - side - high, x + long / 2, y - side)),
        _Spot("middle", (x - long / 2, y + side, x + long / 2, y + side + high)),
    ]


def _apart(at: Floats, long: float, radius: float, letters: float) -> list[_Spot]:
    """Places further off, nearest first, each with a line from the edge of the point to the name."""
    spots, high = [], _HIGH * letters
    for far in _FAR:
        for turn in np.arange(_DIRECTIONS) * 2 * np.pi / _DIRECTIONS:
            towards = np.array([np.cos(turn), np.sin(turn)])
            x, y = (at + (radius + far * high) * towards).tolist()
            anchor = "middle" if abs(towards[0]) < 0.3 else "start" if towards[0] > 0 else "end"
            left = x - {"start": 0.0, "middle": long / 2, "end": long}[anchor]
            top = y - high * (0.5 if anchor != "middle" else float(towards[1] < 0))
            line = (*(at + radius * towards).tolist(), x, y)
            spots.append(_Spot(anchor, (left, top, left + long, top + high), line))
    return spots


def _free(
    spots: Sequence[_Spot], taken: Floats, own: int, width: float, height: float, crossing: int = 0
) -> _Spot | None:
    """The first spot that is inside the picture and on nothing; the item's own point is no obstacle.

    Lines may cross the first few of what is taken, the points, where there is no other way.
    """
    for spot in spots:
        if not _inside(spot, width, height):
            continue
        over = _overlap(spot.boxes(), taken, own)
        if not over[0].any() and not over[1:, crossing:].any():
            return spot
    return None


def _first_inside(spots: Sequence[_Spot], width: float, height: float) -> _Spot:
    return next((spot for spot in spots if _inside(spot, width, height)), spots[0])


def _inside(spot: _Spot, width: float, height: float) -> bool:
    left, top, right, bottom = spot.box
    return left >= 0 and top >= 0 and right <= width and bottom <= height


def _overlap(boxes: Floats, others: Floats, own: int) -> Bools:
    left, top, right, bottom = boxes.T[:, :, None]
    over: Bools = (left < others[:, 2]) & (others[:, 0] < right) & (top < others[:, 3]) & (others[:, 1] < bottom)
    over[:, own] = False
    return over


def _written(text: str, spot: _Spot, letters: float, shown: bool) -> Written:
    left, _, right, bottom = spot.box
    x = {"start": left, "end": right, "middle": (left + right) / 2}[spot.anchor]
    return Written(text, x, bottom - _GAP * letters, spot.anchor, shown, spot.line)

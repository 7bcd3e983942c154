"""Pictures on a map: none hides another. As large as their number and nearness allow, a little aside where it is full.

A picture stands at its item's place; where another is in the way, beside it with a line to a dot at the place; where
there is no room either, the dot stands alone. `templates/thumbnails.js` does the same on a screen of any size.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from similitude.display.names import spread_first
from similitude.types import Bools, Floats

SCRIPT = Path(__file__).parent / "templates" / "thumbnails.js"
"""The same for pages."""

_SMALLER = 0.87  # from one size that is tried to the next
_STEPS = (0.7, 1.0, 1.4, 1.9, 2.5)  # how far aside a picture may stand, in sizes
_DIRECTIONS = 16
_GAP = 1.0
_MISSING, _ASIDE = 0.05, 0.4  # shares of the pictures that may be left out, or stand aside, before all get smaller
MOST = 400
"""Pictures on a map; of more, an even choice is shown."""


@dataclass(frozen=True)
class Thumbnails:
    """Where pictures stand.

    Attributes
    ----------
    size : of all of them
    spots : (n, 2) the middle of each; NaN where a dot stands alone
    aside : (n,) which stand away from their places
    """

    size: float
    spots: Floats
    aside: Bools

    @property
    def shown(self) -> Bools:
        """(n,) which items have a picture on the map."""
        return np.asarray(np.isfinite(self.spots[:, 0]))

    def edge(self, item: int, place: Floats) -> Floats:
        """Where the line from an item's place to its picture, which stands aside, meets the picture."""
        by = self.spots[item] - place
        return place + (1.0 - self.size / 2 / max(float(np.abs(by).max()), self.size / 2)) * by


def lay_out(
    place: Floats, has_picture: Bools, width: float, height: float, largest: float, smallest: float
) -> Thumbnails:
    """Find room for pictures.

    Parameters
    ----------
    place : (n, 2) items, in units of the picture
    has_picture : (n,) which items have one
    width, height : of the map
    largest, smallest : sizes of a picture; the largest is taken at which hardly any is left out, and most stand at
        their places
    """
    order = [k for k in spread_first(place) if has_picture[k]][:MOST]
    size = max(min(largest, float(np.sqrt(width * height / max(len(order), 1)))), smallest)
    while True:
        found = _placed(place, order, width, height, size)
        missing, aside = len(order) - int(found.shown.sum()), int(found.aside.sum())
        if (missing <= _MISSING * len(order) and aside <= _ASIDE * len(order)) or size <= smallest:
            return found
        size = max(size * _SMALLER, smallest)


def _placed(place: Floats, order: list[int], width: float, height: float, size: float) -> Thumbnails:
    """Pictures of one size: at their places as far as these are free, then the others aside."""
    spots, aside = np.full(place.shape, np.nan), np.zeros(len(place), bool)
    taken = np.empty((0, 2))
    waiting = []
    for k in order:
        if _free(place[[k]], taken, size)[0]:
            spots[k] = place[k]
            taken = np.concatenate([taken, place[[k]]])
        else:
            waiting.append(k)
    around = _around() * size
    half, corner = size / 2, np.array([width, height]) - size / 2
    for k in waiting:
        some = place[k] + around
        fine = ((some >= half) & (some <= corner)).all(1) & _free(some, taken, size)
        if fine.any():
            spots[k], aside[k] = some[fine.argmax()], True
            taken = np.concatenate([taken, spots[[k]]])
    return Thumbnails(size, spots, aside)


def _around() -> Floats:
    """(s, 2) where a picture may stand aside, the nearest first, in sizes."""
    turn = np.arange(_DIRECTIONS) * 2 * np.pi / _DIRECTIONS
    ring = np.column_stack([np.cos(turn), np.sin(turn)])
    return np.concatenate([step * ring for step in _STEPS])


def _free(spots: Floats, taken: Floats, size: float) -> Bools:
    """(s,) at which spots a picture would cover none that stands already."""
    near = np.asarray((np.abs(spots[:, None] - taken) < size + _GAP).all(2))
    return np.asarray(~near.any(axis=1))

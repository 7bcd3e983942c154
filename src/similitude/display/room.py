"""Room on a map: which places near an item a name may take, and which of them are free.

A name beside its point is nearer to it than to any other; one that stands apart has a line to its point that crosses
no other point, name or line, and keeps away from what it might be taken for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from similitude.types import Bools, Floats

_HIGH = 13.0 / 12  # of a line of text, as a share of the size of its letters
_GAP = 0.25  # between a point and its name, as a share of the size
_DIRECTIONS = 16
_CLEAR = 0.8  # between a name that stands apart and others' points, as a share of the size
_BESIDE_LINES = 0.75  # units between a line and others' points
_NEARER = 0.15  # how much nearer a name is to its own point than to others, as a share of the size
_ONE_PLACE = 0.25  # radii between points that are seen as one: a name beside them is either's
_TINY = 1e-6
_SHIFT = {"start": 0.0, "middle": 0.5, "end": 1.0}  # of where a text begins, as a share of its width


@dataclass(frozen=True)
class Spots:
    """Places that a name may take, best first.

    Attributes
    ----------
    anchors : which end of the text is nearest to the point: "start", "middle" or "end"
    boxes : (s, 4) left, top, right and bottom
    lines : (s, 4) from the edge of the point to the name (x, y, x, y); None for places beside the point
    """

    anchors: list[str]
    boxes: Floats
    lines: Floats | None = None

    def baseline(self, k: int, letters: float) -> tuple[float, float]:
        """Where the text of one of them is anchored."""
        left, _, right, bottom = self.boxes[k].tolist()
        return left + _SHIFT[self.anchors[k]] * (right - left), bottom - _GAP * letters


def beside(at: Floats, long: float, radius: float, letters: float) -> Spots:
    """The places next to a point: right, left, above, below, then the corners."""
    x, y = at.tolist()
    side, high = radius + _GAP * letters, _HIGH * letters
    half, near = high / 2, 0.7 * side
    corners = {
        "start": [(x + side, y - half), (x + near, y - near - high), (x + near, y + near)],
        "end": [(x - side - long, y - half), (x - near - long, y - near - high), (x - near - long, y + near)],
        "middle": [(x - long / 2, y - side - high), (x - long / 2, y + side)],
    }
    order = [("start", 0), ("end", 0), ("middle", 0), ("middle", 1), ("start", 1), ("start", 2), ("end", 1), ("end", 2)]
    lowest = np.array([corners[anchor][k] for anchor, k in order])
    return Spots([anchor for anchor, _ in order], np.concatenate([lowest, lowest + np.array([long, high])], axis=1))


def apart(at: Floats, long: float, radius: float, letters: float, steps: Sequence[float]) -> Spots:
    """Places so many lines of text further off, each with a line from the edge of the point to the name."""
    anchors, boxes, lines, high = list[str](), [], [], _HIGH * letters
    for far in steps:
        for turn in np.arange(_DIRECTIONS) * 2 * np.pi / _DIRECTIONS:
            towards = np.array([np.cos(turn), np.sin(turn)])
            x, y = (at + (radius + far * high) * towards).tolist()
            anchor = "middle" if abs(towards[0]) < 0.3 else "start" if towards[0] > 0 else "end"
            left = x - _SHIFT[anchor] * long
            top = y - high * (0.5 if anchor != "middle" else float(towards[1] < 0))
            anchors.append(anchor)
            boxes.append((left, top, left + long, top + high))
            lines.append((*(at + radius * towards).tolist(), x, y))
    return Spots(anchors, np.array(boxes), np.array(lines))


class MapRoom:
    """A picture of points, and what is taken of it: it grows as names are written.

    Parameters
    ----------
    place : (n, 2) points
    radius : of a point, or of each, which no name covers
    width, height : of the picture
    """

    def __init__(self, place: Floats, radius: float | Floats, width: float, height: float) -> None:
        self.place, self.width, self.height = place, width, height
        self.radii: Floats = np.array(np.broadcast_to(np.asarray(radius, float), len(place)))
        self._names, self._lines = np.empty((0, 4)), np.empty((0, 4))

    def inside(self, spots: Spots) -> Bools:
        """(s,) which places are on the picture."""
        low, high = spots.boxes[:, :2], spots.boxes[:, 2:]
        return np.asarray((low >= 0).all(1) & (high <= [self.width, self.height]).all(1))

    def free(self, spots: Spots, own: int, letters: float) -> Bools:
        """(s,) which places are on the picture and on nothing, and cannot be taken for another item's."""
        others = self._around(spots, own, letters)
        place, radii = self.place[others], self.radii[others]
        gaps = _gaps(spots.boxes, place) - radii
        fine = self.inside(spots) & (gaps > 0).all(1) & ~_overlap(spots.boxes, self._names).any(1)
        fine &= ~_through(self._lines, spots.boxes).any(0)
        if spots.lines is None:
            mine = _gaps(spots.boxes, self.place[[own]]) - self.radii[own]
            elsewhere = np.linalg.norm(place - self.place[own], axis=1) > _ONE_PLACE * radii
            return fine & (mine + _NEARER * letters <= gaps[:, elsewhere]).all(1)
        fine &= (_to_lines(spots.lines, place) > radii + _BESIDE_LINES).all(1) & (gaps >= _CLEAR * letters).all(1)
        return fine & ~_through(spots.lines, self._names).any(1) & ~_cross(spots.lines, self._lines).any(1)

    def _around(self, spots: Spots, own: int, letters: float) -> Bools:
        """(n,) which other points are near enough to matter: on a large map few are."""
        reach = float(self.radii.max()) + letters
        low, high = spots.boxes[:, :2].min(0) - reach, spots.boxes[:, 2:].max(0) + reach
        near = np.asarray(((self.place >= low) & (self.place <= high)).all(1))
        near[own] = False
        return near

    def take(self, spots: Spots, k: int, letters: float) -> None:
        """Write a name in one of the places, with some space before and after it."""
        space = np.array([-_GAP, 0.0, _GAP, 0.0]) * letters
        self._names = np.concatenate([self._names, spots.boxes[[k]] + space])
        if spots.lines is not None:
            self._lines = np.concatenate([self._lines, spots.lines[[k]]])


def _gaps(boxes: Floats, points: Floats) -> Floats:
    """(s, n) from boxes to points; 0 inside."""
    beyond = np.maximum(np.maximum(boxes[:, None, :2] - points, points - boxes[:, None, 2:]), 0.0)
    return np.asarray(np.hypot(beyond[..., 0], beyond[..., 1]))


def _overlap(boxes: Floats, others: Floats) -> Bools:
    """(s, m) which boxes lie on each other."""
    return np.asarray(((boxes[:, None, :2] < others[:, 2:]) & (others[:, :2] < boxes[:, None, 2:])).all(2))


def _through(lines: Floats, boxes: Floats) -> Bools:
    """(l, b) which lines go through which boxes: they are within its left and right while within its top and bottom."""
    step = (lines[:, 2:] - lines[:, :2])[:, None]
    step = np.where(np.abs(step) < _TINY, _TINY, step)
    ends = np.stack([boxes[:, :2] - lines[:, None, :2], boxes[:, 2:] - lines[:, None, :2]]) / step
    enter, leave = ends.min(0).max(2), ends.max(0).min(2)
    return np.asarray((enter < leave) & (leave > 0) & (enter < 1))


def _to_lines(lines: Floats, points: Floats) -> Floats:
    """(l, n) from lines to points."""
    start, step = lines[:, None, :2], (lines[:, 2:] - lines[:, :2])[:, None]
    along = ((points - start) * step).sum(2) / np.maximum((step**2).sum(2), _TINY)
    nearest = start + np.clip(along, 0.0, 1.0)[..., None] * step
    return np.asarray(np.linalg.norm(points - nearest, axis=2))


def _cross(lines: Floats, others: Floats) -> Bools:
    """(l, m) which lines cross each other."""
    a, b = lines[:, None, :2], lines[:, None, 2:]
    c, d = others[None, :, :2], others[None, :, 2:]
    return np.asarray((_side(a, b, c) != _side(a, b, d)) & (_side(c, d, a) != _side(c, d, b)))


def _side(start: Floats, end: Floats, points: Floats) -> Bools:
    """On which side of a line points are."""
    step, to = end - start, points - start
    return np.asarray(step[..., 0] * to[..., 1] > step[..., 1] * to[..., 0])

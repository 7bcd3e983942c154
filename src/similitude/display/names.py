"""Where the names on a map stand: beside their points, none over another; the rest wait to be pointed at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from similitude.display.places import Floats
from similitude.display.words import LONGEST, shortened

Bools = npt.NDArray[np.bool_]

_LETTER, _LINE = 6.8, 13.0  # width of a letter and height of a line, in units of the picture
_POINT, _GAP = 4.5, 3.0


@dataclass(frozen=True)
class Written:
    """A name on the map: what is written, where it begins or ends, and whether there is room for it at all times."""

    text: str
    x: float
    y: float
    anchor: str
    shown: bool


def write_names(
    place: Floats, names: Sequence[str], width: float, height: float, radius: float = _POINT
) -> list[Written]:
    """Write names to the right of their points, or left, above or below, as far as there is room.

    Lonely items come first: their names are in nobody's way.

    Parameters
    ----------
    place : (n, 2) points of the picture
    names : of the items
    width, height : of the picture
    radius : of a point, which no name covers
    """
    taken = np.full((2 * len(place), 4), np.inf)  # boxes that no name may cover: points, then names
    count = len(place)
    taken[:count] = np.concatenate([place - radius, place + radius], axis=1)
    written: dict[int, Written] = {}
    for k in _lonely_first(place):
        text = shortened(names[k])
        spots = _spots(place[k], _LETTER * len(text), radius)
        boxes = np.array([box for _, box in spots])
        inside = (boxes[:, :2] >= 0).all(1) & (boxes[:, 2] <= width) & (boxes[:, 3] <= height)
        free = inside & ~_overlap(boxes, taken[:count], but=k).any(1)
        best = int(free.argmax()) if free.any() else int(inside.argmax())
        anchor, box = spots[best]
        x = {"start": box[0], "end": box[2], "middle": (box[0] + box[2]) / 2}[anchor]
        written[k] = Written(text, float(x), float(box[3] - _GAP), anchor, bool(free.any()))
        if free.any():
            taken[count] = box
            count += 1
    return [written[k] for k in range(len(names))]


def _lonely_first(place: Floats) -> list[int]:
    """Items by how many others stand within a name's length, fewest first."""
    reach = _LETTER * LONGEST
    apart = np.linalg.norm(place[:, None] - place, axis=2)
    order: list[int] = np.argsort((apart < reach).sum(1), kind="stable").tolist()
    return order


def _spots(at: Floats, long: float, radius: float) -> list[tuple[str, Floats]]:
    """Anchor and box (left, top, right, bottom) of a name at each place that it may take, best first."""
    x, y = at
    side, half = radius + _GAP, _LINE / 2
    return [
        ("start", np.array([x + side, y - half, x + side + long, y + half])),
        ("end", np.array([x - side - long, y - half, x - side, y + half])),
        ("middle", np.array([x - long / 2, y - side - _LINE, x + long / 2, y - side])),
        ("middle", np.array([x - long / 2, y + side, x + long / 2, y + side + _LINE])),
    ]


def _overlap(boxes: Floats, others: Floats, but: int) -> Bools:
    """Which of the boxes lie over which of the others; the point of the item itself, `but`, is no obstacle."""
    left, top, right, bottom = boxes.T[:, :, None]
    over: Bools = (left < others[:, 2]) & (others[:, 0] < right) & (top < others[:, 3]) & (others[:, 1] < bottom)
    over[:, but] = False
    return over

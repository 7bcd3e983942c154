"""Where items stand on a picture: the plane of a map, its scale, ellipses of doubtful places, and room for names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from similitude.display.words import LONGEST, shortened
from similitude.types import Bools, Floats

_LETTER, _LINE = 6.8, 13.0  # width of a letter and height of a line, in units of the picture
_POINT, _GAP = 4.5, 3.0
_FEW = 64  # dimensions of which all directions are found as fast as two

Ellipse = tuple[float, float, float]
"""Half axes along and across, and the angle in degrees by which the first is turned (clockwise, as pictures count)."""


def plane(positions: Floats) -> Floats:
    """(d, 2) the directions of a map's plane: the two of largest spread; two dimensions or one as they are."""
    X = np.asarray(positions, float)
    if X.shape[1] <= 2:
        return np.eye(X.shape[1], 2)
    axes = _widest(X - X.mean(0))
    axes *= np.where(axes[np.arange(2), np.abs(axes).argmax(1)] < 0, -1.0, 1.0)[:, None]
    return axes.T


def _widest(centred: Floats) -> Floats:
    """(2, d) the two directions of largest spread; by Lanczos where there are many, since two are wanted of them."""
    d = centred.shape[1]
    if d <= _FEW or not centred.any():
        return np.linalg.svd(centred, full_matrices=False)[2][:2] if min(centred.shape) > 1 else np.eye(2, d)
    from scipy.sparse.linalg import LinearOperator, eigsh  # not needed to load a model and use it

    spread = LinearOperator((d, d), matvec=lambda v: centred.T @ (centred @ v.ravel()), dtype=float)
    start = np.random.default_rng(0).standard_normal((d,))
    _, vectors = eigsh(spread, 2, v0=start, tol=1e-6)
    return np.asarray(vectors[:, ::-1].T, np.float64)


def placed(
    flat: Floats, width: float, margin: float, heights: tuple[float, float] = (0.5, 1.3), around: Floats | float = 0.0
) -> tuple[Floats, float, float]:
    """Return positions in units of the picture, how many of them a unit of the map is, and the picture's height.

    Parameters
    ----------
    flat : (n, 2) positions on the map
    width, margin : of the picture
    heights : the least height and the most, as shares of the width
    around : (n, 2) how much of the map around each position must be on the picture, too
    """
    low, high = (flat - around).min(0), (flat + around).max(0)
    unit = (width - 2 * margin) / max(high[0] - low[0], 1e-12)
    height = np.clip(unit * (high[1] - low[1]) + 2 * margin, heights[0] * width, heights[1] * width)
    unit = min(unit, (height - 2 * margin) / max(high[1] - low[1], 1e-12))
    middle = np.array([width / 2, height / 2])
    return middle + (flat - (low + high) / 2) * [unit, -unit], float(unit), float(height)


def ellipse(covariance: Floats, reach: float) -> Ellipse:
    """Return the ellipse of a (2, 2) covariance that reaches so many standard deviations."""
    values, vectors = np.linalg.eigh(covariance)
    half = reach * np.sqrt(np.maximum(values, 0.0))
    angle = -np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1]))
    return float(half[1]), float(half[0]), float(angle)


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

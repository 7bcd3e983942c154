"""The map of the report: drawn in SVG, readable in print, and on a screen it answers to pointing and to the keyboard.

Pointing at an item (or moving to it with the tab key) shows its whole name, its picture where there is one, lines to
its nearest neighbours and where else the answers would let it stand. The templates `atlas.html`, `atlas.svg` and
`atlas.js` draw it.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from similitude.analysis.learn import Findings
from similitude.analysis.shades import Shade, outlines, shades
from similitude.display.key import MapLabels, label
from similitude.display.maps import Meaning, meaning
from similitude.display.names import LETTERS, Written, guessed_width, spread_first
from similitude.display.places import BAR, Ellipse, deviations, ellipse, is_bar, placed, room_for_ellipses
from similitude.display.room import MapRoom
from similitude.display.thumbnails import SCRIPT, Thumbnails, lay_out
from similitude.methods.scaling import project
from similitude.types import Floats

_WIDTH, _MARGIN = 720.0, 48.0
_HEIGHTS = (0.3, 1.1)  # the least and the most, as shares of the width
_FEW = 60  # ellipses of more items than these hide each other; they are shown when pointed at
_SMALL = 8.5  # size of the letters of marks
_POINT, _THUMBNAIL = 4.5, 96  # a point on the map, and a picture in dots
_LARGEST, _SMALLEST = 48.0, 16.0  # pictures on the map


@dataclass(frozen=True)
class Mark:
    """An item on the map: its place, what is written, where else it may stand, and how it is shown.

    The sign, which leads to its name in the key, has no text where the name stands on the map. The spot is where the
    picture stands, seen from the place, None for a dot; where it stands aside, the tie is where a line meets it.
    """

    name: str
    x: float
    y: float
    label: Written
    sure: Ellipse | None
    neighbours: list[int]
    picture: str | None
    colour: str | None
    sign: Written
    spot: tuple[float, float] | None = None
    tie: tuple[float, float] | None = None


@dataclass(frozen=True)
class Atlas:
    """The map, as `atlas.svg` draws it."""

    meaning: Meaning
    height: int
    few: bool
    marks: list[Mark]
    labels: MapLabels
    shades: list[Shade]
    solid: list[list[float]] | None
    picture: float
    bar = BAR
    width = round(_WIDTH)
    dot = outlines(_POINT)[0]
    script = SCRIPT.read_text(encoding="utf-8")

    @property
    def doubt(self) -> str:
        """How it is drawn where else an item may stand."""
        return "bar" if all(is_bar(mark.sure) for mark in self.marks if mark.sure) else "ellipse"

    def data(self) -> dict[str, Any]:
        """What `atlas.js` knows of it."""
        places = [[mark.x, mark.y] for mark in self.marks]
        return {
            "width": self.width,
            "height": self.height,
            "radius": _POINT,
            "pictures": [bool(mark.picture) for mark in self.marks],
            "sizes": [_LARGEST, _SMALLEST],
            "picture": self.picture,
            "spots": [None if mark.spot is None else [*mark.spot, mark.tie is not None] for mark in self.marks],
            "names": [mark.name for mark in self.marks],
            "long": [round(guessed_width(mark.label.text, LETTERS), 1) for mark in self.marks],
            "places": places,
            "solid": self.solid,
            "near": [mark.neighbours for mark in self.marks],
            "order": spread_first(np.array(places, float)),
            "colours": [mark.colour for mark in self.marks],
            "outlines": outlines(_POINT),
            "shades": [
                {"labels": shade.labels, "codes": shade.codes, "hues": shade.hues, "shapes": shade.shapes}
                for shade in self.shades
            ],
        }


def atlas(
    found: Findings,
    images: Mapping[str, Path] | None = None,
    colours: Mapping[str, str] | None = None,
    classes: Mapping[str, str] | None = None,
) -> Atlas:
    """Return what is drawn, in units of the picture."""
    similarity = found.similarity
    names = [str(name) for name in (similarity.names or range(similarity.n_items))]
    flat, turn = _flat(similarity.embedding)
    covariance, reach = _doubt(found, turn)
    around = room_for_ellipses(flat, covariance, reach)
    place, unit, height = placed(flat, _WIDTH, _MARGIN, _HEIGHTS, around)
    ellipses = _ellipses(covariance, reach * unit)
    number = {name: k for k, name in enumerate(names)}
    neighbours = [
        [number[str(name)] for name in row if str(name) in number]
        for row in found.neighbours.iloc[:, 1:].to_numpy().tolist()
    ]
    images, colours = images or {}, colours or {}
    small = [thumbnail(images.get(name)) for name in names]
    pictures = lay_out(place, np.array([bool(one) for one in small]), _WIDTH, height, _LARGEST, _SMALLEST)
    stands = np.where(pictures.shown[:, None], pictures.spots, place)
    radii = np.where(pictures.shown, pictures.size / 2, _POINT)
    labels = label(MapRoom(stands, radii, _WIDTH, height), names, _SMALL)
    marks = [
        Mark(
            name, x, y, labels.names[k], ellipses[k], neighbours[k], small[k], colours.get(name), labels.marks[k],
            *_from_place(pictures, k, place[k]),
        )
        for k, (name, (x, y)) in enumerate(zip(names, np.round(place, 1).tolist(), strict=True))
    ]  # fmt: skip
    solid = _solid(similarity.embedding, _WIDTH / 2 - _MARGIN, height / 2 - _MARGIN / 2)
    colouring = shades(similarity, names, classes)
    shown = meaning(similarity.shows_vectors)
    return Atlas(shown, round(height), len(names) <= _FEW, marks, labels, colouring, solid, pictures.size)


def _from_place(pictures: Thumbnails, item: int, place: Floats) -> tuple[tuple[float, float] | None, ...]:
    """Where a picture stands, seen from its item's place; and where a line meets it, if it stands aside."""
    if not pictures.shown[item]:
        return None, None
    x, y = np.round(pictures.spots[item] - place, 1).tolist()
    u, v = np.round(pictures.edge(item, place) - place, 1).tolist()
    return (x, y), (u, v) if pictures.aside[item] else None


def _doubt(found: Findings, turn: Floats) -> tuple[Floats, float]:
    """(n, 2, 2) how far items may stand elsewhere in the plane, NaN where unknown; and how many deviations to draw."""
    if found.sureness is None:
        return np.full((found.similarity.n_items, 2, 2), np.nan), 0.0
    return turn.T @ found.sureness.covariance @ turn, deviations(found.sureness.level, len(turn))


def _solid(X: Floats, across: float, up: float) -> list[list[float]] | None:
    """The three directions of largest spread, within so many units of the middle; None for a flat map."""
    if X.shape[1] < 3 or len(X) < 4:
        return None
    centred = X - X.mean(0)
    values = centred @ np.linalg.svd(centred, full_matrices=False)[2][:3].T
    unit = min(across, up) / max(float(np.linalg.norm(values, axis=1).max()), 1e-12)
    found: list[list[float]] = np.round(unit * values * [1, -1, 1], 1).tolist()
    return found


def _flat(X: Floats) -> tuple[Floats, Floats]:
    """Positions in two dimensions, and the (d, 2) matrix that makes them of centred positions."""
    flat = project(X)
    centred = X - X.mean(0)
    turn: Floats = np.linalg.lstsq(centred, flat - flat.mean(0), rcond=None)[0]
    return flat, turn


def _ellipses(covariance: Floats, reach: float) -> list[Ellipse | None]:
    """Half axes and angle of each item's ellipse on the picture; None where nothing is known."""
    return [ellipse(own, reach) if np.isfinite(own).all() else None for own in covariance]


def thumbnail(image: Path | None) -> str | None:
    """The picture of an item, small, as an address that holds it."""
    if image is None:
        return None
    from PIL import Image

    small = io.BytesIO()
    with Image.open(image) as picture:
        picture.thumbnail((_THUMBNAIL, _THUMBNAIL))
        picture.convert("RGBA").save(small, "PNG")
    return f"data:image/png;base64,{base64.b64encode(small.getvalue()).decode()}"

"""The map of the report: drawn in SVG, readable in print, and on a screen it answers to pointing and to the keyboard.

Pointing at an item (or moving to it with the tab key) shows its whole name, its picture where there is one, lines to
its nearest neighbours and where else the answers would let it stand. The templates `atlas.svg` and `atlas.js` draw it.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import stats

from similitude.analysis.learn import Findings
from similitude.display.places import Ellipse, Written, ellipse, placed, write_names
from similitude.methods.scaling import project
from similitude.types import Floats

_WIDTH, _MARGIN = 720.0, 48.0
_FEW = 60  # ellipses of more items than these hide each other; they are shown when pointed at
_POINT, _PICTURE, _THUMBNAIL = 4.5, 36, 96  # a point and a picture on the map, and a picture in dots


@dataclass(frozen=True)
class Mark:
    """An item on the map: its place, what is written, where else it may stand, and how it is shown."""

    name: str
    x: float
    y: float
    label: Written
    sure: Ellipse | None
    neighbours: list[str]
    picture: str | None
    colour: str | None


@dataclass(frozen=True)
class Atlas:
    """The map, as `atlas.svg` draws it."""

    height: int
    few: bool
    marks: list[Mark]
    width = round(_WIDTH)
    point = _POINT
    picture = _PICTURE


def atlas(found: Findings, images: Mapping[str, Path] | None = None, colours: Mapping[str, str] | None = None) -> Atlas:
    """Return what is drawn, in units of the picture."""
    similarity = found.similarity
    names = [str(name) for name in (similarity.names or range(similarity.n_items))]
    flat, turn = _flat(similarity.embedding)
    place, unit, height = placed(flat, _WIDTH, _MARGIN)
    ellipses = _ellipses(found, turn, unit)
    neighbours = found.neighbours.iloc[:, 1:].astype(str).to_numpy().tolist()
    written = write_names(place, names, _WIDTH, height, _PICTURE / 2 if images else _POINT)
    images, colours = images or {}, colours or {}
    marks = [
        Mark(name, x, y, written[k], ellipses[k], neighbours[k], _small(images.get(name)), colours.get(name))
        for k, (name, (x, y)) in enumerate(zip(names, np.round(place, 1).tolist(), strict=True))
    ]
    return Atlas(round(height), len(names) <= _FEW, marks)


def _flat(X: Floats) -> tuple[Floats, Floats]:
    """Positions in two dimensions, and the (d, 2) matrix that makes them of centred positions."""
    flat = project(X)
    centred = X - X.mean(0)
    turn: Floats = np.linalg.lstsq(centred, flat - flat.mean(0), rcond=None)[0]
    return flat, turn


def _ellipses(found: Findings, turn: Floats, unit: float) -> list[Ellipse | None]:
    """Half axes and angle of each item's ellipse on the picture; None where nothing is known."""
    if found.sureness is None:
        return [None] * found.similarity.n_items
    reach = np.sqrt(stats.chi2.ppf(found.sureness.level, min(len(turn), 2)))  # in the dimensions that are drawn
    ellipses: list[Ellipse | None] = []
    for covariance in found.sureness.covariance:
        if not np.isfinite(covariance).all():
            ellipses.append(None)
            continue
        ellipses.append(ellipse(turn.T @ covariance @ turn, reach * unit))
    return ellipses


def _small(image: Path | None) -> str | None:
    """The picture of an item, small, as an address that holds it."""
    if image is None:
        return None
    from PIL import Image

    small = io.BytesIO()
    with Image.open(image) as picture:
        picture.thumbnail((_THUMBNAIL, _THUMBNAIL))
        picture.convert("RGBA").save(small, "PNG")
    return f"data:image/png;base64,{base64.b64encode(small.getvalue()).decode()}"

"""The map of the report: drawn in SVG, readable in print, and on a screen it answers to pointing and to the keyboard.

Pointing at an item (or moving to it with the tab key) shows its whole name, its picture where there is one, lines to
its nearest neighbours and where else the answers would let it stand. The script is `atlas.js`, written into the page.
"""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from scipy import stats

from similitude.display.names import Written, write_names
from similitude.display.places import Ellipse, ellipse, placed
from similitude.evaluate.projection import project
from similitude.report.learning.findings import Findings
from similitude.types import Floats

_WIDTH, _MARGIN = 720.0, 48.0
FEW = 60  # ellipses of more items than these hide each other; they are shown when pointed at
_POINT, _PICTURE, _THUMBNAIL = 4.5, 36, 96  # a point and a picture on the map, and a picture in dots


def atlas(found: Findings, images: Mapping[str, Path] | None = None, colours: Mapping[str, str] | None = None) -> str:
    """The map as an SVG element."""
    similarity = found.similarity
    names = [str(name) for name in (similarity.names or range(similarity.n_items))]
    flat, turn = _flat(similarity.embedding)
    place, unit, height = placed(flat, _WIDTH, _MARGIN)
    ellipses = _ellipses(found, turn, unit)
    neighbours = found.neighbours.iloc[:, 1:].astype(str).to_numpy().tolist()
    written = write_names(place, names, _WIDTH, height, _PICTURE / 2 if images else _POINT)
    marks = [
        _mark(
            name, written[k], place[k], ellipses[k], neighbours[k], (images or {}).get(name), (colours or {}).get(name)
        )
        for k, name in enumerate(names)
    ]
    few = "few" if len(names) <= FEW else "many"
    return (
        f'<svg id="atlas" class="{few}" viewBox="0 0 {_WIDTH:.0f} {height:.0f}" role="img" '
        f'aria-label="Map of {len(names)} items: the nearer, the more alike">'
        f'<g class="lines"></g>{"".join(marks)}</svg>'
    )


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


def _mark(
    name: str,
    written: Written,
    place: Floats,
    sure: Ellipse | None,
    neighbours: list[str],
    image: Path | None,
    colour: str | None,
) -> str:
    x, y = (f"{value:.1f}" for value in place)
    label = html.escape(name, quote=True)
    near = html.escape("\n".join(neighbours), quote=True)
    drawn = ""
    if sure is not None:
        a, b, angle = sure
        turned = f"rotate({angle:.1f} {x} {y})"
        drawn = f'<ellipse class="sure" cx="{x}" cy="{y}" rx="{a:.1f}" ry="{b:.1f}" transform="{turned}"/>'
    fill = f' style="fill:{html.escape(colour, quote=True)}"' if colour else ""
    picture = _picture(image, place)
    point = picture or f'<circle cx="{x}" cy="{y}" r="{_POINT}"{fill}/>'
    quiet = "" if written.shown else ' class="quiet"'
    return (
        f'<g class="item" tabindex="0" data-name="{label}" data-near="{near}" data-x="{x}" data-y="{y}">'
        f"<title>{label}</title>{drawn}{point}"
        f'<text x="{written.x:.1f}" y="{written.y:.1f}" text-anchor="{written.anchor}"{quiet}>'
        f"{html.escape(written.text)}</text></g>"
    )


def _picture(image: Path | None, place: Floats) -> str:
    """The picture of an item, small, inside the page."""
    if image is None:
        return ""
    from PIL import Image

    small = io.BytesIO()
    with Image.open(image) as picture:
        picture.thumbnail((_THUMBNAIL, _THUMBNAIL))
        picture.convert("RGBA").save(small, "PNG")
    data = base64.b64encode(small.getvalue()).decode()
    x, y = place - _PICTURE / 2
    size = f'x="{x:.1f}" y="{y:.1f}" width="{_PICTURE}" height="{_PICTURE}"'
    return f'<image {size} href="data:image/png;base64,{data}"/>'

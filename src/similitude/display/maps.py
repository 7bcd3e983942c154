"""A small map for a notebook, drawn in SVG without any library: there at once, and in the notebook's own colours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.etree import ElementTree as ET

import numpy as np
import numpy.typing as npt

from similitude.display.cards import element, note
from similitude.display.names import write_names
from similitude.display.places import BAR, deviations, ellipse, is_bar, placed, plane, room_for_ellipses
from similitude.display.room import MapRoom
from similitude.display.words import counted
from similitude.types import Floats

_WIDTH, _MARGIN = 560.0, 28.0
_MOST_POINTS = 2000  # of more, an even choice is drawn: a notebook that holds every point of a large map grows heavy
_MOST_NAMED = 1000  # looking for room for more takes long, and there is none
_COLOUR = "#2b8cc4"  # stands out from white and from black


class Meaning(NamedTuple):
    """What a map shows: in short, after the number of its items, and in sentences."""

    short: str
    whole: str


_DISTANCES = Meaning("the nearer, the more alike", "The nearer, the more alike.")
_PRODUCTS = Meaning(
    "those that point the same way are alike",
    "The model compares items by products of vectors; the map shows the vectors: items that point the same way are "
    "alike, the more so the farther out they are, and an item near the middle of all directions is like none.",
)


def meaning(products: bool) -> Meaning:
    """Return what a map shows, of vectors whose products compare items or of positions, for cards and pages alike."""
    return _PRODUCTS if products else _DISTANCES


def map_of(
    positions: Floats,
    names: Sequence[str] | None,
    draws: Floats | None = None,
    level: float = 0.95,
    products: bool = False,
) -> list[ET.Element]:
    """Return the map as an SVG element and a note on it; nothing where no item has a place.

    Parameters
    ----------
    positions : (n, d); of more than two dimensions the plane of largest spread is shown
    names : of the items, which are numbered where there are none
    draws : (b, n, d) other places that items may have, drawn as ellipses (in one dimension bars) that hold this share
        of them; NaN for none
    level : that share
    products : whether positions are vectors whose products compare items
    """
    known = np.flatnonzero(np.isfinite(positions).all(1))
    if not len(known):
        return []
    turn = plane(positions[known])
    chosen = known[_even_choice(len(known))]
    flat = positions[chosen] @ turn
    called = [str(item) if names is None else names[item] for item in chosen.tolist()]
    doubt = None if draws is None else _covariance((draws[:, chosen] - positions[chosen]) @ turn)
    reach = deviations(level, positions.shape[1])
    around = 0.0 if doubt is None else room_for_ellipses(flat, doubt, reach)
    heights = (0.4, 0.8) if np.ptp(flat[:, 1]) else (0.2, 0.8)
    place, unit, height = placed(flat, _WIDTH, _MARGIN, heights, around)
    labels = list(_names(place, called, height))
    doubts = [] if doubt is None else _doubts(place, doubt, reach * unit)
    shapes = "Bars" if all(one.tag == "rect" for one in doubts) else "Ellipses"
    title = f"Map of {counted(len(positions), 'item')}: {meaning(products).short}"
    picture = _picture([*doubts, *_points(place, called), *labels], height, title)
    said = [
        _said(positions, turn, products),
        f"{shapes} hold {level:.0%} of where else an item may stand." if doubts else "",
        "Point at an item to read its whole name." if {label.text for label in labels} != set(called) else "",
    ]
    return [picture, note(" ".join(filter(None, said)))]


def _even_choice(count: int) -> npt.NDArray[np.intp]:
    return np.unique(np.linspace(0, count - 1, min(count, _MOST_POINTS)).astype(np.intp))


def _said(positions: Floats, turn: Floats, products: bool) -> str:
    """What to know when looking at the map."""
    n, d = positions.shape
    if n == 1:
        return ""
    away = positions - np.nanmean(positions, 0)
    spread = float(np.nansum(away**2))
    if spread == 0:
        return "All items are at one point: nothing was learned that distinguishes them."
    said = [meaning(products).whole]
    if d > 2:
        share = float(np.nansum((away @ turn) ** 2)) / max(spread, 1e-300)
        said.append(f"Of {d:,} dimensions these are the two of largest spread, with {share:.0%} of it.")
    if n > _MOST_POINTS:
        said.append(f"{_MOST_POINTS:,} of {n:,} items are drawn.")
    return " ".join(said)


def _picture(drawn: Sequence[ET.Element], height: float, title: str) -> ET.Element:
    return element(
        "svg",
        *drawn,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_WIDTH:.0f} {height:.0f}",
        style=f"display:block;width:100%;max-width:{_WIDTH:.0f}px;height:auto;background:transparent;margin-top:4px",
        role="img",
        aria_label=title,
    )


def _radius(count: int) -> float:
    return 4.0 if count <= 100 else 3.0 if count <= 400 else 2.0


def _points(place: Floats, names: Sequence[str]) -> Iterator[ET.Element]:
    radius = f"{_radius(len(names)):g}"
    for (x, y), name in zip(place.tolist(), names, strict=True):
        yield element("circle", element("title", name), cx=f"{x:.1f}", cy=f"{y:.1f}", r=radius, fill=_COLOUR)


def _names(place: Floats, names: Sequence[str], height: float) -> Iterator[ET.Element]:
    """The names that there is room for."""
    if len(names) > _MOST_NAMED:
        return
    for one in write_names(MapRoom(place, _radius(len(names)), _WIDTH, height), names):
        if one.shown:
            at = {"x": f"{one.x:.1f}", "y": f"{one.y:.1f}", "text_anchor": one.anchor}
            yield element("text", one.text, **at, fill="currentColor", font_size=12, font_family="sans-serif")


def _covariance(steps: Floats) -> Floats:
    """(n, 2, 2) mean product of steps (b, n, 2) away from each item."""
    return np.einsum("bnd,bne->nde", steps, steps) / len(steps)


def _doubts(place: Floats, covariance: Floats, reach: float) -> list[ET.Element]:
    """Ellipses around items, where their doubt is known; bars where these are lines."""
    found = []
    for (x, y), own in zip(place.tolist(), covariance, strict=True):
        if np.isfinite(own).all():
            a, b, angle = one = ellipse(own, reach)
            turned = f"translate({x:.1f} {y:.1f}) rotate({angle:.1f})"
            look = {"transform": turned, "fill": _COLOUR, "fill_opacity": 0.2}
            if is_bar(one):
                size = {"x": f"{-a:.1f}", "y": f"{-BAR:g}", "width": f"{2 * a:.1f}", "height": f"{2 * BAR:g}"}
                found.append(element("rect", **size, **look, stroke=_COLOUR, stroke_opacity=0.4))
            else:
                found.append(element("ellipse", rx=f"{a:.1f}", ry=f"{b:.1f}", **look))
    return found

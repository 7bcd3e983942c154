"""The map of a similarity: items where the model puts them, with names, pictures, colours or classes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from similitude.display.places import deviations, ellipse, is_bar, plane, room_for_ellipses
from similitude.display.thumbnails import Thumbnails, lay_out
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.items import Names, check_names, find_items
from similitude.methods.base import Fitted, similarity_of
from similitude.methods.scaling import project
from similitude.plot.letters import lettered
from similitude.plot.sheet import Sheet, sheet
from similitude.plot.style import COLOURS, MARKERS, MILLIMETRES, PAGE, POINTS, PRINT_DPI
from similitude.types import Array, Bools, Column, Floats, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from similitude.evaluate.uncertainty import Uncertainty

_MOST_LABELS = 80
_SIZE, _THUMBNAIL = 60.0, 0.5  # of a marker in points², of a picture in inches, where there is room
_SMALLEST = 0.16  # inches
_BAR = 6.0  # half the height of a bar, in points: somewhat more than a marker's
_FEW = 50  # items that leave room
_PAGE_POINTS = PAGE / MILLIMETRES * POINTS


@lettered
def embedding(
    model: Fitted | Table,
    *,
    labels: bool | Sequence[str] | None = None,
    colors: Column | None = None,
    classes: Column | None = None,
    images: Mapping[Any, Any] | Sequence[Any] | None = None,
    new: Sequence[Any] = (),
    uncertainty: Uncertainty | None = None,
    projection: Literal["pca", "tsne"] = "pca",
    size: float | None = None,
    thumbnail: float | None = None,
    width: float = PAGE,
    random_state: int | None = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw a map.

    Parameters
    ----------
    model : a fitted estimator, a `Similarity`, or an (n, d) array of positions
    labels : whether to write names (by default where there are names and at most 80 items), or the names to write.
        None lies on a point or on another name: where there is no room beside its point, a short line leads to it,
        and where there is none around it either, the item has a number, or a letter where names are numbers, and its
        name is in a key of at most 40 below the map (in axes that are given it is left out)
    colors : a colour per item (anything that matplotlib takes), or a number per item for a colour scale
    classes : a class per item, shown by colour and marker, with a legend; the most frequent come first, as in a report
    images : pictures as markers: paths or arrays, one per item (None where there is none), or a dict by item. None
        hides another: where it is full one stands a little aside, with a line to its place, or is a marker alone
    new : items (by name or position) that were not compared, shown as hollow markers
    uncertainty : of `similitude.uncertainty` of this model: an ellipse around each item (in one dimension a bar),
        within which it lies at its level (each by itself, and in the plane that is drawn); not with "tsne", which keeps
        no distances
    projection : how more than two dimensions are shown: "pca" keeps the directions of largest spread and is faithful
        to distances, "tsne" keeps neighbourhoods
    size : area of a marker in points²; by default as the map is large and full
    thumbnail : height of a picture in inches; by default as large as the map, their number and nearness allow
    width : of a new figure in millimetres: 89 and 183 are a column and a page of most journals
    random_state : seed of "tsne"
    ax : axes to draw in; a new figure when not given

    Returns
    -------
    the axes

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 400, names=list("abcdefghijkl"), sharpness=2.0, raters=4, random_state=0)
    >>> model = sm.STE(2, random_state=0).fit(answers)
    >>> axes = sm.plot.embedding(model, classes=["old"] * 6 + ["new"] * 6)
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['old', 'new']
    """
    positions, names = _positions_of(model)
    if uncertainty is not None:
        _check_ellipses(positions, uncertainty, projection)
    flat = project(positions, projection, random_state)
    n = len(flat)
    written = _written(labels, names, n)
    known = None if uncertainty is None else _covariance(positions, uncertainty)
    level = 0.95 if uncertainty is None else uncertainty.level
    reach = deviations(level, positions.shape[1])
    around = 0.0 if known is None else room_for_ellipses(flat, known, reach)
    paper = sheet(flat, ax, width, around)
    axes, room = paper.axes, _room(paper.width, n)
    fixed = thumbnail is not None
    size, thumbnail = size or _SIZE * room, thumbnail or _THUMBNAIL * np.sqrt(room)
    hollow = np.zeros(n, bool)
    hollow[find_items(list(new), names, n) if len(new) else []] = True
    if known is not None:
        _draw_doubt(paper, flat, known, reach)
    radius = np.full(n, 0.5 * np.sqrt(size) + 0.5)
    stands = paper.place
    shown = np.zeros(n, bool)
    if images is not None:
        laid = _pictures(paper, flat, _by_item(images, names, n), thumbnail, fixed)
        shown, stands = laid.shown, np.where(laid.shown[:, None], laid.spots, paper.place)
        radius = np.where(shown, laid.size / 2, radius)
    if classes is not None:
        _draw_classes(axes, flat, np.asarray(classes), ~shown, hollow, size)
    else:
        _draw_points(axes, flat, colors, ~shown, hollow, size)
    if classes is not None or hollow.any():
        paper.legend()
    if written is not None:
        paper.write(written, radius, stands)
    paper.make_room()
    return axes


def _room(width: float, n: int) -> float:
    """How much smaller markers are on a narrow or full map than on one of a page with few items: 1 for these."""
    return float(np.clip((width / _PAGE_POINTS) ** 2 * _FEW / n, 0.1, 1.0))


def _positions_of(model: Any) -> tuple[Floats, Names | None]:
    is_none = hasattr(model, "fit") or isinstance(model, Comparisons)  # answers look like an array of positions
    similarity = similarity_of(model, "model") if is_none else model
    positions = np.asarray(getattr(similarity, "embedding", similarity), float)
    if positions.ndim != 2 or not np.isfinite(positions).all():
        raise ValueError(f"model: expected a fitted model or finite positions (n, d), found shape {positions.shape}")
    return positions, getattr(similarity, "names", None)


def _check_ellipses(positions: Floats, uncertainty: Uncertainty, projection: str) -> None:
    if projection != "pca" and positions.shape[1] > 2:
        raise ValueError(f"projection: ellipses need distances kept, expected 'pca', found {projection!r}")
    if uncertainty.draws.shape[1:] != positions.shape:
        found = uncertainty.draws.shape[1:]
        raise ValueError(f"uncertainty: expected that of this model, with shape {positions.shape}, found {found}")


def _covariance(positions: Floats, uncertainty: Uncertainty) -> Floats:
    """(n, 2, 2) of each item in the plane that is drawn; NaN where nothing is known."""
    along = plane(positions)
    return along.T @ uncertainty.covariance @ along


def _draw_doubt(paper: Sheet, flat: Floats, covariance: Floats, reach: float) -> None:
    """Draw where each item may lie, so many deviations far: an ellipse, or a bar where that is a line."""
    from matplotlib.collections import EllipseCollection, PolyCollection

    known = np.flatnonzero(np.isfinite(covariance).all((1, 2)))
    shapes = np.array([ellipse(own, reach) for own in covariance[known]]).reshape(-1, 3)
    thin = np.array([is_bar((a, b, angle)) for a, b, angle in (shapes * [paper.unit, paper.unit, 1]).tolist()], bool)
    style: dict[str, Any] = {"facecolors": COLOURS[0], "edgecolors": COLOURS[0], "alpha": 0.15, "linewidths": 0.6}
    style |= {"zorder": 0.5}
    bars = [_bar(along, _BAR / paper.unit, angle) for along, _, angle in shapes[thin].tolist()]
    corners = [bar + place for bar, place in zip(bars, flat[known[thin]], strict=True)]
    paper.axes.add_collection(PolyCollection(corners, **style))
    round_ = shapes[~thin]
    paper.axes.add_collection(
        EllipseCollection(
            2 * round_[:, 0], 2 * round_[:, 1], -round_[:, 2], units="xy", offsets=flat[known[~thin]],
            offset_transform=paper.axes.transData, **style,
        )
    )  # fmt: skip


def _bar(along: float, across: float, angle: float) -> Floats:
    """(4, 2) corners of a bar around the origin, turned clockwise by so many degrees."""
    cos, sin = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    corners = np.array([[-along, -across], [along, -across], [along, across], [-along, across]])
    return corners @ np.array([[cos, -sin], [sin, cos]])


def _draw_points(axes: Axes, flat: Floats, colors: Any, drawn: Bools, hollow: Bools, size: float) -> None:
    if colors is not None and len(np.asarray(colors)) != len(flat):
        raise ValueError(f"colors: expected one colour per item ({len(flat)}), found {len(np.asarray(colors))}")
    for empty in (False, True):
        some = drawn & (hollow == empty)
        if not some.any():
            continue
        style: dict[str, Any] = {"linewidths": 1.6 if empty else 0.8}
        if colors is None:
            style |= {"facecolors": "none", "edgecolors": COLOURS[5]} if empty else {"color": COLOURS[0]}
        else:
            style |= {"c": np.asarray(colors)[some], "edgecolors": "black" if empty else "white", "cmap": "viridis"}
            if np.asarray(colors).dtype.kind not in "if" or np.asarray(colors).ndim > 1:
                del style["cmap"]
        label = "not compared" if empty else None
        axes.scatter(flat[some, 0], flat[some, 1], s=size, label=label, **style)


def _draw_classes(axes: Axes, flat: Floats, classes: Array, drawn: Bools, hollow: Bools, size: float) -> None:
    if classes.shape != (len(flat),):
        raise ValueError(f"classes: expected one class per item ({len(flat)}), found shape {classes.shape}")
    for k, (name, _) in enumerate(Counter(classes.tolist()).most_common()):
        again, within = divmod(k, len(COLOURS))
        colour, marker = COLOURS[within], MARKERS[(within + again) % len(MARKERS)]
        for empty in (False, True):
            some = drawn & (classes == name) & (hollow == empty)
            if some.any():
                label = f"{name} (not compared)" if empty else str(name)
                fill = "none" if empty else colour
                axes.scatter(
                    flat[some, 0], flat[some, 1], s=size, marker=marker, facecolors=fill, edgecolors=colour, label=label
                )


def _by_item(images: Any, names: Names | None, n: int) -> dict[int, Any]:
    """Pictures by the number of their item, where there is one."""
    if isinstance(images, Mapping):
        codes = find_items(list(images), names, n)
        pictures = dict(zip(codes.tolist(), images.values(), strict=True))
    else:
        if len(images) != n:
            raise ValueError(f"images: expected one per item ({n}), found {len(images)}")
        pictures = dict(enumerate(images))
    return {item: picture for item, picture in pictures.items() if picture is not None}


def _pictures(paper: Sheet, flat: Floats, pictures: Mapping[int, Any], height: float, fixed: bool) -> Thumbnails:
    """Draw pictures of so many inches at most, none of which hides another; returns where they stand, in points."""
    from matplotlib.offsetbox import AnnotationBbox, OffsetImage

    has_picture = np.isin(np.arange(len(flat)), list(pictures))
    largest = POINTS * height
    smallest = largest if fixed else min(POINTS * _SMALLEST, largest)
    laid = lay_out(paper.place, has_picture, paper.width, paper.height, largest, smallest)
    for item in np.flatnonzero(laid.shown).tolist():
        pixels = pixels_of(pictures[item], laid.size / POINTS)
        where = paper.on_map(*laid.spots[item].tolist()) if laid.aside[item] else tuple(flat[item])
        drawn = OffsetImage(pixels, zoom=laid.size / max(pixels.shape[:2]), cmap="gray")
        paper.axes.add_artist(AnnotationBbox(drawn, where, frameon=False, pad=0))
        if laid.aside[item]:
            end = paper.on_map(*laid.edge(item, paper.place[item]).tolist())
            line = np.array([flat[item], end]).T
            paper.axes.plot(*line, color="0.4", linewidth=0.6, zorder=4)
            paper.axes.plot(*flat[item], "o", color=COLOURS[0], markersize=3, markeredgecolor="white", zorder=4.5)
    return laid


def pixels_of(picture: Any, height: float) -> Array:
    """A picture as an array: a file's in as many dots as print can show, turned as its camera was."""
    if not isinstance(picture, (str, os.PathLike)):
        return np.asarray(picture)
    from PIL import Image, ImageOps

    with Image.open(os.fspath(picture)) as opened:
        upright = ImageOps.exif_transpose(opened)
        upright.thumbnail((round(2 * PRINT_DPI * height),) * 2)
        return np.asarray(upright.convert("RGBA"))


def _written(labels: Any, names: Names | None, n: int) -> Names | None:
    """Return the names to write, or None for none."""
    if labels is None:
        return names if names is not None and n <= _MOST_LABELS else None
    if isinstance(labels, bool):
        return (names or tuple(str(k) for k in range(n))) if labels else None
    written = tuple(str(label) for label in labels)
    if len(written) != n:
        raise ValueError(f"labels: expected one per item ({n}), found {len(written)}")
    return check_names(written) if len(set(written)) == n else written

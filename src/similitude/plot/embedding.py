"""The map of a similarity: items where the model puts them, with names, pictures, colours or classes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from similitude.display.places import plane
from similitude.feedback.items import Names, check_names, encode_items
from similitude.methods.base import Fitted, similarity_of
from similitude.methods.scaling import project
from similitude.plot.style import COLOURS, MARKERS, axes_of
from similitude.types import Array, Bools, Column, Floats, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from similitude.evaluate.uncertainty import Uncertainty

_MOST_LABELS = 80


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
    size: float = 60.0,
    thumbnail: float = 0.4,
    random_state: int | None = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw a map.

    Parameters
    ----------
    model : a fitted estimator, a `Similarity`, or an (n, d) array of positions
    labels : whether to write names (by default where there are names and at most 80 items), or the names to write;
        they are moved apart, and a name that would still lie over another is left out
    colors : a colour per item (anything that matplotlib takes), or a number per item for a colour scale
    classes : a class per item, shown by colour and marker, with a legend
    images : pictures as markers: paths or arrays, one per item (None where there is none), or a dict by item
    new : items (by name or position) that were not compared, shown as hollow markers
    uncertainty : of `similitude.uncertainty` of this model: an ellipse around each item, within which it lies at its
        level (each by itself, and in the plane that is drawn); not with "tsne", which keeps no distances
    projection : how more than two dimensions are shown: "pca" keeps the directions of largest spread and is faithful
        to distances, "tsne" keeps neighbourhoods
    size : area of a marker in points²
    thumbnail : height of a picture in inches
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
    side = 6.0 if written is None else 6.0 + 0.08 * n  # names need room
    axes = axes_of(ax, (side, side))
    hollow = np.zeros(n, bool)
    hollow[encode_items(list(new), names, None if names else n)[0] if len(new) else []] = True
    if uncertainty is not None:
        _draw_ellipses(axes, flat, positions, uncertainty)
    shown = _pictures(axes, flat, images, names, thumbnail) if images is not None else np.zeros(n, bool)
    if classes is not None:
        _draw_classes(axes, flat, np.asarray(classes), ~shown, hollow, size)
    else:
        _draw_points(axes, flat, colors, ~shown, hollow, size)
    axes.set_aspect("equal")
    axes.margins(0.08)
    axes.update_datalim(_room_around(flat))
    axes.set_axis_off()
    if written is not None:
        _write_apart(axes, flat, written, random_state)
    return axes


def _room_around(flat: Floats) -> Floats:
    """Two corners that make a map on a line at least a quarter as high as it is wide: names need a place."""
    low, high = flat.min(0), flat.max(0)
    wanted = np.maximum(0.25 * (high - low).max(), high - low)
    middle = 0.5 * (low + high)
    return np.stack([middle - 0.5 * wanted, middle + 0.5 * wanted])


def _positions_of(model: Any) -> tuple[Floats, Names | None]:
    similarity = similarity_of(model, "model") if hasattr(model, "fit") else model
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


def _draw_ellipses(axes: Axes, flat: Floats, positions: Floats, uncertainty: Uncertainty) -> None:
    """Draw where each item may lie: covariance in the plane, at the level of the uncertainty."""
    from matplotlib.collections import EllipseCollection

    covariance = uncertainty.covariance
    known = np.isfinite(covariance).all((1, 2))
    along = plane(positions)
    values, vectors = np.linalg.eigh(along.T @ covariance[known] @ along)
    reach = np.sqrt(-2.0 * np.log1p(-uncertainty.level))  # of a normal distribution in the plane
    width = 2.0 * reach * np.sqrt(np.maximum(values, 0.0))
    angle = np.degrees(np.arctan2(vectors[:, 1, 1], vectors[:, 0, 1]))
    axes.add_collection(
        EllipseCollection(
            width[:, 1], width[:, 0], angle, units="xy", offsets=flat[known], offset_transform=axes.transData,
            facecolors=COLOURS[0], edgecolors=COLOURS[0], alpha=0.15, linewidths=0.6, zorder=0.5,
        )
    )  # fmt: skip
    far = 0.5 * width.max(1, keepdims=True)
    axes.update_datalim(np.concatenate([flat[known] - far, flat[known] + far]))


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
    if hollow.any():
        axes.legend(loc="best", frameon=False)


def _draw_classes(axes: Axes, flat: Floats, classes: Array, drawn: Bools, hollow: Bools, size: float) -> None:
    if classes.shape != (len(flat),):
        raise ValueError(f"classes: expected one class per item ({len(flat)}), found shape {classes.shape}")
    for k, name in enumerate(dict.fromkeys(classes.tolist())):
        colour, marker = COLOURS[k % len(COLOURS)], MARKERS[k // len(COLOURS) % len(MARKERS)]
        for empty in (False, True):
            some = drawn & (classes == name) & (hollow == empty)
            if some.any():
                label = f"{name} (not compared)" if empty else str(name)
                fill = "none" if empty else colour
                axes.scatter(
                    flat[some, 0], flat[some, 1], s=size, marker=marker, facecolors=fill, edgecolors=colour, label=label
                )
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)


def _pictures(axes: Axes, flat: Floats, images: Any, names: Names | None, height: float) -> Bools:
    """Draw pictures at their items; returns which items have one."""
    import matplotlib.image
    from matplotlib.offsetbox import AnnotationBbox, OffsetImage

    n = len(flat)
    if isinstance(images, Mapping):
        codes = encode_items(list(images), names, None if names else n)[0]
        pictures = dict(zip(codes.tolist(), images.values(), strict=True))
    else:
        if len(images) != n:
            raise ValueError(f"images: expected one per item ({n}), found {len(images)}")
        pictures = dict(enumerate(images))
    shown = np.zeros(n, bool)
    axes.scatter(flat[:, 0], flat[:, 1], s=0)  # pictures do not widen the axes by themselves
    for item, picture in pictures.items():
        if picture is None:
            continue
        pixels = (
            matplotlib.image.imread(os.fspath(picture))
            if isinstance(picture, (str, os.PathLike))
            else np.asarray(picture)
        )
        box = OffsetImage(pixels, zoom=72.0 * height / pixels.shape[0], cmap="gray")
        axes.add_artist(AnnotationBbox(box, tuple(flat[item]), frameon=False))
        shown[item] = True
    return shown


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


def _write_apart(axes: Axes, flat: Floats, names: Names, random_state: int | None) -> None:
    from adjustText import adjust_text

    texts = [axes.text(x, y, name, fontsize=8) for (x, y), name in zip(flat, names, strict=True) if name]
    if not texts:
        return
    state = np.random.get_state()  # noqa: NPY002  adjust_text draws from numpy's global stream
    np.random.seed(random_state)  # noqa: NPY002
    try:
        lines = adjust_text(
            texts, x=flat[:, 0], y=flat[:, 1], ax=axes, iter_lim=400, min_arrow_len=3, expand=(1.05, 1.15),
            arrowprops={"arrowstyle": "-", "color": "0.6", "lw": 0.5},
        )[1]  # fmt: skip
    finally:
        np.random.set_state(state)  # noqa: NPY002
    _hide_overlaps(axes, texts, lines)


def _hide_overlaps(axes: Axes, texts: list[Any], lines: list[Any]) -> None:
    """Hide names until none lies over another, those in the way of most others first, with the lines to their items."""
    figure: Any = axes.get_figure(root=True)
    figure.canvas.draw()
    left, bottom, right, top = np.array([text.get_window_extent().extents for text in texts]).T
    over = (left[:, None] < right) & (left < right[:, None]) & (bottom[:, None] < top) & (bottom < top[:, None])
    np.fill_diagonal(over, False)
    while over.any():
        worst = int(over.sum(0).argmax())
        for part in (texts[worst], *(line for line in lines if line.patchA is texts[worst])):
            part.set_visible(False)
        over[worst] = over[:, worst] = False

"""Pictures of non-negative dimensions: their items as tiles, how much they decide, and what one item is made of."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from similitude.display.pictures import pictures_in
from similitude.display.words import shortened
from similitude.feedback.items import find_item
from similitude.plot.embedding import pixels_of
from similitude.plot.letters import lettered
from similitude.plot.sheet import text_widths
from similitude.plot.style import COLOURS, MILLIMETRES, PAGE, POINTS, axes_of, pyplot
from similitude.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from similitude.evaluate.described_dimensions import DescribedDimensions

_FILL, _SOFT = "#dbe9f4", "#f3f4f6"  # of a tile with most of a dimension, and with none: black reads on both
_GREY = "0.35"
_MOST_ROWS = 40
_NORMAL = 1.96  # deviations of 95 %
_PETALS = 10  # that can be told apart
_NARROW = 0.2  # of the size of letters: an i


@lettered
def dimension_tiles(
    found: DescribedDimensions,
    dimensions: int | list[int] | None = None,
    *,
    images: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    k: int = 8,
    width: float = PAGE,
    ax: Axes | None = None,
) -> Axes:
    """Draw the items that have most of each dimension: a row of tiles each, with their pictures or their names.

    A bar below a tile says how much of the dimension the item has, as a share of the item that has most.

    Parameters
    ----------
    found : of `similitude.describe_dimensions`
    dimensions : which, by number; the first six when not given
    images : a picture (path or array) by the name of its item, or a folder of files that are named as the items; an
        item without one is shown by its name
    k : tiles of each
    width : of a new figure in millimetres: 89 and 183 are a column and a page of most journals
    ax : axes to draw in; a new figure when not given

    Examples
    --------
    >>> import numpy as np, pandas as pd, similitude as sm
    >>> names = ["cup", "glass", "jug", "ball", "wheel", "coin"]
    >>> model = pd.DataFrame(np.kron(np.eye(2), np.ones((3, 1))), index=names)
    >>> axes = sm.plot.dimension_tiles(sm.describe_dimensions(model), k=3)
    >>> "cup" in [text.get_text() for text in axes.texts]
    True
    """
    wanted = _wanted(found, dimensions, 6)
    if images is not None and not isinstance(images, Mapping):
        images = pictures_in(images, found.items)
    width = width if ax is None else ax.get_window_extent().width / ax.figure.dpi * MILLIMETRES
    side = width / k  # millimetres of a tile, with what is around it
    letters = float(np.clip(0.25 * side / MILLIMETRES * POINTS / 2, 5.0, 8.0))
    tall = 0.62 if not images else 1.0  # of a tile, as a share of its width
    head = 2.2 * letters / POINTS * MILLIMETRES / side  # room for a name, in tiles
    row = tall + head + 0.22
    axes = _plain(ax, width, side * row * len(wanted))
    axes.set(xlim=(0.0, float(k)), ylim=(row * len(wanted), 0.0))
    label = dict(zip(found.table.dimension, _titles(found), strict=True))
    for line, number in enumerate(wanted):
        y, items = line * row, found.top(number, k)
        text = _cut(label[number], letters + 1, width)
        axes.text(0.04, y + 0.8 * head, text, fontsize=letters + 1, fontweight="bold", va="bottom", parse_math=False)
        for x, (name, value) in enumerate(zip(items.item, items.value, strict=True)):
            share = value / items.value.iloc[0]
            picture = (images or {}).get(name)
            _tile(axes, x, y + head, tall, name, share, picture, letters, side)
    return axes


def _tile(
    axes: Axes, x: float, y: float, tall: float, name: str, share: float, picture: Any, letters: float, side: float
) -> None:
    """One item: its picture or its name, and below it a bar."""
    from matplotlib.patches import Rectangle

    left, wide = x + 0.04, 0.92
    if picture is None:
        axes.add_patch(Rectangle((left, y), wide, tall, facecolor=_FILL, edgecolor="none"))
        lines = _lines(name, letters, 0.86 * side / MILLIMETRES * POINTS)
        axes.text(x + 0.5, y + tall / 2, "\n".join(lines), fontsize=letters, ha="center", va="center", parse_math=False)
    else:
        pixels = pixels_of(picture, side / MILLIMETRES)
        shape = np.array(pixels.shape[1::-1], float)
        fit = shape / shape.max() * min(wide, tall)
        middle = np.array([x + 0.5, y + tall / 2])
        box = (middle[0] - fit[0] / 2, middle[0] + fit[0] / 2, middle[1] + fit[1] / 2, middle[1] - fit[1] / 2)
        axes.imshow(pixels, extent=box, aspect="auto", cmap="gray", zorder=1)
    axes.add_patch(Rectangle((left, y + tall + 0.03), wide, 0.05, facecolor=_SOFT, edgecolor="none"))
    axes.add_patch(Rectangle((left, y + tall + 0.03), wide * share, 0.05, facecolor=COLOURS[0], edgecolor="none"))


@lettered
def deciding(found: DescribedDimensions, *, most: int = _MOST_ROWS, ax: Axes | None = None) -> Axes:
    """Draw how much each dimension decides answers, with its interval; one that does not reproduce is hollow.

    Parameters
    ----------
    found : of `similitude.describe_dimensions`, with answers
    most : how many dimensions to draw, those that decide most first
    ax : axes to draw in; a new figure when not given

    Examples
    --------
    >>> import numpy as np, pandas as pd, similitude as sm
    >>> X = 2.0 * np.kron(np.eye(2), np.ones((4, 1)))
    >>> answers = sm.simulate(X, 200, "odd_one_out", sharpness=1.0, random_state=0)
    >>> axes = sm.plot.deciding(sm.describe_dimensions(X, answers))
    >>> axes.get_xlabel()
    'share of what is known of the answers (%), with 95% intervals over answers'
    """
    if "share" not in found.table or not found.table.share.notna().any():
        raise ValueError("found: expected dimensions described with answers that they tell something of, found none")
    order = found.table.share.to_numpy().argsort(kind="stable")[::-1][:most][::-1]
    own = found.table.iloc[order]
    axes = axes_of(ax, (6.2, 1.2 + 0.26 * len(own)))
    share, low, high = (100 * own[name].to_numpy() for name in ("share", "share_low", "share_high"))
    real = own.reproducible.to_numpy(bool) if found.tested else np.ones(len(own), bool)
    fill = [COLOURS[0] if one else "white" for one in real]
    axes.barh(range(len(own)), share, color=fill, edgecolor=COLOURS[0], linewidth=1.0, height=0.7)
    axes.hlines(range(len(own)), low, high, colors="0.2", linewidth=1)
    titles = [shortened(_titles(found)[row], 42) for row in order]
    axes.set_yticks(range(len(own)), titles, fontsize="small")
    over = f", with 95% intervals over {found.over}" if found.over else ""
    axes.set_xlabel(f"share of what is known of the answers (%){over}")
    axes.axvline(0.0, color=_GREY, linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    notes = [] if real.all() else ["hollow: does not reproduce"]
    notes += [f"the {len(own)} of {len(found.table)} that decide most"] if len(own) < len(found.table) else []
    axes.set_title("; ".join(notes), fontsize="small", loc="right", color=_GREY)
    return axes


@lettered
def profile(
    found: DescribedDimensions,
    item: Any,
    *,
    kind: Literal["bars", "rose"] = "bars",
    most: int = 12,
    ax: Axes | None = None,
) -> Axes:
    """Draw what one item is made of: its values on the dimensions of which it has most, with 95 % intervals as bars.

    Parameters
    ----------
    found : of `similitude.describe_dimensions`
    item : by name or position
    kind : "bars", or "rose": a petal per dimension, whose area is the value; given axes must be polar then
    most : how many dimensions to draw
    ax : axes to draw in; a new figure when not given

    Examples
    --------
    >>> import numpy as np, pandas as pd, similitude as sm
    >>> names = ["cup", "glass", "jug", "ball", "wheel", "coin"]
    >>> model = pd.DataFrame(np.kron(np.eye(2), np.ones((3, 1))), index=names)
    >>> sm.plot.profile(sm.describe_dimensions(model), "jug").get_title()
    'jug'
    """
    if kind not in ("bars", "rose"):
        raise ValueError(f"kind: expected 'bars' or 'rose', found {kind!r}")
    table = found.profile(item)
    most = most if kind == "bars" else min(most, _PETALS)
    order = np.argsort(-table.value.to_numpy(), kind="stable")[:most]
    own = table.iloc[[row for row in order if table.value[row] > 0] or order[:1]]
    titles = [shortened(found.labels[row], 28) for row in own.index]
    axes = _rose(own, titles, ax) if kind == "rose" else _bars(own, titles, ax)
    axes.set_xlabel(_what_is_shown(table, own, kind))
    similarity = found.similarity
    name = similarity.label(find_item(item, similarity.names, similarity.n_items))
    axes.set_title(shortened(name, 60), parse_math=False, pad=18)
    return axes


def _what_is_shown(table: Any, own: Any, kind: str) -> str:
    """What lengths or areas are, and what became of the dimensions that are not drawn."""
    what = "value" if kind == "bars" else "area: value"
    said = [f"{what}, with its 95% interval" if kind == "bars" and "deviation" in own else what]
    none = int((table.value == 0).sum())
    less = len(table) - len(own) - none
    said += [f"less on {less} others"] * (less > 0) + [f"0 on {none}"] * (none > 0)
    return "; ".join(said)


def _bars(own: Any, titles: list[str], ax: Axes | None) -> Axes:
    axes = axes_of(ax, (5.4, 1.1 + 0.28 * len(own)))
    place = np.arange(len(own))[::-1]
    axes.barh(place, own.value, color=COLOURS[0], height=0.7)
    if "deviation" in own:
        axes.hlines(place, *_interval(own), colors="0.2", linewidth=1)
    axes.set_yticks(place, titles, fontsize="small")
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def _interval(own: Any) -> tuple[Floats, Floats]:
    """Where 95 % intervals begin and end; no value is below 0."""
    value, reach = own.value.to_numpy(), _NORMAL * own.deviation.to_numpy()
    return np.maximum(value - reach, 0.0), value + reach


def _rose(own: Any, titles: list[str], ax: Axes | None) -> Axes:
    axes: Any = ax
    if axes is None:
        axes = pyplot().figure(figsize=(6.4, 4.4)).add_axes((0.25, 0.1, 0.5, 0.72), projection="polar")
    if not hasattr(axes, "set_theta_zero_location"):
        raise ValueError("ax: expected polar axes for a rose, found others; plt.subplots(subplot_kw={'polar': True})")
    angle = 2 * np.pi * np.arange(len(own)) / len(own)
    reach = np.sqrt(own.value.to_numpy())  # so that the area says the value
    axes.set_theta_zero_location("N")
    axes.set_theta_direction(-1)
    axes.bar(angle, reach, width=0.92 * 2 * np.pi / len(own), color=COLOURS[0], edgecolor="white")
    axes.set_yticks([])
    axes.set_xticks(angle, [])
    axes.grid(False)
    axes.spines["polar"].set_color("0.85")
    for at, text in zip(angle, titles, strict=True):
        side = "center" if abs(np.sin(at)) < 0.1 else "left" if np.sin(at) > 0 else "right"
        axes.text(at, 1.12 * reach.max(), text, ha=side, va="center", fontsize="small", parse_math=False)
    drawn: Axes = axes
    return drawn


def _wanted(found: DescribedDimensions, dimensions: int | list[int] | None, first: int) -> list[int]:
    known = found.table.dimension.tolist()
    if not known:
        raise ValueError("found: expected a dimension at least, found none")
    if dimensions is None:
        return known[:first]
    wanted = [dimensions] if isinstance(dimensions, int) else list(dimensions)
    if wrong := [number for number in wanted if number not in known]:
        raise ValueError(f"dimensions: expected some of {known}, found {wrong[0]!r}")
    return wanted


def _titles(found: DescribedDimensions) -> list[str]:
    """Number, name, and where it is known that it does not reproduce."""
    real = found.table.reproducible if found.tested else [True] * len(found.table)
    return [label if sure else f"{label}  (does not reproduce)" for label, sure in zip(found.labels, real, strict=True)]


def _plain(ax: Axes | None, width: float, height: float) -> Axes:
    """Axes without frame, of so many millimetres where they are new."""
    if ax is None:
        figure = pyplot().figure(figsize=(width / MILLIMETRES, height / MILLIMETRES))
        ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    ax.set_axis_off()
    return ax


def _lines(name: str, letters: float, width: float) -> list[str]:
    """A name in lines that fit, three at most; a word that does not fit is cut."""
    words, lines = name[: 3 * _most_letters(letters, width)].replace("_", " ").split() or [name], [""]
    for word in words:
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_widths([longer], letters)[0] > width:
            lines.append(word)
        else:
            lines[-1] = longer
    lines = lines[:2] + [" ".join(lines[2:])] * (len(lines) > 2)
    return [_cut(line, letters, width / POINTS * MILLIMETRES) for line in lines]


def _cut(text: str, letters: float, width: float) -> str:
    """A text as long as fits in so many millimetres: its longest beginning, found by halving."""
    room = width / MILLIMETRES * POINTS
    if len(text) <= _most_letters(letters, room) and text_widths([text], letters)[0] <= room:
        return text
    shortest, longest = 1, min(len(text), _most_letters(letters, room))
    while shortest < longest:
        middle = (shortest + longest + 1) // 2
        if text_widths([f"{text[:middle]}…"], letters)[0] <= room:
            shortest = middle
        else:
            longest = middle - 1
    return f"{text[:shortest].rstrip()}…"


def _most_letters(letters: float, room: float) -> int:
    """How many letters of a size fit into so many points at the very most: the narrowest take a fifth of it."""
    return max(int(room / (_NARROW * letters)), 1)

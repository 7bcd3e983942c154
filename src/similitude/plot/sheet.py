"""Maps on paper: how large, where names have room, and a key of the names that have none.

Names look for room as on the page (`display.key`), in points of the paper instead of a screen's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from similitude.display.key import label
from similitude.display.names import NEAR_LINES, Written, write_names
from similitude.display.places import placed
from similitude.display.room import MapRoom
from similitude.display.words import counted, shortened
from similitude.plot.letters import families_of, quietly
from similitude.plot.style import MILLIMETRES, POINTS, lay_out, legend_below, pyplot
from similitude.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARGIN = 0.05  # around the map, as a share of the width
_HEIGHTS = (0.3, 1.15)  # the least and the most, as shares of the width
_NARROW = 120.0  # millimetres below which letters are smaller
_LONGEST = 28  # letters of a name in the key
_TITLE = 3.0  # room above the map, in letters
_LINE = 1.35  # from one line of the key to the next, as a share of its letters


@dataclass(frozen=True)
class Sheet:
    """Axes whose limits put items at known points of the paper.

    Attributes
    ----------
    axes : to draw in
    place : (n, 2) items, in points from the upper left corner
    width, height : of the axes, in points
    letters : size of the names
    own : whether the figure was made here, so that a key may be added below
    unit, middle : points per unit of the map, and what of the map is in the middle
    """

    axes: Axes
    place: Floats
    width: float
    height: float
    letters: float
    own: bool
    unit: float
    middle: Floats

    def on_map(self, x: float, y: float) -> tuple[float, float]:
        """A point of the paper in coordinates of the map."""
        across, up = np.array([x - self.width / 2, self.height / 2 - y]) / self.unit + self.middle
        return float(across), float(up)

    def write(self, names: Sequence[str], radius: float | Floats, stands: Floats | None = None) -> None:
        """Write names that have room, then marks for the others with a key below; in given axes no marks.

        Names stand beside what is drawn of their items: at their places, or where `stands` says.
        """
        room = MapRoom(self.place if stands is None else stands, radius, self.width, self.height)
        if not self.own:
            wide = text_widths([shortened(name) for name in names], self.letters)
            self._draw(write_names(room, names, letters=self.letters, wide=wide, lines=NEAR_LINES), self.letters)
            return
        small = self.letters - 1.5
        labels = label(room, names, small, self.letters, text_widths)
        self._draw(labels.names, self.letters)
        self._draw(labels.marks, small)
        entries = [f"{mark}  {shortened(names[k], _LONGEST)}" for k, mark in labels.key]
        said = f"{labels.bare} of {counted(len(names), 'item')} without a label" if labels.bare else ""
        self._key(entries, said, small)

    def _draw(self, written: Sequence[Written], letters: float) -> None:
        side = {"start": "left", "middle": "center", "end": "right"}
        for one in written:
            if not one.shown or not one.text:
                continue
            at: dict[str, Any] = {"fontsize": letters, "ha": side[one.anchor], "va": "baseline"}
            at |= {"parse_math": False, "zorder": 5}
            where = self.on_map(one.x, one.y)
            if one.line is None:
                self.axes.text(*where, one.text, **at)
                continue
            begin = {"start": (0.0, 0.5), "end": (1.0, 0.5), "middle": (0.5, float(one.line[3] > one.line[1]))}
            line: dict[str, Any] = {"arrowstyle": "-", "color": "0.55", "linewidth": 0.5, "shrinkA": 0, "shrinkB": 0}
            line["relpos"] = begin[one.anchor]
            self.axes.annotate(one.text, self.on_map(*one.line[:2]), where, arrowprops=line, **at)

    def legend(self) -> None:
        """Write what colours and markers mean below the map, in rows as wide as it."""
        labels = self.axes.get_legend_handles_labels()[1]
        column = float(text_widths(labels, self.letters).max()) + 4 * self.letters
        legend_below(self.axes, max(int(self.width // column), 1), self.letters, pad=0.3)

    def make_room(self) -> None:
        """Enlarge a figure made here by what stands below the map, and by a line for a title, so that all is seen."""
        figure = self.axes.get_figure(root=True)
        if not self.own or figure is None:
            return
        lay_out(figure)
        below = max(-figure.get_tightbbox().y0, 0.0) * POINTS
        high = self.height + below + _TITLE * self.letters
        figure.set_size_inches(self.width / POINTS, high / POINTS)
        self.axes.set_position((0.0, below / high, 1.0, self.height / high))

    def _legend_height(self) -> float:
        """Points that a legend takes, if there is one."""
        legend, figure = self.axes.get_legend(), self.axes.get_figure(root=True)
        if legend is None or figure is None:
            return 0.0
        lay_out(figure)
        return float(legend.get_window_extent().height / figure.dpi * POINTS) + 0.3 * self.letters

    def _key(self, entries: Sequence[str], said: str, letters: float) -> None:
        """Write the key in columns below the map, and a line below it."""
        column = float(text_widths(entries, letters).max(initial=1.0)) + 1.5 * letters
        columns = max(int((self.width - 0.5 * letters) // column), 1)
        rows = -(-len(entries) // columns)
        placed = [(*divmod(k, rows), entry) for k, entry in enumerate(entries)] + [(0, rows, said)]
        top = self._legend_height()
        for across, down, text in placed:
            below = (letters + across * column, -top - letters * (1.0 + _LINE * down))
            self.axes.annotate(
                text, (0, 0), below, "axes fraction", textcoords="offset points", va="top", fontsize=letters,
                annotation_clip=False, parse_math=False,
            )  # fmt: skip


def sheet(flat: Floats, ax: Axes | None, width: float, around: Floats | float = 0.0) -> Sheet:
    """Lay a map on paper: in given axes as large as they are, else in a figure of so many millimetres.

    Parameters
    ----------
    flat : (n, 2) the map
    ax : axes, if any are given
    width : of the figure otherwise
    around : (n, 2) what of the map around each item must be seen, too
    """
    if ax is None:
        size, heights = width / MILLIMETRES * POINTS, _HEIGHTS
    else:
        size, high = _size(ax)
        heights = (high / size, high / size)
    place, unit, height = placed(flat, size, _MARGIN * size, heights, around)
    axes = _own(size, height) if ax is None else ax
    middle = 0.5 * ((flat - around).min(0) + (flat + around).max(0))
    half = np.array([size, height]) / (2 * unit)
    axes.set(xlim=(middle[0] - half[0], middle[0] + half[0]), ylim=(middle[1] - half[1], middle[1] + half[1]))
    axes.set_aspect("equal")
    axes.set_axis_off()
    letters = 8.0 if size / POINTS * MILLIMETRES >= _NARROW else 7.0
    return Sheet(axes, place, size, height, letters, ax is None, unit, middle)


def _own(width: float, height: float) -> Axes:
    """Axes that fill a new figure."""
    figure = pyplot().figure(figsize=(width / POINTS, height / POINTS))
    return figure.add_axes((0.0, 0.0, 1.0, 1.0))


def _size(axes: Axes) -> tuple[float, float]:
    """Width and height of given axes in points, after whatever lays out their figure."""
    axes.set_axis_off()
    figure: Any = axes.get_figure(root=True)
    lay_out(figure)
    box = axes.get_window_extent()
    return box.width / figure.dpi * POINTS, box.height / figure.dpi * POINTS


def text_widths(texts: Sequence[str], letters: float) -> Floats:
    """How wide texts are in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=letters)
    font.set_family(families_of("".join(texts), font)[0])
    with quietly():
        return np.array([text_to_path.get_text_width_height_descent(text, font, False)[0] for text in texts], float)

"""What all figures share: axes in and out, colours that colour-blind people can tell apart, print resolution."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from similitude.feedback.files.whole import check_place, write_whole
from similitude.plot.letters import lend_letters, quietly
from similitude.settings import as_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe & Ito (2008), black last.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
PRINT_DPI = 300
MILLIMETRES, POINTS = 25.4, 72.0  # in an inch
COLUMN, PAGE = 89.0, 183.0
"""Width of a column and of a page of most journals, in millimetres."""

_BELOW_LABEL = 3.8  # of a legend that has the ticks' and the axis' own words above it
_ROWS = 12  # names beside each other; fewer are numbers of an axis
_PAD = 0.05  # inches around what is drawn
_REAL_TEXT = {"svg.fonttype": "none", "pdf.fonttype": 42, "ps.fonttype": 42}  # that can be searched and edited
_SMALL = {"font.size": 7.0, "lines.markersize": 4.0, "axes.linewidth": 0.6, "lines.linewidth": 1.0}


def pyplot() -> Any:
    """Return pyplot, which takes a second to import: only where something is drawn."""
    import matplotlib.pyplot as plt

    return plt


def axes_of(ax: Axes | None, size: tuple[float, float] = (6.0, 4.0)) -> Axes:
    """Return the given axes, or those of a new figure."""
    if ax is not None:
        return ax
    return pyplot().subplots(figsize=size, layout="constrained")[1]


@contextmanager
def drawn_for(width: float | None) -> Iterator[None]:
    """Draw with the letters and lines of a figure of so many millimetres: small ones in a journal's column.

    Names are names: a dollar in one begins no formula.
    """
    letters = _SMALL if width is not None and width < 0.5 * (COLUMN + PAGE) else {}
    with pyplot().rc_context({**letters, "text.parse_math": False}):
        yield


def legend_below(axes: Axes, columns: int = 2, letters: float | None = None, pad: float = _BELOW_LABEL) -> None:
    """Write the legend below the axes, where it lies neither on data nor on a title; `pad` in heights of a letter."""
    where: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (0.0, 0.0), "borderaxespad": pad}
    axes.legend(frameon=False, ncols=columns, fontsize=letters, handletextpad=0.4, columnspacing=1.2, **where)


def save(ax: Axes, path: str | os.PathLike[str], dpi: int = PRINT_DPI, width: float | None = None) -> None:
    """Save the figure of some axes for print: 300 dots per inch, or as vectors where the suffix is .pdf or .svg.

    Text in vectors is text: it can be searched, and edited in a drawing program.

    Parameters
    ----------
    ax : axes of the figure, as every function here returns
    path : the file; its suffix says the format (.png, .pdf, .svg, ...)
    dpi : dots per inch, for formats that have them
    width : of the figure in millimetres (89 and 183 are a column and a page of most journals); as drawn where not
        given. A map is drawn for a width, so that its names have room: give it to `embedding` as well

    Examples
    --------
    >>> import pathlib, tempfile, similitude as sm
    >>> axes = sm.plot.weights({"colour": 0.7, "size": 0.2})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sm.plot.save(axes, f"{folder}/weights.pdf")
    ...     [file.name for file in pathlib.Path(folder).iterdir()]
    ['weights.pdf']
    """
    save_as(ax, [as_path(path, "plot.save(ax, path)")], dpi, width)


def save_as(ax: Axes, paths: Sequence[Path], dpi: int = PRINT_DPI, width: float | None = None) -> None:
    """Save a figure in several formats, laid out once; a file is whole or not there at all."""
    figure: Any = ax.get_figure(root=True)
    for path in paths:
        check_picture(path)
        path.parent.mkdir(parents=True, exist_ok=True)
    box, layout = _laid_out(figure, width), figure.get_layout_engine()
    figure.set_layout_engine("none")
    with pyplot().rc_context(_REAL_TEXT), quietly():
        for path in paths:
            whole = io.BytesIO()
            figure.savefig(whole, format=path.suffix.lower().lstrip("."), dpi=dpi, bbox_inches=box)
            write_whole(path, whole.getvalue())
    figure.set_layout_engine(layout)


def check_picture(path: Path, argument: str = "path") -> None:
    """Refuse a file that no figure could be saved as, before anything is learned for it; `argument` is its name."""
    from matplotlib.backend_bases import FigureCanvasBase

    check_place(path, argument, makes_folders=True)
    known = FigureCanvasBase.get_supported_filetypes()
    if path.suffix.lower().lstrip(".") not in known:
        said = f"{argument}: a figure cannot be saved as {path.suffix or path.name}"
        raise ValueError(f"{said}; expected one of {', '.join(sorted(known))}")


def _laid_out(figure: Any, width: float | None) -> Any:
    """Lay a figure out, so many millimetres wide or as it is; return the box in inches of what is drawn."""
    from matplotlib.transforms import Bbox

    across, up = figure.get_size_inches()
    if width is not None:
        wanted = width / MILLIMETRES
        figure.set_size_inches(wanted, up if _has_rows(figure) else up * wanted / across)
    lay_out(figure)
    drawn = figure.get_tightbbox().padded(_PAD)
    return drawn if width is None else Bbox([[0.0, drawn.y0], [width / MILLIMETRES, drawn.y1]])


def lay_out(figure: Any) -> None:
    """Lay out all that is on a figure, once its texts have fonts with their letters."""
    lend_letters(figure)
    with quietly():
        figure.draw_without_rendering()


def _has_rows(figure: Any) -> bool:
    """Whether a figure has rows of names, which need the height that they have."""
    return any(len(axes.get_yticklabels()) >= _ROWS for axes in figure.axes)


def in_page(ax: Axes) -> str:
    """Return the figure of some axes as an address that holds it, for a page; the figure is closed.

    Vectors, so that it prints sharp. Letters are outlines, or text where no font here has them: the reader's may.
    """
    drawn = io.BytesIO()
    figure: Any = ax.get_figure(root=True)
    with pyplot().rc_context(_REAL_TEXT if lend_letters(figure) else {}), quietly():
        figure.savefig(drawn, format="svg", bbox_inches="tight", metadata={"Date": None})
    pyplot().close(figure)
    return f"data:image/svg+xml;base64,{base64.b64encode(drawn.getvalue()).decode()}"

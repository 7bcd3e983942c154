"""What all figures share: axes in and out, colours that colour-blind people can tell apart, print resolution."""

from __future__ import annotations

import base64
import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe & Ito (2008), black last.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
PRINT_DPI = 300


def pyplot() -> Any:
    """Return pyplot, which takes a second to import: only where something is drawn."""
    import matplotlib.pyplot as plt

    return plt


def axes_of(ax: Axes | None, size: tuple[float, float] = (6.0, 4.0)) -> Axes:
    """Return the given axes, or those of a new figure."""
    if ax is not None:
        return ax
    return pyplot().subplots(figsize=size, layout="constrained")[1]


def save(ax: Axes, path: str | os.PathLike[str], dpi: int = PRINT_DPI) -> None:
    """Save the figure of some axes for print: 300 dots per inch, or as vectors where the suffix is .pdf or .svg.

    Parameters
    ----------
    ax : axes of the figure, as every function here returns
    path : the file; its suffix says the format (.png, .pdf, .svg, ...)
    dpi : dots per inch, for formats that have them

    Examples
    --------
    >>> import pathlib, tempfile, similitude as sm
    >>> axes = sm.plot.weights({"colour": 0.7, "size": 0.2})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sm.plot.save(axes, f"{folder}/weights.pdf")
    ...     [file.name for file in pathlib.Path(folder).iterdir()]
    ['weights.pdf']
    """
    where = Path(path)
    figure: Any = ax.get_figure(root=True)
    if where.suffix.lower().lstrip(".") not in figure.canvas.get_supported_filetypes():
        known = ", ".join(sorted(figure.canvas.get_supported_filetypes()))
        raise ValueError(f"path: a figure cannot be saved as {where.suffix or where.name}; expected one of {known}")
    where.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(where, dpi=dpi, bbox_inches="tight")


def in_page(ax: Axes) -> str:
    """Return the figure of some axes as an address that holds it, for a page; the figure is closed.

    Vectors, so that it prints sharp.
    """
    drawn = io.BytesIO()
    figure: Any = ax.get_figure(root=True)
    figure.savefig(drawn, format="svg", bbox_inches="tight", metadata={"Date": None})
    pyplot().close(figure)
    return f"data:image/svg+xml;base64,{base64.b64encode(drawn.getvalue()).decode()}"

"""The report as one self-contained HTML page: nothing is loaded from anywhere, and it reads well in print."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import similitude
from similitude.analysis.atlas import atlas
from similitude.analysis.figures import FIGURES
from similitude.analysis.learn import Findings
from similitude.analysis.paper import citations, paragraph
from similitude.analysis.sentences import sections
from similitude.analysis.summary import summary
from similitude.display.templates import templates
from similitude.plot.style import in_page


def learning_page(
    found: Findings,
    title: str = "What people find similar",
    *,
    images: Mapping[str, Path] | None = None,
    colours: Mapping[str, str] | None = None,
    command: str | None = None,
) -> str:
    """Return findings as HTML.

    Parameters
    ----------
    found : what `learn` found
    title : of the page
    images : a picture for each item that has one, by name
    colours : a colour for each item that has one, by name, as `#rrggbb`
    command : what makes this page again
    """

    def picture(name: str) -> str | None:
        axes = FIGURES[name](found)
        return None if axes is None else in_page(axes)

    said = {"summary": summary(found), "paragraph": paragraph(found), "citations": citations(found)} | sections(found)
    ways = {"picture": picture, "cell": _cell, "points": _points, "anchor": _anchor}
    page = templates("similitude.analysis", "similitude.report").get_template("report.html")
    drawn = atlas(found, images, colours)
    return page.render(
        title=title, found=found, atlas=drawn, command=command, version=similitude.__version__, **said, **ways
    )


def _points(share: float) -> str:
    """A difference of shares in points, with its sign; what rounds to nothing has none."""
    text = f"{100 * share:+.1f}"
    return text.lstrip("+-") if float(text) == 0 else text


def _cell(value: Any) -> tuple[str, bool]:
    """What stands in a cell, short, and whether it is a number."""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "", False
    if isinstance(value, (int, np.integer)):
        return f"{value:,}", True
    if isinstance(value, (float, np.floating)):
        return f"{value:.3g}" if np.isfinite(value) else "", True
    return str(value), False


def _anchor(title: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in title.lower()).strip("-")

"""The report as one self-contained HTML page, which loads nothing and reads well in print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import similitude
from similitude.analysis.atlas import atlas
from similitude.analysis.changes import Changes
from similitude.analysis.columns import meaning
from similitude.analysis.dimension_tiles import shown_dimensions
from similitude.analysis.figures import drawn
from similitude.analysis.learn import Findings
from similitude.analysis.paper import citations, paragraph
from similitude.analysis.sentences import sections
from similitude.analysis.summary import summary
from similitude.display.places import is_bar
from similitude.display.templates import templates
from similitude.display.words import counted
from similitude.plot.style import drawn_for, in_page

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def findings_page(
    found: Findings,
    title: str = "What people find similar",
    *,
    images: Mapping[str, Path] | None = None,
    colours: Mapping[str, str] | None = None,
    classes: Mapping[str, str] | None = None,
    command: str | None = None,
    files: Sequence[str] = (),
    absent: Sequence[str] = (),
    figures: Mapping[str, Axes] | None = None,
    changed: Changes | None = None,
) -> str:
    """Return findings as HTML.

    Parameters
    ----------
    found : what `learn` found
    title : of the page
    images : a picture for each item that has one, by name
    colours : a colour for each item that has one, by name, as `#rrggbb`
    classes : a class for each item that has one, by name; the map is coloured by it
    command : what makes this page again
    files : what lies beside the page, to which it has links
    absent : what does not lie there, and why, a sentence each
    figures : its figures by name, where they were drawn before
    changed : since an earlier report
    """
    with drawn_for(None):
        pictures = {name: in_page(axes) for name, axes in (drawn(found) if figures is None else figures).items()}
    said = {"summary": summary(found), "paragraph": paragraph(found), "citations": citations(found)} | sections(found)
    ways = {"picture": pictures.get, "cell": _cell, "points": _points, "anchor": _anchor, "counted": counted}
    ways |= {"meaning": meaning, "is_bar": is_bar}
    page = templates("similitude.analysis").get_template("report.html")
    return page.render(
        title=title,
        found=found,
        atlas=atlas(found, images, colours, classes),
        command=command,
        files=files,
        absent=absent,
        changed=changed,
        shown=() if found.described is None else shown_dimensions(found.described, images),
        version=similitude.__version__,
        **said,
        **ways,
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

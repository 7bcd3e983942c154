"""The report as one self-contained HTML page, which loads nothing and reads well in print; and with files beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack

import numpy as np

import similitude
from similitude.analysis.atlas import atlas
from similitude.analysis.figures import FIGURES
from similitude.analysis.learn import Findings, PageOptions
from similitude.analysis.paper import citations, paragraph
from similitude.analysis.sentences import sections
from similitude.analysis.summary import summary
from similitude.display.templates import templates
from similitude.display.words import counted
from similitude.extras import missing
from similitude.feedback.files.whole import write_whole
from similitude.plot.embedding import embedding
from similitude.plot.style import in_page, pyplot, save


def findings_page(
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
    ways = {"picture": picture, "cell": _cell, "points": _points, "anchor": _anchor, "counted": counted}
    page = templates("similitude.analysis").get_template("report.html")
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


REPORT = "report.html"
_LARGEST_TABLE = 1_000  # items; a million distances are the most that a spreadsheet can hold


def write_folder(found: Findings, folder: Path, title: str, **options: Unpack[PageOptions]) -> Path:
    """Write everything; a file is whole or not there at all."""
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    (folder / "tables").mkdir(exist_ok=True)
    found.similarity.save(folder / "model.sim")
    for name, table in tables(found).items():
        write_whole(folder / "tables" / f"{name}.csv", table.to_csv(index=False).encode())
    _write_for_others(found, folder / "tables")
    figures = {name: draw(found) for name, draw in FIGURES.items()}
    figures["map"] = embedding(found.similarity)
    for name, axes in figures.items():
        if axes is not None:
            save(axes, folder / "figures" / f"{name}.pdf")
            save(axes, folder / "figures" / f"{name}.png")
            pyplot().close(axes.get_figure(root=True))
    write_whole(folder / "check.json", json.dumps(found.consistency.to_dict(), indent=1).encode())
    write_whole(folder / "methods.txt", "\n\n".join([paragraph(found), *citations(found)]).encode())
    write_whole(folder / REPORT, findings_page(found, title, **options).encode())
    return folder / REPORT


def _write_for_others(found: Findings, folder: Path) -> None:
    """Write the distances with names for R and spreadsheets; a workbook where the library for it is installed."""
    if found.similarity.n_items > _LARGEST_TABLE:
        return
    found.similarity.write_table(folder / "distances.csv")
    if not missing("tables"):
        found.similarity.write_table(folder / "map.xlsx")


def tables(found: Findings) -> dict[str, Any]:
    """The tables by the name of their file."""
    columns = {f"dimension {k + 1}": column for k, column in enumerate(found.similarity.embedding.T)}
    frame = found.neighbours[["item"]].assign(**columns)
    made = {
        "positions": frame,
        "neighbours": found.neighbours,
        "surprising_answers": found.surprises,
        "settings_tried": found.chosen.tried,
        "check": found.consistency.to_frame(),
    }
    if found.comparisons.answers.rater.recorded:
        made["raters"] = found.consistency.rater_frame()
    if found.raters is not None:
        made["raters_sharpness"] = found.raters
    for one in found.groups:
        column = "".join(letter if letter.isalnum() else "_" for letter in one.by)
        made |= {f"groups_{column}_items": one.items, f"groups_{column}_pairs": one.pairs}
    for one in found.groups:
        column = "".join(letter if letter.isalnum() else "_" for letter in one.by)
        made |= {f"groups_{column}_items": one.items, f"groups_{column}_pairs": one.pairs}
    if found.sureness is not None:
        made["items_that_need_answers"] = found.sureness.needs_answers
    if found.forecast is not None:
        made["forecast"] = found.forecast.table
    if found.dimensions is not None:
        made["dimensions"] = found.dimensions.table
    return made

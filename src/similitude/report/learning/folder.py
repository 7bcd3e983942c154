"""The folder that `similitude learn` writes: the report, the model, tables and figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Unpack

from similitude.extras import missing
from similitude.feedback.files.whole import write_whole
from similitude.plot.embedding import embedding
from similitude.plot.style import pyplot, save
from similitude.report.learning.figures import FIGURES
from similitude.report.learning.findings import Findings, PageOptions
from similitude.report.learning.methods import citations, paragraph
from similitude.report.learning.page import learning_page

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
    write_whole(folder / REPORT, learning_page(found, title, **options).encode())
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
        "settings_tried": found.model.tried_,
        "check": found.consistency.to_frame(),
    }
    if found.comparisons.answers.rater.recorded:
        made["raters"] = found.consistency.rater_frame()
    if found.raters is not None:
        made["raters_sharpness"] = found.raters
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

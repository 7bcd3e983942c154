"""The folder of a report: the page, the model, tables for other programs, figures for print."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from similitude.analysis import changes
from similitude.analysis.columns import MEANINGS, explained
from similitude.analysis.figures import drawn
from similitude.analysis.learn import Findings, PageOptions
from similitude.analysis.page import findings_page
from similitude.analysis.paper import citations, paragraph
from similitude.analysis.sentences import dimensions, tried
from similitude.analysis.whole_folder import all_at_once, remove_earlier
from similitude.extras import missing
from similitude.feedback.files.whole import write_whole
from similitude.methods.tables_out import separated
from similitude.plot.embedding import embedding
from similitude.plot.letters import boxes_told_once
from similitude.plot.style import PAGE, drawn_for, pyplot, save_as

if TYPE_CHECKING:
    from matplotlib.axes import Axes

REPORT = "report.html"
_LARGEST_TABLE = 1_000  # items; a million distances are the most that a spreadsheet can hold
_PLAIN = {'"can\'t tell"': "can't tell"}  # a name of ours that begins with a quotation mark, which cells guard
_FORMATS = ("pdf", "svg", "png")
_ELLIPSES = 60  # items; of more, ellipses hide each other


@boxes_told_once()
def write_folder(
    found: Findings,
    folder: Path,
    title: str,
    *,
    source: Sequence[str] = (),
    figure_width: float | None = None,
    time_limit: float | None = None,
    tell: Callable[[str], None] | None = None,
    **options: Unpack[PageOptions],
) -> Path:
    """Write everything, into a folder inside first: files come into place when all are there, the page last.

    So what is killed midway leaves an earlier report as it was; files of somebody's own in the folder stay.

    Parameters
    ----------
    found : what `learn` found
    folder : to write into, made where it is not there
    title : of the page
    source : the files of the answers; an earlier report of the same ones in the folder is compared with
    figure_width : of the figures in millimetres: 89 and 183 are a column and a page of most journals
    time_limit : seconds for writing; the map comes first, further figures for print as long as time is left
    tell : called with each thing that was not written, and why
    **options : of the page
    """
    end = time.monotonic() + (np.inf if time_limit is None else time_limit)
    before = changes.read(folder)
    changed = changes.changes(found, folder, source)
    with all_at_once(folder, REPORT) as new:
        for part in ("figures", "tables"):
            (new / part).mkdir()
        found.similarity.save(new / "model.sim")
        written = [*_write_tables(found, new), *_write_texts(found, new), changes.FILE]
        with drawn_for(figure_width):
            figures = drawn(found)
            shown = {"map": _map(found, figure_width or PAGE, options), **figures}
            in_print, skipped = _write_figures(new, shown, figure_width, end)
        written += in_print
        own = figures if figure_width is None else None  # a journal's letters are small on a screen
        absent = [*not_written(found), *([f"no time for figures for print: {', '.join(skipped)}"] if skipped else [])]
        if tell is not None:
            for sentence in absent:
                tell(sentence)
        page = findings_page(found, title, files=written, absent=absent, figures=own, changed=changed, **options)
        for axes in shown.values():
            pyplot().close(axes.get_figure(root=True))
        write_whole(new / REPORT, page.encode())
        write_whole(new / changes.FILE, json.dumps(changes.record(found, source, written), indent=1).encode())
    remove_earlier(folder, changes.files_before(before) - set(written))
    return folder / REPORT


def _map(found: Findings, width: float, options: Mapping[str, Any]) -> Axes:
    """The map for print, with all that the page's has."""
    similarity = found.similarity
    names = [str(name) for name in (similarity.names or range(similarity.n_items))]
    images, classes, colours = (options.get(name) or {} for name in ("images", "classes", "colours"))
    look: dict[str, Any] = {}
    if classes:
        look["classes"] = [classes.get(name) or "unknown" for name in names]
    elif colours and all(name in colours for name in names):
        look["colors"] = [colours[name] for name in names]
    if images:
        look["images"] = [images.get(name) for name in names]
    sureness = found.sureness if similarity.n_items <= _ELLIPSES else None
    return embedding(similarity, labels=True, uncertainty=sureness, width=width, **look)


def _write_figures(
    folder: Path, shown: Mapping[str, Axes], width: float | None, end: float
) -> tuple[list[str], list[str]]:
    """Write figures for print while there is time, the page taking as long as the slowest of them; return the files.

    Also returned are the names of those that there was no time for. The first, the map, is always written.
    """
    files, skipped, slowest = list[str](), list[str](), 0.0
    for name, axes in shown.items():
        began = time.monotonic()
        if files and began + 2 * slowest > end:
            skipped.append(name)
            continue
        made = [f"figures/{name}.{suffix}" for suffix in _FORMATS]
        save_as(axes, [folder / file for file in made], width=(width or PAGE) if name == "map" else width)
        files += made
        slowest = max(slowest, time.monotonic() - began)
    return files, skipped


def _write_texts(found: Findings, folder: Path) -> list[str]:
    texts = {
        "check.json": json.dumps(found.consistency.to_dict(), indent=1),
        "methods.txt": "\n\n".join([paragraph(found), *citations(found)]),
    }
    for name, text in texts.items():
        write_whole(folder / name, text.encode())
    return ["model.sim", *texts]


def _write_tables(found: Findings, folder: Path) -> list[str]:
    made = tables(found)
    columns = {name: list(table.columns) for name, table in made.items()} | {"distances": MEANINGS["distances"]}
    made["columns"] = explained(columns)
    files = {f"tables/{name}.csv": table for name, table in made.items()}
    for name, table in files.items():
        write_whole(folder / name, separated(table, index=False).encode())
    return [*files, *_write_for_others(found, folder)]


def not_written(found: Findings) -> list[str]:
    """What a report of these findings has no table of here, and why."""
    n = found.similarity.n_items
    if n > _LARGEST_TABLE:
        return [f"tables/distances.csv and tables/map.xlsx are for {_LARGEST_TABLE:,} items at most; here are {n:,}"]
    if "openpyxl" in missing("tables"):
        return ['tables/map.xlsx needs openpyxl: pip install "similitude[tables]"']
    return []


def _write_for_others(found: Findings, folder: Path) -> list[str]:
    """Write the distances with names for R and spreadsheets; a workbook where the library for it is installed."""
    if found.similarity.n_items > _LARGEST_TABLE:
        return []
    names = ["tables/distances.csv", *([] if "openpyxl" in missing("tables") else ["tables/map.xlsx"])]
    for name in names:
        found.similarity.write_table(folder / name)
    return names


def tables(found: Findings) -> dict[str, Any]:
    """The tables by the name of their file."""
    axis = "dimension" if found.described is None else "map axis"  # what the dimensions are is in tables of their own
    columns = {f"{axis} {k + 1}": column for k, column in enumerate(found.similarity.embedding.T)}
    frame = found.neighbours[["item"]].assign(**columns)
    made = {
        "positions": frame,
        "neighbours": found.neighbours,
        "surprising_answers": found.surprises,
        "check": found.consistency.to_frame().replace({"name": _PLAIN}),
    }
    if len(found.chosen.tried):
        made["settings_tried"] = tried(found)
    if len(found.model.chosen_) > 1:
        made["average"] = found.model.chosen_
    if found.comparisons.answers.rater.recorded:
        made["raters"] = found.consistency.rater_frame()
    if found.raters is not None:
        made["raters_sharpness"] = found.raters
    for one in found.groups:
        made |= {f"groups_{_as_file(one.by)}_{what}": getattr(one, what) for what in ("items", "pairs", "power")}
    made |= {f"by_{_as_file(one.by)}": one.table for one in found.parts}
    if found.sureness is not None:
        made["items_that_need_answers"] = found.sureness.needs_answers
    if found.described is not None:
        made["named_dimensions"] = found.described.table
        made["dimension_values"] = found.described.value_table()
    if found.baselines is not None:
        made["features_without_learning"] = found.baselines
    if found.forecast is not None:
        made["forecast"] = found.forecast.table
    if found.dimensions is not None:
        made["dimensions"] = dimensions(found)
    return made


def _as_file(column: str) -> str:
    """The name of a column as a part of that of a file."""
    return "".join(letter if letter.isalnum() else "_" for letter in column)

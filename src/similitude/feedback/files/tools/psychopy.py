"""PsychoPy and Pavlovia: a row per trial of every loop, with `expName` and `psychopyVersion` in all of them.

The conditions file's columns hold the items. A loop adds `trials.thisN` and the like, a keyboard `key_resp.keys` and
`key_resp.rt` (seconds), a mouse `mouse.clicked_name` (a list); `participant`, `session`, `date` come from the
dialogue (psychopy.org: "Data outputs"; psychology.nottingham.ac.uk/staff/lpzjd/psgy1001: "PsychoPy output files").
Keys 1, 2, 3 or left, right say a place.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from similitude.feedback.columns import is_none
from similitude.feedback.files.cells import listed
from similitude.feedback.files.sources import FileSource
from similitude.feedback.files.tables import Table, objects
from similitude.feedback.files.tools.base import Export, Tool, only
from similitude.feedback.files.tools.trials import form_in, item
from similitude.types import Array

_LOG = re.compile(
    r".*\.(thisRepN|thisTrialN|thisN|thisIndex|ran|started|stopped|duration|corr|x|y|leftButton|midButton|rightButton|time|clicked_\w+)"
    r"|frameRate|psychopyVersion|OS|expStart|notes|thisRow\.t|"
)
_TAKEN = re.compile(r"(.*)\.(keys|clicked_name|response)")


def _read(source: FileSource) -> Export:
    table = source.table
    assert table is not None
    response = _response(table)
    answered = ~is_none(table.columns[response])
    asked = answered | _of_same_loop(table, answered)
    table, notes = only(table, asked, "they are no question")
    columns: dict[str, Array] = {}
    timed = f"{response.rpartition('.')[0]}.rt"
    for name, cells in table.columns.items():
        if name == response:
            columns["response"] = objects([_key(cell) for cell in cells.tolist()])
        elif name == timed:
            columns["rt_s"] = objects([_first(cell) for cell in cells.tolist()])
        elif not _LOG.fullmatch(name) and not name.endswith((".keys", ".rt")):
            columns[name] = objects([None if cell is None else item(cell) for cell in cells.tolist()])
    names = {"response": response, "rt_s": timed}
    named = Table(columns, None, typed=False, called={key: names.get(key, key) for key in columns})
    return Export(named, form_in(" ".join(map(str, set(table.columns["expName"].tolist())))), notes=notes)


def _response(table: Table) -> str:
    """The column that holds the answers: of several, the one with the most."""
    known = [name for name in table.columns if _TAKEN.fullmatch(name)]
    if not known:
        raise ValueError("no column holds keys or clicks (such as key_resp.keys or mouse.clicked_name)")
    return max(known, key=lambda name: int((~is_none(table.columns[name])).sum()))


def _of_same_loop(table: Table, answered: Array) -> Array:
    """Rows without an answer in the loop that the answers are from."""
    loops = [name for name in table.columns if name.endswith(".thisN")]
    counts = {name: int((answered & ~is_none(table.columns[name])).sum()) for name in loops}
    best = max(counts, key=lambda name: counts[name], default=None)
    return np.zeros(len(table), bool) if best is None or not counts[best] else ~is_none(table.columns[best])


def _first(cell: Any) -> Any:
    found = listed(cell) if cell is not None else None
    return cell if not found else str(found[0])


def _key(cell: Any) -> str | None:
    """A key or a click: the first of several, keys of the number pad as numbers, `image_2` as 2, None for none."""
    first = _first(cell)
    if first is None or str(first) in ("", "None", "[]"):
        return None
    text = str(first).removeprefix("num_")
    numbered = re.fullmatch(r"[A-Za-z]+_?([1-9])", text)
    return numbered[1] if numbered else item(text)


PSYCHOPY = Tool("PsychoPy", lambda source: source.has("expName") and source.has("psychopyVersion"), _read)

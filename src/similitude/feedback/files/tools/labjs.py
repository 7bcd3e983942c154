"""lab.js: a row per component, with `sender`, `response`, `duration` (milliseconds), `ended_on` and its parameters.

Loops put their parameters into columns of their own, which hold the items; the rows of screens without an answer are
left out (lab.js documentation, "Working with data"; labcsv, DefaultHeaderName). `meta` and `url` hold JSON about the
browser.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from similitude.feedback.columns import is_none
from similitude.feedback.files.sources import FileSource
from similitude.feedback.files.tables import Table, objects
from similitude.feedback.files.tools.base import Export, Tool, only, renamed
from similitude.feedback.files.tools.trials import form_in

_OF_ROWS = ("sender", "sender_type", "ended_on")
_LOG = (
    "sender", "sender_type", "sender_id", "timestamp", "meta", "ended_on", "time_render", "time_show", "time_end",
    "time_commit", "time_switch", "time_run", "url",
)  # fmt: skip


def _read(source: FileSource) -> Export:
    table = source.table
    assert table is not None
    rater = _rater(table)
    asked = ~is_none(table.columns["response"]) | (table.columns["ended_on"] == "timeout")
    table, notes = only(table, np.asarray(asked, bool), "they are no question")
    form = form_in(" ".join(map(str, set(table.columns["sender"].tolist()))))
    columns = {name: cells for name, cells in table.columns.items() if name not in _LOG}
    if rater is not None:
        columns.setdefault("rater", objects([rater] * len(table)))
    return Export(renamed(Table(columns, None, table.typed), {"duration": "rt_ms"}), form, notes=notes)


def _rater(table: Table) -> str | None:
    """Who took part, where the link that was opened said so."""
    for column in ("url", "meta"):
        for cell in table.columns.get(column, np.empty(0, object)).tolist():
            try:
                about: Any = json.loads(cell)
            except (TypeError, ValueError):
                continue
            search = about.get("search", about) if isinstance(about, dict) else {}
            for key in ("PROLIFIC_PID", "participant", "participant_id", "workerId", "id"):
                if isinstance(search, dict) and search.get(key):
                    return str(search[key])
    return None


LABJS = Tool("lab.js", lambda source: source.has(*_OF_ROWS), _read)

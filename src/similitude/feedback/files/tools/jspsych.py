"""jsPsych: a list of trials as JSON, or a row per trial as CSV.

Every trial has `trial_type`, `trial_index` and `time_elapsed`; plugins with buttons add `stimulus`, `response` (the
number of the button, from 0) and `rt` (milliseconds); `choices` is there where the trial saves its parameters, and
`data` adds columns of the experimenter's own (jspsych.org: "Data Storage, Aggregation, and Manipulation",
"html-button-response"). A trial is a question where its alternatives are known: from `choices`, or from columns of
their own that are called by roles or numbered.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from similitude.feedback.files.cells import listed
from similitude.feedback.files.column_map import plain
from similitude.feedback.files.sources import FileSource
from similitude.feedback.files.tools.base import Export, Tool, rows_table, table_rows
from similitude.feedback.files.tools.trials import form_in, item, spread

_OF_TRIALS = ("trial_type", "trial_index")
_LOG = ("trial_index", "time_elapsed", "internal_node_id", "plugin_version", "view_history", "success", "timeout")
_OWN = re.compile(
    r"(item|image|img|stim|stimulus|option|pic|word|object)_?[1-3abc]|head|anchor|probe|reference|left|right|[abc]"
)


def _read(source: FileSource) -> Export:
    assert source.table is not None
    log = table_rows(source.table)
    rows = [found for row in log if (found := _question(row)) is not None]
    if not rows:
        raise ValueError(
            "no trial holds the items that were shown: save them with it (save_trial_parameters: {choices: true}, or "
            "data: {a: ..., b: ..., c: ...})"
        )
    notes = (
        [f"{len(log) - len(rows):,} of {len(log):,} trials show no items and are left out"]
        if len(rows) < len(log)
        else []
    )
    return Export(rows_table([_renamed(row) for row in rows]), notes=notes)


def _question(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """A trial as a row with its items and what was picked; None for instructions, consent and the like."""
    kept = {key: value for key, value in row.items() if key not in _LOG}
    alternatives = listed(row.get("choices")) or []
    if len(alternatives) in (2, 3):
        return _with_head(kept) if len(alternatives) == 2 else _of_three(kept)
    own = [key for key in kept if _OWN.fullmatch(plain(key))]
    return kept | {key: item(kept[key]) for key in own} if len(own) >= 3 else None


def _with_head(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Two alternatives beside the stimulus, which is the head."""
    found = spread(row, "choices", "response")
    head = found.get("head", found.pop("stimulus", None))
    return None if head is None else found | {"head": item(head), "chosen": found.pop("picked")}


def _of_three(row: Mapping[str, Any]) -> dict[str, Any]:
    """Three alternatives; whether the odd or the central one was asked for, the words of the trial may say."""
    found = spread(row, "choices", "response")
    words = " ".join(str(row.get(key, "")) for key in ("task", "prompt", "stimulus", "question"))
    role = {"odd_one_out": "odd", "most_central": "central", None: "response"}[form_in(words)]
    return found | {role: found.pop("picked")}


def _renamed(row: Mapping[str, Any]) -> dict[str, Any]:
    """Times in milliseconds are called so."""
    return {"rt_ms" if key == "rt" else key: value for key, value in row.items() if key not in ("choices",)}


JSPSYCH = Tool("jsPsych", lambda source: source.has(*_OF_TRIALS), _read)

"""Meadows: multiple arrangement as .mat or JSON, odd-one-out and triplets as CSV.

.mat: `stimuli` and `rdmutv` (the upper triangle row by row), with `_participant` behind both names where there are
several. JSON ("tree"): `tasks`, each with `task.task_type`, `stimuli[].name` and `rdm`; a file of several
participants has one tree for each (rsatoolbox/io/meadows.py). CSV ("annotations"): `stim1_id, stim1_name, ...,
label`, in which `label` is the id or the name of what was picked, with `participation` and `task`, and
`time_trial_start`, `time_trial_response` (milliseconds).
"""

from __future__ import annotations

import io
import re
from typing import Any, cast

import numpy as np

from similitude.feedback.files.sources import FileSource
from similitude.feedback.files.tables import Table, objects
from similitude.feedback.files.tools.base import Export, Tool, renamed
from similitude.feedback.files.tools.dissimilarities import pairs_of
from similitude.types import Floats

_SHOWN = ("stim1_name", "stim2_name", "stim3_name")


def _recognises(source: FileSource) -> bool:
    return source.kind == ".mat" or bool(_trees(source)) or source.has(*_SHOWN, "label")


def _trees(source: FileSource) -> dict[str, Any]:
    """The participants in a JSON file, each with a list of tasks."""
    document = source.document
    if not isinstance(document, dict):
        return {}
    if isinstance(document.get("tasks"), list):
        return {_participant(source.stem): document}
    return {
        name: tree for name, tree in document.items() if isinstance(tree, dict) and isinstance(tree.get("tasks"), list)
    }


def _participant(stem: str) -> str:
    """The name that Meadows gave a participant (two words), where the file's name has it; else the file's name."""
    return next((part for part in stem.split("_") if re.fullmatch(r"[a-z]+-[a-z]+", part)), stem)


def _read(source: FileSource) -> Export:
    if source.kind == ".mat":
        return _arrangements(_of_mat(source))
    if source.table is not None and source.has(*_SHOWN, "label"):
        return _picked(source.table)
    return _arrangements(_of_trees(source))


Sheet = tuple[str, list[str], Floats]
"""Who, the items, and their dissimilarities pair by pair."""


def _of_mat(source: FileSource) -> list[Sheet]:
    from scipy.io import loadmat

    try:
        found: dict[str, Any] = loadmat(cast(Any, io.BytesIO(source.data)))  # any file does, whatever its types say
    except Exception as error:  # of a damaged file, whatever the parts of it raise
        raise ValueError(f"the .mat file is cut off or of another kind ({error}); expected one of Meadows") from None
    sheets = []
    for name in found:
        if name.startswith("rdmutv"):
            who = name.removeprefix("rdmutv").strip("_").replace("_", "-") or _participant(source.stem)
            stimuli = found[name.replace("rdmutv", "stimuli")]
            sheets.append((who, [str(one).strip() for one in np.ravel(stimuli)], np.ravel(found[name]).astype(float)))
    if not sheets:
        raise ValueError("expected the variables 'rdmutv' and 'stimuli' of a Meadows file, found none")
    return sheets


def _of_trees(source: FileSource) -> list[Sheet]:
    sheets = []
    for who, tree in _trees(source).items():
        tasks = [task for task in tree["tasks"] if task.get("rdm")]
        for task in tasks:
            names = [one["name"] for one in task["stimuli"]]
            about = f"{who} {task['task']['name']}" if len(tasks) > 1 else who
            sheets.append((about, names, np.asarray(task["rdm"], float)))
    if not sheets:
        raise ValueError("no task of the file holds an arrangement (a field 'rdm')")
    return sheets


def _arrangements(sheets: list[Sheet]) -> Export:
    tables = [pairs_of([_item(name) for name in names], values, [who]) for who, names, values in sheets]
    columns = {name: np.concatenate([table.columns[name] for table in tables]) for name in tables[0].columns}
    return Export(
        Table(columns, None, typed=True), larger="different", notes=["arrangements, as dissimilarities of pairs"]
    )


def _item(name: str) -> str:
    return re.sub(r"\.(png|jpe?g|gif|svg|mp3|wav|mp4)$", "", name, flags=re.IGNORECASE)


def _picked(table: Table) -> Export:
    """Three items a trial and a label; which task it was, its name says."""
    columns = dict(table.columns)
    names: dict[str, Any] = {}
    for k in (1, 2, 3):
        ids = columns.get(f"stim{k}_id", columns[f"stim{k}_name"])
        names |= dict(zip(map(str, ids.tolist()), columns[f"stim{k}_name"].tolist(), strict=True))
    columns["label"] = objects([None if one is None else names.get(str(one), one) for one in columns["label"].tolist()])
    if {"time_trial_start", "time_trial_response"} <= set(columns):
        start, end = (
            np.array([float(cell) for cell in columns.pop(name)])
            for name in ("time_trial_start", "time_trial_response")
        )
        columns["time_ms"] = objects((end - start).tolist())
    rest = {name: cells for name, cells in columns.items() if not re.fullmatch(r"stim\d_id", name)}
    task = " ".join({str(cell).lower() for cell in rest.get("task", np.empty(0, object)).tolist()})
    shown = ("head", "b", "c") if "triplet" in task and "odd" not in task else ("a", "b", "c")
    role = "chosen" if shown[0] == "head" else "odd" if "odd" in task else "label"
    return Export(renamed(Table(rest, None, table.typed), dict(zip(_SHOWN, shown, strict=True)) | {"label": role}))


MEADOWS = Tool("Meadows", _recognises, _read)

"""Label Studio: the JSON export, a list of tasks with `data` and `annotations`, each with a `result`.

A result of `Choices` holds `value.choices`, one of `Pairwise` `value.selected` ("left" or "right"); `completed_by`
says who, `lead_time` how many seconds (labelstud.io: "Export annotations", "Label Studio JSON format", tag
"Pairwise").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from similitude.feedback.files.sources import FileSource
from similitude.feedback.files.tools.base import Export, Tool, rows_table
from similitude.feedback.files.tools.trials import item


def _recognises(source: FileSource) -> bool:
    tasks = source.document
    if not isinstance(tasks, list) or not tasks or not isinstance(tasks[0], dict):
        return False
    return "data" in tasks[0] and ("annotations" in tasks[0] or "completions" in tasks[0])


def _read(source: FileSource) -> Export:
    rows = [row for task in source.document for row in _rows(task)]
    cancelled = sum(bool(one.get("was_cancelled")) for task in source.document for one in _annotations(task))
    if not rows:
        raise ValueError("no task was annotated; expected a result of Choices or Pairwise")
    return Export(rows_table(rows), notes=[f"skipped annotations are left out: {cancelled:,}"] if cancelled else [])


def _annotations(task: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return task.get("annotations") or task.get("completions") or []


def _rows(task: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    data = {name: item(value) if isinstance(value, str) else value for name, value in task["data"].items()}
    for annotation in _annotations(task):
        if not annotation.get("was_cancelled"):
            said = {name: value for result in annotation.get("result") or () for name, value in _said(result, data)}
            who = annotation.get("completed_by")
            name = who.get("email") or who.get("id") if isinstance(who, dict) else who
            yield {
                **data,
                **said,
                "annotator": None if name is None else str(name),
                "lead_time": annotation.get("lead_time"),
            }


def _said(result: Mapping[str, Any], data: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What one result says, under the name of its control; the name of a field stands for what the field holds."""
    value = result.get("value") or {}
    name = str(result.get("from_name", "response"))
    if "choices" in value:
        chosen = value["choices"][0] if value["choices"] else None
        yield name, None if chosen is None else data.get(chosen, chosen)
    elif "selected" in value:
        yield "chosen" if "left" in data and "right" in data else name, value["selected"]
    elif "rating" in value:
        yield name, value["rating"]


LABEL_STUDIO = Tool("Label Studio", _recognises, _read)

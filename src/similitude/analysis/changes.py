"""What changed since an earlier report of the same answers' file, which left its figures in `findings.json`."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

import similitude
from similitude.analysis.learn import Findings
from similitude.display.estimate import Estimate
from similitude.display.words import counted
from similitude.methods.similarity import Similarity

FILE = "findings.json"
_FORMAT = 1
_LARGEST = 1_000  # items whose distances are compared


@dataclass(frozen=True)
class Changes:
    """What an earlier report said beside what this one says.

    Attributes
    ----------
    since : day of the earlier one
    said : in a sentence or two
    rows : figure, before, now
    """

    since: str
    said: str
    rows: list[tuple[str, str, str]]


def record(found: Findings, source: Sequence[str] = (), files: Sequence[str] = ()) -> dict[str, Any]:
    """The figures of a report as plain values, each of them once, as the page says it; and the files beside it."""
    c, chosen = found.comparisons, found.model.chosen_.iloc[0]
    return {
        "format": _FORMAT,
        "day": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "source": list(source),
        "answers": c.n_answers,
        "comparisons": len(c),
        "items": c.n_items,
        "raters": len(c.answers.rater.labels) if c.answers.rater.recorded else None,
        "scored": found.of,
        "accuracy": _plain(found.accuracy),
        "chance": found.chance,
        "ceiling": _plain(found.ceiling),
        "comparison_accuracy": _plain(found.comparison_accuracy),
        "comparison_ceiling": _plain(found.consistency.ceiling),
        "advice": None if found.forecast is None else asdict(found.forecast.advice),
        "forecast": [] if found.forecast is None else found.forecast.table.to_dict("records"),
        "dimension": found.dimension,
        "method": None if len(found.model.chosen_) > 1 else str(chosen.candidate),
        "penalty": None if len(found.model.chosen_) > 1 or np.isnan(chosen.penalty) else float(chosen.penalty),
        "settings": asdict(found.wanted),
        "left_out": list(found.left_out),
        "search": found.chosen.ended,
        "files": list(files),
        "versions": {name: importlib.metadata.version(name) for name in ("numpy", "scipy", "numba", "scikit-learn")}
        | {"similitude": similitude.__version__},
    }


def _plain(figure: Estimate) -> dict[str, float | None]:
    return {name: None if value is None else float(value) for name, value in _parts(figure).items()}


def _parts(figure: Estimate) -> dict[str, float | None]:
    return {"value": figure.value, "low": figure.low, "high": figure.high}


def read(folder: Path) -> dict[str, Any]:
    """What an earlier report in a folder left; nothing where there is none, or a file that somebody changed."""
    try:
        kept = json.loads((folder / FILE).read_text(encoding="utf-8"))
        return kept if isinstance(kept, dict) and kept["format"] == _FORMAT else {}
    except (OSError, ValueError, KeyError):
        return {}


def files_before(before: Mapping[str, Any]) -> set[str]:
    """What an earlier report wrote beside itself."""
    files = before.get("files", [])
    return {file for file in files if isinstance(file, str)} if isinstance(files, list) else set()


def changes(found: Findings, folder: Path, source: Sequence[str] = ()) -> Changes | None:
    """Compare with the report that lies in a folder; None where there is none of the same source."""
    before = read(folder)
    try:
        if before["source"] != list(source):
            return None
        now = record(found, source)
        rows = [(name, _written(name, before), _written(name, now)) for name in _NAMES]
        said = [_answers(before["answers"], now["answers"]), _accuracy(before, now), _map(found, folder)]
        return Changes(before["day"], " ".join(filter(None, said)), [row for row in rows if row[1] or row[2]])
    except (OSError, ValueError, KeyError, TypeError):  # a file that somebody changed is no earlier report
        return None


_NAMES = (
    "answers",
    "items",
    "raters",
    "scored",
    "accuracy",
    "noise ceiling",
    "dimensions",
    "method",
    "penalty",
    "similitude",
)


def _written(name: str, of: Mapping[str, Any]) -> str:
    """A figure as it stands in the table; nothing where it is not known."""
    if name in ("accuracy", "noise ceiling"):
        value, low, high = (
            of["ceiling" if name == "noise ceiling" else name][part] for part in ("value", "low", "high")
        )
        interval = "" if low is None or high is None else f" ({low:.1%} to {high:.1%})"
        return "" if value is None else f"{value:.1%}{interval}"
    if name == "similitude":
        return str(of["versions"]["similitude"])
    if name == "scored":
        return str(of.get(name, "comparisons"))  # all that earlier versions knew
    value = of["dimension" if name == "dimensions" else name]
    return (
        ""
        if value is None
        else f"{value:,}"
        if isinstance(value, int)
        else f"{value:.3g}"
        if name == "penalty"
        else value
    )


def _answers(before: int, now: int) -> str:
    if now == before:
        return "The number of answers is the same."
    return f"There are {counted(abs(now - before), 'more answer' if now > before else 'fewer answer')}."


def _accuracy(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Whether the accuracy moved further than its interval."""
    old, new = before["accuracy"]["value"], now["accuracy"]["value"]
    if old is None or new is None:
        return ""
    if before.get("scored", "comparisons") != now["scored"]:
        return f"The accuracy is now that of {now['scored']}."
    if abs(new - old) < 0.0005:
        return "The accuracy is the same."
    low, high = now["accuracy"]["low"], now["accuracy"]["high"]
    within = low is not None and low <= old <= high
    return f"The accuracy changed by {100 * (new - old):+.1f} points, {'within' if within else 'beyond'} its interval."


def _map(found: Findings, folder: Path) -> str:
    """How alike the two maps are, where they are of the same items."""
    now = found.similarity
    before = Similarity.load(folder / "model.sim")
    if before.names != now.names or before.n_items != now.n_items or not 3 <= now.n_items <= _LARGEST:
        return "" if before.names == now.names else "The items are not the same."
    pairs = np.triu_indices(now.n_items, 1)
    correlation = stats.spearmanr(before.distances()[pairs], now.distances()[pairs]).statistic
    return f"The distances of the two maps have a rank correlation of {correlation:.2f}."

"""What a browser tells of how an answer was given: the device, its window, what was used, whether the page was left.

Kept as JSON with the answer, exported as columns. It names neither the browser nor the machine: kinds and sizes alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

Device = Literal["phone", "tablet", "computer"]
Input = Literal["mouse", "touch", "pen", "keyboard"]
_Length = Annotated[int, Field(ge=1, le=100_000)]
_Milliseconds = Annotated[int, Field(ge=0, le=10**9)]


class Circumstances(BaseModel):
    """What was measured, each where it could be; `showings` is how often the question was put on the screen."""

    model_config = ConfigDict(extra="forbid", strict=True)

    device: Device | None = None
    input: Input | None = None
    viewport: Annotated[list[_Length], Field(min_length=2, max_length=2)] | None = None
    pixel_ratio: Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)] | None = None
    refresh_rate: Annotated[float, Field(gt=0, le=10_000, allow_inf_nan=False)] | None = None
    focus_lost: Annotated[int, Field(ge=0, le=10**6)] | None = None
    focus_lost_ms: _Milliseconds | None = None
    exposure_ms: _Milliseconds | None = None
    showings: Annotated[int, Field(ge=1, le=10**6)] | None = None


TYPES: dict[str, type] = {
    "device": str, "input": str, "viewport": str, "pixel_ratio": float, "refresh_rate": float, "focus_lost": int,
    "focus_lost_time": float, "exposure_time": float, "showings": int,
}  # fmt: skip
_IN_SECONDS = {"focus_lost_time": "focus_lost_ms", "exposure_time": "exposure_ms"}
_OF_RATERS = ("device", "viewport", "pixel_ratio", "refresh_rate")
WORDS = {"device": "|".join(get_args(Device)), "input": "|".join(get_args(Input)), "viewport": "[0-9]{1,6}x[0-9]{1,6}"}


def kept(measured: Circumstances | None) -> str | None:
    """As it is stored."""
    return None if measured is None else measured.model_dump_json(exclude_none=True)


def columns(stored: Sequence[str | None]) -> dict[str, list[Any]]:
    """What was stored with some answers, as columns of an export."""
    rows = [_cells(text) for text in stored]
    return {name: [row.get(name) for row in rows] for name in TYPES}


def _cells(text: str | None) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text) if text else {}
    if "viewport" in found:
        found["viewport"] = "{}x{}".format(*found["viewport"])
    return found | {name: found[given] / 1000 for name, given in _IN_SECONDS.items() if given in found}


def from_cells(cells: Mapping[str, Any]) -> str | None:
    """What to store of a row of an export; ValueError where it is nothing that an export holds."""
    given = {name: cells[name] for name in TYPES if cells.get(name) not in (None, "") and cells[name] == cells[name]}
    found: dict[str, Any] = {_IN_SECONDS.get(name, name): _value(name, value) for name, value in given.items()}
    return kept(Circumstances(**found)) if found else None


def _value(name: str, value: Any) -> Any:
    if name in _IN_SECONDS:
        return round(1000 * float(value))
    if name == "viewport":
        return [int(part) for part in str(value).split("x")]
    return int(float(value)) if TYPES[name] is int else TYPES[name](value)


def of_raters(rows: Iterable[tuple[int, str]]) -> dict[int, dict[str, Any]]:
    """By rater, from rows of a rater and what was stored, in their order: the latest device, and all times away."""
    found: dict[int, dict[str, Any]] = {}
    for rater_id, text in rows:
        cells, mine = _cells(text), found.setdefault(rater_id, {"focus_lost": 0, "focus_lost_time": 0.0})
        mine |= {name: cells[name] for name in _OF_RATERS if name in cells}
        mine["focus_lost"] += cells.get("focus_lost", 0)
        mine["focus_lost_time"] = round(mine["focus_lost_time"] + cells.get("focus_lost_time", 0.0), 3)
    return found


RATERS = (*_OF_RATERS, "focus_lost", "focus_lost_time")  # columns of the table of raters

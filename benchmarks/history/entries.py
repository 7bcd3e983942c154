"""What was measured at each commit, as lines of JSON; and which operations fell behind by more than their noise.

An entry holds, for each operation, how many times as fast it was as a naive version in the same run, and how far
chance moves that number (the standard error of its logarithm).
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.settings import HERE

FILE = HERE / "results" / "history.jsonl"
_BEFORE = 5  # entries that a new one is compared with, by their median
_ERRORS = 3.0
# Two runs of the same commit differ by more than the spread within one: where arrays lie in memory, how warm the
# processor is. Other processors favour numpy or our kernels by more than that.
_SAME_MACHINE, _OTHER_MACHINE = math.log(1.15), math.log(1.5)


@dataclass(frozen=True)
class Figure:
    """How many times as fast as the naive version, and the standard error of its logarithm."""

    ratio: float
    error: float


@dataclass(frozen=True)
class Entry:
    """What one commit measured; `changed` says whether the sources differed from it."""

    commit: str
    changed: bool
    date: str
    machine: dict[str, Any]
    figures: dict[str, Figure]

    def to_line(self) -> str:
        """As a line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def of_line(cls, line: str) -> Entry:
        """Read a line of JSON."""
        held = json.loads(line)
        return cls(**{**held, "figures": {name: Figure(**figure) for name, figure in held["figures"].items()}})


@dataclass(frozen=True)
class Fall:
    """An operation that is slower than it was by more than chance explains."""

    operation: str
    before: float
    now: float

    def __str__(self) -> str:
        lost = 1 - self.now / self.before
        return f"{self.operation}: {self.now:.1f} times as fast as naive, {self.before:.1f} before (-{lost:.0%})"


def load(path: Path = FILE) -> list[Entry]:
    """All entries, oldest first."""
    return [Entry.of_line(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def add(entry: Entry, path: Path = FILE) -> None:
    """Add an entry to the file."""
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(entry.to_line() + "\n")


def falls(entries: Sequence[Entry]) -> list[Fall]:
    """The operations of the newest entry that fell behind those before it, on the same machine where there are any."""
    if len(entries) < 2:
        return []
    *earlier, newest = entries
    alike = [entry for entry in earlier if _processor(entry) == _processor(newest)]
    allowed = _SAME_MACHINE if alike else _OTHER_MACHINE
    found = []
    for name, now in newest.figures.items():
        before = [entry.figures[name] for entry in alike or earlier if name in entry.figures][-_BEFORE:]
        if not before:
            continue
        usual = statistics.median(figure.ratio for figure in before)
        error = math.hypot(now.error, statistics.median(figure.error for figure in before))
        if math.log(usual / now.ratio) > max(allowed, _ERRORS * error):
            found.append(Fall(name, usual, now.ratio))
    return found


def _processor(entry: Entry) -> tuple[Any, ...]:
    return entry.machine["processor"], entry.machine["numpy"]

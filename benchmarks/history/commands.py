"""`python -m benchmarks record` measures this commit (two minutes at most), `history` shows what all have measured."""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from threadpoolctl import threadpool_limits

import similitude as sm
from benchmarks.history import entries
from benchmarks.history.entries import Entry, Figure
from benchmarks.report import Table, machine, show
from benchmarks.settings import HERE

_ROUNDS = 9
_LEAST = 0.05  # seconds that a call is repeated for: more than the clock's steps
_SHOWN = 6
Clock = Callable[[], float]


def record(arguments: Sequence[str]) -> None:
    """Measure every operation and add an entry for this commit."""
    from benchmarks.history.operations import operations

    parser = argparse.ArgumentParser(prog="python -m benchmarks record", description=record.__doc__)
    parser.add_argument("--rounds", type=int, default=_ROUNDS, help=f"times each is measured (default {_ROUNDS})")
    rounds = parser.parse_args(arguments).rounds
    figures = {}
    with tempfile.TemporaryDirectory() as folder, sm.limit_threads(1), threadpool_limits(1):
        for operation in operations(Path(folder)):
            figures[operation.name] = measure(operation.ours, operation.naive, rounds)
            print(f"{operation.name:18} {figures[operation.name].ratio:8.1f} times as fast as naive", flush=True)
    here = machine()
    entry = Entry(_git("rev-parse", "--short", "HEAD"), _has_changed(), here.pop("date"), here, figures)
    entries.add(entry)
    history([])


def history(arguments: Sequence[str]) -> None:
    """Show the newest entries, and say which operations fell behind; the exit status is 1 where one did."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks history", description=history.__doc__)
    parser.add_argument("--last", type=int, default=_SHOWN, help=f"entries to show (default {_SHOWN})")
    last = parser.parse_args(arguments).last
    found = entries.load()
    if not found:
        sys.exit("no entries yet: python -m benchmarks record")
    show(table(found, last))
    fallen = entries.falls(found)
    for fall in fallen:
        print(f"fell behind: {fall}")
    if fallen:
        sys.exit(1)
    alone = len(found) == 1
    print("the first entry: nothing to compare with" if alone else "nothing fell behind by more than its noise")


def table(found: Sequence[Entry], last: int) -> Table:
    """A row per operation, a column for each of the last entries."""
    shown = found[-last:]
    first = len(found) - len(shown) + 1
    headings = [f"{k}: {entry.commit}{'+' * entry.changed} {entry.date}" for k, entry in enumerate(shown, first)]
    columns = {"operation": "", **dict.fromkeys(headings, ".2f")}
    names = dict.fromkeys(name for entry in shown for name in entry.figures)
    rows = []
    for name in names:
        ratios = [entry.figures[name].ratio if name in entry.figures else None for entry in shown]
        rows.append({"operation": name, **dict(zip(headings, ratios, strict=True))})
    note = "times as fast as a naive version in the same run; one thread, processor time; +: sources were changed"
    return Table("history", "Core operations, commit by commit", columns, rows, note)


def measure(
    ours: Callable[[], object], naive: Callable[[], object], rounds: int, clock: Clock = time.process_time
) -> Figure:
    """How many times faster ours is: both in turn, so that what slows the machine slows both."""
    ours(), naive()  # compiled and in the caches
    ratios = [_seconds(naive, clock) / _seconds(ours, clock) for _ in range(rounds)]
    middle = statistics.median(ratios)
    spread = statistics.median(abs(ratio / middle - 1) for ratio in ratios)
    return Figure(middle, 1.4826 * 1.2533 * spread / rounds**0.5)  # of a median, from the median deviation


def _seconds(call: Callable[[], object], clock: Clock) -> float:
    """Seconds of one call, the mean over as many as take the least time."""
    start, calls = clock(), 0
    while (passed := clock() - start) < _LEAST:
        call()
        calls += 1
    return passed / calls


def _has_changed() -> bool:
    return bool(_git("status", "--porcelain", "--", "src"))


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(HERE), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

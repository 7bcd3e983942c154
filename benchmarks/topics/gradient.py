"""One objective with its gradient: time and memory, where cblearn forms dense n × n matrices.

Each side evaluates the objective that its optimiser is given, in a process of its own. Memory is the peak of
preparing and evaluating it above what the process held before, with libraries, data and compiled code loaded.
The cosine between both gradients says how far both compute the same thing (up to a factor; without a
penalty).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.peers import Worker
from benchmarks.problems import Problem
from benchmarks.report import Row, Table
from benchmarks.settings import Settings

LONG = False
PROBLEM = Problem(8_000, 50_000, 10)
QUICK = Problem(500, 5_000, 10)
COLUMNS = {
    "method": "",
    "cblearn ms": ".1f",
    "ours ms": ".3f",
    "speedup": ".0f",
    "cblearn MB": ".0f",
    "ours MB": ".1f",
    "memory share": ".4f",
    "cosine": ".6f",
}


def run(settings: Settings) -> Iterator[Table]:
    problem = QUICK if settings.quick else PROBLEM
    note = f"{settings.threads} thread(s); goals: speedup 100, memory share below 0.1"
    table = Table("gradient", f"One objective and gradient, {problem}", COLUMNS, note=note)
    with tempfile.TemporaryDirectory() as folder:
        path = problem.save(folder)
        table.rows.extend(measure(method, path, settings) for method in settings.methods)
    yield table


def measure(method: str, path: str, settings: Settings) -> Row:
    """Evaluate both sides in turn, in fresh processes, so that neither holds memory already."""
    sides: dict[str, list[Row]] = {"cblearn": [], "similitude": []}
    saved = {library: Path(path).with_name(f"{library}.npy") for library in sides}
    for _ in range(settings.repeats):
        for library, measured in sides.items():
            with Worker(library, settings.threads) as worker:
                worker("load", path=path)
                worker("warm_up", method=method)
                measured.append(worker("gradient", method=method, repeats=3, save=str(saved[library])))
    seconds, megabytes = (
        {library: min(row[measure] for row in rows) for library, rows in sides.items()}
        for measure in ("seconds", "megabytes")
    )
    theirs, ours = (np.load(saved[library]).ravel() for library in sides)
    return {
        "method": method,
        "cblearn ms": 1e3 * seconds["cblearn"],
        "ours ms": 1e3 * seconds["similitude"],
        "speedup": seconds["cblearn"] / seconds["similitude"],
        "cblearn MB": megabytes["cblearn"],
        "ours MB": megabytes["similitude"],
        "memory share": megabytes["similitude"] / megabytes["cblearn"],
        "cosine": float(theirs @ ours / np.sqrt((theirs @ theirs) * (ours @ ours))),
    }

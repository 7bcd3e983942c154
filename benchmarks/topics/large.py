"""A hundred thousand items, five million answers, on all cores of the machine (ours alone).

No peer takes part: an n × n matrix of doubles would have 80 GB. Minibatches (ten passes on one thread) stand beside
L-BFGS, which is the default up to 20 million comparisons.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator

from benchmarks.peers import Worker
from benchmarks.problems import Problem
from benchmarks.report import Row, Table
from benchmarks.settings import Settings

LONG = True
PROBLEM = Problem(100_000, 5_000_000, 10)
QUICK = Problem(2_000, 50_000, 10)
METHODS = ("STE", "SOE")
SOLVERS = ("lbfgs", "minibatch")
COLUMNS = {
    "method": "",
    "solver": "",
    "seconds": ".1f",
    "iterations": "d",
    "accuracy": ".4f",
    "fit MB": ".0f",
    "process MB": ".0f",
}


def run(settings: Settings) -> Iterator[Table]:
    problem = QUICK if settings.quick else PROBLEM
    threads = os.cpu_count() or 1
    note = f"{threads} threads; fit MB: peak above libraries and data; process MB: peak of all; one fit each"
    table = Table("large", f"Large: {problem}", COLUMNS, note=note)
    with tempfile.TemporaryDirectory() as folder:
        path = problem.save(folder)
        chosen = [method for method in METHODS if method in settings.methods]
        cases = [(method, solver) for method in chosen for solver in SOLVERS]
        table.rows.extend(measure(*case, path, threads, settings) for case in cases)
    yield table


def measure(method: str, solver: str, path: str, threads: int, settings: Settings) -> Row:
    with Worker("similitude", threads) as worker:
        worker("load", path=path)
        worker("warm_up", method=method)
        fit = worker("fit", method=method, seed=settings.seed, solver=solver)
    return {
        "method": method,
        "solver": solver,
        "fit MB": fit.pop("megabytes"),
        "process MB": fit.pop("peak_megabytes"),
    } | fit

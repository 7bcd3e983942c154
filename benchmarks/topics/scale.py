"""Past memory and past one process: a hundred million answers from disk, and one fit spread over a cluster.

Each fit runs in a new process, whose peak of resident memory is told. The cluster is two worker processes of Dask on
this machine, one thread each; beside it stands the same work in one process with one thread.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import similitude as sm
from benchmarks.problems import DiskProblem
from benchmarks.report import Row, Table
from benchmarks.settings import Settings
from benchmarks.topics.many_fits import cluster
from similitude.graph.counts import count_shards

LONG = True
DISK = (DiskProblem(20_000, 10_000_000, 5), DiskProblem(100_000, 100_000_000, 10))
QUICK_DISK = (DiskProblem(500, 100_000, 2),)
STEPS = 25
CLUSTER, QUICK_CLUSTER = DiskProblem(10_000, 10_000_000, 5), DiskProblem(500, 100_000, 2)
DISK_COLUMNS = {
    "comparisons": ",d",
    "items": ",d",
    "dimensions": "d",
    "MB on disk": ",.0f",
    "count s": ".1f",
    "fit s": ".1f",
    "iterations": "d",
    "accuracy": ".4f",
    "peak MB": ",.0f",
    "check s": ".1f",
    "check peak MB": ",.0f",
}
SPREAD_COLUMNS = {"work": "", "one process s": ".1f", "two workers s": ".1f", "ratio": ".2f", "same": ""}


def run(settings: Settings) -> Iterator[Table]:
    yield _from_disk(settings)
    yield _spread(settings)


def _from_disk(settings: Settings) -> Table:
    note = "STE, all cores; count: the first pass; fit: from opening the folder to the end; peak: of the whole process"
    table = Table("scale_disk", "From disk, larger than memory need be", DISK_COLUMNS, note=note)
    for problem in QUICK_DISK if settings.quick else DISK:
        with tempfile.TemporaryDirectory() as folder:
            test = problem.write(f"{folder}/answers")
            size = sum(file.stat().st_size for file in Path(folder, "answers").iterdir()) / 1e6
            found = alone(fit_from_disk, f"{folder}/answers", problem.d, settings.seed, test)
            checked = alone(check_from_disk, f"{folder}/answers")
        sizes = {"comparisons": problem.m, "items": problem.n, "dimensions": problem.d, "MB on disk": size}
        table.rows.append(sizes | found | checked)
    return table


def fit_from_disk(folder: str, d: int, seed: int, test: Any) -> Row:
    start = time.perf_counter()
    dataset = sm.ComparisonDataset(folder)
    count_shards(dataset)
    counted = time.perf_counter()
    model = sm.STE(d, random_state=seed).fit(dataset)
    end = time.perf_counter()
    right = model.score(sm.Comparisons.from_triplets(test, n_items=dataset.n_items))
    return {
        "count s": counted - start,
        "fit s": end - counted,
        "iterations": model.n_iter_,
        "status": model.status_,
        "accuracy": right,
        "peak MB": peak(),
    }


def check_from_disk(folder: str) -> Row:
    start = time.perf_counter()
    report = sm.check(sm.ComparisonDataset(folder))
    return {
        "check s": time.perf_counter() - start,
        "contradicted": report.contradicted,
        "check peak MB": peak(),
    }


def alone(function: Callable[..., Row], *arguments: Any) -> Row:
    """Run a function in a new process, so that its peak of memory is its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def _spread(settings: Settings) -> Table:
    note = "one process with one thread beside two worker processes with one thread each; best of the repeats"
    table = Table("scale_spread", "Spread over two processes with Dask", SPREAD_COLUMNS, note=note)
    table.rows.append(_fit_in_parts(settings))
    return table


def _fit_in_parts(settings: Settings) -> Row:
    """One fit of a folder: some steps, since all steps are alike."""
    problem = QUICK_CLUSTER if settings.quick else CLUSTER
    with tempfile.TemporaryDirectory() as folder, cluster():
        problem.write(f"{folder}/answers")
        dataset = sm.ComparisonDataset(f"{folder}/answers", shard_rows=problem.m // 10)
        init = np.random.default_rng(settings.seed).normal(size=(problem.n, problem.d))
        parts = sm.spread(dataset)
        model = sm.STE(problem.d, init=init, max_iter=STEPS, tol=1.0e-12)
        one, two = (best_of(settings.repeats, partial(_positions, model, c)) for c in (dataset, parts))
    return _row(f"{STEPS} steps of STE, {problem}", one, two, np.array_equal)


def _positions(model: Any, comparisons: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ten steps are not meant to converge
        return model.fit(comparisons).embedding_


def _row(work: str, one: tuple[float, Any], two: tuple[float, Any], same: Callable[[Any, Any], bool]) -> Row:
    return {
        "work": work,
        "one process s": one[0],
        "two workers s": two[0],
        "ratio": one[0] / two[0],
        "same": "yes" if same(one[1], two[1]) else "no",
    }


def best_of(repeats: int, job: Callable[[], Any]) -> tuple[float, Any]:
    """Return the least time of some runs after one that warms up, and the result."""
    job()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        with sm.limit_threads(1):
            result = job()
        times.append(time.perf_counter() - start)
    return min(times), result

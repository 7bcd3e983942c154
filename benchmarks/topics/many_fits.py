"""Many fits over two workers: bootstraps, folds, paths and a choice, beside one process with one thread.

Every piece of work takes half a minute in one thread, so that starting workers is not what is measured; they have
imported and compiled everything before. What two workers could gain at most on this machine is measured, too: the
same work twice at once, in two processes that know nothing of each other.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any

import joblib
import numpy as np

import similitude as sm
from benchmarks.problems import Problem
from benchmarks.report import Row, Table
from benchmarks.settings import Settings

LONG = True
FITS, QUICK_FITS = Problem(2_000, 200_000, 5), Problem(100, 2_000, 2)
CHOICE, QUICK_CHOICE = Problem(500, 200_000, 3), Problem(30, 600, 2)
COLUMNS = {
    "work": "",
    "one thread s": ".1f",
    "two processes s": ".1f",
    "gain": ".2f",
    "two Dask workers s": ".1f",
    "Dask's gain": ".2f",
    "one process, two threads s": ".1f",
    "threads' gain": ".2f",
    "twice at once, gain": ".2f",
    "same": "",
}
Job = Callable[[int | None], Any]


def run(settings: Settings) -> Iterator[Table]:
    note = (
        "one thread: in this process; workers: one thread each; twice at once: the same work in two processes that "
        "share nothing, which is what two workers can gain at most; best of the repeats"
    )
    table = Table("many_fits", "Many fits over two workers", COLUMNS, note=note)
    for name, job in jobs(settings.quick, settings.seed).items():
        table.rows.append(_row(name, job, settings))
    yield table


def jobs(quick: bool, seed: int) -> dict[str, Job]:
    """The work by name, each a function of n_jobs."""
    problem, choice = (QUICK_FITS, QUICK_CHOICE) if quick else (FITS, CHOICE)
    c, few = (sm.Comparisons.from_triplets(own.triplets()[0], n_items=own.n) for own in (problem, choice))
    bootstraps, folds, paths = (4, 4, 2) if quick else (90, 40, 14)
    model, other = sm.STE(problem.d, random_state=seed).fit(c), sm.CKL(problem.d, random_state=seed)
    grid = np.array([4.0, 1.0, 0.25, 0.06]) * model.penalty_
    return {
        f"uncertainty, {bootstraps} bootstraps, {problem}": lambda n_jobs: sm.uncertainty(
            model, c, n=bootstraps, random_state=0, n_jobs=n_jobs
        ),
        f"cross_validate, STE and CKL, {folds} folds, {problem}": lambda n_jobs: sm.cross_validate(
            [model, other], c, n_folds=folds, random_state=0, n_jobs=n_jobs
        ),
        f"penalty_path, {len(grid)} penalties, {paths} folds, {problem}": lambda n_jobs: sm.penalty_path(
            model, c, grid, n_folds=paths, random_state=0, n_jobs=n_jobs
        ),
        f"AutoSimilarity, {choice}": lambda n_jobs: (
            sm.AutoSimilarity(time_limit=3600.0, random_state=0, n_jobs=n_jobs).fit(few).embedding_
        ),
    }


def _row(name: str, job: Job, settings: Settings) -> Row:
    repeats = settings.repeats
    one, wanted = timed(job, 1, threads=1, repeats=repeats)
    both, _ = timed(job, 1, threads=2, repeats=repeats)
    _warm()
    processes, found = timed(job, 2, threads=2, repeats=repeats)
    with cluster(), joblib.parallel_config(backend="dask"):
        _warm()
        workers, spread = timed(job, None, threads=2, repeats=repeats)
    twice = _twice_at_once(name, settings)
    return {
        "work": name,
        "one thread s": one,
        "two processes s": processes,
        "gain": one / processes,
        "two Dask workers s": workers,
        "Dask's gain": one / workers,
        "one process, two threads s": both,
        "threads' gain": one / both,
        "twice at once, gain": 2 * one / twice,
        "same": "yes" if _equal(wanted, found) and _equal(wanted, spread) else "no",
    }


def timed(job: Job, n_jobs: int | None, threads: int, repeats: int) -> tuple[float, Any]:
    """Return the least time of some runs, and the result."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        with sm.limit_threads(threads):
            result = job(n_jobs)
        times.append(time.perf_counter() - start)
    return min(times), result


def _warm() -> None:
    """Have two workers import and compile what the work needs: a little of all of it."""
    with sm.limit_threads(2):
        for job in jobs(quick=True, seed=0).values():
            job(2)


def _twice_at_once(name: str, settings: Settings) -> float:
    """Seconds that two processes take for the whole work each, at the same time."""
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        list(pool.map(_prepared, [settings.seed] * 2))
        copies = [pool.submit(_copy, name, settings.quick, settings.seed, settings.repeats) for _ in range(2)]
        return float(np.mean([copy.result() for copy in copies]))


def _prepared(seed: int) -> None:
    with sm.limit_threads(1):
        for job in jobs(quick=True, seed=seed).values():
            job(1)


def _copy(name: str, quick: bool, seed: int, repeats: int) -> float:
    with sm.limit_threads(1):
        job = jobs(quick, seed)[name]
    return timed(job, 1, threads=1, repeats=repeats)[0]


def _equal(a: Any, b: Any) -> bool:
    """Whether two tables are the same but for their times, or two sets of maps."""
    if hasattr(a, "draws"):
        return np.array_equal(a.draws, b.draws) and a.accuracy == b.accuracy
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b)
    return a.drop(columns="seconds", errors="ignore").equals(b.drop(columns="seconds", errors="ignore"))


@contextmanager
def cluster() -> Iterator[Any]:
    """Two worker processes of Dask with one thread each.

    They do not give memory back to the system as eagerly as Dask would have them (docs/how-to/past-one-machine.md).
    """
    import dask

    from distributed import Client, LocalCluster

    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    usual = {"distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None}
    with dask.config.set(usual), LocalCluster(**settings) as two, Client(two) as client:
        yield client

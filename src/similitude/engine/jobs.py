"""Many fits at once, through joblib: on the cores there are, or wherever `joblib.parallel_config` sends them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import joblib

from similitude.engine.threads import limit_threads, thread_count

T = TypeVar("T")


def over_jobs(function: Callable[..., T], work: Iterable[tuple[Any, ...]], n_jobs: int | None = None) -> Iterator[T]:
    """Give `function(*arguments)` for each of `work`, in order, as results come in.

    Where several run at once, each keeps to its share of the threads in use: more threads than cores cost many times
    what they gain. `joblib.parallel_config(backend="dask")` spreads the same calls over a cluster.
    """
    threads = max(1, thread_count() // joblib.effective_n_jobs(n_jobs))
    parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator")
    results: Iterator[T] = parallel(joblib.delayed(_on_threads)(threads, function, *args) for args in work)
    return results


def _on_threads(threads: int, function: Callable[..., T], *arguments: Any) -> T:
    with limit_threads(threads):
        return function(*arguments)

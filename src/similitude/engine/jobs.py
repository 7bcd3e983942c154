"""Many fits at once, through joblib: on the cores there are, or wherever `joblib.parallel_config` sends them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, TypeVar

import joblib

from similitude.engine.threads import limit_threads, thread_count

T = TypeVar("T")


def workers(n_jobs: int | None = None) -> int:
    """Return how many calls of `over_jobs` run at once: 1 where they run here, one after the other."""
    return max(1, int(joblib.effective_n_jobs(n_jobs)))


def over_jobs(
    function: Callable[..., T],
    work: Iterable[tuple[Any, ...]],
    n_jobs: int | None = None,
    *,
    shared: tuple[Any, ...] = (),
    as_needed: bool = False,
) -> Iterator[T]:
    """Give `function(*shared, *arguments)` for each of `work`, in order, as results come in.

    Where several run at once, each keeps to its share of the threads in use: more threads than cores cost many times
    what they gain. `joblib.parallel_config(backend="dask")` spreads the same calls over a cluster.

    Parameters
    ----------
    function : importable
    work : arguments of each call
    n_jobs : processes; None is 1, or what `joblib.parallel_config` says
    shared : arguments that are the same in all calls. They reach each worker of a cluster once; to processes of this
        machine joblib hands their large arrays as files in memory.
    as_needed : take a piece of work only when somebody is free to do it, not some ahead
    """
    count = workers(n_jobs)
    threads = max(1, thread_count() // count)
    ahead: dict[str, Any] = {"pre_dispatch": count, "batch_size": 1} if as_needed else {}
    parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator", **ahead)
    same = _Shared(shared)
    return _till_closed(parallel(joblib.delayed(_on_threads)(threads, function, same, *args) for args in work))


def _till_closed(results: Generator[T, None, None]) -> Iterator[T]:
    """Give results until whoever takes them has enough: joblib then ends the others, and need not warn of that."""
    try:
        for result in results:  # noqa: UP028  `yield from` would close them before the warning is silenced
            yield result
    except GeneratorExit:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            results.close()
        raise


class _Shared:
    """Arguments as one object: joblib's Dask backend sends an object once if it is large, and knows it by its identity.

    What it takes for large is the size that the object tells, so this one tells that of what it holds.
    """

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.values = values

    def __sizeof__(self) -> int:
        return _SENT_ONCE + sum(sys.getsizeof(value) for value in self.values)


_SENT_ONCE = 2000  # bytes; joblib sends what has more than a thousand once


def _on_threads(threads: int, function: Callable[..., T], shared: _Shared, *arguments: Any) -> T:
    with limit_threads(threads):
        return function(*shared.values, *arguments)

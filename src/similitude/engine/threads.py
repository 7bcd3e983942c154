"""Threads: how many, a pool that survives forks, and BLAS held to one where matrices are small.

Kernels release the GIL and work on chunks whose number depends on the problem alone, so any number of threads gives
the same bits. Numba's own parallel regions are not used: with the default threading layer they abort the process when
two Python threads enter them at once (a server does that), do not survive a fork, and take several times longer to
compile.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")

_limit: ContextVar[int | None] = ContextVar("similitude_threads", default=None)
_ENVIRONMENT = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS")  # joblib sets these in its workers


def thread_count() -> int:
    """Number of threads in use: `limit_threads`, else the environment, else the cores of this process."""
    limit = _limit.get()
    if limit is not None:
        return limit
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    wishes = [int(os.environ[name]) for name in _ENVIRONMENT if os.environ.get(name, "").isdigit()]
    return max(1, min([cores, *wishes]))


@contextmanager
def limit_threads(count: int) -> Iterator[None]:
    """Use this many threads inside the block.

    Parameters
    ----------
    count : number of threads, at least 1; any number gives the same result

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 600, random_state=0)
    >>> with sm.limit_threads(1):
    ...     model = sm.STE(random_state=0).fit(answers)
    >>> model.embedding_.shape
    (12, 2)
    """
    if count < 1:
        raise ValueError(f"count: expected at least 1 thread, found {count}")
    token = _limit.set(count)
    try:
        yield
    finally:
        _limit.reset(token)


@cache
def _pool(process: int, count: int) -> ThreadPoolExecutor:  # noqa: ARG001  a forked child has no threads
    return ThreadPoolExecutor(count, thread_name_prefix="similitude")


def over_chunks(work: Callable[[int], T], n_chunks: int) -> list[T]:
    """Return `[work(0), ..., work(n_chunks - 1)]`, computed on several threads where that can help."""
    count = min(thread_count(), n_chunks)
    if count == 1:
        return [work(chunk) for chunk in range(n_chunks)]
    return list(_pool(os.getpid(), count).map(work, range(n_chunks)))


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Hold BLAS to one thread: on small matrices more threads cost many times what they save."""
    return _controller().limit(limits=1)

"""From the writer's thread to the loop that serves: those who wait together are told together.

`asyncio.wrap_future` wakes the loop once for every result. A commit has results for many, and each wake-up is a change
of threads, of which only one can run.
"""

from __future__ import annotations

import asyncio
from collections import deque
from concurrent.futures import Future
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

Result = TypeVar("Result")


class _Waiting:
    """The requests of one loop that wait for another thread."""

    def __init__(self) -> None:
        self._ready: deque[tuple[asyncio.Future[Any], Future[Any]]] = deque()
        self._woken = False

    def wait_for(self, done: Future[Any], loop: asyncio.AbstractEventLoop) -> asyncio.Future[Any]:
        waiting = loop.create_future()
        done.add_done_callback(lambda _: self._tell(waiting, done))
        return waiting

    def _tell(self, waiting: asyncio.Future[Any], done: Future[Any]) -> None:
        self._ready.append((waiting, done))
        if not self._woken:
            self._woken = True
            waiting.get_loop().call_soon_threadsafe(self._hand_over)

    def _hand_over(self) -> None:
        self._woken = False  # before looking: what comes from here on wakes the loop again
        while self._ready:
            waiting, done = self._ready.popleft()
            if waiting.cancelled():
                continue
            try:
                waiting.set_result(done.result())
            except Exception as fault:
                waiting.set_exception(fault)


_LOOPS: WeakKeyDictionary[asyncio.AbstractEventLoop, _Waiting] = WeakKeyDictionary()


def handed_over(done: Future[Result]) -> asyncio.Future[Result]:
    """What another thread will have done, as something to await in the loop that runs."""
    loop = asyncio.get_running_loop()
    if (waiting := _LOOPS.get(loop)) is None:
        waiting = _LOOPS[loop] = _Waiting()
    return waiting.wait_for(done, loop)

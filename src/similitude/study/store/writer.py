"""The one writer of a server process: requests wait in a queue, and those that wait together are committed together.

A commit syncs the disk, which takes as long for one answer as for a hundred. So each transaction takes everything that
came while the one before it was at work; nobody is told of success before the commit.
"""

from __future__ import annotations

import queue
import threading
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from similitude.study.store.database import Database, StoreError

Batch = Callable[[sa.Connection, Sequence[Any]], Sequence[Any]]
_LARGEST, _MOST_WAITING = 256, 20_000


@dataclass(frozen=True)
class _Job:
    batch: Batch
    request: Any
    done: Future[Any]


class Writer:
    """Runs batches in transactions, on a thread of its own.

    A batch is a function of a connection and the requests that wait for it, and returns a result (or an exception, to
    be raised) for each. A fault there fails the whole transaction, and its requests are tried again one by one.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._closed, self._door = False, threading.Lock()
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    def submit(self, batch: Batch, request: Any) -> Future[Any]:
        """Hand in a request; the result is there when it is durable."""
        done: Future[Any] = Future()
        with self._door:  # else a request could be put behind the end of the queue, where nobody comes by any more
            if self._closed:
                done.set_exception(StoreError("the server is stopping; nothing was lost, try again in a moment"))
            elif self._jobs.qsize() >= _MOST_WAITING:
                done.set_exception(StoreError("more requests wait than can be served; try again in a moment"))
            else:
                self._jobs.put(_Job(batch, request, done))
        return done

    @property
    def is_alive(self) -> bool:
        """Whether what is handed in is written."""
        return self._thread.is_alive() and not self._closed

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return self._jobs.qsize()

    def close(self) -> None:
        """Finish what was handed in, then stop."""
        with self._door:
            if not self._closed:
                self._closed = True
                self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (first := self._jobs.get()) is not None:
            jobs = [first]
            while len(jobs) < _LARGEST and not self._jobs.empty():
                if (job := self._jobs.get()) is None:
                    self._jobs.put(None)  # the end, which is met again once these are served; nothing stands behind it
                    break
                jobs.append(job)
            if wanted := [job for job in jobs if job.done.set_running_or_notify_cancel()]:
                self._serve(wanted)

    def _serve(self, jobs: list[_Job]) -> None:
        """Commit all together; where that fails for another reason than the store, one by one: one request, one fault.

        Results are handed over only here, after the commit.
        """
        try:
            results = self._commit(jobs)
        except StoreError as fault:  # full or locked for one is so for all: to try each would make everybody wait anew
            results = [(job, fault) for job in jobs]
        except Exception as fault:  # whatever it is, it belongs to those who wait, not to this thread
            if len(jobs) > 1:
                for job in jobs:
                    self._serve([job])
                return
            results = [(job, fault) for job in jobs]
        for job, result in results:
            if isinstance(result, BaseException):
                job.done.set_exception(result)
            else:
                job.done.set_result(result)

    def _commit(self, jobs: list[_Job]) -> list[tuple[_Job, Any]]:
        results: list[tuple[_Job, Any]] = []
        with self.database.write() as connection:
            for batch, group in _by_batch(jobs).items():
                results += zip(group, batch(connection, [job.request for job in group]), strict=True)
        return results


def _by_batch(jobs: list[_Job]) -> dict[Any, list[_Job]]:
    groups: dict[Hashable, list[_Job]] = defaultdict(list)
    for job in jobs:
        groups[job.batch].append(job)
    return groups


def each(one: Callable[[sa.Connection, Any], Any]) -> Batch:
    """A batch of requests that are served one by one, each undone by itself where it is refused."""

    def batch(connection: sa.Connection, requests: Sequence[Any]) -> list[Any]:
        return [_alone(connection, one, request) for request in requests]

    return batch


def _alone(connection: sa.Connection, one: Callable[[sa.Connection, Any], Any], request: Any) -> Any:
    try:
        with connection.begin_nested():  # what a refused request wrote is undone, and its neighbours' stays
            return one(connection, request)
    except ValueError as refusal:
        return refusal

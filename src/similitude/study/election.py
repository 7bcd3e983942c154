"""Who keeps the model of a study: one process among all servers of a database.

The row of `model` names the holder, and its heartbeat changes every few seconds. A holder is given up for lost when the
heartbeat has not changed for a while *by the watcher's own clock that only runs forward*: nobody compares clocks of two
machines, and none of them may go wrong.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from similitude.study.store import schema
from similitude.study.store.database import Database

PATIENCE = 10.0  # seconds without a heartbeat after which another process takes over
NOBODY = ""
_STEP = 0.001


class Lost(RuntimeError):
    """Another process keeps this study now."""


class Pulse:
    """How long a heartbeat has not changed, as seen from here."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._last: Any = None
        self._since = monotonic()
        self.beats = 0

    def silent(self, beat: Any) -> float:
        """Seconds since the beat became what it is; 0 when it is seen for the first time."""
        if beat != self._last:
            self.beats += self._last is not None
            self._last, self._since = beat, self._monotonic()
        return self._monotonic() - self._since


class Holding:
    """The claim of one process to one study.

    Parameters
    ----------
    database, study_id : the study
    worker : the name of this process; one that starts again under its name goes on at once
    monotonic : seconds that only go forward
    """

    def __init__(
        self, database: Database, study_id: int, worker: str, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self.database, self.study_id, self.worker = database, study_id, worker
        self._pulse = Pulse(monotonic)
        self._here = schema.model.c.study_id == study_id

    def take(self) -> bool:
        """Become the holder where nobody is, or nobody is any more; whether this process holds the study."""
        query = sa.select(schema.model.c.worker, schema.model.c.heartbeat).where(self._here)
        # Looking takes no lock: those who wait for their turn ask every round, and must not slow the raters' answers.
        with self.database.read() as connection:
            seen = connection.execute(query).one_or_none()
        if seen is not None and seen.worker == self.worker:
            return True
        # Holder and heartbeat together are what is watched: a new holder counts as a sign of life, whatever it wrote.
        silent = self._pulse.silent(seen)
        if seen is not None and seen.worker != NOBODY and silent < PATIENCE:
            return False
        with self.database.write() as connection:
            # Under the lock of writers the row is looked at again, and taken only as it was when we gave its holder up:
            # of several who lose patience at the same moment one finds it unchanged.
            if connection.execute(query).one_or_none() != seen:
                return False  # another was quicker
            if seen is None:
                row = {"study_id": self.study_id, "version": 0, "last_answer": 0, "heartbeat": 0.0, "worker": NOBODY}
                connection.execute(sa.insert(schema.model), row)
            values = {"worker": self.worker, "heartbeat": self._beat(seen.heartbeat if seen else 0.0)}
            connection.execute(sa.update(schema.model).where(self._here).values(values))
        return True

    @contextmanager
    def write(self, **values: Any) -> Iterator[sa.Connection]:
        """A transaction of the holder that sets columns of the model's row and its heartbeat; Lost for anybody else."""
        with self.database.write() as connection:
            # Asked inside the transaction that writes: a holder that was given up while it was asleep finds out here,
            # before it overwrites what its successor has learned.
            mine = self._here, schema.model.c.worker == self.worker
            last = connection.scalar(sa.select(schema.model.c.heartbeat).where(*mine))
            if last is None:
                raise Lost(f"{self.worker} no longer keeps study {self.study_id}")
            new = {**values, "heartbeat": self._beat(last)}
            connection.execute(sa.update(schema.model).where(*mine).values(new))
            yield connection

    def release(self) -> None:
        """Let go, so that another process need not wait."""
        with self.database.write() as connection:
            mine = self._here, schema.model.c.worker == self.worker
            connection.execute(sa.update(schema.model).where(*mine).values(worker=NOBODY))

    def _beat(self, last: float) -> float:
        """The time, or a little more than the last beat where the clock went backwards: it must change."""
        return max(self.database.clock.now(), last + _STEP)

"""Seconds for which a database has been served: what leases and seats are measured in.

The time of day may jump by a year and back, and it differs from one machine to the next. So every process counts by a
clock that only runs forward, from what the database holds, and writes now and then how far it is. All run at the same
rate and none stays behind what another has written. While nobody serves, this time stands still, as the raters do.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import sqlalchemy as sa

from similitude.study.store import schema

_KEEP_EVERY = 5.0  # seconds that a kill can take back
_HERE = schema.uptime.c.id == 1


class Uptime:
    """The time served, as this process knows it.

    Parameters
    ----------
    monotonic : seconds that only go forward
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.monotonic = monotonic
        self._from = 0.0, monotonic()  # what it was, and when: one value, since several threads read it
        self._kept = -_KEEP_EVERY

    def now(self) -> float:
        """Seconds served so far."""
        seconds, since = self._from
        return seconds + self.monotonic() - since

    def follow(self, connection: sa.Connection) -> float:
        """Seconds served so far, not behind what any process has written."""
        written = connection.scalar(sa.select(schema.uptime.c.seconds).where(_HERE)) or 0.0
        if written > self.now():
            self._from = written, self.monotonic()
        return self.now()

    def advance(self, connection: sa.Connection) -> float:
        """Seconds served so far; in a transaction that writes, which keeps it from time to time."""
        return self.now() if self.now() - self._kept < _KEEP_EVERY else self.keep(connection)

    def keep(self, connection: sa.Connection) -> float:
        """Seconds served so far, written: what a process that stops leaves to the next."""
        self._kept = now = self.follow(connection)
        connection.execute(sa.update(schema.uptime).where(_HERE).values(seconds=now))
        return now

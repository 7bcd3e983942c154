"""How often a password may be tried: counted before it is looked at, in lanes that do not meet.

Strangers are counted by their address and by the account that they try. A browser in which that account has logged in
before shows a device cookie and is counted by this alone, so that no stranger closes the door to it (as OWASP's device
cookies do). Clocks run forward only, and what is counted is the attempt: sixty at once are sixty.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

_REMEMBERED = 10_000


class Backoff:
    """Attempts by key: some are free, then each has to wait, twice as long as the one before.

    Parameters
    ----------
    free : attempts without a wait
    first, longest : the first wait and the longest, in seconds
    forget : seconds after the last attempt when all are forgotten
    monotonic : seconds that only go forward
    """

    def __init__(
        self, free: int, first: float, longest: float, forget: float, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self.free, self.first, self.longest, self.forget = free, first, longest, forget
        self._monotonic = monotonic
        self._tried: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def wait(self, key: str) -> float:
        """Seconds until the key may try again; 0 where it may now."""
        count, last = self._of(key)
        if count < self.free:
            return 0.0
        delay = min(self.first * 2.0 ** min(count - self.free, 30), self.longest)
        return max(last + delay - self._monotonic(), 0.0)

    def count(self, key: str) -> None:
        """Count an attempt; the oldest keys are forgotten where there are too many."""
        self._tried[key] = self._of(key)[0] + 1, self._monotonic()
        self._tried.move_to_end(key)
        while len(self._tried) > _REMEMBERED:
            self._tried.popitem(last=False)

    def forgive(self, key: str) -> None:
        """Take an attempt back: it was right."""
        count, last = self._of(key)
        self._tried[key] = max(count - 1, 0), last

    def _of(self, key: str) -> tuple[int, float]:
        count, last = self._tried.get(key, (0, 0.0))
        return (0, 0.0) if count and self._monotonic() - last >= self.forget else (count, last)


class Attempts:
    """All lanes.

    Parameters
    ----------
    monotonic : seconds that only go forward
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._lanes = {
            "address": Backoff(5, 300.0, 300.0, 300.0, monotonic),
            "account": Backoff(10, 1.0, 300.0, 3600.0, monotonic),
            "device": Backoff(5, 300.0, 300.0, 300.0, monotonic),
        }

    def begin(self, who: Mapping[str, str]) -> float:
        """Count an attempt in its lanes, given as lane and key: 0; or the seconds to wait, and it is none."""
        wait = max(self._lanes[lane].wait(key) for lane, key in who.items())
        if wait > 0:
            return wait
        for lane, key in who.items():
            self._lanes[lane].count(key)
        return 0.0

    def succeeded(self, who: Mapping[str, str]) -> None:
        """The attempt was right, and does not count."""
        for lane, key in who.items():
            self._lanes[lane].forgive(key)


class Room:
    """Passwords that are checked at the same time, and those that wait: each takes 64 MB and a core for a moment.

    Parameters
    ----------
    at_once, waiting : how many
    """

    def __init__(self, at_once: int, waiting: int) -> None:
        self._places = at_once + waiting
        self._turn = asyncio.Semaphore(at_once)

    @property
    def is_full(self) -> bool:
        """Whether there is no place left to wait."""
        return self._places <= 0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn; the place is taken at once."""
        self._places -= 1
        try:
            async with self._turn:
                yield
        finally:
            self._places += 1

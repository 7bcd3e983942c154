"""The parts of a report, one after the other within a time limit."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import isfinite
from typing import TypeVar

from similitude.evaluate.validation import Progress

Step = Callable[[str, int, int], None]
"""Called with what is being done, how many parts of it are done, and of how many (0 of 0 where that is unknown)."""

Result = TypeVar("Result")
_LEAST = 0.15  # of the time that must be left for a part that cannot be ended


class OutOfTime(Exception):
    """A part took longer than it may."""


class Phases:
    """Runs parts, tells how far each is, ends those that take too long, and remembers what was left out.

    Attributes
    ----------
    left_out : the parts that time did not suffice for
    """

    def __init__(self, time_limit: float, step: Step | None = None) -> None:
        self._least = _LEAST * time_limit if isfinite(time_limit) else 0.0
        self._end = time.monotonic() + time_limit
        self._step = step or (lambda *_: None)
        self.left_out: list[str] = []

    def seconds_left(self) -> float:
        """How long the parts still to come may take together."""
        return max(self._end - time.monotonic(), 0.0)

    def needed(self, name: str, work: Callable[[Progress], Result]) -> Result:
        """Run what no report can do without, however long it takes."""
        self._step(name, 0, 0)
        return work(lambda done, of: self._step(name, done, of))

    def optional(self, name: str, work: Callable[[Progress], Result], whole: bool = False) -> Result | None:
        """Run what a report can do without; None where time is over.

        A part that runs as a `whole`, and cannot be ended on the way, begins only while some time is left.
        """

        def progress(done: int, of: int) -> None:
            self._step(name, done, of)
            if done < of and not self.seconds_left():
                raise OutOfTime

        if self.seconds_left() > (self._least if whole else 0.0):
            self._step(name, 0, 0)
            try:
                return work(progress)
            except OutOfTime:
                pass
        self.left_out.append(name)
        return None

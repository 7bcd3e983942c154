"""A figure with its interval, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass

from similitude.display.words import number


@dataclass(frozen=True, repr=False)
class Estimate:
    """A figure with its interval; `value` is None where it cannot be estimated, and `note` says why.

    Prints as its value and interval, or as "unknown".
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""

    def __str__(self) -> str:
        if self.value is None:
            return "unknown"
        if self.low is None or self.high is None:
            return number(self.value)
        return f"{number(self.value)} ({number(self.low)} to {number(self.high)})"

    def __repr__(self) -> str:
        return f"<{self}{f': {self.note}' if self.note else ''}>"


UNTOLD = Estimate(None)
"""A figure that was not asked for."""

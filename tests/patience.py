"""Waiting for what must come: for the event itself, with an end so late that only a fault reaches it.

A busy machine may be ten times slower than a quiet one. A wait that ends early then fails a test although nothing is
wrong; a wait for an event costs a quiet machine nothing, however late its end.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

PATIENCE = 400.0  # seconds; below the time after which a test counts as hanging

T = TypeVar("T")


def until(condition: Callable[[], T], what: str | Callable[[], str], every: float = 0.05) -> T:
    """What a condition returns once that is true; where it never is, the test fails and says what was waited for."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, what if isinstance(what, str) else what()
        time.sleep(every)
    return found


def until_it_fits(page: Any) -> None:
    """Wait until nothing on a page has to be scrolled sideways: its styles may come after what they lay out."""
    root = "document.documentElement"
    until(lambda: page.evaluate(f"{root}.scrollWidth <= {root}.clientWidth"), f"{page.url}: something sticks out")

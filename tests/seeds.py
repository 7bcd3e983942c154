"""Other draws for every test: $SIMILITUDE_TEST_SEEDS = 1, 2, ... gives each seeded generator another stream.

A claim that holds for one draw of the data alone is no claim. `python -m tests.machines` runs the suite with several; a
test whose expectation is tied to its own draw (a stored figure, a printed page) says so with `@pytest.mark.own_seed`.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

SHIFT = int(os.environ.get("SIMILITUDE_TEST_SEEDS", "0"))
_as_seeded = np.random.default_rng
_drawn = 0  # generators that were seeded since the last `draw`
_kept: list[Any] = []


def _shifted(seed: Any = None) -> np.random.Generator:
    """The generator of another stream; what is no plain seed (None, a generator, a sequence of its own) stays."""
    global _drawn
    _drawn += isinstance(seed, int | np.integer | list | tuple)
    if isinstance(seed, int | np.integer):
        return _as_seeded([int(seed), SHIFT])
    if isinstance(seed, list | tuple):
        return _as_seeded([*seed, SHIFT])
    return _as_seeded(seed)


def shift() -> None:
    """From now on, in this process, every seed means another draw (nothing changes where the variable is not set)."""
    if SHIFT:
        np.random.default_rng = _shifted


@contextlib.contextmanager
def as_seeded() -> Iterator[None]:
    """Within, seeds mean what they always mean."""
    before, np.random.default_rng = np.random.default_rng, _as_seeded
    try:
        yield
    finally:
        np.random.default_rng = before


def cached(make: Callable[..., Any]) -> Any:
    """`functools.cache` for what is made of random data: with another draw it is made anew."""
    _kept.append(functools.cache(make))
    return _kept[-1]


@contextlib.contextmanager
def draw(number: int) -> Iterator[Callable[[], bool]]:
    """Within, seeds mean this draw; gives a function that says whether any was used (what a module draws stays)."""
    global SHIFT, _drawn
    before, SHIFT, _drawn = SHIFT, number, 0
    for kept in _kept:
        kept.cache_clear()
    try:
        yield lambda: _drawn > 0
    finally:
        SHIFT = before

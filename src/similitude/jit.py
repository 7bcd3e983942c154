"""Compiled functions, kept on disk where there is a place for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def kernel(**flags: Any) -> Callable[[Callable[..., Any]], Any]:
    """A decorator: compile a function that lets go of the GIL, and keep it for the next process.

    Numba keeps it beside the source or in the user's cache. Where it may write to neither (a container that runs as
    somebody else, without a home) it would refuse; then every process compiles for itself, and NUMBA_CACHE_DIR may name
    a place.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(cache=True, nogil=True, **flags)(function)
        except RuntimeError:
            return numba.njit(nogil=True, **flags)(function)

    return compiled

"""How long requests took: the middle and the slow end of the last ones, for each kind of request."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any

import numpy as np
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_REMEMBERED = 10_000


class Waits:
    """The waits of the last requests, by path."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: dict[str, deque[float]] = {}
        self._count: dict[str, int] = {}
        self._refused: dict[str, int] = {}

    def add(self, path: str, seconds: float, status: int) -> None:
        """Remember a request."""
        with self._lock:
            self._last.setdefault(path, deque(maxlen=_REMEMBERED)).append(seconds)
            self._count[path] = self._count.get(path, 0) + 1
            self._refused[path] = self._refused.get(path, 0) + (status >= 400)

    def figures(self) -> dict[str, Any]:
        """For each path: how many requests, how many were refused, and percentiles of the last 10,000 waits in ms."""
        with self._lock:
            last = {path: np.array(waits) for path, waits in self._last.items()}
            counts, refused = dict(self._count), dict(self._refused)
        return {
            path: {"requests": counts[path], "refused": refused[path], **_percentiles(waits)}
            for path, waits in last.items()
        }


def _percentiles(seconds: Any) -> dict[str, float]:
    return {f"p{share}_ms": round(1000 * float(np.percentile(seconds, share)), 3) for share in (50, 99)}


class Timed:
    """Times requests to some paths, from their header to the end of the response.

    Parameters
    ----------
    app : the application
    waits : where they are remembered
    paths : which are timed; others, which anybody may make up, would fill the memory
    """

    def __init__(self, app: ASGIApp, waits: Waits, paths: frozenset[str]) -> None:
        self.app, self.waits, self.paths = app, waits, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Time one request."""
        if scope["type"] != "http" or scope["path"] not in self.paths:
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, watched)
        finally:
            self.waits.add(scope["path"], time.perf_counter() - began, status)

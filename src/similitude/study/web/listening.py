"""A server that listens at a port, within limits, until it is told to stop."""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any, cast

import uvicorn
from uvicorn.config import LOGGING_CONFIG

from similitude.study.logs import is_json
from similitude.study.proxies import Proxies
from similitude.study.settings import StudyError
from similitude.study.web.limits import Crowd, LimitedProtocol, Limits, raise_open_files

_STOP_SECONDS = 3  # for requests that are under way


def server_settings(app: Any, limits: Limits, proxies: Proxies) -> uvicorn.Config:
    """How an application is run: no log of who asked for what, connections within limits, and time to finish."""
    crowd = Crowd(limits, proxies.is_trusted, raise_open_files())
    return uvicorn.Config(
        app,
        forwarded_allow_ips=[str(network) for network in proxies.networks],
        http=cast(type[asyncio.Protocol], partial(LimitedProtocol, crowd=crowd)),
        ws="none",
        timeout_keep_alive=limits.idle_seconds,
        access_log=False,
        log_level="warning",
        log_config=None if is_json() else LOGGING_CONFIG,
        timeout_graceful_shutdown=_STOP_SECONDS,
        lifespan="off",
    )


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; a port that is taken, and a host that is not known, are said in words."""
    if not host.strip():
        raise StudyError(
            "host: found an empty one, which would listen on every network; expected 127.0.0.1 for this machine alone, "
            "or 0.0.0.0 for all that reach it"
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, _alone_at_port(), 1)
        found.bind((host, port))
        found.listen(1024)
    except (socket.gaierror, UnicodeError):
        found.close()
        raise StudyError(
            f"cannot listen at {host!r}, which is no address of this machine; try another --host"
        ) from None
    except OSError as error:
        found.close()
        raise StudyError(f"cannot listen at {host} port {port} ({error.strerror}); try another --port") from None
    return found


def _alone_at_port() -> int:
    """The option by which a port is ours alone, also right after an earlier server: it has two names.

    SO_REUSEADDR lets a server start again at once; on Windows it would let two servers share a port, and each get some
    of the raters.
    """
    return int(getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR))


def address_of(host: str, listening: socket.socket) -> str:
    """How this machine reaches the server."""
    name = "localhost" if host in ("127.0.0.1", "0.0.0.0", "::", "::1") else host
    return f"http://{name}:{listening.getsockname()[1]}"


class Stop:
    """What a signal that asks for the end does: it is remembered, and told to the server as soon as there is one.

    Before that it raises, as Ctrl+C always does. That alone would not do: an exception out of a signal is lost where it
    strikes a destructor, and the server would go on for ever.
    """

    def __init__(self) -> None:
        self.asked = False
        self._server: uvicorn.Server | None = None

    def __call__(self, _: int, __: FrameType | None) -> None:
        """A signal has come."""
        self.asked = True
        if self._server is None:
            raise KeyboardInterrupt
        self._server.should_exit = True

    def run(self, server: uvicorn.Server, listening: socket.socket) -> None:
        """Serve until the end is asked for, which may have been before."""
        self._server = server
        server.should_exit = self.asked
        gc.freeze()  # what is there now stays: looking for cycles among it again and again would stop everybody
        server.run(sockets=[listening])


@contextmanager
def stoppable() -> Iterator[Stop]:
    """End in order on Ctrl+C and on signals that by themselves would end the process before the site is closed."""
    stop = Stop()
    before = {number: signal.signal(number, stop) for number in _endings()}
    try:
        yield stop
    except KeyboardInterrupt:
        pass
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _endings() -> list[int]:
    """Signals that ask a process to end: Ctrl+C, SIGTERM, and Ctrl+Break on Windows."""
    return [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGBREAK") if hasattr(signal, name)]

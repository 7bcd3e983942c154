"""Serving a site until it is told to stop: what was handed in is written before the process ends."""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from types import FrameType
from typing import cast

import uvicorn

from similitude.study.proxies import Outside, Proxies
from similitude.study.settings import StudyError
from similitude.study.site import Site, open_site
from similitude.study.supervise import Supervisor
from similitude.study.web.app import create_app
from similitude.study.web.limits import LIMITS, Crowd, LimitedProtocol, Limits, raise_open_files
from similitude.study.web.login import first_link

_DELETED = "this demo is then deleted with its answers; give it a FOLDER to keep them"
_STOP_SECONDS = 3  # for requests that are under way


def serve(
    root: Path,
    database: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    public_url: str | None = None,
    say: Callable[[str], None] = print,
    model: bool = True,
    limits: Limits = LIMITS,
    passing: bool = False,
    trusted_proxies: Sequence[str] = (),
) -> None:
    """Serve the studies of a folder until the process is told to stop.

    Parameters
    ----------
    root : the folder of a study, or of several
    database : `sqlite:///FILE` or `postgresql://...`; the default is a file in `root`
    host, port : where to listen; port 0 is any free one
    public_url : how the server is reached from outside, for the links that are shown; where it has a path, a proxy is
        expected to take that off requests, as nginx does by `location /lab/faces/ { proxy_pass http://.../; }`
    say : takes the lines that tell what is where
    model : whether a model process is started beside the server; of several, one keeps each study
    limits : what is taken from outside: sizes, times, connections
    passing : whether the folder is deleted afterwards, which is then said
    trusted_proxies : addresses and networks whose word counts about who asks, beside this machine's own
    """
    outside, proxies = Outside.of(public_url), Proxies(trusted_proxies)
    with (
        _stoppable() as stop,
        closing(open_site(root, database)) as site,
        closing(listen(host, port)) as listening,
    ):
        for line in greeting(site, public_url or address_of(host, listening), passing):
            say(line)
        with learning(site) if model else nullcontext():
            stop.run(uvicorn.Server(settings(site, outside, limits, proxies)), listening)


@contextmanager
def learning(site: Site) -> Iterator[Supervisor]:
    """The model process of a site, for as long as it is served."""
    supervisor = Supervisor(site).start()
    try:
        yield supervisor
    finally:
        supervisor.stop()


def settings(
    site: Site, outside: Outside | None = None, limits: Limits = LIMITS, proxies: Proxies | None = None
) -> uvicorn.Config:
    """How the application is run: no log of who asked for what, connections within limits, and time to finish."""
    trusted, reached = proxies or Proxies(), outside or Outside()
    crowd = Crowd(limits, trusted.is_trusted, raise_open_files())
    return uvicorn.Config(
        create_app(site, reached.root, reached.secure),
        forwarded_allow_ips=[str(network) for network in trusted.networks],
        http=cast(type[asyncio.Protocol], partial(LimitedProtocol, crowd=crowd)),
        ws="none",
        timeout_keep_alive=limits.idle_seconds,
        access_log=False,
        log_level="warning",
        timeout_graceful_shutdown=_STOP_SECONDS,
        lifespan="off",
    )


def greeting(site: Site, address: str, passing: bool = False) -> list[str]:
    """What the researcher is told at the start."""
    base = address.rstrip("/")
    links = [f"{base}/s/{name}/" for name in site.studies]
    once, folder = first_link(site), site.root.resolve()
    return [
        *(f"participants   {link}" for link in links),
        *(f"               {hint}" for hint in _hints(site, links, folder)),
        f"admin          {base}/admin" if once is None else f"admin          {base}{once}   works once, for a day",
        *([f"               another link: similitude study admin-link {folder}"] if once is None else []),
        f"answers        {site.database.where}",
        f"studies        {folder}",
        f"stop           Ctrl+C; {_DELETED if passing else 'everything that was answered is kept'}",
        *(
            f"WARNING        other people on this machine can read {file}: chmod 600"
            for file in site.database.open_to_others
        ),
    ]


def _hints(site: Site, links: list[str], folder: Path) -> list[str]:
    """How the first link is made to say who comes; and whether a link is needed that is signed."""
    invited = [name for name, service in site.studies.items() if service.study.raters.invited]
    if invited:
        which = [f" --study {name}" if len(site.studies) > 1 else "" for name in invited]
        return [f"by invitation: similitude study invite {folder} PEOPLE{study}" for study in which]
    return [f"{link}?rater=NAME   to know who it is" for link in links[:1]]


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; a port that is taken is said in words."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, _alone_at_port(), 1)
        found.bind((host, port))
        found.listen(1024)
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


class _Stop:
    """What a signal that asks for the end does: it is remembered, and told to the server as soon as there is one.

    Before that it raises, as Ctrl+C always does. That alone would not do: an exception out of a signal is lost where it
    strikes a destructor, and the server would go on for ever.
    """

    def __init__(self) -> None:
        self.asked = False
        self._server: uvicorn.Server | None = None

    def __call__(self, _: int, __: FrameType | None) -> None:
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
def _stoppable() -> Iterator[_Stop]:
    """End in order on Ctrl+C and on signals that by themselves would end the process before the site is closed."""
    stop = _Stop()
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

"""Serving a site until it is told to stop: what was handed in is written before the process ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path

import uvicorn

from similitude.study.courier import Courier
from similitude.study.following import following
from similitude.study.logs import LogFormat, configure
from similitude.study.proxies import Outside, Proxies
from similitude.study.site import Site, open_site
from similitude.study.supervise import Supervisor
from similitude.study.web.app import create_app
from similitude.study.web.limits import LIMITS, Limits
from similitude.study.web.listening import address_of, listen, server_settings, stoppable
from similitude.study.web.login import first_link
from similitude.study.web.operations import Meter

_DELETED = "this demo is then deleted with its answers; give it a FOLDER to keep them"


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
    metrics_from: Sequence[str] | None = None,
    log_format: LogFormat = "text",
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
    metrics_from : addresses and networks that may read `/metrics`, beside this machine; None is no such page
    log_format : "text", or "json" for a line of JSON each
    """
    if log_format == "json":
        configure(log_format)
    outside, proxies = Outside.of(public_url), Proxies(trusted_proxies)
    meter = None if metrics_from is None else Meter(Proxies(metrics_from))
    with (
        stoppable() as stop,
        closing(open_site(root, database)) as site,
        closing(listen(host, port)) as listening,
    ):
        for line in greeting(site, public_url or address_of(host, listening), passing):
            say(line)
        with following(site), learning(site) if model else nullcontext(), telling(site):
            stop.run(uvicorn.Server(settings(site, outside, limits, proxies, meter)), listening)


@contextmanager
def learning(site: Site) -> Iterator[Supervisor]:
    """The model process of a site, for as long as it is served."""
    supervisor = Supervisor(site).start()
    try:
        yield supervisor
    finally:
        supervisor.stop()


@contextmanager
def telling(site: Site) -> Iterator[Courier]:
    """Who takes to webhooks what they are to be told, for as long as a site is served."""
    courier = Courier(site.database).start()
    try:
        yield courier
    finally:
        courier.stop()


def settings(
    site: Site,
    outside: Outside | None = None,
    limits: Limits = LIMITS,
    proxies: Proxies | None = None,
    meter: Meter | None = None,
) -> uvicorn.Config:
    """How the application is run."""
    reached = outside or Outside()
    app = create_app(site, reached.root, reached.secure, meter, limits, reached.origin)
    return server_settings(app, limits, proxies or Proxies())


def greeting(site: Site, address: str, passing: bool = False) -> list[str]:
    """What the researcher is told at the start."""
    base = address.rstrip("/")
    links = [f"{base}/s/{name}/" for name in site.studies]
    once, folder = first_link(site), site.root.resolve()
    return [
        *(f"participants   {link}" for link in links),
        *(f"               {hint}" for hint in _hints(site, links, folder)),
        *(f"draft          {name}: not fit to be served yet" for name in site.kept if name not in site.studies),
        *([] if site.kept else ["no study yet   make one on the admin page"]),
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

"""The commands of a study: `similitude study new | serve | demo`."""

from __future__ import annotations

import tempfile
from contextlib import closing, suppress
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from similitude.cli.commands import app as whole
from similitude.cli.usage import Commands
from similitude.extras import need

app = Commands(help="Ask people: make a study, serve it, keep what they say.", no_args_is_help=True)
whole.add_typer(app, name="study")

Folder = Annotated[Path, typer.Argument(help="folder of the study, or of several studies")]
DatabaseUrl = Annotated[
    str | None,
    typer.Option(
        envvar="SIMILITUDE_DATABASE", show_envvar=False,
        help="postgresql://... (default: what SIMILITUDE_DATABASE says, else the file answers.db in the folder)",
    ),
]  # fmt: skip
Host = Annotated[str, typer.Option(help="address to listen at; 0.0.0.0 is reachable from other machines")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="port to listen at; 0 is any free one")]
PublicUrl = Annotated[
    str | None,
    typer.Option(
        help="how the server is reached from outside: for the links, and the path under which a proxy has put it"
    ),
]


class LogFormats(StrEnum):
    """How the server says what happens."""

    text = "text"
    json = "json"


_LIMITS = "What is taken from outside"
Connections = Annotated[
    int | None, typer.Option(min=1, help="connections in all (default: 4096)", rich_help_panel=_LIMITS)
]
PerAddress = Annotated[
    int | None,
    typer.Option(
        min=1, help="connections from one address (default: 256); a lab may have one", rich_help_panel=_LIMITS
    ),
]
HeaderSeconds = Annotated[
    float | None,
    typer.Option(min=1, help="seconds that a request's header may take (default: 10)", rich_help_panel=_LIMITS),
]
BodySeconds = Annotated[
    float | None, typer.Option(min=1, help="seconds that its body may take (default: 20)", rich_help_panel=_LIMITS)
]


@app.callback()
def _needs_the_extra() -> None:
    """Ask people: make a study, serve it, keep what they say."""
    need("study", "a study")


@app.command()
def new(folder: Annotated[Path, typer.Argument(help="folder to make; its name is part of the address")]) -> None:
    """Make a study: study.toml with every key explained, pages to edit, a folder for the items."""
    from similitude.study.create import new_study

    for path in new_study(folder):
        typer.echo(f"wrote {path}")
    typer.echo(f"next: put one file per item into {folder / 'items'}, edit {folder / 'study.toml'}, then")
    typer.echo(f"      similitude study serve {folder}")


@app.command()
def serve(
    folder: Folder,
    database: DatabaseUrl = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    public_url: PublicUrl = None,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(help="address or network of a proxy on another machine; may be given several times"),
    ] = None,
    model: Annotated[bool, typer.Option(help="a model process that learns and chooses questions")] = True,
    metrics_from: Annotated[
        list[str] | None,
        typer.Option(help="address or network that may read /metrics, which is off unless given; several times"),
    ] = None,
    log_format: Annotated[LogFormats, typer.Option(help="lines for people, or JSON for programs")] = LogFormats.text,
    connections: Connections = None,
    connections_per_address: PerAddress = None,
    header_seconds: HeaderSeconds = None,
    body_seconds: BodySeconds = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(help="any limit as NAME=VALUE; several times; see server.toml", rich_help_panel=_LIMITS),
    ] = None,
) -> None:
    """Serve a study until Ctrl+C; answers are kept in one file, or in PostgreSQL."""
    from similitude.study.create import unfinished
    from similitude.study.serve import serve as run
    from similitude.study.server_settings import limits_given, read_limits
    from similitude.study.settings import StudyError, read_study, study_folders

    given: dict[str, Any] = {
        "connections": connections, "per_address": connections_per_address, "header_seconds": header_seconds,
        "body_seconds": body_seconds,
    }  # fmt: skip
    said = {name: value for name, value in given.items() if value is not None}
    limits = read_limits(folder, limits_given(limit or []) | said)
    for one in study_folders(folder, may_be_empty=True).values():
        with suppress(StudyError):  # which the start says, but of a draft
            for warning in unfinished(read_study(one)):
                typer.echo(f"warning: {warning}", err=True)
    run(
        folder, database, host, port, public_url, say, model, limits, trusted_proxies=trusted_proxy or (),
        metrics_from=metrics_from, log_format=log_format.value,
    )  # fmt: skip


@app.command(name="admin-link")
def admin_link(folder: Folder, database: DatabaseUrl = None, public_url: PublicUrl = "http://localhost:8000") -> None:
    """Print a link to set an admin's name and password, for a second admin or a forgotten password; works once.

    Links that were printed before end. A password that is replaced ends all sessions, and all admins are told.
    """
    from similitude.study.site import existing_database
    from similitude.study.web.auth import Door

    with closing(existing_database(folder, database)) as opened:
        say(f"{(public_url or '').rstrip('/')}{Door(opened).make_link()}")


@app.command()
def demo(
    folder: Annotated[Path | None, typer.Argument(help="where to keep it (default: nowhere, gone at the end)")] = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
) -> None:
    """Serve a study of colours, ready to click."""
    if folder is not None:
        _demo(folder, host, port)
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as passing:
        _demo(Path(passing) / "colours", host, port, passing=True)


def _demo(folder: Path, host: str, port: int, passing: bool = False) -> None:
    from similitude.demo import colours, hexadecimal
    from similitude.study.create import colour_study
    from similitude.study.serve import serve as run

    if not (folder / "study.toml").exists():
        colour_study(folder, {f"colour{k:02d}": colour for k, colour in enumerate(hexadecimal(colours()))})
    run(folder, host=host, port=port, say=say, passing=passing)


def say(line: str) -> None:
    """Say it at once: whoever reads a pipe waits for the link."""
    print(line, flush=True)

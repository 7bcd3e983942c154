"""`similitude study token | tokens | revoke | log`: tokens by which programs ask a study; who did what."""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from similitude.cli.study import DatabaseUrl, Folder, app
from similitude.cli.study_maintenance import Name, served_study

if TYPE_CHECKING:
    from similitude.study.tokens import ApiTokens


@app.command()
def token(
    folder: Folder,
    name: Annotated[str, typer.Argument(help="what it is for, such as 'PsychoPy in room 3'")],
    scope: Annotated[list[str], typer.Option(help="ask, read or admin; may be given several times")],
    days: Annotated[float | None, typer.Option(help="for which it works (default: until it is revoked)")] = None,
    study: Name = None,
    database: DatabaseUrl = None,
) -> None:
    """Make a token by which a program asks this study, and print it: it cannot be shown again."""
    with _tokens(folder, study, database) as (tokens, study_id):
        typer.echo(tokens.make(study_id, name, scope, me(), days))


@app.command()
def tokens(folder: Folder, study: Name = None, database: DatabaseUrl = None) -> None:
    """List the tokens of a study."""
    with _tokens(folder, study, database) as (found, study_id):
        now = found.database.clock.now()
        for one in found.of_study(study_id):
            used = "never used" if one.last_used is None else f"last used {_day(one.last_used)}"
            made = f"made {_day(one.created)} by {one.by}, {used}"
            typer.echo(f"{one.id}  {one.state(now)}  {', '.join(one.scopes)}  {one.name} ({made})")


@app.command()
def revoke(
    folder: Folder,
    number: Annotated[str, typer.Argument(help="the token's id, as `similitude study tokens` shows it")],
    study: Name = None,
    database: DatabaseUrl = None,
) -> None:
    """End a token at once."""
    with _tokens(folder, study, database) as (found, study_id):
        found.revoke(study_id, number, me())
        typer.echo(f"{number}: revoked")


@app.command(name="log")
def who_did_what(folder: Folder, database: DatabaseUrl = None) -> None:
    """Say who did what, the latest last: passwords, tokens, pauses, downloads."""
    from similitude.study.audit import deeds
    from similitude.study.site import existing_database

    with closing(existing_database(folder, database)) as opened:
        for one in reversed(deeds(opened, most=1_000_000)):
            typer.echo(str(one))


@contextmanager
def _tokens(folder: Folder, study: str | None, database: str | None) -> Iterator[tuple[ApiTokens, int]]:
    from similitude.study.tokens import ApiTokens

    with served_study(folder, study, database) as (opened, _, study_id):
        yield ApiTokens(opened), study_id


def me() -> str:
    """Who is at the command line, as the system knows them."""
    try:
        return f"{getpass.getuser()} (command line)"
    except (OSError, KeyError):
        return "command line"


def _day(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"

"""`similitude study state | history | restore`: what a study is now, what it was, and the way back."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from typing import Annotated

import typer

from similitude.cli.study import DatabaseUrl, Folder, app
from similitude.cli.study_maintenance import Name, name_of
from similitude.cli.study_tokens import me


@app.command()
def state(
    folder: Folder,
    to: Annotated[
        str | None, typer.Argument(help="draft, pilot, live, paused or closed (default: say what it is)")
    ] = None,
    study: Name = None,
    database: DatabaseUrl = None,
) -> None:
    """Say whether a study is a draft, a pilot, live, paused or closed, and what it may become; or make it that."""
    from similitude.study import revisions
    from similitude.study.site import open_site
    from similitude.study.states import state_of

    name = name_of(folder, study)
    with closing(open_site(folder, database)) as site:
        if to is not None:
            revisions.set_state(site, name, to, me())
        with site.database.read() as connection:
            now = state_of(connection, revisions.kept_in(site, name).study_id)
        others = revisions.may_become(site, name) if to is None else {}
    typer.echo(f"{name}: {now}")
    for other, why in others.items():
        typer.echo(f"  {other}: {why or f'similitude study state {folder} {other}'}")


@app.command()
def history(folder: Folder, study: Name = None, database: DatabaseUrl = None) -> None:
    """List the changes of a study, the latest last: when, by whom, what."""
    from similitude.study.settings import StudyError
    from similitude.study.site import existing_database
    from similitude.study.store import revisions
    from similitude.study.store.rows import number_of

    name = name_of(folder, study)
    with closing(existing_database(folder, database)) as opened, opened.read() as connection:
        study_id = number_of(connection, name)
        if study_id is None:
            raise StudyError(f"{name}: not in the database yet; serve the study first")
        for one in reversed(revisions.history(connection, study_id)):
            when = f"{datetime.fromtimestamp(one.at, UTC):%Y-%m-%d %H:%M:%S} UTC"
            typer.echo(f"{one.number}  {when}  {one.who}: {'; '.join(one.changes)}")


@app.command()
def restore(
    folder: Folder,
    number: Annotated[int, typer.Argument(help="of the revision, as `similitude study history` shows it")],
    study: Name = None,
    database: DatabaseUrl = None,
    texts_alone: Annotated[bool, typer.Option(help="leave the files of items as they are")] = False,
    sure: Annotated[bool, typer.Option(help="also where items with answers would show other files")] = False,
) -> None:
    """Let a study say and show again what it did in an earlier revision; a server that runs follows within seconds."""
    from similitude.study import revisions
    from similitude.study.site import open_site

    name = name_of(folder, study)
    with closing(open_site(folder, database)) as site:
        now = revisions.restore(site, name, number, me(), texts_alone=texts_alone, sure=sure)
    typer.echo(f"{name}: revision {now.number} says what revision {number} said: {'; '.join(now.changes)}")

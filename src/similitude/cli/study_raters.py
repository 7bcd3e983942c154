"""`similitude study raters | rater | leave-out | take-back | redo | note`: what is decided about raters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from similitude.cli.study import DatabaseUrl, Folder, app
from similitude.cli.study_maintenance import Name, served_study
from similitude.cli.study_tokens import me

if TYPE_CHECKING:
    from similitude.study.people.listing import RaterProfile
    from similitude.study.settings import Study
    from similitude.study.store.database import Database

Codes = Annotated[list[str], typer.Argument(help="codes of raters, such as r0001")]
Reason = Annotated[str, typer.Option(help="why; kept with the rater and in the log")]


@app.command()
def raters(
    folder: Folder,
    only: Annotated[
        str, typer.Option(help="all, flagged, finished, unfinished, left_out, counts or rehearsal")
    ] = "all",
    sort: Annotated[
        str, typer.Option(help="joined, code, flags, answered, catches, agreement, seconds; - is down")
    ] = "code",
    study: Name = None,
    database: DatabaseUrl = None,
) -> None:
    """List the raters, with what stands out about each."""
    from similitude.study.people.listing import Sifting, read_raters

    sifting = Sifting(only, sort=sort)
    with opened_study(folder, study, database) as (store, found, study_id):
        with store.read() as connection:
            everybody = read_raters(connection, found, study_id)
        for one in sifting.of(everybody):
            typer.echo(_line(one))


def _line(one: RaterProfile) -> str:
    share = one.judged.get("agreement")
    agreement = "" if share is None else f", agreement {100 * share:.0f}%"
    out = f"  left out: {one.reason}" if one.is_left_out else ""
    flags = f"  {'; '.join(one.flags)}" if one.flags else ""
    return f"{one.code}  {one.state}, {one.row['answered']} answers{agreement}{out}{flags}"


@app.command()
def rater(
    folder: Folder,
    code: Annotated[str, typer.Argument(help="the rater's code")],
    study: Name = None,
    database: DatabaseUrl = None,
) -> None:
    """Say what is known of one rater: figures, decisions, notes."""
    from similitude.study.people.listing import completion, read_raters
    from similitude.study.people.standing import People, no_such_rater

    with opened_study(folder, study, database) as (store, found, study_id):
        with store.read() as connection:
            one = next(iter(read_raters(connection, found, study_id, code)), None)
        if one is None:
            raise no_such_rater(code)
        typer.echo(_line(one))
        typer.echo(f"  {completion(found, one.row)}")
        for name in ("agreement", "self_consistency", "by_model", "seconds", "cant_tell", "verdict", "note"):
            if one.judged.get(name) is not None:
                typer.echo(f"  {name}: {one.judged[name]}")
        for remark in People(store, study_id).remarks(code):
            typer.echo(f"  {remark.when}  {remark.who}: {remark.words}{f': {remark.text}' if remark.text else ''}")


@app.command(name="leave-out")
def leave_out(folder: Folder, codes: Codes, reason: Reason, study: Name = None, database: DatabaseUrl = None) -> None:
    """Let raters' answers count no more; they are kept, and the model follows."""
    _decide(folder, "leave_out", codes, reason, study, database)


@app.command(name="take-back")
def take_back(
    folder: Folder, codes: Codes, reason: Reason = "", study: Name = None, database: DatabaseUrl = None
) -> None:
    """Let raters who were left out count again."""
    _decide(folder, "take_back", codes, reason, study, database)


@app.command()
def redo(folder: Folder, codes: Codes, reason: Reason = "", study: Name = None, database: DatabaseUrl = None) -> None:
    """Let raters answer once more from the start; what they said before is kept, marked superseded."""
    _decide(folder, "redo", codes, reason, study, database)


@app.command()
def note(
    folder: Folder,
    code: Annotated[str, typer.Argument(help="the rater's code")],
    text: Annotated[str, typer.Argument(help="what is to be kept with the rater")],
    study: Name = None,
    database: DatabaseUrl = None,
) -> None:
    """Note something about a rater; erased with the rater."""
    from similitude.study.people.standing import People

    with opened_study(folder, study, database) as (store, _, study_id):
        People(store, study_id).note(code, me(), text)
        typer.echo(f"{code}: noted")


def _decide(folder: Path, action: str, codes: list[str], reason: str, study: str | None, database: str | None) -> None:
    from similitude.study.people.standing import People

    with opened_study(folder, study, database) as (store, _, study_id):
        acted = People(store, study_id).act(action, codes, me(), reason)
    typer.echo(str(acted))
    if acted.not_done:
        raise typer.Exit(1)


@contextmanager
def opened_study(folder: Path, study: str | None, database: str | None) -> Iterator[tuple[Database, Study, int]]:
    """The database, the settings and the number of a study that was served."""
    from similitude.study.settings import StudyError, read_studies

    with served_study(folder, study, database) as (opened, name, study_id):
        settings = next((one for one in read_studies(folder) if one.name == name), None)
        if settings is None:
            raise StudyError(f"{name}: {folder} holds no such study")
        yield opened, settings, study_id

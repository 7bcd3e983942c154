"""`similitude study account | submissions | approve | reject | ask-back | screen-out | payable`: who is paid."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from similitude.cli.study import DatabaseUrl, Folder, app
from similitude.cli.study_maintenance import Name
from similitude.cli.study_raters import opened_study
from similitude.cli.study_tokens import me
from similitude.cli.targets import TABLES, check_file
from similitude.display.words import counted

if TYPE_CHECKING:
    from similitude.study.recruiting.reviewing import Matched, Told

At = Annotated[str, typer.Option("--at", help="prolific or mturk")]
Ids = Annotated[list[str], typer.Argument(help="ids of submissions (Prolific) or assignments (MTurk)")]


@app.command()
def account(
    folder: Folder,
    there: Annotated[str, typer.Argument(help="id of the study on Prolific, or of the HIT on MTurk")] = "",
    at: At = "prolific",
    sandbox: Annotated[bool, typer.Option("--sandbox", help="MTurk's sandbox, where nobody is paid")] = False,
    forget: Annotated[bool, typer.Option("--forget", help="forget the account instead")] = False,
    study: Name = None,
    database: DatabaseUrl = None,
) -> None:
    """Keep the key of an account with a recruiting service; it is asked for, or read from a pipe, never an option."""
    from similitude.study.recruiting.accounts import SERVICES, Accounts

    with opened_study(folder, study, database) as (store, _, study_id):
        accounts = Accounts(store, study_id)
        if forget:
            accounts.forget(at, me())
            typer.echo(f"{SERVICES.get(at, at)}: forgotten")
            return
        names = ("key", "secret") if at == "mturk" else ("token",)
        given = {name: _asked(name) for name in names}
        accounts.keep(at, {**given, "study": there}, me(), sandbox)
        typer.echo(f"{SERVICES[at]}: kept; it is shown nowhere")


def _asked(name: str) -> str:
    """A line of standard input; at a terminal without an echo, since whoever looks on would read it."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().strip()
    return str(typer.prompt(name, hide_input=True))


@app.command()
def submissions(folder: Folder, at: At = "prolific", study: Name = None, database: DatabaseUrl = None) -> None:
    """List the submissions on a recruiting service, with what speaks against paying each."""
    for one in _look(folder, at, study, database):
        its = one.submission
        rater = one.rater.code if one.rater else "–"
        against = f"  {'; '.join(one.doubts)}" if one.doubts else ""
        typer.echo(f"{its.id}  {its.who}  {rater}  {its.status.lower()}{against}")


@app.command()
def approve(
    folder: Folder,
    ids: Annotated[list[str] | None, typer.Argument(help="ids of submissions or assignments")] = None,
    clear: Annotated[bool, typer.Option("--clear", help="all that wait and that nothing speaks against")] = False,
    at: At = "prolific",
    study: Name = None,
    database: DatabaseUrl = None,
) -> None:
    """Approve submissions, which pays people and cannot be taken back."""
    from similitude.study.recruiting.reviewing import Told
    from similitude.study.settings import StudyError

    if clear == bool(ids):
        raise StudyError("approve: give the ids of submissions, or --clear")
    wanted = [one.submission.id for one in _look(folder, at, study, database) if one.is_clear] if clear else ids or []
    _act(folder, at, "approve", wanted, Told(), study, database)


@app.command()
def reject(
    folder: Folder,
    ids: Ids,
    message: Annotated[str, typer.Option(help="what the person reads; on Prolific at least 100 characters")],
    category: Annotated[str, typer.Option(help="of Prolific, such as FAILED_CHECK, TOO_QUICKLY, LOW_EFFORT")] = "OTHER",
    at: At = "prolific",
    study: Name = None,
    database: DatabaseUrl = None,
) -> None:
    """Reject submissions: nobody is paid, and the person's record suffers."""
    from similitude.study.recruiting.reviewing import Told

    _act(folder, at, "reject", ids, Told(message, category), study, database)


@app.command(name="ask-back")
def ask_back(
    folder: Folder,
    ids: Ids,
    reason: Annotated[str, typer.Option(help="what the person reads")],
    study: Name = None,
    database: DatabaseUrl = None,
) -> None:
    """Ask people on Prolific to return their submissions: nobody is paid, and no record suffers."""
    from similitude.study.recruiting.reviewing import Told

    _act(folder, "prolific", "ask_back", ids, Told(reason), study, database)


@app.command(name="screen-out")
def screen_out(
    folder: Folder,
    ids: Ids,
    code: Annotated[str, typer.Option(help="the completion code that the study on Prolific has for them")],
    study: Name = None,
    database: DatabaseUrl = None,
) -> None:
    """Complete submissions on Prolific with a code for those who are screened out."""
    from similitude.study.recruiting.reviewing import Told

    _act(folder, "prolific", "screen_out", ids, Told(code=code), study, database)


@app.command()
def payable(
    folder: Folder,
    at: At = "prolific",
    out: Annotated[Path | None, typer.Option(help="file to write them to (default: the terminal)")] = None,
    study: Name = None,
    database: DatabaseUrl = None,
) -> None:
    """Print who has finished without a doubt, one id a line, as Prolific's own bulk approval takes them."""
    from similitude.feedback.files.whole import write_whole
    from similitude.study.recruiting.reviewing import Reviewing

    if out is not None:
        check_file(out, "--out", *TABLES)
    with opened_study(folder, study, database) as (store, settings, study_id):
        people = Reviewing(store, settings, study_id).payable(at)
    text = "".join(f"{who}\n" for who in people)
    if out is None:
        typer.echo(text, nl=False)
        return
    write_whole(out, text.encode(), private=True)
    typer.echo(f"{out}: {counted(len(people), 'person', 'people')}")


def _look(folder: Path, at: str, study: str | None, database: str | None) -> list[Matched]:
    from similitude.study.recruiting.reviewing import Reviewing

    with opened_study(folder, study, database) as (store, settings, study_id):
        return Reviewing(store, settings, study_id).look(at)


def _act(
    folder: Path, at: str, action: str, ids: list[str], told: Told, study: str | None, database: str | None
) -> None:
    from similitude.study.recruiting.reviewing import Reviewing

    with opened_study(folder, study, database) as (store, settings, study_id):
        acted = Reviewing(store, settings, study_id).act(at, action, ids, me(), told)
    typer.echo(str(acted))
    if acted.not_done:
        raise typer.Exit(1)

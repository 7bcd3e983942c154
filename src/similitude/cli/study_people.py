"""`similitude study invite | invited | simulate | forget-rehearsal`: who takes part, and who only pretends to."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from similitude.cli.study import DatabaseUrl, Folder, PublicUrl, app
from similitude.cli.study_maintenance import Name, name_of
from similitude.cli.targets import TABLES, check_apart, check_file
from similitude.display.words import counted

if TYPE_CHECKING:
    from similitude.study.service import StudyService


@app.command()
def invite(
    folder: Folder,
    people: Annotated[Path | None, typer.Argument(help="one person a line, or a table with a column `name`")] = None,
    out: Annotated[Path | None, typer.Option(help="file to write name and link to (default: the terminal)")] = None,
    withdraw: Annotated[str | None, typer.Option(help="take this person off the list")] = None,
    rehearsal: Annotated[bool, typer.Option("--rehearsal", help="print the link for rehearsing instead")] = False,
    study: Name = None,
    database: DatabaseUrl = None,
    public_url: PublicUrl = "http://localhost:8000",
) -> None:
    """Invite people: a signed link for each of a list, which nobody can invent."""
    from similitude.study import invite as inviting
    from similitude.study.settings import StudyError

    if out is not None:
        check_file(out, "--out", *TABLES)
    check_apart([("--out", out)], people)
    base = (public_url or "").rstrip("/")
    if (people is not None) + (withdraw is not None) + rehearsal != 1:
        raise StudyError("invite: give a list of PEOPLE, or --withdraw NAME, or --rehearsal")
    with _study(folder, study, database) as service:
        if rehearsal:
            typer.echo(f"{base}{inviting.rehearsal_link(service)}")
        elif withdraw is not None:
            typer.echo(f"{withdraw}: {inviting.withdraw(service, withdraw)}")
        elif people is not None:
            names = inviting.read_people(people)
            links = inviting.invite(service, names)
            for name in names:
                if name not in links:
                    typer.echo(f"{name}: was erased, so is not invited again", err=True)
            _write({name: f"{base}{link}" for name, link in links.items()}, out)
            if not service.study.raters.invited:
                typer.echo("these links work, but others do, too: set invited = true under [raters]", err=True)


@app.command()
def invited(folder: Folder, study: Name = None, database: DatabaseUrl = None) -> None:
    """List the invited people, and how far each is."""
    from similitude.study.invite import invited_people
    from similitude.study.leaving import WHY

    with _study(folder, study, database) as service:
        for one in invited_people(service):
            state = "finished" if one.finished else "has joined" if one.joined else "has not come yet"
            why = f" ({WHY[one.withheld]})" if one.withheld in WHY else ""
            length = service.study.under(one.condition).length
            typer.echo(f"{one.identity}: {state}, {one.answered} of {length} answers{why}")


@app.command()
def simulate(
    url: Annotated[str, typer.Argument(help="the link that raters get, such as http://127.0.0.1:8000/s/faces/")],
    raters: Annotated[int, typer.Option(min=1, help="number of raters, all at once")] = 50,
    sharpness: Annotated[float, typer.Option(min=0, help="how strongly differences decide an answer")] = 2.0,
    clickers: Annotated[float, typer.Option(min=0, max=1, help="share of raters who click at random")] = 0.0,
    think: Annotated[float, typer.Option(min=0, help="seconds of thought per question, on average")] = 0.0,
    truth: Annotated[
        Path | None, typer.Option(help="a model (.sim) that they answer by; else colours or chance")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="seed: the same raters again")] = 0,
    as_people: Annotated[
        bool, typer.Option("--as-people", help="count them as people, in a study whose answers are thrown away")
    ] = False,
) -> None:
    """Rehearse a study: noisy raters answer it through the interface that browsers use, and are left out of it."""
    from similitude.demo import colour_positions
    from similitude.study.simulate import Behaviour, simulate_study, truth_of_file

    known = None if truth is None else truth_of_file(truth)
    behaviour = Behaviour(sharpness, clickers, think)
    done = simulate_study(
        url, raters, behaviour, truth=known, colours=colour_positions, seed=seed, rehearsal=not as_people
    )
    typer.echo(str(done))
    if done.failed:
        raise typer.Exit(1)


@app.command(name="forget-rehearsal")
def forget(folder: Folder, study: Name = None, database: DatabaseUrl = None) -> None:
    """Delete the raters of rehearsals and all that they answered."""
    from similitude.study.maintenance.erase import forget_rehearsal
    from similitude.study.site import existing_database

    name = name_of(folder, study)
    with closing(existing_database(folder, database)) as opened:
        raters, answers = forget_rehearsal(opened, name)
    people = counted(raters, "rater of rehearsals", "raters of rehearsals")
    typer.echo(f"{name}: {people} and {counted(answers, 'answer')} of theirs deleted")


@contextmanager
def _study(folder: Path, study: str | None, database: str | None) -> Iterator[StudyService]:
    from similitude.study.site import open_site

    name = name_of(folder, study)
    with closing(open_site(folder, database)) as site:
        yield site.studies[name]


def _write(links: Mapping[str, str], out: Path | None) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("name", "link"), *links.items()])
    if out is None:
        typer.echo(text.getvalue(), nl=False)
        return
    from similitude.feedback.files.whole import write_whole

    write_whole(out, text.getvalue().encode(), private=True)
    typer.echo(f"{out}: {counted(len(links), 'link')}; who has one is that person, so keep it safe")

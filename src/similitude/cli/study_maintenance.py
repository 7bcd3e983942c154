"""`similitude study export | backup | import | erase | rebuild`: what is kept."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from similitude.cli.study import DatabaseUrl, Folder, app
from similitude.display.words import counted

if TYPE_CHECKING:
    from similitude.study.store.database import Database

Name = Annotated[str | None, typer.Option("--study", help="which study, where the folder holds several")]


@app.command()
def export(
    folder: Folder,
    file: Annotated[Path, typer.Argument(help="file to write: .csv, .tsv, .jsonl or .parquet")],
    known: Annotated[bool, typer.Option(help="practice and catch trials, too")] = False,
    raters: Annotated[
        bool, typer.Option(help="the table of raters instead: who they are, survey, catch trials")
    ] = False,
    rehearsal: Annotated[bool, typer.Option(help="answers of rehearsals, too, beside those of people")] = False,
    pilot: Annotated[bool, typer.Option(help="answers of the pilot, too, beside those that count")] = False,
    plain: Annotated[
        bool, typer.Option("--plain", help="a table for spreadsheets: a cell for each item and answer, ISO times")
    ] = False,
    study: Name = None,
    database: DatabaseUrl = None,
) -> None:
    """Write the answers as a file that `similitude fit` and `read_comparisons` read."""
    from similitude.feedback.files.whole import check_place
    from similitude.study.maintenance.export import export_answers
    from similitude.study.maintenance.raters_file import export_raters

    check_place(file)
    name = name_of(folder, study)
    opened = _open(folder, database)
    try:
        if raters:
            typer.echo(
                f"{file}: {counted(export_raters(opened, name, file), 'rater')}; it says who they are, so keep it safe"
            )
            return
        done = export_answers(opened, name, file, known, rehearsal, plain, pilot)
    finally:
        opened.close()
    taken = {"practice": known, "catch trials": known, "rehearsals": rehearsal, "the pilot": pilot}
    kinds = [*(kind for kind, asked_for in taken.items() if not asked_for), "erased raters"]
    without = f" ({done.left_out} of {' or '.join(kinds)} left out)" if done.left_out else ""
    typer.echo(f"{file}: {counted(done.answers, 'answer')} by {counted(done.raters, 'rater')}{without}")


@app.command()
def backup(
    folder: Folder,
    file: Annotated[Path, typer.Argument(help="FILE.jsonl.gz, or FILE.db for a copy of the SQLite file")],
    database: DatabaseUrl = None,
) -> None:
    """Write a backup while the study goes on."""
    from similitude.feedback.files.whole import check_place
    from similitude.study.maintenance.archive import back_up

    check_place(file)
    opened = _open(folder, database)
    try:
        typer.echo(f"{file}: {counted(back_up(opened, file), 'answer')}")
    finally:
        opened.close()


@app.command(name="backups")
def keep_backups(
    folder: Folder,
    into: Annotated[Path, typer.Argument(help="folder for the backups, best on another machine")],
    keep: Annotated[int, typer.Option(min=1, help="how many to keep; older ones are taken away")] = 14,
    every: Annotated[
        float | None, typer.Option(min=0.01, help="hours after which to do it again, for ever (default: once)")
    ] = None,
    database: DatabaseUrl = None,
) -> None:
    """Write a backup with the time in its name, and keep the latest so many: for a timer, or for ever."""
    from similitude.study.maintenance.schedule import back_up_and_keep
    from similitude.study.store.database import StoreError

    while True:
        try:
            opened = _open(folder, database)
            try:
                file, gone = back_up_and_keep(opened, into, keep)
            finally:
                opened.close()
            typer.echo(f"{file}: written; {counted(gone, 'older one')} taken away")
        except StoreError as error:
            if every is None:
                raise
            typer.echo(f"no backup this time: {error}", err=True)
        if every is None:
            return
        time.sleep(3600 * every)


@app.command(name="import")
def bring(
    folder: Folder,
    file: Annotated[Path, typer.Argument(help="a backup (.jsonl.gz, .db), or exported answers (.csv, .jsonl, ...)")],
    study: Name = None,
    database: DatabaseUrl = None,
) -> None:
    """Bring back a backup, or bring exported answers into a study; what is there already stays as it is."""
    from similitude.study.maintenance.archive import bring_back
    from similitude.study.maintenance.bring_in import bring_in
    from similitude.study.site import open_site

    site = open_site(folder, database)
    try:
        if file.suffix == ".db" or file.name.endswith(".jsonl.gz"):
            added = bring_back(site.database, file, site.studies)
        else:
            added = bring_in(site.studies[name_of(folder, study)], file)
    finally:
        site.close()
    typer.echo(f"{file}: {counted(added, 'answer')} added")


@app.command()
def erase(
    folder: Folder,
    rater: Annotated[str, typer.Argument(help="the rater's code (r0001), or identity (PROLIFIC_PID)")],
    identity: Annotated[bool, typer.Option("--identity", help="RATER is an identity, not a code")] = False,
    study: Name = None,
    database: DatabaseUrl = None,
) -> None:
    """Erase what a rater said and who it was; names the backups that still hold it."""
    from similitude.study.maintenance.erase import erase_rater

    opened = _open(folder, database)
    try:
        done = erase_rater(opened, name_of(folder, study), rater, identity)
    finally:
        opened.close()
    typer.echo(f"{done.code}: {counted(done.answers, 'answer')} erased")
    for file in done.backups:
        typer.echo(f"  still in the backup {file}: delete it, or erase the rater again after bringing it back")


@app.command()
def rebuild(folder: Folder, database: DatabaseUrl = None) -> None:
    """Count again from the log of answers, and drop what the model process makes again."""
    from similitude.study.maintenance.rebuild import rebuild as count_again

    opened = _open(folder, database)
    try:
        typer.echo(f"{folder}: {counted(count_again(opened), 'rater')} had other counts")
    finally:
        opened.close()


def _open(folder: Path, url: str | None) -> Database:
    from similitude.study.site import existing_database

    return existing_database(folder, url)


def name_of(folder: Path, study: str | None) -> str:
    """The study that is meant: the one that is named, or the only one."""
    from similitude.study.settings import StudyError, study_folders

    if study is not None:
        return study
    names = list(study_folders(folder))
    if len(names) > 1:
        raise StudyError(f"{folder}: several studies ({', '.join(names)}); give --study")
    return names[0]


@contextmanager
def served_study(folder: Path, study: str | None, database: str | None) -> Iterator[tuple[Database, str, int]]:
    """The database, the name and the number of a study that was served; closed at the end."""
    from similitude.study.settings import StudyError
    from similitude.study.store.rows import number_of

    name = name_of(folder, study)
    with closing(_open(folder, database)) as opened:
        with opened.read() as connection:
            study_id = number_of(connection, name)
        if study_id is None:
            raise StudyError(f"{name}: not in the database yet; serve the study first")
        yield opened, name, study_id

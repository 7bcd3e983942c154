"""A site: the studies of one server, with the database and the writer that they share."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from similitude.study.service import StudyService
from similitude.study.settings import StudyError, read_studies
from similitude.study.store.database import Database, StoreError
from similitude.study.store.writer import Writer

FILE = "answers.db"


@dataclass(frozen=True)
class Site:
    """The studies that are served, by name."""

    root: Path
    database: Database
    writer: Writer
    studies: dict[str, StudyService]

    def close(self) -> None:
        """Write what was handed in and how long it was served, and let go of the database."""
        self.writer.close()
        with suppress(StoreError), self.database.write() as connection:
            self.database.uptime.keep(connection)
        self.database.close()


def default_database(root: Path) -> str:
    """The address of the database that needs no other service: a file beside the studies."""
    return f"sqlite:///{root.resolve() / FILE}"


def existing_database(root: Path, url: str | None = None) -> Database:
    """The database of a folder, which must be there."""
    if url is None and not (root / FILE).is_file():
        raise StudyError(f"{root}: no {FILE} in it; {_where_instead(root.resolve())}")
    return Database(url or default_database(root))


def _where_instead(folder: Path) -> str:
    """What to do about a folder without a database: it may be served from the folder above."""
    if (folder / "study.toml").is_file() and (folder.parent / FILE).is_file():
        return f"the folder above holds one: give {folder.parent} --study {folder.name}"
    return "serve the study first, or give --database"


def open_site(root: Path, url: str | None = None) -> Site:
    """Read the studies of a folder and open their database, which is made where there is none."""
    studies = read_studies(root)
    database = Database(url or default_database(root))
    writer = Writer(database)
    try:
        services = {study.name: StudyService(study, database, writer) for study in studies}
    except Exception:
        writer.close()
        database.close()
        raise
    return Site(root, database, writer, services)

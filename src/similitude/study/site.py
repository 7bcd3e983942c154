"""A site: the studies of one server, with the database and the writer that they share.

What is served may change while it is: a study is looked up by its name for every request, and another revision of it
takes the place of the one before at once. Whoever holds the old one finishes with it.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from similitude.study.contents import Contents
from similitude.study.service import StudyService
from similitude.study.settings import StudyError, study_folders
from similitude.study.shelf import Stamp
from similitude.study.store.database import Database, StoreError
from similitude.study.store.writer import Writer

FILE = "answers.db"


@dataclass
class Kept:
    """A study in its folder, as this process knows it; it need not be served, as long as it is a draft.

    Attributes
    ----------
    name, folder, study_id : what it is called, where it lies, and its number in the database
    number : of the latest revision that was seen here; 0 before the first
    files : the texts of that revision, by name
    stamp, seen : of the folder as it was when it was last read, and at the last look
    problem : why what lies there, or was said last, is not served; None where it is
    moving : whether files of its items are being moved here
    """

    name: str
    folder: Path
    study_id: int
    number: int = 0
    files: dict[str, str] = field(default_factory=dict)
    stamp: Stamp = ()
    seen: Stamp = ()
    problem: str | None = None
    moving: bool = False


@dataclass(frozen=True)
class Site:
    """The studies of one server.

    Attributes
    ----------
    root : the folder of a study, or of several
    database, writer : where they are kept
    studies : those that are served, by name
    kept : all that there are, by name
    arriving : folders that appeared since the start and are not served yet: their stamp, and why not
    lock : held while a study changes, or files are put into its folder
    """

    root: Path
    database: Database
    writer: Writer
    studies: dict[str, StudyService] = field(default_factory=dict)
    kept: dict[str, Kept] = field(default_factory=dict)
    arriving: dict[str, tuple[Stamp, str | None]] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def is_one_study(self) -> bool:
        """Whether the folder is that of a study itself, so that no other can come beside it."""
        return (self.root / "study.toml").is_file()

    def contents_of(self, name: str) -> Contents | None:
        """What is served of a study; None where it is not."""
        service = self.studies.get(name)
        return None if service is None else service.contents

    def serve(self, contents: Contents) -> None:
        """Serve a study as it is now in the place of what it was."""
        name = contents.study.name
        self.studies[name] = StudyService(contents, self.database, self.writer, self.studies.get(name))

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
    """Read the studies of a folder and open their database, which is made where there is none.

    A study that is no draft must be fit to be served; a folder that is empty is a site whose studies are still to come.
    """
    from similitude.study.following import open_study  # which changes sites, so knows them

    folders = study_folders(root, may_be_empty=True)
    database = Database(url or default_database(root))
    site = Site(root, database, Writer(database))
    try:
        for name, folder in folders.items():
            open_study(site, name, folder)
    except Exception:
        site.writer.close()
        database.close()
        raise
    return site

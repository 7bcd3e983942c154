"""Opening the database: one SQLite file, or PostgreSQL when that is outgrown; migrated, refused where it is not ours.

SQLite runs in WAL mode and syncs at every commit, so that what was acknowledged survives a kill and a power cut.
A write begins by taking the one lock there is (`BEGIN IMMEDIATE`, an advisory lock in PostgreSQL): processes write one
after the other, so that the log's numbers are in the order in which its rows can be seen.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, DatabaseError, InterfaceError, OperationalError

from similitude.feedback.files.whole import create_private
from similitude.study.store import schema
from similitude.study.store.uptime import Uptime

if TYPE_CHECKING:
    from alembic.config import Config  # alembic is imported where an older database is opened: it takes time and 15 MB

APPLICATION = 0x53494D49  # "SIMI", in the header of an SQLite file of ours
_LOCK = 0x53494D49
_BUSY_SECONDS = 10  # for which a writer waits for the others
_FAR_BEHIND = 60.0  # seconds by which a clock that was put back by its own keeper never is
_IN_DOUBT = 60.0  # seconds for which a clock that is far behind is not believed
_KEEPALIVE = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3, "tcp_user_timeout": 60_000}


class StoreError(OSError):
    """The database cannot be used; the message says why, and that nothing was lost."""


class Clock:
    """Seconds since 1970 that neither go backwards nor stand still when the machine's clock is put back a little.

    A clock that is far behind for a minute is believed: it was wrong before, or somebody has set it on purpose. Times
    that stay ahead for ever would be worse than one step back.

    Parameters
    ----------
    monotonic : seconds that only go forward
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        # the time that was given, when, and when the machine's clock was last not far behind: one value for all threads
        self._last = 0.0, monotonic(), monotonic()

    def now(self) -> float:
        """The time; where the clock was put back, the latest that was given and what has passed since."""
        last, since, agreed = self._last
        passed, told = self._monotonic(), time.time()
        own = last + passed - since if last else told
        if own - told <= _FAR_BEHIND:
            agreed = passed
        now = told if passed - agreed > _IN_DOUBT else max(told, own)
        self._last = now, passed, passed if now == told else agreed
        return now


class Database:
    """A migrated database.

    Parameters
    ----------
    url : `sqlite:///FILE` or `postgresql://...`
    known : whether the process that started this one has opened it: then it is neither examined nor migrated
    """

    def __init__(self, url: str, known: bool = False) -> None:
        self.url = _with_driver(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        if self.is_sqlite:
            _refuse_foreign_file(self.url)
            with suppress(OSError):  # that it is there, or cannot be made, is said when it is opened
                create_private(Path(str(self.url.database)))
        self.engine = sa.create_engine(self.url, **self._options())
        sa.event.listen(self.engine, "handle_error", _leave_out_values)
        if self.is_sqlite:
            sa.event.listen(self.engine, "connect", _prepare_sqlite)
            sa.event.listen(self.engine, "begin", lambda connection: connection.exec_driver_sql(_begin(connection)))
        self.clock, self.uptime = Clock(), Uptime()
        try:
            with _explained(self.url):
                if not known:
                    self._refuse_foreign()
                    self._migrate()
                with self.engine.connect() as connection:
                    self.uptime.follow(connection)
        except BaseException:
            self.engine.dispose()
            raise

    def _options(self) -> dict[str, Any]:
        """Of the engine; a fault does not tell the parameters of its query, which may say who a rater is.

        Of SQLite's connections the last used is used again: its pages are at hand, those of others are out of date.
        """
        if self.is_sqlite:
            return {"pool_size": 8, "pool_use_lifo": True, "hide_parameters": True}
        noticing = {name: value for name, value in _KEEPALIVE.items() if name not in self.url.query}
        return {"pool_pre_ping": True, "connect_args": noticing, "hide_parameters": True}

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """A connection that sees one moment of the database."""
        with _explained(self.url), self.engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """A transaction that holds the lock of writers; committed durably at the end."""
        with _explained(self.url), self.engine.connect() as connection:
            connection = connection.execution_options(writes=True)
            with connection.begin():
                if not self.is_sqlite:
                    connection.execute(sa.text(f"SET LOCAL lock_timeout = {round(_BUSY_SECONDS * 1000)}"))
                    connection.execute(sa.text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
                yield connection

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    def _refuse_foreign(self) -> None:
        with self.engine.connect() as connection:
            tables = set(sa.inspect(connection).get_table_names())
            ours = "alembic_version" in tables and "answer" in tables
            if not self.is_sqlite and not ours and tables & set(schema.metadata.tables):
                raise StoreError(
                    f"{self.where}: has tables with our names that are not ours; give similitude a database of its own"
                )
            if ours and self.is_sqlite:
                state = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
                if state != "ok":
                    raise StoreError(f"{self.where}: the file is damaged ({state}); restore a backup")

    def _migrate(self) -> None:
        with self.write() as connection:  # several servers may start at once: the second finds the work done
            present = _schema_of(connection)
            if present is None:
                schema.make(connection)
            elif present != schema.REVISION:
                self._upgrade(connection, present)
            if self.is_sqlite:
                connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION}")

    def _upgrade(self, connection: sa.Connection, present: str) -> None:
        from alembic import command
        from alembic.script import ScriptDirectory

        settings = migrations()
        if present not in {script.revision for script in ScriptDirectory.from_config(settings).walk_revisions()}:
            raise StoreError(f"{self.where}: written by a newer similitude (schema {present}); upgrade similitude")
        settings.attributes["connection"] = connection
        command.upgrade(settings, "head")

    @property
    def open_to_others(self) -> list[str]:
        """Files of the database that other people on this machine may read: they hold the key and who raters are."""
        if not self.is_sqlite or os.name == "nt":
            return []
        files = [Path(f"{self.url.database}{end}") for end in ("", "-wal", "-shm")]
        modes = {file: stat.S_IMODE(file.stat().st_mode) for file in files if file.exists()}
        return [f"{file} (mode {mode:04o})" for file, mode in modes.items() if mode & 0o077]

    @property
    def where(self) -> str:
        """The database by name, without a password."""
        return _called(self.url)


def _schema_of(connection: sa.Connection) -> str | None:
    """The last step that led to this database; None where it is empty."""
    if not sa.inspect(connection).has_table(schema.version.name):
        return None
    return connection.scalar(sa.select(schema.version.c.version_num))


def migrations() -> Config:
    """Alembic's settings: the steps that lead from any earlier schema to this one."""
    from alembic.config import Config

    settings = Config()
    settings.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    return settings


def _with_driver(url: str) -> sa.URL:
    try:
        parsed = sa.make_url(url)
    except ArgumentError:
        raise StoreError("database: expected sqlite:///FILE or postgresql://..., found no address") from None
    if parsed.drivername in ("postgresql", "postgres"):
        parsed = parsed.set(drivername="postgresql+psycopg")
    if parsed.get_backend_name() not in ("sqlite", "postgresql"):
        raise StoreError(f"database: expected sqlite:///FILE or postgresql://..., found {parsed.drivername}")
    return parsed


def _refuse_foreign_file(url: sa.URL) -> None:
    """Look at a file without changing a byte of it: opening it to write would already set its journal's mode."""
    if url.database in (None, "", ":memory:"):
        raise StoreError("database: expected sqlite:///FILE, found one in memory, which would lose every answer")
    path = Path(str(url.database))
    if not path.exists() or (path.is_file() and path.stat().st_size == 0):
        return
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as raw:
            application = raw.execute("PRAGMA application_id").fetchone()[0]
            tables = raw.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    except sqlite3.DatabaseError as error:
        said = _meaning(str(error))
        known = "locked" in said or "opened" in said
        raise StoreError(f"{path}: {said if known else 'not a database, or damaged'}; it was left as it is") from None
    if tables and application != APPLICATION:
        raise StoreError(f"{path}: a database, but not one of similitude; it was left as it is")


def _called(url: sa.URL) -> str:
    return str(url.database) if url.get_backend_name() == "sqlite" else url.render_as_string(hide_password=True)


def _prepare_sqlite(raw: sqlite3.Connection, _: Any) -> None:
    """WAL, a sync at every commit, erased rows overwritten; transactions are begun by us, not by the driver.

    The log of changes goes into the file after 40 MB of them instead of 4: pages that change often are written once
    then, and raters wait for it less often. 8 MB of pages are kept at hand instead of 2.
    """
    raw.isolation_level = None
    safe = "journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "secure_delete = ON"
    fast = "wal_autocheckpoint = 10000", "cache_size = -8000"
    for setting in (*safe, *fast):
        raw.execute(f"PRAGMA {setting}")
    raw.execute(f"PRAGMA busy_timeout = {_BUSY_SECONDS * 1000}")


def _begin(connection: sa.Connection) -> str:
    return "BEGIN IMMEDIATE" if connection.get_execution_options().get("writes") else "BEGIN"


def _leave_out_values(fault: sa.ExceptionContext) -> None:
    """Take off what PostgreSQL adds to a fault: the values of the row, which may say who a rater is."""
    for error in (fault.original_exception, fault.sqlalchemy_exception):
        if error is not None and error.args:
            error.args = (str(error.args[0]).partition("\nDETAIL:")[0], *error.args[1:])


@contextmanager
def _explained(url: sa.URL) -> Iterator[None]:
    """Turn the faults of a database into sentences."""
    try:
        yield
    except (OperationalError, InterfaceError) as error:
        raise StoreError(f"{_called(url)}: {_meaning(str(error.orig))}") from error
    except DatabaseError as error:
        if "not a database" in str(error.orig) or "malformed" in str(error.orig):
            raise StoreError(f"{_called(url)}: not a database, or damaged; it was left as it is") from error
        raise


_LOCKED = "another program keeps the database locked; close it"


def _meaning(fault: str) -> str:
    known = {
        "disk is full": "the disk is full; make room, answers are taken again as soon as there is",
        "locked": _LOCKED,
        "lock timeout": _LOCKED,
        "unable to open": "the file cannot be opened; see whether the folder exists and may be written to",
        "readonly": "the file may not be written to",
        "disk I/O error": "the disk does not answer as it should (disk I/O error)",
    }
    return next((meaning for sign, meaning in known.items() if sign in fault), fault.strip().splitlines()[0])

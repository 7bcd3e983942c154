"""Backups: a copy of the SQLite file, or a portable archive that either database can be brought back from.

An archive is JSON lines, compressed: a first line about it, then one line per row, all of one moment. What can be
derived (pool, models, curves) and what only counts for a while (sessions, one-time links) is left out.
"""

from __future__ import annotations

import gzip
import json
import os
import secrets
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic.script import ScriptDirectory

from similitude.feedback.files.whole import create_private
from similitude.study.recruiting import accounts
from similitude.study.settings import StudyError
from similitude.study.store import schema
from similitude.study.store.database import Database, migrations

KEPT = (
    schema.study, schema.study_version, schema.revision, schema.rater, schema.reply, schema.remark, schema.answer,
    schema.lease, schema.invitation, schema.redaction, schema.tombstone, schema.backup, schema.uptime, schema.secret,
    schema.admin, schema.membership, schema.password_set, schema.api_token, schema.share_link, schema.webhook,
    schema.deed,
)  # fmt: skip
_ABOUT = {"similitude": "study archive", "format": 1}
_BEFORE_DOORS = ("0001", "0002_as_shown")
_CHUNK = 500
Rows = Iterator[tuple[str, dict[str, Any]]]


def back_up(database: Database, path: Path) -> int:
    """Write a backup while the study goes on, and record it; returns how many answers it holds.

    A name that ends in .db is a copy of the SQLite file; one that ends in .jsonl.gz an archive.
    """
    path = path.resolve()
    if path.exists():
        raise StudyError(f"{path}: there is a file already; give each backup a name of its own")
    if path.suffix == ".db" and database.is_sqlite:
        _through_temporary(path, lambda beside: _copy(database, beside))
    elif path.name.endswith(".jsonl.gz"):
        _through_temporary(path, lambda beside: _archive(database, beside))
    else:
        kinds = "FILE.db or FILE.jsonl.gz" if database.is_sqlite else "FILE.jsonl.gz (or use pg_dump)"
        raise StudyError(f"{path.name}: expected {kinds}")
    with database.write() as connection:
        last = connection.scalar(sa.select(sa.func.max(schema.answer.c.id))) or 0
        row = {"file": str(path), "last_answer": last, "at": database.clock.now()}
        connection.execute(sa.insert(schema.backup), row)
        return connection.scalar(sa.select(sa.func.count()).select_from(schema.answer)) or 0


def _through_temporary(path: Path, write: Any) -> None:
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        create_private(beside)
        write(beside)
        with beside.open("r+b") as stream:  # Windows syncs only what may be written to
            os.fsync(stream.fileno())
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def _copy(database: Database, target: Path) -> None:
    """SQLite's own online backup: a whole copy of one moment, whatever is written meanwhile."""
    source = sqlite3.connect(str(database.url.database), timeout=30)
    with closing(source), closing(sqlite3.connect(target)) as copy:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
        copy.execute("PRAGMA secure_delete = ON")  # no backup holds the key of an account with somebody else
        copy.execute("DELETE FROM secret WHERE name LIKE ?", (f"{accounts.PREFIX}%",))
        copy.commit()


def _archive(database: Database, target: Path) -> None:
    newest = ScriptDirectory.from_config(migrations()).get_current_head()
    with database.read() as connection, gzip.open(target, "wt", encoding="utf-8", newline="\n") as stream:
        if not database.is_sqlite:
            connection.execute(sa.text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
        stream.write(json.dumps({**_ABOUT, "schema": newest}) + "\n")
        for table in KEPT:
            for row in connection.execute(sa.select(table).order_by(*table.primary_key)).mappings():
                if table is schema.secret and row["name"].startswith(accounts.PREFIX):
                    continue
                stream.write(json.dumps([table.name, dict(row)]) + "\n")


def bring_back(database: Database, path: Path, expected: Iterable[str] = ()) -> int:
    """Bring a backup back; returns how many answers were added. Rows that are there already stay as they are.

    The database is a new one, or an earlier or later state of the one that was backed up: its raters' tokens tell.

    Parameters
    ----------
    database, path : where to, where from
    expected : names of studies of which one at least must be in the backup: folders that were renamed are a mistake
    """
    if not path.is_file():
        raise StudyError(f"{path}: there is no such file")
    rows = list(_of_copy(path) if path.suffix == ".db" else _of_archive(path))
    named, wanted = sorted(row["name"] for name, row in rows if name == "study"), sorted(expected)
    if wanted and not set(wanted) & set(named):
        raise StudyError(
            f"{path.name}: holds {', '.join(named) or 'no study'}, the folder {', '.join(wanted)}; "
            "a study is called like its folder, so give the folder its old name"
        )
    with database.write() as connection:
        _refuse_another(connection, rows, path)
        before = connection.scalar(sa.select(sa.func.count()).select_from(schema.answer)) or 0
        for table in KEPT:
            _add(connection, table, [row for name, row in rows if name == table.name])
        _move_time_on(connection, rows)
        if not database.is_sqlite:
            _move_counters_on(connection)
        after = connection.scalar(sa.select(sa.func.count()).select_from(schema.answer)) or 0
    return after - before


def _refuse_another(connection: sa.Connection, rows: list[tuple[str, dict[str, Any]]], path: Path) -> None:
    """Refuse to mix two databases; one that only a first start has written to is emptied for the backup."""
    theirs = next((row["value"] for name, row in rows if name == "secret" and row["name"] == "tokens"), None)
    ours = connection.scalar(sa.select(schema.secret.c.value).where(schema.secret.c.name == "tokens"))
    if ours is None or ours == theirs:
        return
    if connection.scalar(sa.select(sa.func.count()).select_from(schema.rater)):
        raise StudyError(f"{path.name}: a backup of another database, and this one has raters; use a new database")
    derived = schema.pool, schema.curve, schema.model, schema.work, schema.delivery
    for table in (
        *derived,
        schema.deed,
        schema.api_token,
        schema.membership,
        schema.share_link,
        schema.webhook,
        schema.invitation,
        schema.revision,
        schema.study_version,
        schema.study,
        schema.secret,
    ):
        connection.execute(sa.delete(table))


def _add(connection: sa.Connection, table: sa.Table, rows: list[dict[str, Any]]) -> None:
    """Insert the rows whose key is not there."""
    key = tuple(table.primary_key)
    there = {tuple(found) for found in connection.execute(sa.select(*key))}
    new = [row for row in rows if tuple(row[column.name] for column in key) not in there]
    for start in range(0, len(new), _CHUNK):
        connection.execute(sa.insert(table), new[start : start + _CHUNK])


def _move_time_on(connection: sa.Connection, rows: list[tuple[str, dict[str, Any]]]) -> None:
    """Leases that were brought back end by the time that the backup was served."""
    served = max((row["seconds"] for name, row in rows if name == "uptime"), default=0.0)
    uptime = schema.uptime
    connection.execute(sa.update(uptime).where(uptime.c.seconds < served).values(seconds=served))


def _move_counters_on(connection: sa.Connection) -> None:
    """PostgreSQL numbers rows by counters of their own, which know nothing of the rows that were brought back."""
    for table in (
        schema.study,
        schema.rater,
        schema.answer,
        schema.redaction,
        schema.backup,
        schema.password_set,
        schema.deed,
        schema.remark,
    ):
        connection.execute(
            sa.text(
                f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), "
                f"(SELECT COALESCE(MAX(id), 0) + 1 FROM {table.name}), false)"
            )
        )


def _of_copy(path: Path) -> Rows:
    """The rows of a copy of the SQLite file; read from a copy of its own, since opening a database changes it."""
    with tempfile.TemporaryDirectory() as folder:
        opened = Database(f"sqlite:///{shutil.copy(path, Path(folder) / path.name)}")
        try:
            with opened.read() as connection:
                for table in KEPT:
                    for row in connection.execute(sa.select(table)).mappings():
                        yield table.name, dict(row)
        finally:
            opened.close()


def _of_archive(path: Path) -> Rows:
    try:
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            yield from _lines(stream, path)
    except (OSError, EOFError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise StudyError(
            f"{path.name}: cut off, or no archive of similitude ({error}); nothing was brought back"
        ) from None


def _lines(stream: Iterable[str], path: Path) -> Rows:
    lines = iter(stream)
    about = json.loads(next(lines, "{}"))
    known = {script.revision for script in ScriptDirectory.from_config(migrations()).walk_revisions()}
    if not isinstance(about, dict) or about.get("similitude") != _ABOUT["similitude"]:
        raise StudyError(f"{path.name}: no archive of similitude; nothing was brought back")
    if about["format"] > _ABOUT["format"] or about["schema"] not in known:
        raise StudyError(f"{path.name}: written by a newer similitude; upgrade similitude")
    for line in lines:
        name, row = json.loads(line)
        yield name, row | (_through_the_doors(name, row) if about["schema"] in _BEFORE_DOORS else {})


def _through_the_doors(table: str, row: dict[str, Any]) -> dict[str, Any]:
    """What the migration `0003_doors` changes in a row of an archive that was written before it."""
    if table == "lease":
        return {"expires": 0.0}  # leases ended by the time of day
    if table != "rater":
        return {}
    if row["uid"].startswith("imported-") and row["identity"] is None and row["consented"] == row["finished"]:
        return {"origin": "imported", "uid": f"imported:{row['code']}"}
    return {"origin": "joined"}

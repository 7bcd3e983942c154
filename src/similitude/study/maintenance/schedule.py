"""Backups by the clock: each with a name of its own, and the oldest taken away when there are too many."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa

from similitude.study.maintenance.archive import back_up
from similitude.study.settings import StudyError
from similitude.study.store import schema
from similitude.study.store.database import Database

_NAMED = re.compile(r"study-\d{8}T\d{6}Z\.jsonl\.gz")


def back_up_and_keep(database: Database, folder: Path, keep: int) -> tuple[Path, int]:
    """Write a backup into a folder and keep the latest so many there; returns the file and how many were taken away.

    Only files that this wrote are ever taken away, and only once the new one is whole. They are then no longer among
    those that are named when a rater is erased.
    """
    if keep < 1:
        raise StudyError(f"keep: expected at least 1 backup, found {keep}")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = folder.resolve() / f"study-{datetime.fromtimestamp(database.clock.now(), UTC):%Y%m%dT%H%M%SZ}.jsonl.gz"
    back_up(database, file)
    ours = sorted(path for path in folder.resolve().iterdir() if _NAMED.fullmatch(path.name))
    surplus = ours[:-keep]
    for path in surplus:
        path.unlink(missing_ok=True)
    if surplus:
        with database.write() as connection:
            names = [str(path) for path in surplus]
            connection.execute(sa.delete(schema.backup).where(schema.backup.c.file.in_(names)))
    return file, len(surplus)

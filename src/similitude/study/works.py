"""What is made of the answers on request, by a process of its own: the report, and the atlas of dimensions.

A row says who asked, how far it is, and how it ended; the latest result of each kind is kept beside it as a zip file.
A row whose process has not shown itself for a while is of one that was killed: it is called stopped, and blocks nobody.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from similitude.study.audit import note
from similitude.study.refusal import Refused
from similitude.study.store import schema
from similitude.study.store.database import Database

REPORT, DIMENSIONS = "report", "dimensions"
KINDS = {REPORT: "report", DIMENSIONS: "atlas of dimensions"}
RUNNING, DONE, FAILED = "running", "done", "failed"
STOPPED = "stopped"  # of what runs no longer, by its silence
SILENT = 30.0  # seconds without a sign of life
_LONGEST = 500  # characters of a sentence


@dataclass(frozen=True)
class Work:
    """Something that was asked for; `state` is running, done, failed or stopped."""

    id: int
    kind: str
    state: str
    by: str
    asked: float
    ended: float | None
    phase: str
    done: int
    total: int
    trouble: str | None
    answers: int | None
    summary: Any = None


class Works:
    """What was asked for of the studies of one database.

    Parameters
    ----------
    database : where it is kept
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    def ask(self, study_id: int, kind: str, by: str) -> int:
        """Begin one, where none is under way in the study; its number."""
        if kind not in KINDS:
            raise Refused(404, "no_work", f"kind: expected one of {', '.join(KINDS)}, found {kind!r}")
        table, now = schema.work, self.database.clock.now()
        row = {
            "study_id": study_id, "kind": kind, "state": RUNNING, "by": by, "asked": now, "beat": now,
            "phase": "starting", "done": 0, "total": 0,
        }  # fmt: skip
        with self.database.write() as connection:
            for kind_now in KINDS:
                latest = self._latest(connection, study_id, kind_now)
                if latest is not None and latest.state == RUNNING:
                    raise Refused(
                        409, "under_way", f"The {KINDS[latest.kind]} is being made already, as {latest.by} asked."
                    )
            number = connection.scalar(sa.insert(table).returning(table.c.id), row)
            note(connection, now, by, f"asked for the {KINDS[kind]} of", study_id)
        assert number is not None
        return int(number)

    def latest(self, study_id: int, kind: str) -> Work | None:
        """What was asked for last."""
        with self.database.read() as connection:
            return self._latest(connection, study_id, kind)

    def made(self, study_id: int, kind: str) -> Work | None:
        """The latest that was made and is kept; None where there is none."""
        with self.database.read() as connection:
            return self._one(connection, study_id, kind, schema.work.c.result.is_not(None))

    def result(self, work: Work) -> bytes:
        """The zip file of one that was made."""
        with self.database.read() as connection:
            found = connection.scalar(sa.select(schema.work.c.result).where(schema.work.c.id == work.id))
        if found is None:
            raise Refused(404, "no_work", "This was made anew meanwhile. Load the page again.")
        return bytes(found)

    def tell(self, number: int, **values: Any) -> None:
        """How far it is (`phase`, `done`, `total`), or only that it is alive."""
        self._write(number, beat=self.database.clock.now(), **values)

    def finish(self, number: int, result: bytes, answers: int, summary: Any = None) -> None:
        """It is made; what was made of the kind before goes."""
        table, now = schema.work, self.database.clock.now()
        with self.database.write() as connection:
            row = connection.execute(sa.select(table.c.study_id, table.c.kind).where(table.c.id == number)).one()
            same = table.c.study_id == row.study_id, table.c.kind == row.kind, table.c.id != number
            connection.execute(sa.update(table).where(*same).values(result=None, summary=None))
            done = {"state": DONE, "ended": now, "beat": now, "result": result, "answers": answers}
            done["summary"] = None if summary is None else json.dumps(summary, ensure_ascii=False)
            connection.execute(sa.update(table).where(table.c.id == number).values(**done))

    def fail(self, number: int, why: str) -> None:
        """It ended without a result, unless it had ended before."""
        table = schema.work
        ended = {"state": FAILED, "ended": self.database.clock.now(), "trouble": why[:_LONGEST]}
        with self.database.write() as connection:
            connection.execute(sa.update(table).where(table.c.id == number, table.c.state == RUNNING).values(ended))

    def _write(self, number: int, **values: Any) -> None:
        with self.database.write() as connection:
            connection.execute(sa.update(schema.work).where(schema.work.c.id == number).values(**values))

    def _latest(self, connection: sa.Connection, study_id: int, kind: str) -> Work | None:
        return self._one(connection, study_id, kind)

    def _one(self, connection: sa.Connection, study_id: int, kind: str, *where: sa.ColumnElement[bool]) -> Work | None:
        table = schema.work
        columns = [column for column in table.c if column.name not in ("result", "study_id")]
        here = table.c.study_id == study_id, table.c.kind == kind, *where
        row = (
            connection.execute(sa.select(*columns).where(*here).order_by(table.c.id.desc()).limit(1)).mappings().first()
        )
        return None if row is None else self._work(dict(row))

    def _work(self, row: dict[str, Any]) -> Work:
        beat = row.pop("beat")
        if row["state"] == RUNNING and abs(self.database.clock.now() - beat) > SILENT:
            row |= {"state": STOPPED, "trouble": "Its process was ended, perhaps with the server. Start it again."}
        row["summary"] = json.loads(row["summary"]) if row["summary"] else None
        return Work(**row)

"""Erasing a rater on request, a logged redaction; and forgetting rehearsals, which were never part of the study.

What was said and who said it is overwritten; that a question was asked and answered stays, without the answer, so that
counts and versions still add up. Backups are files that we cannot change: those that hold the rater are named.
"""

from __future__ import annotations

import json
import secrets
import time
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from similitude.study.entrance import REHEARSAL, kept_apart
from similitude.study.keys import Keys
from similitude.study.maintenance.export import study_number
from similitude.study.settings import StudyError
from similitude.study.store import schema
from similitude.study.store.database import Database, StoreError
from similitude.study.store.rows import secret_of_tokens


@dataclass(frozen=True)
class Erased:
    """What was erased, and the files that still hold it."""

    code: str
    answers: int
    backups: tuple[str, ...]


def erase_rater(database: Database, study: str, who: str, by_identity: bool = False) -> Erased:
    """Erase a rater, given by code (as in exports) or by identity (as the recruiting service calls the person).

    What is the code of one rater and the identity of another names the first, unless it is said to be an identity:
    anybody may come with a code for a name, and nobody must be kept from being erased by that.
    """
    with database.write() as connection:
        study_id = study_number(connection, study)
        rater = _find(connection, study_id, who, study, by_identity)
        now = database.clock.now()
        backups = _backups(connection, rater)
        answer = schema.answer
        mine = answer.c.rater_id == rater["id"]
        nothing = {"outcome": "redacted", "side": -1}
        nothing |= dict.fromkeys(("response", "uid", "milliseconds", "measured"))
        answers = connection.execute(sa.update(answer).where(mine).values(nothing)).rowcount
        connection.execute(sa.delete(schema.reply).where(schema.reply.c.rater_id == rater["id"]))
        said = sa.update(schema.remark).where(schema.remark.c.rater_id == rater["id"])
        connection.execute(said.values(text="", found=None))
        connection.execute(sa.update(schema.lease).where(schema.lease.c.rater_id == rater["id"]).values(open=False))
        _bury(connection, study_id, study, rater)
        blank = {"identity": None, "uid": f"erased-{secrets.token_hex(8)}", "parameters": "{}", "catches_passed": 0}
        person = sa.update(schema.rater).where(schema.rater.c.id == rater["id"])
        connection.execute(person.values(erased=rater["erased"] or now, **blank))
        record = {"study_id": study_id, "code": rater["code"], "answers": answers, "at": now}
        connection.execute(sa.insert(schema.redaction), {**record, "backups": json.dumps(backups)})
    overwrite(database)
    return Erased(rater["code"], answers, tuple(backups))


def _find(connection: sa.Connection, study_id: int, who: str, study: str, by_identity: bool) -> dict[str, Any]:
    table = schema.rater
    for column in (table.c.identity,) if by_identity else (table.c.code, table.c.identity):
        query = sa.select(table).where(table.c.study_id == study_id, column == who)
        found = connection.execute(query).mappings().one_or_none()
        if found is not None:
            return dict(found)
    raise StudyError(f"{study}: there is no rater with the {'' if by_identity else 'code or '}identity {who!r}")


def _bury(connection: sa.Connection, study_id: int, study: str, rater: dict[str, Any]) -> None:
    """Keep a keyed digest of who it was: whoever comes with the same identity, or the same browser, is not asked anew.

    The invitation goes, too: it holds the name.
    """
    invitation, tombstone, who = schema.invitation, schema.tombstone, rater["identity"]
    connection.execute(sa.delete(invitation).where(invitation.c.study_id == study_id, invitation.c.identity == who))
    keys = Keys(secret_of_tokens(connection), study)
    digest = keys.tombstone("uid", rater["uid"]) if who is None else keys.tombstone("identity", who)
    here = tombstone.c.study_id == study_id, tombstone.c.digest == digest
    if connection.scalar(sa.select(tombstone.c.digest).where(*here)) is None:
        connection.execute(sa.insert(tombstone), {"study_id": study_id, "digest": digest})


def _backups(connection: sa.Connection, rater: dict[str, Any]) -> list[str]:
    """The files written after the rater came: by the time, or by an answer that they hold, where a clock jumped."""
    table, answer = schema.backup, schema.answer
    first = connection.scalar(sa.select(sa.func.min(answer.c.id)).where(answer.c.rater_id == rater["id"]))
    holds = table.c.at >= rater["joined"]
    if first is not None:
        holds = sa.or_(holds, table.c.last_answer >= first)
    return list(connection.scalars(sa.select(table.c.file).where(holds).order_by(table.c.id)))


def overwrite(database: Database) -> None:
    """Write the database anew, so that no byte of what was erased is left in its files."""
    if not database.is_sqlite:
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            for table in (schema.answer, schema.rater, schema.reply, schema.remark):
                connection.execute(sa.text(f"VACUUM FULL {table.name}"))
        return
    raw = database.engine.raw_connection()
    try:
        cursor = raw.cursor()
        cursor.execute("VACUUM")
        for _ in range(50):
            if cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0:
                return
            time.sleep(0.1)
    finally:
        raw.close()
    raise StoreError(
        f"{database.where}: the answers are erased, but a program that reads keeps an old page of the file; "
        "close it and erase the rater again"
    )


def forget_rehearsal(database: Database, study: str) -> tuple[int, int]:
    """Delete the raters of rehearsals with all that they said; returns how many raters and answers."""
    with database.write() as connection:
        theirs = kept_apart(study_number(connection, study), [REHEARSAL])
        for table in (schema.reply, schema.lease, schema.remark):
            connection.execute(sa.delete(table).where(table.c.rater_id.in_(theirs)))
        answers = connection.execute(sa.delete(schema.answer).where(schema.answer.c.rater_id.in_(theirs))).rowcount
        raters = connection.execute(sa.delete(schema.rater).where(schema.rater.c.id.in_(theirs))).rowcount
    return raters, answers

"""Counting anew: everything but the log and the records of raters can be thrown away and made again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from similitude.study.answering import passed
from similitude.study.asking import key_of
from similitude.study.settings import Study
from similitude.study.store import schema
from similitude.study.store.database import Database
from similitude.study.store.revisions import served_last
from similitude.study.store.rows import Row, write_counts
from similitude.study.versions import Served


def rebuild(database: Database) -> int:
    """Recount raters from the log, close the leases of what was answered, drop what the model process makes.

    Returns the number of raters whose counts were wrong.
    """
    with database.write() as connection:
        for table in (schema.pool, schema.curve, schema.model):
            connection.execute(sa.delete(table))
        ids = list(
            connection.scalars(sa.select(schema.study_version.c.study_id).distinct())
        )  # of a draft there may be none
        return sum(recount(connection, study_id) for study_id in ids)


def recount(connection: sa.Connection, study_id: int) -> int:
    """Recount the raters of one study; returns how many counts were wrong."""
    served = latest(connection, study_id)
    answer, rater = schema.answer, schema.rater
    raters = {
        row["id"]: dict(row)
        for row in connection.execute(sa.select(rater).where(rater.c.study_id == study_id)).mappings()
    }
    counted: dict[int, Row] = {
        of: {"id": of, "asked": 0, "answered": 0, "catches": 0, "catches_passed": 0} for of in raters
    }
    query = sa.select(answer).where(answer.c.study_id == study_id)
    log = [dict(row) for row in connection.execute(query).mappings()]
    _close_leases(connection, study_id, log)
    for row in log:
        count = counted[row["rater_id"]]
        if row["number"] < raters[row["rater_id"]]["first"]:
            continue
        count["answered"] += 1
        if row["kind"] == "catch":
            count["catches"] += 1
            count["catches_passed"] += passed(served, connection, row)
    lease = schema.lease
    asked = sa.select(lease.c.rater_id, sa.func.max(lease.c.number)).where(lease.c.study_id == study_id)
    for of, last in connection.execute(asked.group_by(lease.c.rater_id)):
        counted[of]["asked"] = last + 1
    write_counts(connection, list(counted.values()))
    return sum(any(raters[of][name] != value for name, value in count.items()) for of, count in counted.items())


def latest(connection: sa.Connection, study_id: int) -> Served:
    """A study as it is served, or was last, from the database alone."""
    row = served_last(connection, study_id)
    assert row is not None
    study = Study(**json.loads(row["settings"]), folder=Path())
    return Served.of(study, study_id, row["version"], json.loads(row["items"]))


def _close_leases(connection: sa.Connection, study_id: int, log: list[dict[str, Any]]) -> None:
    """A lease for every answer, closed; one that is missing is made from the log."""
    lease = schema.lease
    there = {
        (row.rater_id, row.number): row.open
        for row in connection.execute(
            sa.select(lease.c.rater_id, lease.c.number, lease.c.open).where(lease.c.study_id == study_id)
        )
    }
    missing = [row for row in log if (row["rater_id"], row["number"]) not in there]
    if missing:
        connection.execute(sa.insert(lease), [lease_of(row) for row in missing])
    for row in log:
        if there.get((row["rater_id"], row["number"])):
            where = lease.c.rater_id == row["rater_id"], lease.c.number == row["number"]
            connection.execute(sa.update(lease).where(*where).values(open=False))


def lease_of(answer: Row) -> Row:
    """The lease that an answer must have had."""
    same = ("rater_id", "number", "study_id", "kind", "block", "shown", "strategy", "score", "model", "version")
    key = key_of(answer["form"], json.loads(answer["shown"]), answer["block"])
    asked = {"asked_at": answer["asked_at"], "key": key, "expires": 0.0, "open": False}
    return {**{name: answer[name] for name in same}, **asked}

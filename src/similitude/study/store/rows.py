"""Rows that the service reads and writes: studies with their versions, the key of the tokens, leases, counts."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from similitude.study.refusal import Refused
from similitude.study.settings import Study
from similitude.study.states import APART, DRAFT
from similitude.study.store import schema

Row = dict[str, Any]


def dicts(result: sa.CursorResult[Any]) -> list[Row]:
    """All rows of a result as dictionaries; several times as fast as its `mappings`."""
    names = tuple(result.keys())
    return [dict(zip(names, row, strict=True)) for row in result.all()]


def execute_many(connection: sa.Connection, statement: sa.Insert | sa.Update, rows: list[Row]) -> None:
    """Execute a statement with the values of each row, by the driver itself: these are what keeping an answer costs.

    The statement is written once for each kind of database; rows hold the same names and plain values.
    """
    dialect = connection.dialect
    key = statement, dialect.name, tuple(rows[0])
    if key not in _WRITTEN:
        named = type(dialect)(paramstyle="named" if dialect.name == "sqlite" else dialect.paramstyle)  # type: ignore[call-arg]
        keys = list(rows[0]) if isinstance(statement, sa.Insert) else None
        _WRITTEN[key] = str(statement.compile(dialect=named, column_keys=keys))
    connection.exec_driver_sql(_WRITTEN[key], rows)


_WRITTEN: dict[tuple[Any, str, tuple[str, ...]], str] = {}


def counts_by(connection: sa.Connection, query: sa.Select[Any]) -> dict[Any, int]:
    """What a query finds that has two columns: a value, and how many there are of it."""
    return {row[0]: row[1] for row in connection.execute(query)}


def number_of(connection: sa.Connection, name: str) -> int | None:
    """The number of a study in the database; None where it was never served."""
    return connection.scalar(sa.select(schema.study.c.id).where(schema.study.c.name == name))


def make_study(connection: sa.Connection, name: str, now: float, phase: str = "live") -> int:
    """A new study's number; what was made by hand is live when it is first served."""
    row = {"name": name, "paused": False, "phase": phase, "created": now}
    made = connection.scalar(sa.insert(schema.study).returning(schema.study.c.id), row)
    assert made is not None
    return int(made)


def draft_anew(connection: sa.Connection, name: str, now: float) -> int:
    """The number of a study that is begun as a draft; refused where there are raters of one that was called so."""
    study_id, rater = number_of(connection, name), schema.rater
    if study_id is None:
        return make_study(connection, name, now, DRAFT)
    if connection.scalar(sa.select(rater.c.id).where(rater.c.study_id == study_id).limit(1)) is not None:
        raise Refused(409, "name", f"The database holds answers of a study called {name}; choose another name.")
    connection.execute(sa.update(schema.study).where(schema.study.c.id == study_id).values(phase=DRAFT, paused=False))
    return study_id


def register(connection: sa.Connection, study: Study, version: str, names: Sequence[str], now: float) -> int:
    """The study's number in the database; its settings and items as they are now are kept under their version."""
    versions = schema.study_version
    study_id = number_of(connection, study.name)
    if study_id is None:
        study_id = make_study(connection, study.name, now)
    here = versions.c.study_id == study_id, versions.c.version == version
    if connection.scalar(sa.select(versions.c.version).where(*here)) is None:
        row = {
            "study_id": study_id, "version": version, "settings": study.as_json(),
            "items": json.dumps(list(names), ensure_ascii=False), "created": now,
        }  # fmt: skip
        connection.execute(sa.insert(versions), row)
    return study_id


def questions_before(
    connection: sa.Connection, study_id: int, meant: Mapping[str, Mapping[str, object]]
) -> list[tuple[str, Row]]:
    """The settings of questions under which people were asked so far that do not mean the same, each with its block.

    `meant` says what the questions of each block mean now. Whoever rehearses, or came in the pilot, is nobody here:
    they are asked to find out what had better be changed.
    """
    versions, lease, rater = schema.study_version, schema.lease, schema.rater
    query = sa.select(versions.c.version, versions.c.settings).where(versions.c.study_id == study_id)
    others = {
        (version, block): one
        for version, settings in connection.execute(query)
        for block, one in _by_block(json.loads(settings)).items()
        if block in meant and {key: one.get(key) for key in meant[block]} != dict(meant[block])
    }
    if not others:
        return []
    asked = sa.select(lease.c.version, lease.c.block).join(rater, rater.c.id == lease.c.rater_id).distinct()
    changed = {version for version, _ in others}
    asked = asked.where(lease.c.study_id == study_id, lease.c.version.in_(changed), rater.c.origin.not_in(APART))
    found = [(row.version, row.block) for row in connection.execute(asked)]
    return [(block, others[version, block]) for version, block in found if (version, block) in others]


def _by_block(settings: Row) -> dict[str, Row]:
    """The questions of a study as it was written, by block."""
    return {"": settings["question"], **{block["name"]: block["question"] for block in settings.get("block", ())}}


def secret_of_tokens(connection: sa.Connection) -> bytes:
    """The key of the tokens: made once, the same for all servers of a database."""
    table = schema.secret
    value = connection.scalar(sa.select(table.c.value).where(table.c.name == "tokens"))
    if value is None:
        value = secrets.token_hex(32)
        connection.execute(sa.insert(table), {"name": "tokens", "value": value})
    return bytes.fromhex(value)


def rows_at(connection: sa.Connection, table: sa.Table, places: Sequence[tuple[int, int]]) -> list[Row]:
    """Rows of leases or answers by rater and number, one by one: to find pairs SQLite would read the whole table."""
    here = sa.select(table).where(table.c.rater_id == sa.bindparam("of"), table.c.number == sa.bindparam("at"))
    found = (dicts(connection.execute(here, {"of": rater_id, "at": number})) for rater_id, number in set(places))
    return [row for rows in found for row in rows]


def asked_before(connection: sa.Connection, questions: Sequence[tuple[int, int, int]]) -> set[tuple[int, int]]:
    """Which of these questions (rater, key, and the rater's first number that counts) were asked before.

    Joined to a list of them, in this order, each costs one look into the index; `IN` would look up every key for every
    rater, or read the whole table.
    """
    mark = "?" if connection.dialect.name == "sqlite" else "%s"
    wanted = f"WITH wanted (of, ask, since) AS (VALUES {','.join([f'({mark}, {mark}, {mark})'] * len(questions))})"
    found = "SELECT rater_id, key FROM wanted CROSS JOIN lease WHERE rater_id = wanted.of AND key = wanted.ask"
    found += " AND number >= wanted.since"
    values = tuple(value for question in questions for value in question)
    return {(rater_id, key) for rater_id, key in connection.exec_driver_sql(f"{wanted} {found}", values)}


def close_leases(connection: sa.Connection, places: Sequence[Row]) -> None:
    """Close the leases of rows that have a `rater_id` and a `number`."""
    if places:
        execute_many(connection, _CLOSE, [{"of": row["rater_id"], "at": row["number"]} for row in places])


_CLOSE = (
    sa.update(schema.lease)
    .where(schema.lease.c.rater_id == sa.bindparam("of"), schema.lease.c.number == sa.bindparam("at"))
    .values(open=sa.false())
)


def write_counts(connection: sa.Connection, raters: list[Row]) -> None:
    """Write how far each rater is."""
    if not raters:
        return
    rows = [{"of": rater["id"], **{f"new_{name}": rater[name] for name in COUNTS}} for rater in raters]
    execute_many(connection, _COUNTED, rows)


COUNTS = ("asked", "answered", "catches", "catches_passed")
_COUNTED = (
    sa.update(schema.rater)
    .where(schema.rater.c.id == sa.bindparam("of"))
    .values({name: sa.bindparam(f"new_{name}") for name in COUNTS})
)

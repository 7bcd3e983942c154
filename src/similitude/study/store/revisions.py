"""The revisions of a study: every change of what it says, with who made it and when; nothing is ever taken off."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from similitude.study.store import schema
from similitude.study.store.rows import Row, dicts

_TABLE = schema.revision


@dataclass(frozen=True)
class Revision:
    """One of them.

    Attributes
    ----------
    number : from 1 on
    version : what answers carry; None of a draft that could not be served yet
    at, who : when, and by whom
    changes : what became different, in words
    files : the texts that the study was read from, by name
    items : the files of its items: size and digest by place; None of before these were kept
    """

    number: int
    version: str | None
    at: float
    who: str
    changes: tuple[str, ...]
    files: Mapping[str, str]
    items: Mapping[str, str] | None = None


def history(connection: sa.Connection, study_id: int) -> list[Revision]:
    """All revisions of a study, the latest first."""
    return _found(connection, sa.select(_TABLE).where(_TABLE.c.study_id == study_id).order_by(_TABLE.c.number.desc()))


def last_revision(connection: sa.Connection, study_id: int) -> Revision | None:
    """What a study is now; None where it was never served."""
    query = sa.select(_TABLE).where(_TABLE.c.study_id == study_id).order_by(_TABLE.c.number.desc()).limit(1)
    return next(iter(_found(connection, query)), None)


def last_number(connection: sa.Connection, study_id: int) -> int:
    """The number of the latest revision of a study; 0 where there is none."""
    return connection.scalar(sa.select(sa.func.max(_TABLE.c.number)).where(_TABLE.c.study_id == study_id)) or 0


def revision_at(connection: sa.Connection, study_id: int, number: int) -> Revision | None:
    """The revision of a number."""
    query = sa.select(_TABLE).where(_TABLE.c.study_id == study_id, _TABLE.c.number == number)
    return next(iter(_found(connection, query)), None)


def latest_numbers(connection: sa.Connection, servable: bool = False) -> dict[str, int]:
    """The number of the latest revision of every study, by name; of those that can be served where asked for."""
    query = sa.select(schema.study.c.name, sa.func.max(_TABLE.c.number)).join(schema.study)
    if servable:
        query = query.where(_TABLE.c.version.is_not(None))
    return {row[0]: row[1] for row in connection.execute(query.group_by(schema.study.c.name))}


def served_last(connection: sa.Connection, study_id: int) -> Row | None:
    """The row of the version that is served now, or was last; None where there never was one."""
    versions = schema.study_version
    here = versions.c.study_id == study_id
    number = sa.select(sa.func.max(_TABLE.c.number)).where(_TABLE.c.study_id == study_id, _TABLE.c.version.is_not(None))
    last = sa.select(_TABLE.c.version).where(_TABLE.c.study_id == study_id, _TABLE.c.number == number.scalar_subquery())
    version = connection.scalar(last)
    query = sa.select(versions).where(here)
    if version is not None:
        query = query.where(versions.c.version == version)
    else:  # of before there were revisions
        query = query.order_by(versions.c.created.desc()).limit(1)
    return next(iter(dicts(connection.execute(query))), None)


def record(
    connection: sa.Connection,
    study_id: int,
    version: str | None,
    files: Mapping[str, str],
    changes: Sequence[str],
    who: str,
    at: float,
    items: Mapping[str, str] | None = None,
) -> int:
    """Add a revision; returns its number."""
    last = last_number(connection, study_id)
    row = {
        "study_id": study_id, "number": last + 1, "version": version, "files": json.dumps(dict(files)),
        "changes": json.dumps(list(changes)), "who": who, "at": at,
        "items": None if items is None else json.dumps(dict(items)),
    }  # fmt: skip
    connection.execute(sa.insert(_TABLE), row)
    return last + 1


def remember_items(connection: sa.Connection, study_id: int, number: int, items: Mapping[str, str]) -> None:
    """Keep the files of a revision's items, where nobody has yet."""
    here = _TABLE.c.study_id == study_id, _TABLE.c.number == number, _TABLE.c["items"].is_(None)
    connection.execute(sa.update(_TABLE).where(*here).values({"items": json.dumps(dict(items))}))


def names_in(connection: sa.Connection, study_id: int, version: str | None) -> list[str]:
    """The items of a version by name; none where it was never served."""
    table = schema.study_version
    here = table.c.study_id == study_id, table.c.version == version
    text = connection.scalar(sa.select(table.c["items"]).where(*here))
    return [] if text is None else list(json.loads(text))


def _found(connection: sa.Connection, query: sa.Select[tuple[object, ...]]) -> list[Revision]:
    return [
        Revision(
            row["number"], row["version"], row["at"], row["who"], tuple(json.loads(row["changes"])),
            json.loads(row["files"]), None if row["items"] is None else json.loads(row["items"]),
        )
        for row in connection.execute(query).mappings()
    ]  # fmt: skip

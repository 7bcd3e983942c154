"""Invitations: a list of people, and for each a link that nobody can invent."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import sqlalchemy as sa

from similitude.display.words import counted
from similitude.study.entrance import KEY, REHEARSAL
from similitude.study.items import is_storable
from similitude.study.leaving import WITHDRAWN
from similitude.study.service import StudyService
from similitude.study.settings import StudyError
from similitude.study.store import schema

_HEADINGS = ("name", "rater", "person", "people")
_LONGEST = 500  # of a part of a link


@dataclass(frozen=True)
class Invited:
    """A person of the list, and how far he or she is."""

    identity: str
    invited: float
    joined: float | None
    answered: int
    finished: float | None
    withheld: str | None = None
    condition: str | None = None


def read_people(path: Path) -> list[str]:
    """The people of a list: one a line, or the column `name` of a table."""
    try:
        rows = list(csv.reader(path.read_text(encoding="utf-8-sig").splitlines()))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise StudyError(f"{path}: cannot be read ({why}); expected one person a line, or a column `name`") from None
    lines = [[cell.strip() for cell in row] for row in rows if any(cell.strip() for cell in row)]
    headings = [cell.lower() for cell in lines[0]] if lines else []
    column = next((headings.index(name) for name in _HEADINGS if name in headings), None)
    if column is None and len(headings) > 1:
        raise StudyError(f"{path}: several columns, and none is called `name`; found {', '.join(lines[0])}")
    people = [row[column or 0] if len(row) > (column or 0) else "" for row in lines[column is not None :]]
    _check(people, path)
    return people


def _check(people: Sequence[str], path: Path) -> None:
    if not people:
        raise StudyError(f"{path}: nobody in it; expected one person a line, or a column `name`")
    for place, name in enumerate(people, 1):
        if not name or len(name) > _LONGEST or not is_storable(name):
            raise StudyError(f"{path}: person {place}: expected 1 to {_LONGEST} characters, found {name[:50]!r}")
    if twice := sorted({name for name in people if people.count(name) > 1}):
        raise StudyError(f"{path}: {twice[0]!r} is in it twice; everybody needs a different name")


def invite(service: StudyService, names: Sequence[str]) -> dict[str, str]:
    """Put people on the list of a study; returns the part of the link of each, by name. Twice is the same as once.

    Who was withdrawn goes on where he or she stopped. Who was erased is left out: no link lets them in again.
    """
    table, rater = schema.invitation, schema.rater
    with service.database.write() as connection:
        people = _without_erased(connection, service, names)
        again = rater.c.study_id == service.study_id, rater.c.identity.in_(people), rater.c.withheld == WITHDRAWN
        connection.execute(sa.update(rater).where(*again).values(withheld=None))
        there = set(connection.scalars(sa.select(table.c.identity).where(table.c.study_id == service.study_id)))
        now = service.database.clock.now()
        new = [{"study_id": service.study_id, "identity": name, "invited": now} for name in people if name not in there]
        if new:
            connection.execute(sa.insert(table), new)
    return {name: _link(service, name) for name in people}


def _without_erased(connection: sa.Connection, service: StudyService, names: Sequence[str]) -> list[str]:
    table = schema.tombstone
    erased = set(connection.scalars(sa.select(table.c.digest).where(table.c.study_id == service.study_id)))
    return [name for name in names if service.keys.tombstone("identity", name) not in erased]


def withdraw(service: StudyService, name: str) -> str:
    """Take a person off the list; returns what that means in words.

    The link lets nobody in any more. Of who has begun no more answers are taken, and there is no code; what was
    answered stays. Who has finished has finished.
    """
    table, rater = schema.invitation, schema.rater
    with service.database.write() as connection:
        here = table.c.study_id == service.study_id, table.c.identity == name
        if not connection.execute(sa.delete(table).where(*here)).rowcount:
            raise StudyError(f"{service.study.name}: {name!r} is not among the invited people")
        who = rater.c.study_id == service.study_id, rater.c.identity == name
        known = connection.execute(sa.select(rater.c.id, rater.c.answered, rater.c.finished).where(*who)).one_or_none()
        if known is None:
            return "the link lets nobody in any more"
        if known.finished is not None:
            return "the link lets nobody in any more; this person had finished, and the answers and the code stay"
        connection.execute(sa.update(rater).where(*who).values(withheld=WITHDRAWN, place_until=None))
        freed = sa.update(schema.lease).where(schema.lease.c.rater_id == known.id, schema.lease.c.open)
        connection.execute(freed.values(open=False))
    given = counted(known.answered, "answer")
    return (
        f"the link lets nobody in any more; this person had begun: what was said so far ({given}) stays, no more is "
        "taken, and there is no code"
    )


def invited_people(service: StudyService) -> list[Invited]:
    """The list of a study, in the order in which people were invited."""
    table, rater = schema.invitation, schema.rater
    same = sa.and_(rater.c.study_id == table.c.study_id, rater.c.identity == table.c.identity)
    query = (
        sa.select(
            table.c.identity,
            table.c.invited,
            rater.c.joined,
            rater.c.answered,
            rater.c.finished,
            rater.c.withheld,
            rater.c.condition,
        )
        .select_from(table.outerjoin(rater, same))
        .where(table.c.study_id == service.study_id)
        .order_by(table.c.invited, table.c.identity)
    )
    with service.database.read() as connection:
        return [
            Invited(row.identity, row.invited, row.joined, row.answered or 0, row.finished, row.withheld, row.condition)
            for row in connection.execute(query)
        ]


def rehearsal_link(service: StudyService) -> str:
    """The part of a link by which a study by invitation is rehearsed."""
    return f"/s/{service.study.name}/?{urlencode({REHEARSAL: service.keys.rehearsal()})}"


def _link(service: StudyService, name: str) -> str:
    says = service.study.raters.parameter[0] if service.study.raters.parameter else "rater"
    return f"/s/{service.study.name}/?{urlencode({says: name, KEY: service.keys.invitation(name)})}"

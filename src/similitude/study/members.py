"""Who belongs to a study, and with which role; who was invited to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from similitude.study.audit import note
from similitude.study.refusal import Refused
from similitude.study.roles import OWNER, ROLES
from similitude.study.store import schema
from similitude.study.store.database import Database


@dataclass(frozen=True)
class Member:
    """Somebody with a role in a study; `everywhere` where that is a role in all studies of the server."""

    name: str
    role: str
    everywhere: bool


class Members:
    """Those who belong to the studies of one database.

    Parameters
    ----------
    database : where they are kept
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    def of_study(self, study_id: int) -> list[Member]:
        """Who belongs to a study, by name; those of the whole server first."""
        admin, member = schema.admin, schema.membership
        everywhere = sa.select(admin.c.name, admin.c.everywhere).where(admin.c.everywhere.is_not(None))
        here = sa.select(member.c.name, member.c.role).where(member.c.study_id == study_id)
        with self.database.read() as connection:
            found = [Member(*row, True) for row in connection.execute(everywhere.order_by(admin.c.name))]
            return found + [Member(*row, False) for row in connection.execute(here.order_by(member.c.name))]

    def open_invitations(self, study_id: int) -> list[dict[str, Any]]:
        """Links that somebody may still open: a number to name them by, the role, who made them, when they end."""
        link = schema.one_time_link
        query = sa.select(link).where(link.c.study_id == study_id, link.c.expires > self.database.clock.now())
        with self.database.read() as connection:
            rows = connection.execute(query.order_by(link.c.expires)).mappings().all()
        return [
            {"id": row["token"][:12], "role": row["role"], "by": row["by"], "expires": row["expires"]} for row in rows
        ]

    def withdraw(self, study_id: int, number: str, by: str) -> None:
        """End an invitation that nobody has opened."""
        link = schema.one_time_link
        here = link.c.study_id == study_id, sa.func.substr(link.c.token, 1, 12) == number
        with self.database.write() as connection:
            if not connection.execute(sa.delete(link).where(*here)).rowcount:
                raise Refused(404, "no_link", "There is no such invitation any more.")
            note(connection, self.database.clock.now(), by, "withdrew an invitation to", study_id)

    def change(self, study_id: int, name: str, role: str | None, by: str) -> None:
        """Give somebody another role in a study; None is none, and then the tokens that he or she made end as well."""
        if role is not None and role not in ROLES:
            raise Refused(422, "role", f"role: expected one of {', '.join(ROLES)}, found {role!r}")
        member, token, now = schema.membership, schema.api_token, self.database.clock.now()
        here = member.c.study_id == study_id, member.c.name == name
        with self.database.write() as connection:
            before = connection.scalar(sa.select(member.c.role).where(*here))
            if before is None:
                raise Refused(404, "no_member", f"{name} has no role of this study alone.")
            if role is None:
                connection.execute(sa.delete(member).where(*here))
            else:
                connection.execute(sa.update(member).where(*here).values(role=role))
            if before == OWNER and role != OWNER:
                theirs = token.c.study_id == study_id, token.c.by == name, token.c.revoked.is_(None)
                connection.execute(sa.update(token).where(*theirs).values(revoked=now))
            note(connection, now, by, "changed a role in", study_id, f"{name}: {before}, now {role or 'none'}")


def grant(connection: sa.Connection, study_id: int, name: str, role: str) -> None:
    """Give a role in a study, in the transaction of who gives it; a higher one that was there stays."""
    member = schema.membership
    here = member.c.study_id == study_id, member.c.name == name
    before = connection.scalar(sa.select(member.c.role).where(*here))
    if before is None:
        connection.execute(sa.insert(member), {"name": name, "study_id": study_id, "role": role})
    elif list(ROLES).index(role) > list(ROLES).index(before):
        connection.execute(sa.update(member).where(*here).values(role=role))

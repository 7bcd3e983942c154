"""Links to share a study as it runs: its map, its curve and its dimensions, for whoever has the link, and nothing else.

A link is `ID_SECRET` with 256 random bits, shown once; a digest is kept. It ends when it is revoked or its days are
over. `[share]` in `study.toml` says which sites may show the page within theirs.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass

import sqlalchemy as sa

from similitude.study.audit import note
from similitude.study.items import is_storable
from similitude.study.refusal import Refused
from similitude.study.store import schema
from similitude.study.store.database import Database
from similitude.study.tokens import digest

_DAY = 86_400.0
_LONGEST_NAME, MOST_DAYS = 100, 3650


@dataclass(frozen=True)
class ShareLink:
    """A link as lists show it; the link itself is not known any more."""

    id: str
    study_id: int
    name: str
    by: str
    created: float
    expires: float
    revoked: float | None

    def state(self, now: float) -> str:
        """Whether it works, in a word."""
        if self.revoked is not None:
            return "revoked"
        return "expired" if not self.created <= now < self.expires else "works"


class ShareLinks:
    """The links of the studies of one database.

    Parameters
    ----------
    database : where they are kept
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    def make(self, study_id: int, name: str, days: float, by: str) -> str:
        """A new link: what stands after `/live/`, told here and never again."""
        if not 1 <= len(name) <= _LONGEST_NAME or not name.isprintable() or not is_storable(name):
            raise Refused(422, "name", f"name: say whom the link is for, in 1 to {_LONGEST_NAME} characters")
        if not 0 < days <= MOST_DAYS:
            raise Refused(422, "days", f"days: expected more than 0 and at most {MOST_DAYS}, found {days:g}")
        number, now = secrets.token_hex(6), self.database.clock.now()
        link = f"{number}_{secrets.token_urlsafe(32)}"
        row = {
            "id": number, "study_id": study_id, "name": name, "digest": digest(link), "by": by, "created": now,
            "expires": now + days * _DAY,
        }  # fmt: skip
        with self.database.write() as connection:
            connection.execute(sa.insert(schema.share_link), row)
            note(connection, now, by, "shared", study_id, f"{name}: for {days:g} days, link {number}")
        return link

    def of_study(self, study_id: int) -> list[ShareLink]:
        """The links of a study, the latest first."""
        table = schema.share_link
        query = sa.select(table).where(table.c.study_id == study_id).order_by(table.c.created.desc(), table.c.id)
        with self.database.read() as connection:
            return [_link(row) for row in connection.execute(query).mappings()]

    def revoke(self, study_id: int, number: str, by: str) -> None:
        """End a link at once; it stays in the list."""
        table = schema.share_link
        here = table.c.study_id == study_id, table.c.id == number
        with self.database.write() as connection:
            if connection.scalar(sa.select(table.c.id).where(*here)) is None:
                raise Refused(404, "no_link", f"There is no link {number} of this study.")
            now = self.database.clock.now()
            connection.execute(sa.update(table).where(*here, table.c.revoked.is_(None)).values(revoked=now))
            note(connection, now, by, "ended a shared link of", study_id, f"link {number}")

    def find(self, link: str) -> ShareLink | None:
        """The link that works; None for whatever else was shown."""
        number = link.partition("_")[0]
        if not number.isalnum() or not number.isascii():
            return None
        table = schema.share_link
        with self.database.read() as connection:
            row = connection.execute(sa.select(table).where(table.c.id == number)).mappings().one_or_none()
        same = hmac.compare_digest(digest("") if row is None else row["digest"], digest(link))
        found = None if row is None or not same else _link(row)
        return found if found is not None and found.state(self.database.clock.now()) == "works" else None


def _link(row: sa.RowMapping) -> ShareLink:
    return ShareLink(**{key: row[key] for key in row if key != "digest"})

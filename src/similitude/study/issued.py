"""Secrets that were given out for a study, tokens of programs and shared links: shown once, kept as digests, ended.

A secret is `ID_RANDOM` with 256 random bits, perhaps after a prefix: found by its id, compared by its digest in
constant time. Digests are enough, since nobody can guess what was drawn from so many.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Any

import sqlalchemy as sa

from similitude.study.audit import note
from similitude.study.items import is_storable
from similitude.study.refusal import Refused
from similitude.study.store.database import Database

_DAY = 86_400.0
_LONGEST_NAME = 100


class Issued:
    """The secrets of one table, which has the columns id, study_id, name, digest, by, created, expires and revoked.

    Parameters
    ----------
    database, table : where they are kept
    called : what one is called in sentences
    prefix : what every one begins with
    """

    def __init__(self, database: Database, table: sa.Table, called: str, prefix: str = "") -> None:
        self.database, self.table, self.called, self.prefix = database, table, called, prefix

    def make(
        self,
        study_id: int,
        name: str,
        purpose: str,
        by: str,
        days: float | None,
        most_days: int,
        said: str,
        **more: Any,
    ) -> str:
        """A new one, told here and never again; `said` and what is beside it go into the log."""
        if not 1 <= len(name) <= _LONGEST_NAME or not name.isprintable() or not is_storable(name):
            raise Refused(422, "name", f"name: say {purpose}, in 1 to {_LONGEST_NAME} characters")
        if days is not None and not 0 < days <= most_days:
            raise Refused(422, "days", f"days: expected more than 0 and at most {most_days}, found {days:g}")
        number, now = secrets.token_hex(6), self.database.clock.now()
        secret = f"{self.prefix}{number}_{secrets.token_urlsafe(32)}"
        row = {
            "id": number, "study_id": study_id, "name": name, "digest": digest(secret), "by": by, "created": now,
            "expires": None if days is None else now + days * _DAY, **more,
        }  # fmt: skip
        with self.database.write() as connection:
            connection.execute(sa.insert(self.table), row)
            beside = ", ".join(
                [*map(str, more.values()), *([] if days is None else [f"{days:g} days"]), f"id {number}"]
            )
            note(connection, now, by, said, study_id, f"{name}: {beside}")
        return secret

    def rows(self, study_id: int) -> list[dict[str, Any]]:
        """Those of a study, the latest first, without their digests."""
        table = self.table
        columns = [column for column in table.c if column.name != "digest"]
        query = sa.select(*columns).where(table.c.study_id == study_id).order_by(table.c.created.desc(), table.c.id)
        with self.database.read() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def revoke(self, study_id: int, number: str, by: str, said: str) -> None:
        """End one at once; it stays in the list."""
        table = self.table
        here = table.c.study_id == study_id, table.c.id == number
        with self.database.write() as connection:
            if connection.scalar(sa.select(table.c.id).where(*here)) is None:
                raise Refused(404, f"no_{self.called}", f"There is no {self.called} {number} of this study.")
            now = self.database.clock.now()
            connection.execute(sa.update(table).where(*here, table.c.revoked.is_(None)).values(revoked=now))
            note(connection, now, by, said, study_id, f"id {number}")

    def find(self, secret: str) -> dict[str, Any] | None:
        """The row of a secret that works, without its digest; None for whatever else was shown."""
        number = secret.removeprefix(self.prefix).partition("_")[0]
        if not number.isalnum() or not number.isascii():
            return None
        with self.database.read() as connection:
            found = connection.execute(sa.select(self.table).where(self.table.c.id == number)).mappings().one_or_none()
        row = {"digest": digest("")} if found is None else dict(found)
        same = hmac.compare_digest(row.pop("digest"), digest(secret))
        works = same and found is not None and state_of(found, self.database.clock.now()) == "works"
        return row if works else None


def state_of(row: Any, now: float) -> str:
    """Whether one works, in a word."""
    if row["revoked"] is not None:
        return "revoked"
    return "expired" if row["expires"] is not None and row["expires"] <= now else "works"


def digest(secret: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()

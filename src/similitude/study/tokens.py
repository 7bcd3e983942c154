"""Tokens by which programs ask: each belongs to one study and may do what its scopes say.

A token is `sim_` with its id and 256 random bits. It is shown once, when it is made; what is kept is a digest, which is
enough since nobody can guess what was drawn from so many. Digests are compared in constant time.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass

import sqlalchemy as sa

from similitude.study.audit import note
from similitude.study.items import is_storable
from similitude.study.refusal import Refused
from similitude.study.store import schema
from similitude.study.store.database import Database

ASK, READ, ADMIN = "ask", "read", "admin"
SCOPES = {
    ASK: "ask questions and tell answers, for any rater",
    READ: "read the model, the state of the study and all answers",
    ADMIN: "pause and resume the study, decide about raters and see who they are, and all of the above",
}
_PREFIX = "sim_"
_DAY, _MINUTE = 86_400.0, 60.0
_LONGEST_NAME = 100


@dataclass(frozen=True)
class ApiToken:
    """A token as lists show it; the token itself is not known any more."""

    id: str
    study_id: int
    name: str
    scopes: tuple[str, ...]
    by: str
    created: float
    expires: float | None
    revoked: float | None
    last_used: float | None

    def allows(self, scope: str) -> bool:
        """Whether it may do that."""
        return scope in self.scopes or ADMIN in self.scopes

    def state(self, now: float) -> str:
        """Whether it works, in a word."""
        if self.revoked is not None:
            return "revoked"
        return "expired" if self.expires is not None and self.expires <= now else "works"


class ApiTokens:
    """The tokens of the studies of one database.

    Parameters
    ----------
    database : where they are kept
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    def make(self, study_id: int, name: str, scopes: Iterable[str], by: str, days: float | None = None) -> str:
        """A new token, which is told here and never again."""
        given = set(scopes)
        if not given or given - set(SCOPES):
            raise Refused(422, "scope", f"scopes: expected some of {', '.join(SCOPES)}, found {sorted(given)}")
        if not 1 <= len(name) <= _LONGEST_NAME or not name.isprintable() or not is_storable(name):
            raise Refused(422, "name", f"name: say what the token is for, in 1 to {_LONGEST_NAME} characters")
        if days is not None and not 0 < days <= 36_500:
            raise Refused(422, "days", f"days: expected more than 0 and at most 36500, found {days:g}")
        number, now = secrets.token_hex(6), self.database.clock.now()
        token = f"{_PREFIX}{number}_{secrets.token_urlsafe(32)}"
        row = {
            "id": number, "study_id": study_id, "name": name, "digest": digest(token),
            "scopes": " ".join(scope for scope in SCOPES if scope in given),
            "by": by, "created": now, "expires": None if days is None else now + days * _DAY,
        }  # fmt: skip
        with self.database.write() as connection:
            connection.execute(sa.insert(schema.api_token), row)
            note(connection, now, by, "made a token of", study_id, f"{name}: {row['scopes']}, id {number}")
        return token

    def of_study(self, study_id: int) -> list[ApiToken]:
        """The tokens of a study, the latest first."""
        table = schema.api_token
        query = sa.select(table).where(table.c.study_id == study_id).order_by(table.c.created.desc(), table.c.id)
        with self.database.read() as connection:
            return [_token(row) for row in connection.execute(query).mappings()]

    def revoke(self, study_id: int, number: str, by: str) -> None:
        """End a token at once; it stays in the list."""
        table = schema.api_token
        here = table.c.study_id == study_id, table.c.id == number
        with self.database.write() as connection:
            if connection.scalar(sa.select(table.c.id).where(*here)) is None:
                raise Refused(404, "no_token", f"There is no token {number} of this study.")
            now = self.database.clock.now()
            connection.execute(sa.update(table).where(*here, table.c.revoked.is_(None)).values(revoked=now))
            note(connection, now, by, "revoked a token of", study_id, f"id {number}")

    def find(self, study_id: int, token: str) -> ApiToken | None:
        """The token that works in a study; None for whatever else was shown."""
        number = token.removeprefix(_PREFIX).partition("_")[0]
        if not number.isalnum() or not number.isascii():
            return None
        table, now = schema.api_token, self.database.clock.now()
        with self.database.read() as connection:
            row = connection.execute(sa.select(table).where(table.c.id == number)).mappings().one_or_none()
        kept = digest("") if row is None else row["digest"]
        same = hmac.compare_digest(kept, digest(token))
        if row is None or not same or row["study_id"] != study_id:
            return None
        found = _token(row)
        if found.state(now) != "works":
            return None
        if found.last_used is None or not 0 <= now - found.last_used < _MINUTE:
            with self.database.write() as connection:
                connection.execute(sa.update(table).where(table.c.id == number).values(last_used=now))
        return found


def is_api_token(text: str) -> bool:
    """Whether this is meant to be a token of a program, not that of a rater."""
    return text.startswith(_PREFIX)


def digest(token: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _token(row: sa.RowMapping) -> ApiToken:
    scopes = tuple(str(row["scopes"]).split())
    return ApiToken(**{key: row[key] for key in row if key not in ("scopes", "digest")}, scopes=scopes)

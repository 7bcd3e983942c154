"""Tokens by which programs ask: each belongs to one study and may do what its scopes say.

A token is `sim_` with its id and 256 random bits; how it is kept and found is `issued.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from similitude.study.issued import Issued, state_of
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
_MINUTE = 60.0
_MOST_DAYS = 36_500


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
        return state_of(vars(self), now)


class ApiTokens:
    """The tokens of the studies of one database.

    Parameters
    ----------
    database : where they are kept
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self._issued = Issued(database, schema.api_token, "token", _PREFIX)

    def make(self, study_id: int, name: str, scopes: Iterable[str], by: str, days: float | None = None) -> str:
        """A new token, which is told here and never again."""
        given = set(scopes)
        if not given or given - set(SCOPES):
            raise Refused(422, "scope", f"scopes: expected some of {', '.join(SCOPES)}, found {sorted(given)}")
        said, kept = "made a token of", " ".join(scope for scope in SCOPES if scope in given)
        return self._issued.make(study_id, name, "what the token is for", by, days, _MOST_DAYS, said, scopes=kept)

    def of_study(self, study_id: int) -> list[ApiToken]:
        """The tokens of a study, the latest first."""
        return [_token(row) for row in self._issued.rows(study_id)]

    def revoke(self, study_id: int, number: str, by: str) -> None:
        """End a token at once; it stays in the list."""
        self._issued.revoke(study_id, number, by, "revoked a token of")

    def find(self, study_id: int, token: str) -> ApiToken | None:
        """The token that works in a study; None for whatever else was shown."""
        row = self._issued.find(token)
        if row is None or row["study_id"] != study_id:
            return None
        found, now = _token(row), self.database.clock.now()
        if found.last_used is None or not 0 <= now - found.last_used < _MINUTE:
            table = schema.api_token
            with self.database.write() as connection:
                connection.execute(sa.update(table).where(table.c.id == found.id).values(last_used=now))
        return found


def is_api_token(text: str) -> bool:
    """Whether this is meant to be a token of a program, not that of a rater."""
    return text.startswith(_PREFIX)


def _token(row: dict[str, Any]) -> ApiToken:
    return ApiToken(**{**row, "scopes": tuple(str(row["scopes"]).split())})

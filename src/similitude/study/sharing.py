"""Links to share a study as it runs: its map, its curve and its dimensions, for whoever has the link, and nothing else.

A link ends when it is revoked or its days are over. `[share]` in `study.toml` says which sites may show the page within
theirs.
"""

from __future__ import annotations

from dataclasses import dataclass

from similitude.study.issued import Issued, state_of
from similitude.study.store import schema
from similitude.study.store.database import Database

MOST_DAYS = 3650


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
        return state_of(vars(self), now)


class ShareLinks:
    """The links of the studies of one database.

    Parameters
    ----------
    database : where they are kept
    """

    def __init__(self, database: Database) -> None:
        self._issued = Issued(database, schema.share_link, "link")

    def make(self, study_id: int, name: str, days: float, by: str) -> str:
        """A new link: what stands after `/live/`, told here and never again."""
        return self._issued.make(study_id, name, "whom the link is for", by, days, MOST_DAYS, "shared")

    def of_study(self, study_id: int) -> list[ShareLink]:
        """The links of a study, the latest first."""
        return [ShareLink(**row) for row in self._issued.rows(study_id)]

    def revoke(self, study_id: int, number: str, by: str) -> None:
        """End a link at once; it stays in the list."""
        self._issued.revoke(study_id, number, by, "ended a shared link of")

    def find(self, link: str) -> ShareLink | None:
        """The link that works; None for whatever else was shown."""
        row = self._issued.find(link)
        return None if row is None else ShareLink(**row)

"""Who did what to a study: a list that grows, and that no page and no command takes anything off."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime

import sqlalchemy as sa

from similitude.study.store import schema
from similitude.study.store.database import Database

SHOWN = 200


@dataclass(frozen=True)
class Deed:
    """One line: when, who, what, of which study (None is the server), and what is to be said beside."""

    id: int
    at: float
    who: str
    what: str
    study: str | None
    detail: str

    def __str__(self) -> str:
        when = f"{datetime.fromtimestamp(self.at, UTC):%Y-%m-%d %H:%M:%S} UTC"
        where = f" {self.study}" if self.study else ""
        return f"{when}  {self.who}: {self.what}{where}{f' ({self.detail})' if self.detail else ''}"


def note(
    connection: sa.Connection, at: float, who: str, what: str, study_id: int | None = None, detail: str = ""
) -> None:
    """Write a deed, in the transaction that does it: neither is there without the other."""
    row = {"at": at, "who": who, "what": what, "study_id": study_id, "detail": detail}
    connection.execute(sa.insert(schema.deed), row)


def deeds(database: Database, after: int = 0, most: int = SHOWN, studies: Collection[int] | None = None) -> list[Deed]:
    """The latest deeds, the latest first; those after a number, and of some studies, where that is given."""
    table, study = schema.deed, schema.study
    columns = table.c.id, table.c.at, table.c.who, table.c.what, study.c.name.label("study"), table.c.detail
    joined = table.outerjoin(study, study.c.id == table.c.study_id)
    here = [table.c.id > after, *([] if studies is None else [table.c.study_id.in_(studies)])]
    query = sa.select(*columns).select_from(joined).where(*here).order_by(table.c.id.desc()).limit(most)
    with database.read() as connection:
        return [Deed(**row) for row in connection.execute(query).mappings()]

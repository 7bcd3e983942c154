"""Taking rehearsals out of a database: they were never part of the study, so nothing of them stays."""

from __future__ import annotations

import sqlalchemy as sa

from similitude.study.entrance import REHEARSAL
from similitude.study.maintenance.export import study_number
from similitude.study.store import schema
from similitude.study.store.database import Database


def forget_rehearsal(database: Database, study: str) -> tuple[int, int]:
    """Delete the raters of rehearsals with all that they said; returns how many raters and answers."""
    rater = schema.rater
    with database.write() as connection:
        here = rater.c.study_id == study_number(connection, study), rater.c.origin == REHEARSAL
        theirs = sa.select(rater.c.id).where(*here)
        for table in (schema.reply, schema.lease):
            connection.execute(sa.delete(table).where(table.c.rater_id.in_(theirs)))
        answers = connection.execute(sa.delete(schema.answer).where(schema.answer.c.rater_id.in_(theirs))).rowcount
        raters = connection.execute(sa.delete(rater).where(*here)).rowcount
    return raters, answers

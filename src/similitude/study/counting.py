"""Whose answers count: not those of rehearsals, the pilot, raters who were left out, or before a rater was asked anew.

Nothing is taken out of the log. Every reader of it asks here, and `changes` tells whoever remembers something of it
when to look anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from similitude.study.states import APART
from similitude.study.store import schema

COUNTS, LEFT_OUT, SUPERSEDED = "counts", "left_out", "superseded"
TAKEN_BACK, REDO = "taken_back", "redo"
_DECISIONS = (LEFT_OUT, TAKEN_BACK, REDO)


def rater_counts() -> sa.ColumnElement[bool]:
    """Of rows of `rater`: neither of a rehearsal or the pilot, nor left out."""
    return sa.and_(schema.rater.c.origin.not_in(APART), schema.rater.c.left_out.is_(None))


def answer_counts() -> sa.ColumnElement[bool]:
    """Of rows of `answer` beside those of `rater`: the rater counts, and was not asked anew since."""
    return sa.and_(rater_counts(), schema.answer.c.number >= schema.rater.c.first)


def standing(row: Mapping[str, Any]) -> str:
    """Whether an answer counts, in a word: a row of `answer` with its rater's `left_out` and `first`."""
    if row["left_out"] is not None:
        return LEFT_OUT
    return SUPERSEDED if row["number"] < row["first"] else COUNTS


def changes(connection: sa.Connection, study_id: int) -> int:
    """A number that is another one whenever it was decided anew whose answers count."""
    table = schema.remark
    query = sa.select(sa.func.max(table.c.id)).where(table.c.study_id == study_id, table.c.what.in_(_DECISIONS))
    return connection.scalar(query) or 0

"""What people are asked beside the questions: fields before the first, and after the last."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from similitude.study.refusal import Refused
from similitude.study.settings import Study, SurveyField
from similitude.study.store import schema
from similitude.study.store.rows import Row

BEFORE, AFTER = "before", "after"


def fields_at(study: Study, when: str) -> list[SurveyField]:
    """The fields that are asked then."""
    return [field for field in study.survey.fields if field.when == when]


def is_open(connection: sa.Connection, study: Study, rater: Row) -> bool:
    """Whether a rater has still to be asked what comes before the first question."""
    names = [field.name for field in fields_at(study, BEFORE)]
    if not names or rater["answered"]:
        return False
    said = sa.select(schema.reply.c.field).where(
        schema.reply.c.rater_id == rater["id"], schema.reply.c.field.in_(names)
    )
    return connection.execute(said.limit(1)).first() is None


def keep_before(connection: sa.Connection, study: Study, rater: Row, replies: Mapping[str, str], now: float) -> None:
    """Keep what was said before the first question, also what was left empty: so it is known that it was asked."""
    fields = fields_at(study, BEFORE)
    check(fields, replies)
    if is_open(connection, study, rater):
        _keep(connection, rater["id"], {field.name: replies.get(field.name, "") for field in fields}, now)


def keep_after(connection: sa.Connection, study: Study, rater: Row, replies: Mapping[str, str], now: float) -> None:
    """Keep what was said at the end; what should have been said before, and was not, is asked for here."""
    table = schema.reply
    query = sa.select(table.c.field).where(table.c.rater_id == rater["id"])
    said = set(connection.scalars(query))
    new = {name: value for name, value in replies.items() if name not in said}
    check([field for field in study.survey.fields if field.name not in said], new)
    if rater["finished"] is None:
        _keep(connection, rater["id"], {name: value for name, value in new.items() if value}, now)


def _keep(connection: sa.Connection, rater_id: int, replies: Mapping[str, str], now: float) -> None:
    rows = [{"rater_id": rater_id, "field": name, "value": value, "received": now} for name, value in replies.items()]
    if rows:
        connection.execute(sa.insert(schema.reply), rows)


def check(fields: Sequence[SurveyField], replies: Mapping[str, str]) -> None:
    """Refuse replies that do not fit their fields."""
    if unknown := set(replies) - {field.name for field in fields}:
        raise Refused(422, "field", f"{min(unknown)}: the survey has no such field.")
    for field in fields:
        value = replies.get(field.name, "")
        if field.required and not value.strip():
            raise Refused(422, "field", f"{field.label}: this field must be filled in.")
        if value and field.kind == "choice" and value not in field.choices:
            raise Refused(422, "field", f"{field.label}: expected one of {', '.join(field.choices)}.")
        if value and field.kind == "number" and not _is_number(value):
            raise Refused(422, "field", f"{field.label}: expected a number.")


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False

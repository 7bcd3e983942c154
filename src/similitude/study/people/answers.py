"""What one rater said, question by question, as researchers look at it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from similitude.feedback.forms import PAGES
from similitude.feedback.forms.picking import Picking
from similitude.study.answering import passed
from similitude.study.counting import SUPERSEDED, standing
from similitude.study.store import schema
from similitude.study.store.rows import Row
from similitude.study.versions import Served

_OUTCOMES = {
    "cant_tell": "can't tell", "skipped": "skipped", "not_shown": "could not be shown", "redacted": "erased",
}  # fmt: skip


@dataclass(frozen=True)
class Given:
    """One answer.

    Attributes
    ----------
    number : which of the rater's questions, from 1 on
    kind : question, practice or catch
    form : of the question
    shown : names of items in their order on the screen
    said : what was said, in words
    chosen : the places in `shown` of the items that were picked, where some were
    seconds : from the question on the screen to the answer
    right : whether a catch trial was passed; None of other questions
    superseded : whether the rater was asked anew since
    received : seconds since 1970
    strategy : why the question was asked
    """

    number: int
    kind: str
    form: str
    shown: tuple[str, ...]
    said: str
    chosen: frozenset[int]
    seconds: float | None
    right: bool | None
    superseded: bool
    received: float
    strategy: str


def answers_of(connection: sa.Connection, served: Served, rater: Row, start: int, most: int) -> list[Given]:
    """Some answers of a rater, in the order in which they were given."""
    answer = schema.answer
    query = sa.select(answer).where(answer.c.rater_id == rater["id"]).order_by(answer.c.id).offset(start).limit(most)
    return [_given(connection, served, dict(row) | _of(rater)) for row in connection.execute(query).mappings()]


def number_of_answers(connection: sa.Connection, rater: Row) -> int:
    """How many there are, superseded ones among them."""
    answer = schema.answer
    return connection.scalar(sa.select(sa.func.count()).where(answer.c.rater_id == rater["id"])) or 0


def times_of(connection: sa.Connection, rater: Row, most: int = 300) -> list[float]:
    """Seconds of the latest answers that count, in order."""
    answer = schema.answer
    mine = answer.c.rater_id == rater["id"], answer.c.number >= rater["first"], answer.c.milliseconds.is_not(None)
    query = sa.select(answer.c.milliseconds).where(*mine).order_by(answer.c.id.desc()).limit(most)
    return [milliseconds / 1000 for milliseconds in reversed(connection.scalars(query).all())]


def _of(rater: Row) -> dict[str, Any]:
    return {"left_out": None, "first": rater["first"]}


def _given(connection: sa.Connection, served: Served, row: Mapping[str, Any]) -> Given:
    shown = tuple(json.loads(row["shown"]))
    said, chosen = _OUTCOMES.get(row["outcome"], row["outcome"]), frozenset[int]()
    if row["response"] is not None and row["form"] in PAGES:
        form, response = PAGES[row["form"]], json.loads(row["response"])
        said = form.in_words(shown, response)
        if isinstance(form, Picking):
            chosen = frozenset(shown.index(one) for one in form.said(shown, response) if one in shown)
    return Given(
        row["number"] + 1, row["kind"], row["form"], shown, said, chosen,
        None if row["milliseconds"] is None else row["milliseconds"] / 1000,
        passed(served, connection, row) if row["kind"] == "catch" else None,
        standing(row) == SUPERSEDED, row["received"], row["strategy"],
    )  # fmt: skip


def thumbnail(on_screen: Mapping[str, Any] | None, name: str) -> dict[str, Any]:
    """How an item is drawn in a line: a picture, a colour, or a few words; by its name where it is there no more."""
    if on_screen is None:
        return {"kind": "text", "name": name, "content": name[:40], "address": None}
    return {**on_screen, "content": str(on_screen["content"])[:40]}

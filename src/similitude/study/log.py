"""From the log to what a model learns: rows of `answer` as `Answers`, and those as comparisons.

Left out are answers that do not count (`counting`), practice and catch trials (their answers are known), skipped
questions, what was redacted, and answers about items that are no longer in the study. "Can't tell" is kept: it compares
nothing, but it was asked.

What answers compare is known to their forms (`similitude.feedback.forms`). Ratings, same or different, and labels are
asked one by one: they are pieces, and those of one rater and block are gathered into one sheet, here as where an export
is read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, compress
from typing import Any

import numpy as np
import sqlalchemy as sa

from similitude.feedback.answers import Answers
from similitude.feedback.columns import Rows
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.forms import PAGES
from similitude.feedback.forms.pieces import SHEET
from similitude.study.counting import answer_counts
from similitude.study.store import schema

_SAID = ("answered", "cant_tell")
AT_ONCE = 10_000  # rows of the log that are read together
LEARNED = ("id", "kind", "outcome", "form", "shown", "response", "code", "strategy", "milliseconds", "side", "block")


def read_log(
    connection: sa.Connection, study_id: int, names: Sequence[str], after: int = 0, most: int = AT_ONCE
) -> tuple[Answers, int, int]:
    """The next answers of the log: those to learn from, the number of the last row seen, and how many were seen."""
    answer, rater = schema.answer, schema.rater
    query = (
        sa.select(*(rater.c.code if name == "code" else answer.c[name] for name in LEARNED), answer_counts())
        .join(rater, rater.c.id == answer.c.rater_id)
        .where(answer.c.study_id == study_id, answer.c.id > after)
        .order_by(answer.c.id)
        .limit(most)
    )
    rows = connection.execute(query).all()
    counted = [row[:-1] for row in rows if row[-1]]
    return as_answers(counted, names), rows[-1][0] if rows else after, len(rows)


def as_answers(rows: Sequence[Sequence[Any]], names: Sequence[str]) -> Answers:
    """Rows of the log, as `LEARNED` names their columns, as answers about the items of these names.

    Whole columns are read at once: a million rows one by one would take most of a minute.
    """
    place = {name: k for k, name in enumerate(names)}
    told = [row for row in rows if row[1] == "question" and row[2] in _SAID]
    shown = _lists(row[4] for row in told)
    if not all(place.keys() >= set(items) for items in shown):
        there = [place.keys() >= set(items) for items in shown]
        told, shown = list(compress(told, there)), list(compress(shown, there))
    columns = list(zip(*told, strict=True)) or [()] * len(LEARNED)
    _, _, _, form, _, response, code, strategy, milliseconds, side, block = columns
    called = {page: one.name for page, one in PAGES.items()}
    return Answers.of(
        [called.get(name, name) for name in form],
        _ragged(shown, np.int32, place.__getitem__),
        _ragged(_lists(text or "[]" for text in response), float),
        rater=code,
        strategy=strategy,
        time=np.array(milliseconds, float) / 1000,
        side=side,
        extra={SHEET: [name or None for name in block]} if any(block) else None,
    )


def _lists(texts: Iterable[str]) -> list[list[Any]]:
    """Lists in JSON, all parsed in one go."""
    found: list[list[Any]] = json.loads(f"[{','.join(texts)}]")
    return found


def _ragged(lists: Sequence[Sequence[Any]], dtype: Any, value: Callable[[Any], Any] | None = None) -> Rows:
    flat = chain.from_iterable(lists)
    return Rows.ragged(np.fromiter(flat if value is None else map(value, flat), dtype), [len(one) for one in lists])


def comparisons_of(answers: Answers, names: Sequence[str]) -> Comparisons:
    """What answers compare; a study whose form was changed midway may hold several forms."""
    return Comparisons.from_answers(answers, names=names)

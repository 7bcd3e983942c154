"""From the log to what a model learns: rows of `answer` as `Answers`, and those as comparisons.

Left out are rehearsals, practice and catch trials (their answers are known), skipped questions, what was redacted, and
answers about items that are no longer in the study. "Can't tell" is kept: it compares nothing, but it was asked.

| form | comparisons |
|---|---|
| triplet, odd_one_out, choice, quadruplet | of each answer by itself (`similitude.feedback.forms`) |
| similarity_rating | all ratings of a rater are one sheet: a pair rated higher is more alike than one rated lower |
| same_different | links: a pair called the same is more alike than one called different by the same rater |
| labelling | labels: an item is more like one of its class; of two in a class, the surer one is nearer to a third |
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, compress
from typing import Any

import numpy as np
import sqlalchemy as sa

from similitude.feedback.answers import Answers
from similitude.feedback.columns import Bools, Rows
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.labels import Labels
from similitude.feedback.links import Links
from similitude.study.entrance import REHEARSAL
from similitude.study.rounds import ADAPTIVE
from similitude.study.store import schema

EVEN = ("random", "fallback")  # strategies that draw evenly from all questions
REPEAT = "repeat"  # the strategy that asks an evenly drawn question of another rater
_PER_SHEET = 2000  # comparisons of one rater's ratings at most: k ratings give up to k²/2
_SEED = 0  # sheets that are too long are thinned the same way each time
_SAID = ("answered", "cant_tell")
AT_ONCE = 10_000  # rows of the log that are read together
LEARNED = ("id", "kind", "outcome", "form", "shown", "response", "code", "strategy", "milliseconds", "side")


def read_log(
    connection: sa.Connection, study_id: int, names: Sequence[str], after: int = 0, most: int = AT_ONCE
) -> tuple[Answers, int, int]:
    """The next answers of the log: those to learn from, the number of the last row seen, and how many were seen."""
    answer, rater = schema.answer, schema.rater
    query = (
        sa.select(*(rater.c.code if name == "code" else answer.c[name] for name in LEARNED), rater.c.origin)
        .join(rater, rater.c.id == answer.c.rater_id)
        .where(answer.c.study_id == study_id, answer.c.id > after)
        .order_by(answer.c.id)
        .limit(most)
    )
    rows = connection.execute(query).all()
    counted = [row[:-1] for row in rows if row[-1] != REHEARSAL]
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
    _, _, _, form, _, response, code, strategy, milliseconds, side = columns
    return Answers.of(
        form,
        _ragged(shown, np.int32, place.__getitem__),
        _ragged(_lists(text or "[]" for text in response), float),
        rater=code,
        strategy=strategy,
        time=np.array(milliseconds, float) / 1000,
        side=side,
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
    form = answers.form.values
    alone = np.isin(form, ADAPTIVE)
    parts = [Comparisons.from_answers(answers.take(np.flatnonzero(alone)), names=names)]
    said = ~answers.cant_tell
    for one, derive in _SHEETS.items():
        rows = np.flatnonzero((form == one) & said)
        if len(rows):
            parts.append(derive(answers.take(rows), names))
    return parts[0] if len(parts) == 1 else Comparisons.concatenate([part for part in parts if part.n_answers])


def evenly_drawn(comparisons: Comparisons) -> Bools:
    """Which answers are to questions drawn evenly from all; a sheet is, since its forms know no other way."""
    strategy = comparisons.answers.strategy
    if not strategy.recorded:
        return np.ones(comparisons.n_answers, bool)
    return np.array([label in EVEN for label in strategy.labels] + [True])[strategy.codes]


def _ratings(answers: Answers, names: Sequence[str]) -> Comparisons:
    return Comparisons.from_ratings(
        answers.shown.matrix(), answers.response.matrix()[:, 0], answers.rater.values, larger="similar",
        max_per_rater=_PER_SHEET, random_state=_SEED, names=names,
    )  # fmt: skip


def _links(answers: Answers, names: Sequence[str]) -> Comparisons:
    similar = answers.response.matrix()[:, 0] == 1
    links = Links.of(answers.shown.matrix(), similar, rater=answers.rater.values, names=names)
    return links.to_comparisons(random_state=_SEED)


def _labels(answers: Answers, names: Sequence[str]) -> Comparisons:
    said = answers.response.matrix()
    labels = Labels.of(answers.shown.matrix()[:, 0], said[:, 0], said[:, 1], rater=answers.rater.values, names=names)
    return labels.to_comparisons(random_state=_SEED)


_SHEETS = {"similarity_rating": _ratings, "same_different": _links, "labelling": _labels}

"""What a rater is asked next: practice first, then questions with catch trials between them, none of them twice.

A share of the questions is drawn at random, evenly over all: the test set that chosen questions are not fit for. The
others come from the pool that the model process fills. Where that is empty (the model is behind, or dead, or has not
learned enough), they are drawn at random too, and say so: `fallback`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from random import Random
from typing import Any

import sqlalchemy as sa

from similitude.study.asking import key_of, random_question, shuffled, width
from similitude.study.settings import Question, Study, StudyError
from similitude.study.store import schema
from similitude.study.store.rows import Row

ADAPTIVE = ("triplet", "odd_one_out", "choice", "quadruplet")
_TRIES = 3
_ENUMERABLE = 200_000


@dataclass(frozen=True)
class Place:
    """What stands at one number of a rater's round: practice, a catch trial (which of those given), or a question."""

    kind: str
    known: int | None = None


def place(study: Study, code: str, number: int) -> Place:
    """What the rater called `code` is asked at `number`; the same whenever it is asked for.

    Catch trials: one in every `every + 1` questions, at a place of its own for each rater and each such block.
    """
    index = number - len(study.practice.questions)
    if index < 0:
        return Place("practice", number)
    every = study.catch.every
    if every:
        block, within = divmod(index, every + 1)
        if block < study.question.number // every and within == Random(f"{code} {block}").randrange(every + 1):
            first = Random(code).randrange(len(study.catch.questions))
            return Place("catch", (first + block) % len(study.catch.questions))
    return Place("question")


def number_of_questions(question: Question, n_items: int) -> int:
    """How many different questions there are."""
    shown = width(question)
    if question.form == "quadruplet":
        return 3 * comb(n_items, 4)
    if question.form in ("triplet", "choice"):
        return n_items * comb(n_items - 1, shown - 1)
    return comb(n_items, shown)


def check_number(study: Study, n_items: int) -> None:
    """Refuse to ask one rater more questions than there are different ones."""
    there_are = (
        number_of_questions(study.question, n_items) - len(study.practice.questions) - len(study.catch.questions)
    )
    if study.question.number > there_are:
        raise StudyError(
            f"{study.name}: question.number is {study.question.number}, but {n_items} items give only {there_are} "
            f"different questions of form {study.question.form}, and nobody is asked the same twice"
        )


def hand_out(
    connection: sa.Connection,
    study: Study,
    study_id: int,
    names: Sequence[str],
    wanted: Sequence[tuple[Row, int]],
    now: float,
    rng: Random,
) -> dict[int, list[Row]]:
    """Lease further questions to raters: the rows of `lease` for each rater's id.

    `wanted` holds raters (their rows, whose `asked` is moved on) and how many each may have.
    """
    slots = [
        Slot(rater, number, place(study, rater["code"], number))
        for rater, n in wanted
        for number in range(rater["asked"], min(rater["asked"] + n, study.length))
    ]
    if not slots:
        return {}
    draw = _Draw(connection, study, study_id, names, rng)
    handed: dict[int, list[Row]] = {}
    for slot, drawn in zip(slots, draw.questions(slots), strict=True):
        lease = {
            "rater_id": slot.rater["id"], "number": slot.number, "study_id": study_id, "version": study.version,
            "asked_at": now, "expires": now + 60 * study.choose.lease_minutes, "open": True, "kind": slot.place.kind,
            "key": drawn.key, "shown": json.dumps(drawn.shown, ensure_ascii=False), "strategy": drawn.strategy,
            "score": drawn.score, "model": drawn.model,
        }  # fmt: skip
        handed.setdefault(slot.rater["id"], []).append(lease)
        slot.rater["asked"] += 1
    connection.execute(sa.insert(schema.lease), [lease for leases in handed.values() for lease in leases])
    return handed


@dataclass(frozen=True)
class Slot:
    """A number of a rater's round that waits for its question."""

    rater: Row
    number: int
    place: Place


@dataclass(frozen=True)
class Drawn:
    """A question, and why it is asked; `pool` is its row in the pool."""

    key: int
    shown: Sequence[str]
    strategy: str
    score: float | None = None
    model: int | None = None
    pool: int | None = None


class _Draw:
    """Draws questions for the raters of one transaction."""

    def __init__(
        self, connection: sa.Connection, study: Study, study_id: int, names: Sequence[str], rng: Random
    ) -> None:
        self.connection, self.study, self.study_id, self.names, self.rng = connection, study, study_id, names, rng
        self.form = study.question.form
        self.adaptive = study.choose.strategy != "random" and self.form in ADAPTIVE

    def questions(self, slots: Sequence[Slot]) -> list[Drawn]:
        """One question for each slot: the first of its candidates that its rater was not asked before."""
        ready = iter(self._from_pool(sum(slot.place.kind == "question" for slot in slots)))
        candidates = [self._candidates(slot, ready) for slot in slots]
        asked = self._asked(
            (slot.rater["id"], one.key) for slot, some in zip(slots, candidates, strict=True) for one in some
        )
        chosen = []
        for slot, some in zip(slots, candidates, strict=True):
            rater_id = slot.rater["id"]
            free = (one for one in some if slot.place.known is not None or (rater_id, one.key) not in asked)
            one = next(free, None) or self._among_those_left(rater_id, {key for of, key in asked if of == rater_id})
            asked.add((rater_id, one.key))
            chosen.append(one)
        self._take_from_pool([one.pool for one in chosen if one.pool is not None])
        return chosen

    def _candidates(self, slot: Slot, ready: Iterator[Drawn]) -> list[Drawn]:
        if slot.place.known is not None:
            given = self.study.practice if slot.place.kind == "practice" else self.study.catch
            return [self._drawn(given.questions[slot.place.known].shown, slot.place.kind)]
        if not self.adaptive or self.rng.random() < self.study.choose.random_share:
            return [self._at_random("random") for _ in range(_TRIES)]
        from_pool = next(ready, None)
        return [*([from_pool] if from_pool else []), *(self._at_random("fallback") for _ in range(_TRIES))]

    def _drawn(self, shown: Sequence[str], strategy: str, **why: Any) -> Drawn:
        return Drawn(key_of(self.form, shown), shown, strategy, **why)

    def _at_random(self, strategy: str) -> Drawn:
        return self._drawn(random_question(self.study.question, self.names, self.rng), strategy)

    def _from_pool(self, n: int) -> list[Drawn]:
        """The next questions of the pool, of the study's form and about items that are still in it."""
        if not self.adaptive or not n:
            return []
        table, names, shows = schema.pool, set(self.names), width(self.study.question)
        query = sa.select(table).where(table.c.study_id == self.study_id).order_by(table.c.id).limit(n)
        found = [(row, json.loads(row.shown)) for row in self.connection.execute(query)]
        return [
            self._drawn(shown, row.strategy, score=row.score, model=row.model, pool=row.id)
            for row, shown in found
            if len(shown) == shows and names.issuperset(shown)
        ]

    def _take_from_pool(self, taken: list[int]) -> None:
        if taken:
            self.connection.execute(sa.delete(schema.pool).where(schema.pool.c.id.in_(taken)))

    def _asked(self, questions: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
        """Which of these questions these raters were asked before."""
        lease = schema.lease
        where = sa.tuple_(lease.c.rater_id, lease.c.key).in_(list(questions))
        return {(rater_id, key) for rater_id, key in self.connection.execute(_RATER_AND_KEY.where(where))}

    def _among_those_left(self, rater_id: int, more: set[int]) -> Drawn:
        """A rater has seen most questions: list the others; where there are too many to list, go on drawing."""
        lease = schema.lease
        asked = more | set(self.connection.scalars(sa.select(lease.c.key).where(lease.c.rater_id == rater_id)))
        if number_of_questions(self.study.question, len(self.names)) <= _ENUMERABLE:
            every = (self._drawn(shown, "random") for shown in all_questions(self.study.question, self.names))
            one = self.rng.choice([found for found in every if found.key not in asked])
            return replace(one, shown=shuffled(self.form, one.shown, self.rng))
        while (one := self._at_random("random")).key in asked:
            pass
        return one


_RATER_AND_KEY = sa.select(schema.lease.c.rater_id, schema.lease.c.key)


def all_questions(question: Question, names: Sequence[str]) -> Iterable[list[str]]:
    """Every different question once."""
    shown = width(question)
    if question.form in ("triplet", "choice"):
        for head in names:
            others = [name for name in names if name != head]
            yield from ([head, *rest] for rest in combinations(others, shown - 1))
    elif question.form == "quadruplet":
        for a, b, c, d in combinations(names, 4):
            yield from ([a, b, c, d], [a, c, b, d], [a, d, b, c])
    else:
        yield from (list(found) for found in combinations(names, shown))

"""What a rater is asked next: practice first, then questions with catch trials between them, none of them twice.

A share of the questions is drawn at random, evenly over all: the test set that chosen questions are not fit for. The
others come from the pool that the model process fills. Where that is empty (the model is behind, or dead, or has not
learned enough), they are drawn at random too, and say so: `fallback`. Rehearsals and the pilot are asked at random
alone: what the model chose is for people whom it learns from.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import NamedTuple

import sqlalchemy as sa

from similitude.study.asking import encode, form_of, is_adaptive, keys_of, random_question, shuffled, width
from similitude.study.entrance import APART
from similitude.study.settings import Question, Study, StudyError
from similitude.study.store import schema
from similitude.study.store.rows import Row, asked_before, execute_many
from similitude.study.versions import Served

_TRIES, _FURTHER = 20, 50
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
    return form_of(question.form).arrangement.number(width(question), n_items)


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
    served: Served,
    wanted: Sequence[tuple[Row, int]],
    times: tuple[float, float],
    rng: Random,
) -> dict[int, list[Row]]:
    """Lease further questions to raters: the rows of `lease` for each rater's id.

    `wanted` holds raters (their rows, whose `asked` is moved on) and how many each may have; `times` when they are
    asked and when the leases end. A rater who was asked every question there is gets none.
    """
    slots = [
        Slot(rater, number, place(served.study, rater["code"], number - rater["first"]))
        for rater, n in wanted
        for number in range(rater["asked"], rater["asked"] + n)
    ]
    if not slots:
        return {}
    handed: dict[int, list[Row]] = {}
    now, expires = times
    for slot, drawn in zip(slots, Draw(connection, served, rng).questions(slots), strict=True):
        if drawn is None:
            continue
        lease = {
            "rater_id": slot.rater["id"], "number": slot.rater["asked"], "study_id": served.study_id,
            "version": served.version, "asked_at": now, "expires": expires, "open": True, "kind": slot.place.kind,
            "key": drawn.key, "shown": encode(drawn.shown), "strategy": drawn.strategy,
            "score": drawn.score, "model": drawn.model,
        }  # fmt: skip
        # the rater's next number, not the slot's: it tells raters how far they are, and has no gaps
        handed.setdefault(slot.rater["id"], []).append(lease)
        slot.rater["asked"] += 1
    if handed:
        execute_many(connection, _LEASE, [lease for leases in handed.values() for lease in leases])
    return handed


@dataclass(frozen=True)
class Slot:
    """A number of a rater's round that waits for its question."""

    rater: Row
    number: int
    place: Place


class Asking(NamedTuple):
    """A question, and why it is asked; `pool` is its row in the pool."""

    shown: Sequence[str]
    strategy: str
    score: float | None = None
    model: int | None = None
    pool: int | None = None


class Drawn(NamedTuple):
    """The same with its key, by which it is known whether somebody was asked it before."""

    shown: Sequence[str]
    strategy: str
    score: float | None
    model: int | None
    pool: int | None
    key: int


class Draw:
    """Draws questions for the raters of one transaction."""

    def __init__(self, connection: sa.Connection, served: Served, rng: Random) -> None:
        self.connection, self.served, self.rng = connection, served, rng
        self.study, self.names = served.study, served.names
        self.form = self.study.question.form
        self.adaptive = self.study.choose.strategy != "random" and is_adaptive(self.study.question)
        self.reserved = served.keys_of_known()
        self.offered: set[int | None] = set()
        self.used: set[int] = set()

    def questions(self, slots: Sequence[Slot]) -> list[Drawn | None]:
        """One question for each slot that its rater was not asked before; None where there is none left."""
        # Nearly every slot keeps the first question that it gets, so that all of them are drawn, keyed and looked up
        # together: a handful of statements for a hundred raters. Only those asked before go their own, slower way.
        at_random = [self._is_random(slot) for slot in slots]
        n_chosen = sum(not chance for slot, chance in zip(slots, at_random, strict=True) if slot.place.known is None)
        ready = iter(self._from_pool(n_chosen))
        first = self._drawn([self._first(slot, chance, ready) for slot, chance in zip(slots, at_random, strict=True)])
        self.offered = {one.pool for one in first}
        asked = asked_before(
            self.connection,
            [(slot.rater["id"], one.key, slot.rater["first"]) for slot, one in zip(slots, first, strict=True)],
        )
        chosen: list[Drawn | None] = []
        for slot, one, chance in zip(slots, first, at_random, strict=True):
            rater_id = slot.rater["id"]
            found: Drawn | None = one
            if slot.place.known is None and ((rater_id, one.key) in asked or one.key in self.reserved):
                found = self._another(slot.rater, chance, {key for of, key in asked if of == rater_id})
            if found is not None:
                asked.add((rater_id, found.key))  # the next slot may be the same rater's
                if found.pool is not None:
                    self.used.add(found.pool)
            chosen.append(found)
        if self.used:
            self.connection.execute(_USED, {"ids": list(self.used)})
        return chosen

    def _is_random(self, slot: Slot) -> bool:
        """Whether a question is one of the random share; drawn for every slot, so that nothing else decides it."""
        chance = not self.adaptive or self.rng.random() < self.study.choose.random_share
        return chance or slot.rater["origin"] in APART

    def _first(self, slot: Slot, chance: bool, ready: Iterator[Asking]) -> Asking:
        """What a slot gets in most cases: its known question, a random one, or the next of the pool."""
        if slot.place.known is not None:
            given = self.study.practice if slot.place.kind == "practice" else self.study.catch
            shown = shuffled(self.form, given.questions[slot.place.known].shown, self.rng)
            return Asking(shown, slot.place.kind)
        if chance:
            return self._at_random("random")
        return next(ready, None) or self._at_random("fallback")

    def _another(self, rater: Row, chance: bool, more: set[int]) -> Drawn | None:
        """A question for a rater who was asked the first one before: from the pool, at random, of those left."""
        lease = schema.lease
        query = sa.select(lease.c.key).where(lease.c.rater_id == rater["id"], lease.c.number >= rater["first"])
        asked = more | self.reserved | set(self.connection.scalars(query))
        if not chance:
            gone = self.offered | self.used
            ready = self._drawn([one for one in self._from_pool(_FURTHER) if one.pool not in gone])
            if (one := next((one for one in ready if one.key not in asked), None)) is not None:
                return one
        strategy = "random" if chance else "fallback"
        drawn = islice(self._endless(strategy), _TRIES)
        return next((one for one in drawn if one.key not in asked), None) or self._of_those_left(strategy, asked)

    def _of_those_left(self, strategy: str, asked: set[int]) -> Drawn | None:
        """A rater has seen most questions: list the others; where there are too many to list, go on drawing."""
        if number_of_questions(self.study.question, len(self.names)) > _ENUMERABLE:
            return next(one for one in self._endless(strategy) if one.key not in asked)
        every = list(form_of(self.form).arrangement.every(self.names, width(self.study.question)))
        left = [k for k, key in enumerate(keys_of(self.form, every)) if key not in asked]
        if not left:
            return None
        return self._drawn([Asking(shuffled(self.form, every[self.rng.choice(left)], self.rng), strategy)])[0]

    def _endless(self, strategy: str) -> Iterator[Drawn]:
        while True:
            yield from self._drawn([self._at_random(strategy)])

    def _drawn(self, some: Sequence[Asking]) -> list[Drawn]:
        """Questions with their keys, which are made for all at once."""
        keys = keys_of(self.form, [one.shown for one in some])
        return [Drawn(*one, key) for one, key in zip(some, keys, strict=True)]

    def _at_random(self, strategy: str) -> Asking:
        return Asking(random_question(self.study.question, self.names, self.rng), strategy)

    def _from_pool(self, n: int) -> list[Asking]:
        """The next questions of the pool, about items that are still in the study, sides drawn anew."""
        if not self.adaptive or not n:
            return []
        present, shows = self.served.present, width(self.study.question)
        found = []
        for row in self.connection.execute(_READY, {"study": self.served.study_id, "most": n}):
            shown = json.loads(row.shown)
            if len(shown) == shows and present.issuperset(shown):
                sides = shuffled(self.form, shown, self.rng)
                found.append(Asking(sides, row.strategy, row.score, row.model, row.id))
            else:
                self.used.add(row.id)  # the study was changed since: nobody can be asked this
        return found


# what every answer asks of the database, put together once
_LEASE = sa.insert(schema.lease)
_READY = (
    sa.select(schema.pool)
    .where(schema.pool.c.study_id == sa.bindparam("study"))
    .order_by(schema.pool.c.id)
    .limit(sa.bindparam("most"))
)
_USED = sa.delete(schema.pool).where(schema.pool.c.id.in_(sa.bindparam("ids", expanding=True)))

"""What a rater is asked next: practice first, then questions with catch trials between them, none of them twice; so in
each part of the study, in the rater's own order of them.

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

from similitude.study.asking import (
    encode,
    form_of,
    is_chosen,
    keys_of,
    part_in_words,
    random_question,
    shuffled,
    width,
)
from similitude.study.designs import StudyPart
from similitude.study.entrance import APART
from similitude.study.sections import Question
from similitude.study.settings import Study, StudyError
from similitude.study.store import schema
from similitude.study.store.rows import Row, asked_before, execute_many
from similitude.study.versions import Served

_TRIES, _FURTHER = 20, 50
_ENUMERABLE = 200_000


@dataclass(frozen=True)
class Place:
    """What stands at one number of a rater's round: practice, a catch trial (which of those given), or a question."""

    part: StudyPart
    kind: str
    known: int | None = None


def place(parts: Sequence[StudyPart], code: str, number: int) -> Place:
    """What the rater called `code` is asked at `number`; the same whenever it is asked for.

    Catch trials: one in every `every + 1` questions, at a place of its own for each rater and each such stretch. Whose
    questions were withdrawn is asked more of the last part.
    """
    for part in parts[:-1]:
        if number < part.length:
            return _within(part, code, number)
        number -= part.length
    return _within(parts[-1], code, number)


def _within(part: StudyPart, code: str, number: int) -> Place:
    index = number - len(part.practice)
    if index < 0:
        return Place(part, "practice", number)
    every, whose = part.catch_every, f"{code} {part.block}" if part.block else code
    if every:
        stretch, within = divmod(index, every + 1)
        if stretch < part.n_catches and within == Random(f"{whose} {stretch}").randrange(every + 1):
            first = Random(whose).randrange(len(part.catch))
            return Place(part, "catch", (first + stretch) % len(part.catch))
    return Place(part, "question")


def number_of_questions(question: Question, n_items: int) -> int:
    """How many different questions there are."""
    return form_of(question.form).arrangement.number(width(question), n_items)


def check_number(study: Study, names: Sequence[str]) -> None:
    """Refuse to ask one rater more questions than there are different ones."""
    for seen in study.seen:
        for part in seen.parts:
            question, n_items = part.question, len(part.items(names))
            there_are = number_of_questions(question, n_items) - len(part.practice) - len(part.catch)
            if question.number > there_are:
                raise StudyError(
                    f"{part_in_words(seen, part)}: question.number is {question.number}, but {n_items} items give only "
                    f"{there_are} different questions of form {question.form}, and nobody is asked the same twice"
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
        Slot(rater, number, place(served.round_of(rater), rater["code"], number - rater["first"]))
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
            "block": slot.place.part.block, "key": drawn.key, "shown": encode(drawn.shown), "strategy": drawn.strategy,
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
        self.reserved = served.keys_of_known()
        self.offered: set[int | None] = set()
        self.used: set[int] = set()

    def questions(self, slots: Sequence[Slot]) -> list[Drawn | None]:
        """One question for each slot that its rater was not asked before; None where there is none left."""
        # Nearly every slot keeps the first question that it gets, so that all of them are drawn, keyed and looked up
        # together: a handful of statements for a hundred raters. Only those asked before go their own, slower way.
        at_random = [self._is_random(slot) for slot in slots]
        first = self._first_of_all(slots, at_random)
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
                found = self._another(slot, chance, {key for of, key in asked if of == rater_id})
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
        part = slot.place.part
        chance = not is_chosen(part) or self.rng.random() < self.served.study.choose.random_share
        return chance or slot.rater["origin"] in APART

    def _first_of_all(self, slots: Sequence[Slot], at_random: Sequence[bool]) -> list[Drawn]:
        """What each slot gets in most cases, drawn and keyed for all slots of a part at once."""
        by_part: dict[str, list[int]] = {}
        for k, slot in enumerate(slots):
            by_part.setdefault(slot.place.part.pool, []).append(k)
        found: dict[int, Drawn] = {}
        for places in by_part.values():
            part = slots[places[0]].place.part
            n_chosen = sum(not at_random[k] for k in places if slots[k].place.known is None)
            ready = iter(self._from_pool(part, n_chosen))
            drawn = self._drawn(part, [self._first(slots[k], at_random[k], ready) for k in places])
            found |= dict(zip(places, drawn, strict=True))
        return [found[k] for k in range(len(slots))]

    def _first(self, slot: Slot, chance: bool, ready: Iterator[Asking]) -> Asking:
        """What a slot gets in most cases: its known question, a random one, or the next of the pool."""
        part = slot.place.part
        if slot.place.known is not None:
            given = part.practice if slot.place.kind == "practice" else part.catch
            shown = shuffled(part.question.form, given[slot.place.known].shown, self.rng)
            return Asking(shown, slot.place.kind)
        if chance:
            return self._at_random(part, "random")
        return next(ready, None) or self._at_random(part, "fallback")

    def _another(self, slot: Slot, chance: bool, more: set[int]) -> Drawn | None:
        """A question for a rater who was asked the first one before: from the pool, at random, of those left."""
        lease, part, rater = schema.lease, slot.place.part, slot.rater
        query = sa.select(lease.c.key).where(lease.c.rater_id == rater["id"], lease.c.number >= rater["first"])
        asked = more | self.reserved | set(self.connection.scalars(query))
        if not chance:
            gone = self.offered | self.used
            ready = self._drawn(part, [one for one in self._from_pool(part, _FURTHER) if one.pool not in gone])
            if (one := next((one for one in ready if one.key not in asked), None)) is not None:
                return one
        strategy = "random" if chance else "fallback"
        drawn = islice(self._endless(part, strategy), _TRIES)
        return next((one for one in drawn if one.key not in asked), None) or self._of_those_left(part, strategy, asked)

    def _of_those_left(self, part: StudyPart, strategy: str, asked: set[int]) -> Drawn | None:
        """A rater has seen most questions: list the others; where there are too many to list, go on drawing."""
        question, names = part.question, self.served.names_of(part)
        if number_of_questions(question, len(names)) > _ENUMERABLE:
            return next(one for one in self._endless(part, strategy) if one.key not in asked)
        every = list(form_of(question.form).arrangement.every(names, width(question)))
        left = [k for k, key in enumerate(keys_of(question.form, every, part.block)) if key not in asked]
        if not left:
            return None
        one = Asking(shuffled(question.form, every[self.rng.choice(left)], self.rng), strategy)
        return self._drawn(part, [one])[0]

    def _endless(self, part: StudyPart, strategy: str) -> Iterator[Drawn]:
        while True:
            yield from self._drawn(part, [self._at_random(part, strategy)])

    def _drawn(self, part: StudyPart, some: Sequence[Asking]) -> list[Drawn]:
        """Questions with their keys, which are made for all at once."""
        keys = keys_of(part.question.form, [one.shown for one in some], part.block)
        return [Drawn(*one, key) for one, key in zip(some, keys, strict=True)]

    def _at_random(self, part: StudyPart, strategy: str) -> Asking:
        return Asking(random_question(part.question, self.served.names_of(part), self.rng), strategy)

    def _from_pool(self, part: StudyPart, n: int) -> list[Asking]:
        """The next questions of the part's pool, about items that are still in the study, sides drawn anew."""
        if not is_chosen(part) or not n:
            return []
        present, shows = self.served.present, width(part.question)
        found = []
        for row in self.connection.execute(_READY, {"study": self.served.study_id, "part": part.pool, "most": n}):
            shown = json.loads(row.shown)
            if len(shown) == shows and present.issuperset(shown):
                sides = shuffled(part.question.form, shown, self.rng)
                found.append(Asking(sides, row.strategy, row.score, row.model, row.id))
            else:
                self.used.add(row.id)  # the study was changed since: nobody can be asked this
        return found


# what every answer asks of the database, put together once
_LEASE = sa.insert(schema.lease)
_READY = (
    sa.select(schema.pool)
    .where(schema.pool.c.study_id == sa.bindparam("study"), schema.pool.c.part == sa.bindparam("part"))
    .order_by(schema.pool.c.id)
    .limit(sa.bindparam("most"))
)
_USED = sa.delete(schema.pool).where(schema.pool.c.id.in_(sa.bindparam("ids", expanding=True)))

"""Blocks within a study and conditions between its raters: as written in `study.toml`, and what a rater is asked then.

A block asks questions of its own, perhaps of another form or about some of the items; a condition says what its raters
are asked in another way. A study is made of `StudyPart`s: one for each block, a single one without a name where there
are none. `variant` is the study as the raters of a condition see it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from random import Random
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from similitude.feedback.extra import BEFORE_CONDITIONS as BEFORE_CONDITIONS
from similitude.study import patterns
from similitude.study.fault import KeyFault
from similitude.study.sections import Count, Known, Number, Positive, Question, Section

if TYPE_CHECKING:
    from similitude.study.settings import Study

Name = Annotated[str, Field(pattern=patterns.NAME)]
Order = Literal["fixed", "random", "balanced"]
Strategy = Literal["information_gain", "uncertainty", "random"]
Above = Annotated[Number, Field(gt=0)]
OF_CONDITIONS = ("instructions", "done")  # pages that may differ; consent is asked for before anybody has a condition


class QuestionBlock(Section):
    """Questions that are asked in a row: what `[question]` says, but for what the block says itself."""

    name: Name
    question: Question = Question()
    items: tuple[str, ...] = ()
    practice: tuple[Known, ...] = ()
    catch: tuple[Known, ...] = ()
    catch_every: Count = 0
    page: str | None = None


class Condition(Section):
    """What the raters of one group are asked in another way, and how many there shall be."""

    name: Name
    quota: Positive | None = None
    weight: Above | None = None
    text: str | None = None
    blocks: tuple[str, ...] = ()
    order: Order | None = None
    items: tuple[str, ...] = ()
    strategy: Strategy | None = None
    instructions: str | None = None
    done: str | None = None
    texts: dict[str, str] = Field(default={})


class Assignment(Section):
    """How raters come into conditions, and how long a place waits for who has it."""

    parameter: str | None = None
    counts: Literal["completed", "joined"] = "completed"
    minutes: Above = 60.0
    full_redirect: Annotated[str, Field(pattern=patterns.ADDRESS)] | None = None


@dataclass(frozen=True)
class StudyPart:
    """Questions that a rater is asked in a row.

    Attributes
    ----------
    block : its name; "" where the study has no blocks
    question : what is asked
    practice, catch, catch_every : questions with known answers, and how often one comes among the others
    only : patterns of names of items; an item is asked about that fits one of each
    strategy : how questions are chosen
    pool : which of the chosen questions are for it: parts of the same pool ask the same of the same items
    """

    block: str
    question: Question
    practice: tuple[Known, ...]
    catch: tuple[Known, ...]
    catch_every: int
    only: tuple[tuple[str, ...], ...]
    strategy: str
    pool: str

    @property
    def length(self) -> int:
        """Questions for one rater, with practice and the catch trials among them."""
        return len(self.practice) + self.question.number + self.n_catches

    @property
    def n_catches(self) -> int:
        """Catch trials of one rater."""
        return self.question.number // self.catch_every if self.catch_every else 0

    def items(self, names: Sequence[str]) -> list[str]:
        """The items that are asked about."""
        return [name for name in names if all(_fits(name, patterns) for patterns in self.only)]


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(name == one or fnmatchcase(name, one) for one in patterns)


def parts_of(study: Study) -> tuple[StudyPart, ...]:
    """The parts of a study, in the order in which they are written."""
    under = study.seen_by
    narrowed = () if under is None or not under.items else (under.items,)
    differs = under is not None and (under.items or under.strategy)
    plain = QuestionBlock.model_construct(
        name="", question=study.question, items=(), practice=study.practice.questions, catch=study.catch.questions,
        catch_every=study.catch.every,
    )  # fmt: skip
    return tuple(
        StudyPart(
            block.name, block.question, block.practice, block.catch, block.catch_every,
            ((block.items,) if block.items else ()) + narrowed, study.choose.strategy,
            f"{block.name}:{under.name}" if differs and under is not None else block.name,
        )
        for block in study.block or (plain,)
    )  # fmt: skip


def variant(study: Study, condition: Condition) -> dict[str, Any]:
    """What of a study is other for the raters of a condition, by field."""
    by_name = {block.name: block for block in study.block}
    blocks = tuple(by_name[name] for name in condition.blocks) or study.block
    question = study.question
    if condition.text is not None:
        blocks = tuple(
            block.model_copy(update={"question": _asking(block.question, condition.text)}) for block in blocks
        )
        question = _asking(question, condition.text)
    found: dict[str, Any] = {"question": question, "block": blocks, "seen_by": condition}
    if condition.order is not None:
        found["block_order"] = condition.order
    if condition.strategy is not None:
        found["choose"] = study.choose.model_copy(update={"strategy": condition.strategy})
    return found | {"texts": {**study.texts, **condition.texts}, "words": _words(study, condition)}


def _asking(question: Question, text: str) -> Question:
    return question.model_copy(update={"text": text})


def _words(study: Study, condition: Condition) -> dict[str, str]:
    """The texts of the pages, with those of the condition in the place of the study's, in all languages."""
    words = dict(study.words)
    for page in OF_CONDITIONS:
        own = page_of_condition(page, condition.name)
        if own in words:
            words = {name: text for name, text in words.items() if name.partition(".")[0] != page}
            words |= {page + name.removeprefix(own): text for name, text in words.items() if name.startswith(own)}
    return words


def page_of_block(block: str) -> str:
    """The name under which the page of a block is kept."""
    return f"block-{block}"


def page_of_condition(page: str, condition: str) -> str:
    """The name under which a page is kept that a condition has of its own."""
    return f"{page} {condition} "


def pages_of(study: Study) -> dict[str, str]:
    """The files of pages that blocks and conditions have of their own, by the names under which they are kept."""
    found = {page_of_block(block.name): block.page for block in study.block}
    for condition in study.condition:
        found |= {page_of_condition(page, condition.name): getattr(condition, page) for page in OF_CONDITIONS}
    return {name: file for name, file in found.items() if file}


def with_defaults(written: Any) -> Any:
    """What was written, with all that `[question]` says in the questions of every block that does not say it."""
    if not isinstance(written, dict) or not isinstance(written.get("block"), list | tuple):
        return written
    asked = written.get("question", {})
    shared = asked if isinstance(asked, dict) else {}
    blocks = [
        {**block, "question": {**shared, **block.get("question", {})}}
        if isinstance(block, dict) and isinstance(block.get("question", {}), dict)
        else block
        for block in written["block"]
    ]
    return {**written, "block": blocks}


def check_design(study: Study) -> None:
    """Refuse blocks and conditions that do not fit together; KeyFault says which key."""
    _check_names(study)
    known = {
        "practice.questions": study.practice.questions, "catch.questions": study.catch.questions,
        "catch.every": study.catch.every,
    }  # fmt: skip
    for key in (key for key, given in known.items() if study.block and given):
        raise KeyFault(key, "expected none, since the study has blocks: known questions stand in each block")
    for k, block in enumerate(study.block):
        if block.catch_every and not block.catch:
            said = f"{block.catch_every} asks for catch trials in block {block.name}, but its `catch` gives none"
            raise KeyFault(f"block.{k}.catch_every", f"expected 0, or questions under `catch`; {said}")
    names = [block.name for block in study.block]
    for k, condition in enumerate(study.condition):
        key, given = f"condition.{k}.blocks", list(condition.blocks)
        if strange := [name for name in given if name not in names]:
            there = f"the blocks {', '.join(map(repr, names))}" if names else "nothing, since the study has no blocks"
            raise KeyFault(key, f"expected {there}, found {strange[0]!r}")
        if len(set(given)) < len(given):
            raise KeyFault(key, f"expected each block once, found {given}")
    if len(study.condition) == 1:
        raise KeyFault("condition", f"expected none, or at least two; found only {study.condition[0].name!r}")


def _check_names(study: Study) -> None:
    """Blocks and conditions have names of their own, all of them."""
    named = [(f"block.{k}.name", one.name) for k, one in enumerate(study.block)]
    named += [(f"condition.{k}.name", one.name) for k, one in enumerate(study.condition)]
    taken = set[str]()
    for key, name in named:
        if name in taken:
            raise KeyFault(key, f"expected a name that no other block or condition has, found {name!r} twice")
        taken.add(name)


def orders(blocks: Sequence[str], order: Order) -> list[tuple[str, ...]]:
    """The orders of blocks among which raters are balanced; none where the order is fixed or drawn for each rater.

    "balanced" is Williams' design (1949): the first row 0, 1, n-1, 2, n-2, ... and its shifts, an odd number of blocks
    with the mirror image of each row as well. Every block stands equally often at every place, and every block comes
    equally often right after every other.
    """
    n = len(blocks)
    if order != "balanced" or n < 2:
        return []
    first = [(k + 1) // 2 if k % 2 else (n - k // 2) % n for k in range(n)]
    rows = [[(place + shift) % n for place in first] for shift in range(n)]
    if n % 2:
        rows += [row[::-1] for row in rows]
    return [tuple(blocks[place] for place in row) for row in rows]


def in_order(parts: Sequence[StudyPart], blocks: Sequence[str] | None) -> tuple[StudyPart, ...]:
    """Parts in the order of a rater's blocks; those that came into the study since stand at the end."""
    place = {name: k for k, name in enumerate(blocks or ())}
    return tuple(sorted(parts, key=lambda part: place.get(part.block, len(place))))


def shuffled_blocks(blocks: Sequence[str], rng: Random) -> tuple[str, ...]:
    """Blocks in an order of chance."""
    return tuple(rng.sample(list(blocks), len(blocks)))

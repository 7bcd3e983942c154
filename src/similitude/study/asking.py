"""Questions of a study: how many items they show, what they mean, and when two of them are the same.

What a response is and how items may stand is known to the form (`similitude.feedback.forms`). A study calls a form by
the name of its page: it asks one `similarity_rating` or `labelling` at a time, which is a piece of a sheet there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from random import Random

import numpy as np

from similitude.feedback.forms import PAGES
from similitude.feedback.forms.base import Form
from similitude.feedback.forms.picking import Picking
from similitude.feedback.forms.placement import Placement
from similitude.study.designs import StudyPart
from similitude.study.sections import Known, Question
from similitude.study.settings import Study, StudyError
from similitude.study.timing import TIMED_OUT

encode = json.JSONEncoder(ensure_ascii=False).encode  # as `json.dumps` writes it, which makes an encoder at every call
OUTCOMES = ("answered", "cant_tell", "skipped", TIMED_OUT, "not_shown")  # the last: an item could not be shown
DIRECTIONS = ("ltr", "rtl")  # in which the items stood
_OF_CHOICE = ("choose.strategy", "choose.random_share", "choose.repeat_share", "choose.pool")
BACKGROUND = r"^[0-9]{1,3} [0-9]{1,3} [0-9]{1,3}$"  # red, green and blue behind them


def form_of(name: str) -> Form:
    """The form that a study calls so; StudyError where there is none, or none any more."""
    if name not in PAGES:
        raise StudyError(f"form {name!r} is unknown here; is the package that brought it installed?")
    return PAGES[name]


def width(question: Question) -> int:
    """How many items a question shows."""
    return form_of(question.form).width(grid_size=question.grid_size)


def is_adaptive(question: Question) -> bool:
    """Whether a model can choose questions of this form."""
    return isinstance(form_of(question.form), (Picking, Placement))


def is_chosen(part: StudyPart) -> bool:
    """Whether a model chooses questions of a part."""
    return part.strategy != "random" and is_adaptive(part.question)


def unused_keys(form: str) -> dict[str, str]:
    """Keys of `study.toml` that questions of a form do not use, each with why."""
    its = form_of(form)
    found = dict.fromkeys((f"question.{key}" for key in its.unused_settings()), "no part of such a question")
    if not isinstance(its, (Picking, Placement)):
        found |= dict.fromkeys(_OF_CHOICE, "no model can choose such questions: they are drawn at random")
    if isinstance(its, Placement):
        found["timing.exposure_ms"] = "its items come one after the other"
    return found


def check_items(study: Study, names: Sequence[str]) -> None:
    """Refuse a study with fewer items than a question shows, and known questions about items that are not there."""
    for seen in study.seen:
        for part in seen.parts:
            needed, there = width(part.question), len(part.items(names))
            if there < needed:
                where = part_in_words(seen, part)
                raise StudyError(f"{where}: a {part.question.form} shows {needed} items, but there are {there}")
            for place, questions in (("practice", part.practice), ("catch", part.catch)):
                for known in questions:
                    where = f"{part_in_words(seen, part)}: {place}{'' if part.block else '.questions'}"
                    _check_known(where, part.question, known, set(names))


def _check_known(where: str, question: Question, known: Known, names: set[str]) -> None:
    needed = width(question)
    if missing := [name for name in known.shown if name not in names]:
        raise StudyError(f"{where} shows {missing[0]!r}, which is no item")
    if len(known.shown) != needed or len(set(known.shown)) != needed:
        raise StudyError(f"{where}: a {question.form} shows {needed} different items, found {list(known.shown)}")
    try:
        form_of(question.form).check_response(known.correct, question)
    except ValueError as error:
        raise StudyError(f"{where}: correct: {error}") from None


def part_in_words(study: Study, part: StudyPart) -> str:
    """A part of a study, for who wrote it: the study, the condition and the block where there are some."""
    under = [] if study.seen_by is None else [f"condition {study.seen_by.name}"]
    return ": ".join([study.name, *under, *([f"block {part.block}"] if part.block else [])])


def meaning(question: Question) -> dict[str, object]:
    """What of a question decides what its answers mean."""
    written = question.model_dump(mode="json")
    return {key: written[key] for key in ("form", *form_of(question.form).settings)}


def means(study: Study) -> dict[str, dict[str, object]]:
    """What decides what the answers of each block mean."""
    return {part.block: meaning(part.question) for part in study.parts}


Before = Sequence[tuple[str, Mapping[str, object]]]


def _otherwise(part: StudyPart, before: Before) -> dict[str, str]:
    """Keys by which the questions of a part differ from those asked so far in it, and why they may not."""
    asked = [question for block, question in before if block == part.block]
    return {
        key: f"people were asked with {other!r} already; their answers would not mean the same"
        for key, now in meaning(part.question).items()
        if (other := next((one.get(key) for one in asked if one.get(key) != now), None)) is not None
    }


def means_otherwise(study: Study, before: Before) -> dict[str, str]:
    """Keys by which questions differ from those asked so far, whose answers would not mean the same; why, by key."""
    return {
        f"block {part.block}: question.{key}" if part.block else f"question.{key}": why
        for part in study.parts
        for key, why in _otherwise(part, before).items()
    }


def check_same_question(study: Study, before: Before) -> None:
    """Refuse to go on with other questions than those asked so far, in each block."""
    for part in study.parts:
        for key, why in _otherwise(part, before).items():
            raise StudyError(
                f"{part_in_words(study, part)}: question.{key} is {meaning(part.question)[key]!r}, but {why}, "
                "so copy the folder (without its answers) under a new name"
            )


def key_of(form: str, shown: Sequence[str], block: str = "") -> int:
    """A number that is equal for questions that ask the same, whatever the order on the screen; 63 bits of a hash.

    Two blocks never ask the same: the same items may be judged in another way there.
    """
    return keys_of(form, [shown], block)[0]


def keys_of(form: str, questions: Sequence[Sequence[str]], block: str = "") -> list[int]:
    """The same of many questions at once."""
    if not questions:
        return []
    arrangement = form_of(form).arrangement
    rows = arrangement.canonical(np.array(questions))
    if arrangement.unit > 1 and not arrangement.head:
        rows = rows.reshape(len(rows), -1, arrangement.unit)
    asks = [form, block] if block else [form]
    texts = (encode([*asks, row]) for row in rows.tolist())
    digests = (hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts)
    return [int.from_bytes(digest, "big") >> 1 for digest in digests]


def random_question(question: Question, names: Sequence[str], rng: Random) -> list[str]:
    """Different items, evenly drawn, in random order: the order is the position on the screen."""
    return rng.sample(names, width(question))


def shuffled(form: str, shown: Sequence[str], rng: Random) -> list[str]:
    """The same question with its alternatives in another order, so that no side of the screen is favoured."""
    places = form_of(form).arrangement.shuffled(len(shown), lambda number: rng.sample(range(number), number))
    return [shown[place] for place in places]

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
from similitude.study.settings import Question, Study, StudyError
from similitude.study.timing import TIMED_OUT

encode = json.JSONEncoder(ensure_ascii=False).encode  # as `json.dumps` writes it, which makes an encoder at every call
OUTCOMES = ("answered", "cant_tell", "skipped", TIMED_OUT, "not_shown")  # the last: an item could not be shown
DIRECTIONS = ("ltr", "rtl")  # in which the items stood
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


def check_items(study: Study, names: Sequence[str]) -> None:
    """Refuse a study with fewer items than a question shows, and known questions about items that are not there."""
    needed = width(study.question)
    if len(names) < needed:
        raise StudyError(f"{study.name}: a {study.question.form} shows {needed} items, but there are {len(names)}")
    known = set(names)
    for place, questions in (("practice", study.practice.questions), ("catch", study.catch.questions)):
        for question in questions:
            missing = [name for name in question.shown if name not in known]
            if missing:
                raise StudyError(f"{study.name}: {place}.questions shows {missing[0]!r}, which is no item")
            if len(question.shown) != needed or len(set(question.shown)) != needed:
                raise StudyError(
                    f"{study.name}: {place}.questions: a {study.question.form} shows {needed} different items, "
                    f"found {list(question.shown)}"
                )
            try:
                form_of(study.question.form).check_response(question.correct, study.question)
            except ValueError as error:
                raise StudyError(f"{study.name}: {place}.questions: correct: {error}") from None


def meaning(question: Question) -> dict[str, object]:
    """What of a question decides what its answers mean."""
    written = question.model_dump(mode="json")
    return {key: written[key] for key in ("form", *form_of(question.form).settings)}


def check_same_question(study: Study, before: Sequence[Mapping[str, object]]) -> None:
    """Refuse to go on with other questions than those asked so far: their answers would not mean the same."""
    for key, now in meaning(study.question).items():
        other = next((one[key] for one in before if one[key] != now), None)
        if other is not None:
            raise StudyError(
                f"{study.name}: question.{key} is {now!r}, but people were asked with {other!r} already; "
                f"their answers would not mean the same, so copy the folder (without its answers) under a new name"
            )


def key_of(form: str, shown: Sequence[str]) -> int:
    """A number that is equal for questions that ask the same, whatever the order on the screen; 63 bits of a hash."""
    return keys_of(form, [shown])[0]


def keys_of(form: str, questions: Sequence[Sequence[str]]) -> list[int]:
    """The same of many questions at once."""
    if not questions:
        return []
    arrangement = form_of(form).arrangement
    rows = arrangement.canonical(np.array(questions))
    if arrangement.unit > 1 and not arrangement.head:
        rows = rows.reshape(len(rows), -1, arrangement.unit)
    texts = (encode([form, row]) for row in rows.tolist())
    digests = (hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts)
    return [int.from_bytes(digest, "big") >> 1 for digest in digests]


def random_question(question: Question, names: Sequence[str], rng: Random) -> list[str]:
    """Different items, evenly drawn, in random order: the order is the position on the screen."""
    return rng.sample(names, width(question))


def shuffled(form: str, shown: Sequence[str], rng: Random) -> list[str]:
    """The same question with its alternatives in another order, so that no side of the screen is favoured."""
    places = form_of(form).arrangement.shuffled(len(shown), lambda number: rng.sample(range(number), number))
    return [shown[place] for place in places]

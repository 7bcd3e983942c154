"""Forms of question on the screen: how many items, which responses there are, when two questions are the same.

Responses have the codes of `similitude.feedback.forms`. Two forms have none there, since one answer of them compares
nothing: `same_different` (1 same, 0 different) is a link, `labelling` of one item (class, confidence) a label.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from random import Random

from similitude.study.settings import Question, Study, StudyError

encode = json.JSONEncoder(ensure_ascii=False).encode  # as `json.dumps` writes it, which makes an encoder at every call
OUTCOMES = ("answered", "cant_tell", "skipped", "not_shown")  # the last: an item could not be shown
DIRECTIONS = ("ltr", "rtl")  # in which the items stood
BACKGROUND = r"^[0-9]{1,3} [0-9]{1,3} [0-9]{1,3}$"  # red, green and blue behind them
_MEANING = {"choice": ("grid_size", "pick"), "similarity_rating": ("scale",), "labelling": ("classes",)}
_PAIR_FORMS = ("similarity_rating", "same_different")


def width(question: Question) -> int:
    """How many items a question shows."""
    fixed = {"triplet": 3, "odd_one_out": 3, "quadruplet": 4, "similarity_rating": 2, "same_different": 2}
    return fixed.get(question.form, 1 if question.form == "labelling" else 1 + question.grid_size)


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
                check_response(study.question, question.correct)
            except ValueError as error:
                raise StudyError(f"{study.name}: {place}.questions: correct: {error}") from None


def meaning(question: Question) -> dict[str, object]:
    """What of a question decides what its answers mean."""
    written = question.model_dump(mode="json")
    return {key: written[key] for key in ("form", *_MEANING.get(question.form, ()))}


def check_same_question(study: Study, before: Sequence[Mapping[str, object]]) -> None:
    """Refuse to go on with other questions than those asked so far: their answers would not mean the same."""
    for key, now in meaning(study.question).items():
        other = next((one[key] for one in before if one[key] != now), None)
        if other is not None:
            raise StudyError(
                f"{study.name}: question.{key} is {now!r}, but people were asked with {other!r} already; "
                f"their answers would not mean the same, so copy the folder (without its answers) under a new name"
            )


def check_response(question: Question, response: Sequence[float]) -> list[float]:
    """Return the response as the form codes it, or raise ValueError that says what was expected."""
    said = [float(value) for value in response]
    if not all(math.isfinite(value) for value in said):
        raise ValueError("response: expected finite numbers")
    if question.form == "labelling":
        return _label(question, said)
    whole = [int(value) for value in said if value == int(value)]
    if len(whole) != len(said):
        raise ValueError(f"response: expected whole numbers, found {said}")
    low, high, number = _range(question)
    if len(whole) != number or len(set(whole)) != number or not all(low <= value <= high for value in whole):
        raise ValueError(f"response: expected {number} different from {low} to {high}, found {whole}")
    return [float(value) for value in whole]


def _range(question: Question) -> tuple[int, int, int]:
    """Least and greatest code of a response, and how many there are."""
    return {
        "triplet": (1, 2, 1),
        "odd_one_out": (0, 2, 1),
        "quadruplet": (0, 1, 1),
        "choice": (1, question.grid_size, question.pick),
        "similarity_rating": (1, question.scale, 1),
        "same_different": (0, 1, 1),
    }[question.form]


def _label(question: Question, said: list[float]) -> list[float]:
    if len(said) != 2:
        raise ValueError(f"response: expected a class and a confidence, found {len(said)} numbers")
    label, confidence = said
    if label != int(label) or not 0 <= label < len(question.classes):
        raise ValueError(f"response: expected a class from 0 to {len(question.classes) - 1}, found {label:g}")
    if not 0 <= confidence <= 1:
        raise ValueError(f"response: expected a confidence from 0 to 1, found {confidence:g}")
    return said


def same_response(form: str, one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether two responses say the same: choices in any order, labels whatever the confidence."""
    if form == "labelling":
        return one[0] == other[0]
    return sorted(one) == sorted(other)


def key_of(form: str, shown: Sequence[str]) -> int:
    """A number that is equal for questions that ask the same, whatever the order on the screen; 63 bits of a hash."""
    if form == "quadruplet":
        parts: Sequence[object] = sorted(sorted(pair) for pair in (shown[:2], shown[2:]))
    elif form == "odd_one_out" or form in _PAIR_FORMS:
        parts = sorted(shown)
    else:
        parts = [shown[0], *sorted(shown[1:])]
    text = encode([form, parts])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1


def random_question(question: Question, names: Sequence[str], rng: Random) -> list[str]:
    """Different items, evenly drawn, in random order: the order is the position on the screen."""
    return rng.sample(names, width(question))


def shuffled(form: str, shown: Sequence[str], rng: Random) -> list[str]:
    """The same question with its alternatives in another order, so that no side of the screen is favoured."""
    if form in ("odd_one_out", *_PAIR_FORMS):
        return rng.sample(shown, len(shown))
    if form == "quadruplet":
        pairs = [rng.sample(shown[:2], 2), rng.sample(shown[2:], 2)]
        first, second = rng.sample(pairs, 2)
        return first + second
    return [shown[0], *rng.sample(shown[1:], len(shown) - 1)]


def rearranged(form: str, response: Sequence[float], shown: Sequence[str], other: Sequence[str]) -> list[float]:
    """The same response to the same question where the items stand in another order."""
    if form == "quadruplet":
        chosen = set(shown[2 * int(response[0]) :][:2])
        return [0.0 if chosen == set(other[:2]) else 1.0]
    if form in ("triplet", "choice", "odd_one_out"):
        return [float(list(other).index(shown[int(position)])) for position in response]
    return list(response)


def side_of(form: str, response: Sequence[float] | None) -> int:
    """Position on the screen of what was chosen, counted from 0; -1 where a response is no position."""
    if not response or form in ("labelling", *_PAIR_FORMS):
        return -1
    return int(response[0]) - (1 if form in ("triplet", "choice") else 0)

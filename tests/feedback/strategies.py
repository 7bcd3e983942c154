"""Random feedback of every form, and when two pieces of feedback are equal."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from similitude import Answers, Comparisons
from similitude.feedback.columns import Categories, Rows
from similitude.feedback.forms import FORMS

NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6)
STRANGE_NAMES = ["a,b", 'say "so"', "two\nlines", "cr\rhere", "naïve ☕", " ", "12", "NA", "null", "[1]"]


def seeds() -> st.SearchStrategy[np.random.Generator]:
    return st.integers(0, 2**32 - 1).map(np.random.default_rng)


def one_answer(form: str, n_items: int, rng: np.random.Generator) -> tuple[list[int], list[float]]:
    """Items and a response of one answer, in the code of the form."""

    def items(count: int) -> list[int]:
        return rng.choice(n_items, count, replace=False).tolist()

    if form in ("triplet", "quadruplet"):
        width, low = (3, 1) if form == "triplet" else (4, 0)
        count = int(rng.integers(1, 4))
        shown = [item for _ in range(count) for item in items(width)]
        return shown, (low + rng.integers(0, 2, count)).tolist()
    if form in ("odd_one_out", "most_central"):
        return items(3), [int(rng.integers(0, 3))]
    if form in ("choice", "ranking"):
        size = int(rng.integers(2, n_items))
        return items(1 + size), (1 + rng.permutation(size)[: rng.integers(1, size + 1)]).tolist()
    if form == "best_worst":
        size = int(rng.integers(2, n_items))
        return items(1 + size), (1 + rng.permutation(size)[:2]).tolist()
    if form in ("similarity_rating", "difference_rating"):
        count = int(rng.integers(1, 6))
        every = [(i, j) for i in range(n_items) for j in range(i)]
        pairs = [every[k] for k in rng.choice(len(every), count, replace=False)]
        rating = np.where(rng.random(count) < 0.1, np.nan, rng.integers(1, 6, count))
        return [item for pair in pairs for item in pair], rating.tolist()
    shown = items(int(rng.integers(3, n_items + 1)))
    if form == "placement":
        return shown, rng.integers(0, 4, 2 * len(shown)).astype(float).tolist()
    if form == "grouping":
        return shown, rng.integers(0, 3, len(shown)).tolist()
    if form == "labelling":
        said = [rng.integers(0, 2, len(shown)), rng.integers(0, 4, len(shown)) / 4]
        return shown, np.stack(said, 1).ravel().tolist()
    return shown, rng.permutation(len(shown)).tolist()


def random_answers(forms: list[str], n_items: int, rng: np.random.Generator, cant_tell: float = 0.0) -> Answers:
    rows = [one_answer(form, n_items, rng) for form in forms]
    said = [[] if rng.random() < cant_tell else response for _, response in rows]
    return Answers.of(forms, Rows.of([shown for shown, _ in rows], np.int32), Rows.of(said, float))


@st.composite
def feedback(draw: Any, form: str | None = None) -> Comparisons:
    """Feedback of one form or of many, named or not, with raters, times and weights or not, some can't tell."""
    rng, n_items, length = draw(seeds()), draw(st.integers(5, 7)), draw(st.integers(1, 6))
    forms = draw(st.lists(st.sampled_from(sorted(FORMS) if form is None else [form]), min_size=length, max_size=length))
    answers = random_answers(forms, n_items, rng, draw(st.sampled_from([0.0, 0.3, 1.0])))
    label = st.none() | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=3)
    maybe = st.none() | st.lists(label, min_size=length, max_size=length)
    who, how = draw(maybe), draw(maybe)
    answers = Answers.of(
        answers.form,
        answers.shown,
        answers.response,
        rater=None if who is None else np.array(who, object),
        strategy=None if how is None else np.array(how, object),
        time=draw(st.none() | st.just(np.where(rng.random(length) < 0.3, np.nan, rng.random(length)))),
        side=draw(st.none() | st.just(rng.integers(-1, 4, length))),
    )
    names = draw(st.none() | st.lists(NAMES, min_size=n_items, max_size=n_items, unique=True) | strange(n_items))
    weight = draw(st.sampled_from([None, 2.0, rng.random(length)]))
    return Comparisons.from_answers(answers, names=names, n_items=n_items, weight=weight)


def strange(count: int) -> st.SearchStrategy[list[str]]:
    return st.permutations(STRANGE_NAMES).map(lambda names: names[:count])


def assert_same(one: Comparisons, other: Comparisons) -> None:
    assert one.n_items == other.n_items
    assert one.names == other.names
    for column in ("near", "far", "weight", "answer"):
        np.testing.assert_array_equal(getattr(one, column), getattr(other, column), column)
    assert_same_answers(one.answers, other.answers)


def assert_same_answers(one: Answers, other: Answers) -> None:
    for column in ("form", "rater", "strategy"):
        first, second = getattr(one, column), getattr(other, column)
        assert isinstance(first, Categories)
        assert first.values.tolist() == second.values.tolist(), column
    for column in ("shown", "response"):
        first, second = getattr(one, column), getattr(other, column)
        np.testing.assert_array_equal(first.lengths, second.lengths, column)
        np.testing.assert_array_equal(first.values, second.values, column)
    for column in ("time", "side"):
        first, second = getattr(one, column), getattr(other, column)
        assert (first is None) == (second is None), column
        if first is not None:
            np.testing.assert_array_equal(first, second, column)

"""Every form against a loop written from its definition."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given

from similitude import Answers, Comparisons
from similitude.feedback.columns import Rows
from similitude.feedback.files.implied import implied_counts
from similitude.feedback.forms import FORMS
from tests.feedback.strategies import random_answers, seeds


def triplet(shown, said):
    for k, chosen in enumerate(said):
        head, b, c = shown[3 * k : 3 * k + 3]
        yield ((head, b), (head, c)) if chosen == 1 else ((head, c), (head, b))


def quadruplet(shown, said):
    for k, chosen in enumerate(said):
        i, j, m, n = shown[4 * k : 4 * k + 4]
        yield ((i, j), (m, n)) if chosen == 0 else ((m, n), (i, j))


def odd_one_out(shown, said):
    a = shown[int(said[0])]
    b, c = (item for item in shown if item != a)
    yield (b, c), (b, a)
    yield (c, b), (c, a)


def most_central(shown, said):
    a = shown[int(said[0])]
    b, c = (item for item in shown if item != a)
    yield (b, a), (b, c)
    yield (c, a), (c, b)


def choice(shown, said):
    chosen = [shown[int(k)] for k in said]
    for near in chosen:
        for far in set(shown[1:]) - set(chosen):
            yield (shown[0], near), (shown[0], far)


def ranking(shown, said):
    ranked = [shown[int(k)] for k in said]
    for place, near in enumerate(ranked):
        for far in [*ranked[place + 1 :], *(set(shown[1:]) - set(ranked))]:
            yield (shown[0], near), (shown[0], far)


def best_worst(shown, said):
    best, worst = (shown[int(k)] for k in said)
    between = set(shown[1:]) - {best, worst}
    yield (shown[0], best), (shown[0], worst)
    for other in between:
        yield (shown[0], best), (shown[0], other)
        yield (shown[0], other), (shown[0], worst)


def difference_rating(shown, said):
    rated = [((shown[2 * k], shown[2 * k + 1]), value) for k, value in enumerate(said)]
    for (near, less), (far, more) in permutations(rated, 2):
        if less < more:
            yield near, far


def similarity_rating(shown, said):
    yield from difference_rating(shown, [-value for value in said])


def placement(shown, said):
    place = {item: np.array(said[2 * k : 2 * k + 2]) for k, item in enumerate(shown)}
    pairs = [(pair, float(((place[pair[0]] - place[pair[1]]) ** 2).sum())) for pair in combinations(shown, 2)]
    for (near, less), (far, more) in permutations(pairs, 2):
        if less < more:
            yield near, far


def grouping(shown, said):
    group = dict(zip(shown, said, strict=True))
    for head, near, far in permutations(shown, 3):
        if group[head] == group[near] != group[far]:
            yield (head, near), (head, far)


def labelling(shown, said):
    yield from grouping(shown, said[::2])
    label, sure = (dict(zip(shown, values, strict=True)) for values in (said[::2], said[1::2]))
    for j, a, b in permutations(shown, 3):
        if label[j] == label[a] == label[b] and sure[a] > sure[b]:
            yield (j, a), (j, b)


def attribute(shown, said):
    rank = {shown[int(k)]: place for place, k in enumerate(said)}
    for low, middle, high in permutations(shown, 3):
        if rank[low] < rank[middle] < rank[high]:
            yield (low, middle), (low, high)
            yield (high, middle), (high, low)


DEFINITIONS = {name: globals()[name] for name in FORMS}


def unordered(comparisons):
    return Counter((answer, frozenset(near), frozenset(far)) for answer, near, far in comparisons)


@pytest.mark.parametrize("form", sorted(FORMS))
@given(rng=seeds())
def test_a_form_gives_the_comparisons_of_its_definition(form, rng):
    answers = random_answers([form] * int(rng.integers(1, 5)), 6, rng, cant_tell=0.2)
    found = Comparisons.from_answers(answers, n_items=6)
    expected = [
        (k, near, far)
        for k in range(len(answers))
        if len(answers.response[k])
        for near, far in DEFINITIONS[form](answers.shown[k].tolist(), answers.response[k].tolist())
    ]
    rows = zip(found.answer.tolist(), found.near.tolist(), found.far.tolist(), strict=True)
    assert unordered(rows) == unordered(expected)
    assert (np.diff(found.answer) >= 0).all()


@given(rng=seeds())
def test_the_number_of_comparisons_is_known_before_they_are_derived(rng):
    forms = rng.choice(sorted(FORMS), 8).tolist()
    answers = random_answers(forms, 6, rng, cant_tell=0.2)
    derived = Comparisons.from_answers(answers, n_items=6)
    np.testing.assert_array_equal(implied_counts(answers), np.bincount(derived.answer, minlength=8))


@given(rng=seeds())
def test_a_shared_item_stands_first_in_both_pairs(rng):
    found = Comparisons.from_answers(random_answers(["difference_rating", "placement"], 6, rng), n_items=6)
    for near, far in zip(found.near.tolist(), found.far.tolist(), strict=True):
        shared = set(near) & set(far)
        assert not shared or near[0] == far[0]


@pytest.mark.parametrize(
    ("form", "shown", "said", "message"),
    [
        ("triplet", [0, 1, 2], [0], "found 0, but an answer of form triplet is 1 to 2"),
        ("triplet", [0, 1, 2], [1.5], "whole numbers"),
        ("triplet", [0, 1, 2, 3], [1], "1 numbers do not answer triplet of 4 items"),
        ("quadruplet", [0, 1, 2, 3], [2], "found 2, but an answer of form quadruplet is 0 to 1"),
        ("odd_one_out", [0, 1, 2], [3], "found 3, but an answer of form odd_one_out is 0 to 2"),
        ("odd_one_out", [0, 1, 2, 3], [3], "do not answer odd_one_out of 4 items"),
        ("choice", [0, 1, 2], [0], "found 0, but an answer of form choice is 1 to 2"),
        ("choice", [0, 1, 2, 3], [2, 2], "names a position twice"),
        ("ranking", [0, 1, 2], [1, 1], "names a position twice"),
        ("best_worst", [0, 1, 2, 3], [1, 1], "names a position twice"),
        ("best_worst", [0, 1, 2, 3], [1], "do not answer best_worst of 4 items"),
        ("difference_rating", [0, 1, 2, 3], [1], "do not answer difference_rating of 4 items"),
        ("placement", [0, 1, 2], [1, 2, 3, 4], "do not answer placement of 3 items"),
        ("grouping", [0, 1, 2], [1, 2], "do not answer grouping of 3 items"),
        ("labelling", [0, 1, 2], [1, 2], "do not answer labelling of 3 items"),
        ("attribute", [0, 1, 2], [0, 1, 5], "found 5, but an answer of form attribute is 0 to 2"),
        ("guess", [0, 1, 2], [0], "'guess' is unknown; the forms are attribute, best_worst"),
    ],
)
def test_a_response_that_is_no_answer_is_refused(form, shown, said, message):
    answers = Answers.of(form, Rows.of([shown]), Rows.of([said]))
    with pytest.raises(ValueError, match=message):
        Comparisons.from_answers(answers)

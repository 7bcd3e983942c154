"""Ratings: what is kept, what is left out, and the comparisons that they become."""

import numpy as np
import pytest

import similitude as sm

PAIRS = [("cat", "dog"), ("cat", "bus"), ("dog", "bus"), ("car", "bus")]


def test_ratings_without_a_number_are_left_out():
    ratings = sm.Ratings.of(PAIRS, [5, 0, np.nan, 4], larger="similar", missing=0, rater=["a", "a", "b", "b"])
    assert len(ratings) == 2
    assert ratings.names == ("bus", "car", "cat", "dog")
    assert ratings.rater.values.tolist() == ["a", "b"]
    assert repr(ratings) == "<2 ratings from 4 to 5 (larger is more similar) of 4 items>"


def test_steps_go_from_the_most_alike():
    step, count = sm.Ratings.of(PAIRS, [9, 1, 3, 9], larger="similar").steps()
    assert count == 3
    assert step.tolist() == [0, 2, 1, 0]
    step, _ = sm.Ratings.of(PAIRS, [9, 1, 3, 9], larger="different").steps()
    assert step.tolist() == [2, 0, 1, 2]


def test_to_comparisons_is_from_ratings_and_back():
    value, rater = [5.0, 1.0, 2.0, 4.0], ["a", "a", "b", "b"]
    ratings = sm.Ratings.of(PAIRS, value, larger="similar", rater=rater)
    c = ratings.to_comparisons()
    expected = sm.Comparisons.from_ratings(PAIRS, value, rater, larger="similar")
    assert np.array_equal(c.quadruplets, expected.quadruplets)
    back = sm.Ratings.from_comparisons(c)
    assert np.array_equal(back.pairs, ratings.pairs)
    assert np.array_equal(back.value, ratings.value)
    assert back.rater.values.tolist() == rater
    assert back.larger == "similar"


def test_a_pair_rated_twice_by_one_counts_by_the_mean():
    twice = [("cat", "dog"), ("dog", "cat"), ("cat", "bus"), ("cat", "dog")]
    c = sm.Ratings.of(twice, [1, 6, 3, 9], larger="similar", rater=["a", "a", "a", "b"]).to_comparisons()
    assert [c.label(item) for item in c.quadruplets[0]] == ["cat", "dog", "cat", "bus"]
    assert len(c) == 1


def test_some_of_them():
    ratings = sm.Ratings.of(PAIRS, [1, 2, 3, 4], larger="different")[[0, 3]]
    assert ratings.value.tolist() == [1, 4]
    assert ratings.names == ("bus", "car", "cat", "dog")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"value": [1, 2], "larger": "similar"}, r"value: expected one number per pair \(4\), found shape \(2,\)"),
        ({"value": [1, 2, 3, 4], "larger": "more"}, "larger: expected 'similar' or 'different', found 'more'"),
        ({"pairs": [("cat", "cat")], "value": [1], "larger": "similar"}, "of item 'cat' with itself"),
    ],
)
def test_bad_ratings_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        sm.Ratings.of(**{"pairs": PAIRS} | arguments)


def test_other_forms_are_no_ratings():
    with pytest.raises(ValueError, match="expected answers of one form of rating, found triplet"):
        sm.Ratings.from_comparisons(sm.Comparisons.from_triplets([(0, 1, 2)]))

"""The constructors: what they accept, what they refuse."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from similitude import Comparisons
from tests.feedback.strategies import assert_same


def test_responses_in_the_manner_of_cblearn():
    rows = [(0, 1, 2), (1, 2, 0)]
    for y in ([True, False], [1, -1], [1.0, -1.0], np.array([True, False], object)):
        assert Comparisons.from_triplets(rows, y).triplets.tolist() == [[0, 1, 2], [1, 0, 2]]
    quads = Comparisons.from_quadruplets([(0, 1, 2, 3)], [False])
    assert quads.quadruplets.tolist() == [[2, 3, 0, 1]]


@pytest.mark.parametrize("y", [[0.7, 1], [0, 1], ["yes", "no"], [2, -1]])
def test_a_fractional_or_foreign_y_is_refused(y):
    with pytest.raises(ValueError, match=r"y: expected booleans or \+1/-1, found"):
        Comparisons.from_triplets([(0, 1, 2), (1, 2, 0)], y)


def test_a_y_of_another_length_is_refused():
    with pytest.raises(ValueError, match=r"one response per comparison \(2\)"):
        Comparisons.from_triplets([(0, 1, 2), (1, 2, 0)], [True])


def test_none_is_cant_tell():
    c = Comparisons.from_triplets([(0, 1, 2), (1, 2, 0), (2, 0, 1)], [None, False, True])
    assert c.answers.cant_tell.tolist() == [True, False, False]
    assert c.triplets.tolist() == [[1, 0, 2], [2, 0, 1]]
    odd = Comparisons.from_odd_one_out([(0, 1, 2), (1, 2, 0)], [np.nan, 0])
    assert odd.answers.cant_tell.tolist() == [True, False]
    assert odd.near.tolist() == [[2, 0], [0, 2]]
    with pytest.raises(ValueError, match="an answer of several rows cannot be"):
        Comparisons.from_triplets([(0, 1, 2), (1, 2, 0)], [None, True], answer=[0, 0])


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        ([(0, 1, -1)], ValueError, "found index -1"),
        ([(0, 1, 1)], ValueError, "comparison 0 has the same pair"),
        ([(0, 0, 1)], ValueError, "comparison 0 compares an item with itself"),
        ([(0, 1, 0)], ValueError, "comparison 0 compares an item with itself"),
        ([(0, 1.5, 2)], ValueError, "whole numbers or names, found 1.5"),
        ([(0, np.nan, 2)], ValueError, "whole numbers or names, found nan"),
        ([(0, 1)], ValueError, r"shape \(rows, 3\), found shape \(1, 2\)"),
        ([(0, 1, 2), (1, 2)], ValueError, "rows of unequal length"),
        ([("a", "b", 3)], TypeError, "names and other values are mixed"),
        ([("a", "b", None)], TypeError, "names and other values are mixed"),
        ([("a", "b", "")], ValueError, "empty name"),
        (np.array([[True, False, True]]), TypeError, "found values of type bool"),
    ],
)
def test_rows_that_are_no_triplets_are_refused(rows, error, message):
    with pytest.raises(error, match=message):
        Comparisons.from_triplets(rows)


def test_items_out_of_range_are_refused():
    with pytest.raises(ValueError, match=r"found index 7, but there are 3 items \(0 to 2\)"):
        Comparisons.from_triplets([(0, 1, 7)], n_items=3)
    with pytest.raises(ValueError, match="found index 2, but there are 2 items"):
        Comparisons.from_triplets([(0, 1, 2)], names=["a", "b"])
    with pytest.raises(ValueError, match="n_items: expected a positive number, found 0"):
        Comparisons.from_triplets([(0, 1, 2)], n_items=0)


def test_unknown_and_ambiguous_names_are_refused():
    with pytest.raises(ValueError, match="'cta' is not among the 3 item names; did you mean 'cat'"):
        Comparisons.from_triplets([("cta", "dog", "bus")], names=["cat", "dog", "bus"])
    with pytest.raises(ValueError, match="'cat' is the name of more than one item"):
        Comparisons.from_triplets([("cat", "dog", "bus")], names=["cat", "dog", "cat"])
    with pytest.raises(ValueError, match="n_items: 4 was given, but there are 3 item names"):
        Comparisons.from_triplets([("cat", "dog", "bus")], names=["cat", "dog", "bus"], n_items=4)


def test_a_pair_compared_with_itself_is_refused():
    with pytest.raises(ValueError, match=r"the same pair .* as near and as far; 1 such in all"):
        Comparisons.from_quadruplets([(0, 1, 2, 3), (0, 1, 1, 0)])


def test_an_unknown_argument_is_refused():
    with pytest.raises(TypeError, match="unexpected argument 'user'; expected one of rater, time"):
        Comparisons.from_triplets([(0, 1, 2)], user="ann")


def test_columns_of_another_length_are_refused():
    for column in ("rater", "time", "side", "strategy"):
        with pytest.raises(ValueError, match=f"{column}: expected one value per answer"):
            Comparisons.from_triplets([(0, 1, 2)], **{column: [1, 2]})


def test_rows_of_one_answer_come_together():
    rows = [(0, 1, 2), (3, 1, 2), (0, 1, 3), (3, 2, 1)]
    c = Comparisons.from_triplets(rows, answer=["s", "t", "s", "u"], rater=["a", "b", "a", "b"], weight=[1, 2, 1, 3])
    assert c.n_answers == 3
    assert c.answer.tolist() == [0, 0, 1, 2]
    assert c.triplets.tolist() == [[0, 1, 2], [0, 1, 3], [3, 1, 2], [3, 2, 1]]
    assert c.weight.tolist() == [1, 1, 2, 3]
    assert c.answers.rater.values.tolist() == ["a", "b", "b"]
    with pytest.raises(ValueError, match=r"rater: answer 's' has two values \('a' and 'b'\)"):
        Comparisons.from_triplets(rows, answer=["s", "t", "s", "u"], rater=["a", "b", "b", "b"])


def test_picks_that_were_not_shown_are_refused():
    with pytest.raises(ValueError, match="answer 0: 9 was picked but not shown"):
        Comparisons.from_choices([[0, 1, 2]], [[9]])
    with pytest.raises(ValueError, match="answer 0 shows an item twice"):
        Comparisons.from_choices([[0, 1, 1]], [[1]])
    with pytest.raises(ValueError, match="answer 0: an item was picked twice"):
        Comparisons.from_choices([[0, 1, 2]], [[1, 1]])
    with pytest.raises(ValueError, match="compares an item with itself"):
        Comparisons.from_choices([[0, 1, 0]], [[1]])
    with pytest.raises(ValueError, match="expected picks for 2 questions, found 1"):
        Comparisons.from_choices([[0, 1, 2], [1, 0, 2]], [[1]])
    with pytest.raises(ValueError, match="head: expected one item per answer"):
        Comparisons.from_choices([[1, 2]], [[1]], head=[0, 1])
    with pytest.raises(TypeError, match="mixed"):
        Comparisons.from_choices([["a", "b", 3]], [["b"]])


def test_choices_and_rankings_with_a_head_of_their_own():
    c = Comparisons.from_choices([["b", "c", "d"]], [["c", "d"]], head=["a"])
    assert {tuple(row) for row in c.triplets.tolist()} == {(0, 2, 1), (0, 3, 1)}
    ranked = Comparisons.from_rankings([[0, 2, 1, 3]])
    assert {tuple(row) for row in ranked.triplets.tolist()} == {(0, 2, 1), (0, 2, 3), (0, 1, 3)}


def test_an_attribute_orders_items():
    c = Comparisons.from_attribute([["small", "middle", "large"], ["middle", "large", "huge"]], rater=["a", "b"])
    assert c.n_answers == 2
    names = c.names
    read = {(names[i], names[j], names[k]) for i, j, k in c.select([0]).triplets.tolist()}
    assert read == {("small", "middle", "large"), ("large", "middle", "small")}


def test_a_rating_sheet_is_one_answer_per_rater():
    pairs = [(0, 1), (0, 2), (1, 2)] * 2
    c = Comparisons.from_ratings(pairs, [1, 2, 3, 9, 5, 0], ["ann"] * 3 + ["bob"] * 3, larger="different", missing=0)
    assert c.n_answers == 2
    assert np.bincount(c.answer).tolist() == [3, 1]
    assert c.select([1]).triplets.tolist() == [[0, 2, 1]]
    turned = Comparisons.from_ratings(pairs[:3], [1, 2, 3], larger="similar")
    assert sorted(turned.triplets[:, [0, 2, 1]].tolist()) == sorted(c.select([0]).triplets.tolist())


def test_a_sample_of_ratings_is_as_large_as_asked_for_and_true(rng):
    first, second = np.triu_indices(200, 1)
    rating = rng.integers(1, 4, len(first))
    c = Comparisons.from_ratings(np.c_[first, second], rating, larger="different", max_per_rater=5000, random_state=0)
    assert len(c) == 5000
    assert len(np.unique(c.quadruplets, axis=0)) == 5000
    value = np.zeros((200, 200))
    value[first, second] = value[second, first] = rating
    assert (value[tuple(c.near.T)] < value[tuple(c.far.T)]).all()
    few = Comparisons.from_ratings(
        np.c_[first, second][:50], rating[:50], larger="different", max_per_rater=100, random_state=0
    )
    assert len(few) == 100


def test_bad_ratings_are_refused():
    with pytest.raises(ValueError, match="larger: expected 'similar' or 'different', found 'big'"):
        Comparisons.from_ratings([(0, 1)], [1], larger="big")
    with pytest.raises(ValueError, match=r"rating: expected one number per pair \(1\)"):
        Comparisons.from_ratings([(0, 1)], [1, 2], larger="similar")
    with pytest.raises(ValueError, match="row 0 has no rater"):
        Comparisons.from_ratings([(0, 1)], [1], [None], larger="similar")
    with pytest.raises(ValueError, match="at least 1 comparison per rater, found 0"):
        Comparisons.from_ratings([(0, 1)], [1], larger="similar", max_per_rater=0)
    with pytest.raises(ValueError, match="position: expected finite coordinates"):
        Comparisons.from_placements([0, 1], [[0, np.nan], [1, 1]])
    with pytest.raises(ValueError, match=r"group: expected one group per row \(2\), found 1"):
        Comparisons.from_groupings([0, 1], ["g"])


def test_a_sample_of_placements_is_a_part_of_all_comparisons(rng):
    place = rng.standard_normal((12, 2))
    every = Comparisons.from_placements(np.arange(12), place)
    some = Comparisons.from_placements(np.arange(12), place, max_per_rater=50, random_state=0)
    assert len(every) == 66 * 65 // 2
    assert len(some) == 50
    assert {tuple(row) for row in some.quadruplets.tolist()} <= {tuple(row) for row in every.quadruplets.tolist()}


def test_ten_cities_give_990_comparisons(data):
    table = pd.read_csv(data / "classic_matrices" / "UScitiesD.csv", index_col=0)
    every = Comparisons.from_distances(table, "all", names=table.columns)
    assert (len(every), every.n_items, every.n_answers) == (990, 10, 1)
    distance = table.to_numpy()
    near, far = (distance[tuple(pairs.T)] for pairs in (every.near, every.far))
    assert (near < far).all()
    chain = Comparisons.from_distances(table, "chain", names=table.columns)
    assert len(chain) == 44
    np.testing.assert_array_equal(chain.near[1:].sum(1), chain.far[:-1].sum(1))
    some = Comparisons.from_distances(table, "sample", 100, names=table.columns, random_state=3)
    assert len(some) == 100
    assert {tuple(row) for row in some.quadruplets.tolist()} <= {tuple(row) for row in every.quadruplets.tolist()}


def test_ties_and_unknown_distances_give_nothing():
    table = np.array([[0, 1, 1, 2], [1, 0, np.nan, 3], [1, np.nan, 0, 1], [2, 3, 1, 0.0]])
    every = Comparisons.from_distances(table, "all")
    assert len(every) == 3 * 2 + 1
    assert len(Comparisons.from_distances(table, "chain")) == 2


def test_bad_tables_are_refused():
    with pytest.raises(ValueError, match="expected a square table"):
        Comparisons.from_distances(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="not symmetric"):
        Comparisons.from_distances([[0, 1], [2, 0]])
    with pytest.raises(ValueError, match="how: expected 'chain', 'all' or 'sample', found 'best'"):
        Comparisons.from_distances(np.zeros((3, 3)), "best")


def test_rows_of_any_form_that_picks_one():
    by_name = Comparisons.from_odd_one_out([("a", "b", "c")], [1], rater="r")
    assert_same(Comparisons.from_picked("odd_one_out", [("a", "b", "c")], [1], rater="r"), by_name)
    both = [("a", "b", "c", "d"), ("d", "b", "c", "a")]
    judged = Comparisons.from_judged("quadruplet", both, [False, True])
    assert_same(judged, Comparisons.from_quadruplets(both, [False, True]))
    with pytest.raises(ValueError, match=r"form: expected one of triplet, .*found 'placement'"):
        Comparisons.from_picked("placement", [("a", "b", "c")], 0)
    with pytest.raises(ValueError, match="form: expected one of triplet, quadruplet, found 'odd_one_out'"):
        Comparisons.from_judged("odd_one_out", [("a", "b", "c")])

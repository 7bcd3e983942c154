"""Properties of Comparisons: slicing, joining, splitting, weights, names."""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from similitude import Comparisons, PartialAnswerWarning
from tests.feedback.strategies import assert_same, feedback, seeds


@contextmanager
def partial_allowed():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PartialAnswerWarning)
        yield


def triplets(*rows, **columns):
    return Comparisons.from_triplets(list(rows), **columns)


@given(feedback(), seeds())
def test_slicing_is_numpy_slicing(c, rng):
    m = len(c)
    ways = [slice(1, None, 2), rng.random(m) < 0.5, rng.permutation(m)[: m // 2], slice(None)]
    for rows in ways:
        with partial_allowed():
            part, same = c[rows], c[rows, ...]
        np.testing.assert_array_equal(part.quadruplets, c.quadruplets[rows])
        np.testing.assert_array_equal(part.weight, c.weight[rows])
        np.testing.assert_array_equal(np.asarray(part), np.asarray(c)[rows])
        assert (part.n_items, part.names, part.shape) == (c.n_items, c.names, (len(part), 4))
        assert_same(part, same)


@given(feedback(), seeds())
def test_a_slice_keeps_the_answers_that_its_comparisons_come_from(c, rng):
    rows = rng.random(len(c)) < 0.5
    with partial_allowed():
        part = c[rows]
    before = c.answers.take(c.answer[rows])
    after = part.answers.take(part.answer)
    assert before.rater.values.tolist() == after.rater.values.tolist()
    np.testing.assert_array_equal(before.shown.values, after.shown.values)
    assert set(part.answer.tolist()) == set(range(part.n_answers))


@given(feedback(), feedback())
def test_concatenate_then_select_gives_the_parts_back(a, b):
    b = b if (a.names is None) == (b.names is None) else a
    both = Comparisons.concatenate([a, b])
    first = both.select(np.arange(a.n_answers))
    second = both.select(np.arange(both.n_answers) >= a.n_answers)
    assert len(both) == len(a) + len(b)
    for part, whole in ((first, a), (second, b)):
        expected = whole.with_items(both.names) if both.names else whole.with_items(n_items=both.n_items)
        np.testing.assert_array_equal(part.quadruplets, expected.quadruplets)
        np.testing.assert_array_equal(part.weight, expected.weight)
        np.testing.assert_array_equal(part.answer, expected.answer)
        assert part.answers.rater.values.tolist() == whole.answers.rater.values.tolist()


@given(feedback(), seeds())
def test_selecting_all_answers_in_another_order_keeps_all_comparisons(c, rng):
    order = rng.permutation(c.n_answers)
    moved = c.select(order)
    assert (np.diff(moved.answer) >= 0).all()
    back = moved.select(np.argsort(order))
    assert_same(back, c)


@given(feedback(), seeds())
def test_relabelling_items_permutes(c, rng):
    order = rng.permutation(c.n_items)
    moved = Comparisons.from_answers(c.answers.renumber(order), n_items=c.n_items)
    np.testing.assert_array_equal(moved.quadruplets, order[c.quadruplets])
    np.testing.assert_array_equal(moved.answer, c.answer)


@given(feedback())
def test_names_may_be_given_in_another_order(c):
    if c.names is None:
        c = c.with_items([f"item {k}" for k in range(c.n_items)])
    names = [*reversed(c.names), "never seen"]
    moved = c.with_items(names)
    for before, after in zip(c.quadruplets.ravel(), moved.quadruplets.ravel(), strict=True):
        assert c.label(before) == moved.label(after)
    assert moved.n_items == c.n_items + 1


@given(feedback(), st.sampled_from([0.2, 0.5]), st.integers(0, 5))
def test_a_split_never_cuts_an_answer(c, test_size, seed):
    if c.n_answers < 2:
        return
    train, test = c.split(test_size, random_state=seed)
    assert train.n_answers + test.n_answers == c.n_answers
    assert len(train) + len(test) == len(c)
    again = c.split(test_size, random_state=seed)
    assert_same(train, again[0])
    assert_same(test, again[1])
    whole = sorted(np.bincount(c.answer, minlength=c.n_answers).tolist())
    parts = [np.bincount(part.answer, minlength=part.n_answers).tolist() for part in (train, test)]
    assert sorted(parts[0] + parts[1]) == whole


def test_a_split_by_rater_keeps_raters_apart():
    rater = np.repeat(["ann", "bob", "cas", "dan"], 5)
    c = triplets(*[(k % 3, 3, 4) for k in range(20)], rater=rater)
    train, test = c.select(rater != "ann").split(0.3, by="rater", random_state=0)
    assert set(train.answers.rater.values) & set(test.answers.rater.values) == set()
    assert len(train.answers.rater.labels) == 2
    assert len(test) == 5


def test_a_split_by_rater_among_answers_of_one_rater_is_refused():
    c = triplets((0, 1, 2), (1, 2, 0), (2, 0, 1), rater=["ann", "bob", "bob"])
    with pytest.raises(ValueError, match="at least 2 groups"):
        c.select([1, 2]).split(0.5, by="rater")
    with pytest.raises(ValueError, match="some answers have no rater"):
        triplets((0, 1, 2), (1, 2, 0)).split(0.5, by="rater")
    with pytest.raises(ValueError, match="'answer', 'rater' or 'item', found 'screen'"):
        c.groups("screen")


def test_held_out_items_are_heads_and_the_rest_is_trained_on():
    c = triplets((0, 1, 2), (3, 1, 2), (1, 3, 2), (3, 0, 1))
    train, test = c.hold_out_items([3])
    assert train.tolist() == [0]
    assert test.tolist() == [1, 3]
    quads = Comparisons.from_quadruplets([(0, 1, 2, 3), (0, 1, 2, 4), (0, 3, 4, 5)])
    assert [rows.tolist() for rows in quads.hold_out_items([3])] == [[1], [0, 2]]


def test_a_split_by_item_holds_items_out_of_training():
    rng = np.random.default_rng(0)
    c = triplets(*(rng.choice(12, 3, replace=False).tolist() for _ in range(300)))
    train, test = c.split(0.25, by="item", random_state=1)
    new = set(range(12)) - set(train.items_compared.tolist())
    assert len(new) == 3
    assert set(test.triplets[:, 0].tolist()) == new
    assert not new & set(test.triplets[:, 1:].ravel().tolist())


def test_part_of_an_answer_warns_and_a_whole_one_does_not():
    c = Comparisons.from_choices([[0, 1, 2, 3], [3, 0, 1, 2]], [[1], [0]])
    assert len(c) == 4
    with pytest.warns(PartialAnswerWarning, match="part of an answer"):
        c[:1]
    with pytest.warns(PartialAnswerWarning, match="part of an answer"):
        c[np.array([0, 1, 3])]
    assert c[:2].n_answers == 1
    assert len(c[[True, True, False, False]]) == 2


def test_cant_tell_is_kept_and_gives_nothing():
    c = Comparisons.from_choices([[0, 1, 2], [0, 2, 1], [1, 0, 2]], [[1], [], [0]], rater=["a", "b", "a"])
    assert (len(c), c.n_answers) == (2, 3)
    assert c.answers.cant_tell.tolist() == [False, True, False]
    assert c.answer.tolist() == [0, 2]
    assert "1 could not tell" in repr(c)
    assert c.select([1]).answers.rater.values.tolist() == ["b"]
    assert len(c.select([1])) == 0


@given(feedback(), seeds())
def test_weights(c, rng):
    weight = rng.random(len(c))
    np.testing.assert_array_equal(c.reweight(weight).weight, weight)
    np.testing.assert_array_equal(c.reweight(3).weight, np.full(len(c), 3.0))
    per_answer = rng.random(c.n_answers)
    again = Comparisons.from_answers(c.answers, n_items=c.n_items, weight=per_answer)
    np.testing.assert_array_equal(again.weight, per_answer[c.answer])


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0, -1.0], "found -1.0 in row 1"),
        ([np.nan, 1.0], "found nan in row 0"),
        ([np.inf, 1.0], "found inf in row 0"),
        (-2.0, "found -2.0 in row 0"),
        ([1.0], r"expected one number or 2, found shape \(1,\)"),
    ],
)
def test_bad_weights_are_refused(weight, message):
    with pytest.raises(ValueError, match=f"weight: .*{message}"):
        triplets((0, 1, 2), (1, 2, 0), weight=weight)
    with pytest.raises(ValueError, match=f"weight: .*{message}"):
        triplets((0, 1, 2), (1, 2, 0)).reweight(weight)


@given(feedback(), seeds())
def test_flipping_twice_changes_nothing(c, rng):
    wrong = rng.random(len(c)) < 0.5
    once = c.flip(wrong)
    np.testing.assert_array_equal(once.near[wrong], c.far[wrong])
    np.testing.assert_array_equal(once.near[~wrong], c.near[~wrong])
    assert_same(once.flip(wrong), c)


def test_triplets_and_quadruplets():
    c = Comparisons.from_quadruplets([(1, 0, 2, 0), (0, 1, 2, 3)])
    assert c.is_triplet.tolist() == [True, False]
    assert c.quadruplets[0].tolist() == [0, 1, 0, 2]
    assert c[:1].triplets.tolist() == [[0, 1, 2]]
    with pytest.raises(ValueError, match=r"comparison 1 has no head \(\(0, 1\) over \(2, 3\)\); use quadruplets"):
        _ = c.triplets


def test_items_by_name_and_by_position():
    c = triplets(("cat", "dog", "bus"), names=["bus", "cat", "dog", "emu"])
    assert c.index("dog") == c.index(2) == 2
    assert c.label(3) == "emu"
    assert c.items_compared.tolist() == [0, 1, 2]
    assert c.to_frame()[["near_a", "near_b", "far_b"]].to_numpy().tolist() == [["cat", "dog", "bus"]]
    with pytest.raises(ValueError, match="'dag' is not among the 4 item names; did you mean 'dog'"):
        c.index("dag")


def test_indexing_that_is_not_by_row_is_refused():
    c = triplets((0, 1, 2))
    with pytest.raises(IndexError, match="indexed by row alone"):
        c[0, 1]
    with pytest.raises(IndexError):
        c[5]
    with pytest.raises(ValueError, match="copy"):
        np.array(c, copy=False)
    with pytest.raises(ValueError, match="selected twice"):
        triplets((0, 1, 2), (1, 2, 0)).select([0, 0])
    assert c.select([]).n_answers == 0


def test_joining_named_and_unnamed_feedback_is_refused():
    with pytest.raises(ValueError, match="some feedback knows its items by name"):
        Comparisons.concatenate([triplets((0, 1, 2)), triplets(("a", "b", "c"))])
    with pytest.raises(ValueError, match="at least one"):
        Comparisons.concatenate([])


def test_item_counts_that_do_not_fit_are_refused():
    c = triplets((0, 1, 2))
    assert c.with_items(n_items=9).n_items == 9
    with pytest.raises(ValueError, match="n_items: 2 was given, but the feedback is about 3 items"):
        c.with_items(n_items=2)
    with pytest.raises(ValueError, match="at least 3 names, found 2"):
        c.with_items(["a", "b"])
    with pytest.raises(ValueError, match="n_items: 5 was given, but the feedback is about 3 items; give names"):
        triplets(("a", "b", "c")).with_items(n_items=5)
    with pytest.raises(ValueError, match="found index 2, but there are 2 items"):
        Comparisons.from_answers(c.answers, n_items=2)


def test_empty_feedback_is_feedback():
    c = Comparisons.from_triplets(np.empty((0, 3), int), n_items=4)
    assert (len(c), c.n_answers, c.n_items) == (0, 0, 4)
    assert len(c[:]) == 0
    assert len(Comparisons.concatenate([c, triplets((0, 1, 2))])) == 1
    with pytest.raises(ValueError, match="at least 2 groups"):
        c.split()


@pytest.mark.parametrize("test_size", [0, 1, -0.5, 2])
def test_a_share_that_is_no_share_is_refused(test_size):
    with pytest.raises(ValueError, match="test_size: expected a share between 0 and 1"):
        triplets((0, 1, 2), (1, 2, 0)).split(test_size)


def test_constant_columns_are_stored_once():
    c = triplets(*[(0, 1, 2)] * 1000, rater="ann")
    assert c.weight.strides == c.answers.rater.codes.strides == (0,)
    assert c[:500].weight.strides == (0,)
    both = Comparisons.concatenate([c, c])
    assert both.weight.strides == both.answers.rater.codes.strides == (0,)
    assert both.answers.rater.labels == ("ann",)


def test_values_are_frozen():
    rows = np.array([(0, 1, 2), (2, 1, 0)], np.int32)
    c = Comparisons.from_triplets(rows, weight=np.array([1.0, 2.0]))
    for column in (c.near, c.far, c.weight, c.answer):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1
    rows[:] = 7
    assert c.triplets.tolist() == [[0, 1, 2], [2, 1, 0]]


def test_their_size_tells_joblib_to_send_them_once():
    few, many = (Comparisons.from_triplets(np.tile([0, 1, 2], (count, 1))) for count in (100, 10_000))
    assert sys.getsizeof(many) > 30 * sys.getsizeof(few)
    assert sys.getsizeof(many) >= many.near.nbytes + many.far.nbytes

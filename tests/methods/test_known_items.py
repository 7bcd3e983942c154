"""Items by name or by position: matched by what they are called, and whatever mixes the two is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import similitude as sm
from similitude.methods.metric import ModelMetric


def by_number():
    """A model of items in a row; its answers without item 0, by position and as a file of numbers has them."""
    truth = np.arange(10.0)[:, None] ** 1.5
    c = sm.simulate(truth, 800, sharpness=30.0, random_state=0)
    model = sm.STE(1, random_state=0).fit(c).similarity_
    inner = c.select((c.answers.shown.matrix() > 0).all(1))
    table = pd.DataFrame(inner.triplets, columns=["head", "winner", "loser"])
    return model, inner, table


@pytest.mark.filterwarnings("ignore:1 of 10 items were never compared")
def test_numbers_that_begin_at_one_are_the_positions_of_a_model_without_names():
    model, inner, table = by_number()
    read = sm.read_comparisons(table)
    assert read.names is not None
    assert model.score(read) == model.score(inner) > 0.9
    asked = [sm.next_questions(model, 5, asked=c, random_state=0) for c in (read, inner)]
    pd.testing.assert_frame_equal(*asked)
    again = [sm.refit(model, c).embedding for c in (read, inner)]
    np.testing.assert_array_equal(*again)


def test_the_table_of_next_questions_reads_back_as_positions():
    model = by_number()[0]
    asked = sm.next_questions(model, 60, random_state=0)
    asked = asked[[0 not in shown for shown in asked.shown]].assign(response="[1]")
    read = sm.read_comparisons(asked)
    np.testing.assert_array_equal(model.over_items(read).answers.shown.matrix(), np.array(asked.shown.tolist()))


@pytest.mark.parametrize("use", ["score", "predict", "refit", "next_questions", "partial_fit"])
def test_names_and_positions_are_never_matched_by_rank(use):
    names = [str(k) for k in range(1, 11)]
    rng = np.random.default_rng(0)
    plain = sm.simulate(rng.normal(size=(10, 2)), 50, random_state=0)
    words = plain.with_items([f"item {name}" for name in names])
    numbered, unnamed = (sm.OnlineEmbedding(2, random_state=0).fit(c) for c in (plain.with_items(names), plain))
    asked = {
        "refit": sm.refit,
        "next_questions": lambda model, c: sm.next_questions(model, 1, asked=c),
    }.get(use, lambda model, c: getattr(model, use)(c))
    with pytest.raises(ValueError, match=r"items by name, the comparisons theirs by position; .* labels=True"):
        asked(numbered, plain)
    for others, stranger in ((words, "item 1"), (plain.with_items(names), "10")):
        message = rf"items by position, the comparisons theirs by name; '{stranger}' is none of its positions, 0 to 9"
        with pytest.raises(ValueError, match=message):
            asked(unnamed, others)


@pytest.fixture(scope="module")
def numbered():
    """A model of items called 1 to 10, in another order than that of the text."""
    model, _, _ = by_number()
    return sm.Similarity(model.embedding, model.loss, tuple(str(k) for k in range(1, 11)), model.about)


@pytest.mark.parametrize(
    "asked",
    [
        lambda s: s.neighbors(5),
        lambda s: s.neighbors(np.int64(5)),
        lambda s: s.distances([5], [6]),
        lambda s: s.pair_distance([(5, 6)]),
        lambda s: sm.next_questions(s, 1, pool=[(5, 6, 7)], random_state=0),
        lambda s: sm.plot.embedding(s, new=[5]),
    ],
)
def test_a_number_is_no_item_where_names_are_numbers(numbered, asked):
    with pytest.raises(ValueError, match=r"^items: 5 may be a name or the position of '6', .* as text: '6'$"):
        asked(numbered)


def test_numbers_are_positions_where_they_can_be_nothing_else(numbered):
    words = sm.Similarity(numbered.embedding, numbered.loss, tuple("abcdefghij"))
    from_zero = sm.Similarity(numbered.embedding, numbered.loss, tuple("0123456789"))
    assert words.neighbors(5, 1) == words.neighbors("f", 1)
    assert from_zero.neighbors(5, 1) == from_zero.neighbors("5", 1)
    assert numbered.neighbors("5", 1) in (["4"], ["6"])
    rows = np.arange(10)[:, None]  # scikit-learn knows items by position alone
    assert ModelMetric(numbered)(rows[1], rows[4]) == numbered.pair_distance([("2", "5")])


def test_whole_numbers_with_a_point_are_the_names_without(numbered, tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("head,winner,loser\n1.0,2.0,5.0\n10.0,9.0,5.0\n")
    for labels in (False, True):
        c = sm.read_comparisons(file, labels=labels)
        assert set(c.names) == {"1", "2", "5", "9", "10"}
        assert sm.refit(numbered, sm.Comparisons.concatenate([c, numbered_answers()])).n_items == 10
    file.write_text(file.read_text().replace("5.0", "5.5"))  # then they are no whole numbers
    assert "1.0" in sm.read_comparisons(file, labels=True).names


def test_files_of_one_folder_are_read_alike(tmp_path):
    for name, rows in (("ann", "1.0,2.0,3.0"), ("ben", "2,3,4")):
        (tmp_path / f"{name}.csv").write_text(f"head,winner,loser\n{rows}\n")
    assert sm.read_comparisons(tmp_path).names == ("1", "2", "3", "4")


def numbered_answers():
    return by_number()[1].with_items(n_items=10).with_items([str(k) for k in range(1, 11)])


@pytest.mark.parametrize("item", [2**31 - 1, 3_000_000_000, 2**32 + 2])
@pytest.mark.parametrize("grow", [True, False])
def test_positions_of_a_stream_that_no_index_can_hold_are_refused(item, grow):
    model = sm.OnlineEmbedding(1, grow=grow, random_state=0).partial_fit([(0, 1, 2)])
    for rows in ([(0, 1, item)], np.array([(0, 1, item)], np.uint64)):
        with pytest.raises(ValueError, match=f"items: found index {item}, more than 2,147,483,646"):
            model.partial_fit(rows)
    assert model.n_items_ == 3


def test_a_stream_says_that_its_positions_may_be_ids():
    model = sm.OnlineEmbedding(1, grow=True, random_state=0).partial_fit([(0, 1, 2)])
    model.partial_fit([(0, 1, 40)])
    with pytest.warns(
        sm.FeedbackWarning, match="go up to 5000, but the model knows 41 items, .* ids, give them as"
    ) as w:
        model.partial_fit([(0, 1, 5000)])
    assert w[0].filename == __file__
    model.partial_fit([(0, 1, 5001)])


def test_a_stream_says_once_which_new_items_may_be_known_ones():
    model = sm.OnlineEmbedding(2, grow=True, random_state=0).partial_fit([("a", "b", "007")])
    for new, known in (("A", "a"), ("7", "007"), ("new", None), ("New ", "new")):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            model.partial_fit([(new, "a", "b")])
            model.partial_fit([(new, "b", "a")])
        assert [f"{new!r} and {known!r}" in str(one.message) for one in told] == [True] * (known is not None)
        assert all(one.filename == __file__ for one in told)
    assert model.similarity_.names == ("007", "a", "b", "A", "7", "new", "New ")

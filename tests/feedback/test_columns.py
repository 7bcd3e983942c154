"""Columns of the answer table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from similitude.feedback.columns import Categories, Rows, constant
from tests.feedback.strategies import seeds

LABELS = st.lists(st.none() | st.sampled_from(["", "a", "b", "c"]), max_size=8)


def recorded(values):
    return [value or None for value in values]


@given(LABELS, LABELS, seeds())
def test_categories_slice_and_join_like_lists(one, other, rng):
    first, second = (Categories.of(np.array(values, object), len(values)) for values in (one, other))
    assert first.values.tolist() == recorded(one)
    joined = Categories.join([first, second])
    assert joined.values.tolist() == recorded(one + other)
    rows = rng.permutation(len(joined))[: len(joined) // 2]
    part = joined.take(rows)
    assert part.values.tolist() == [recorded(one + other)[row] for row in rows]
    assert set(part.labels) == {label for label in part.values if label is not None}


def test_one_value_for_all_rows_is_stored_once():
    column = Categories(constant(1, 4, np.int32), ("a", "b")).take(np.arange(3))
    assert (column.labels, column.values.tolist()) == (("b",), ["b"] * 3)
    assert column.codes.strides == (0,)
    assert Categories.of(7, 2).values.tolist() == ["7", "7"]
    assert Categories.of(["x", "x"], 2).codes.strides == (0,)
    assert Categories.of("", 2).values.tolist() == [None, None]
    assert not Categories.of(None, 2).recorded


def test_numbers_are_named_as_people_write_them():
    assert Categories.of(np.array([1.0, np.nan, 2.5]), 3).values.tolist() == ["1", None, "2.5"]
    assert Categories.of(np.array([1, "1", 2], object), 3).codes.tolist() == [0, 0, 1]
    with pytest.raises(ValueError, match=r"one value per answer \(2\), found 3"):
        Categories.of([1, 2, 3], 2)


@given(st.lists(st.lists(st.integers(0, 9), max_size=4), max_size=6), seeds())
def test_rows_slice_and_join_like_lists(lists, rng):
    rows = Rows.of(lists, np.int64)
    assert [rows[k].tolist() for k in range(len(rows))] == lists
    assert rows.lengths.tolist() == [len(row) for row in lists]
    assert rows.owner.tolist() == [k for k, row in enumerate(lists) for _ in row]
    order = rng.permutation(len(lists))
    taken = rows.take(order)
    assert [taken[k].tolist() for k in range(len(taken))] == [lists[k] for k in order]
    joined = Rows.join([rows, taken])
    assert [joined[k].tolist() for k in range(len(joined))] == lists + [lists[k] for k in order]


@given(st.integers(1, 4), st.integers(0, 3), seeds())
def test_rows_of_one_length_are_a_matrix(length, width, rng):
    matrix = rng.integers(0, 9, (length, width))
    rows = Rows.uniform(matrix)
    np.testing.assert_array_equal(rows.matrix(), matrix)
    chosen = rng.permutation(length)[: length // 2]
    np.testing.assert_array_equal(rows.matrix(chosen), matrix[chosen])
    ragged = Rows.join([rows, Rows.of([[1] * (width + 1)])])
    np.testing.assert_array_equal(ragged.matrix(np.arange(length)), matrix)

"""Rows of a table are about the items that it names, in its index or in a column, whatever their order."""

import numpy as np
import pandas as pd
import pytest

import similitude as sm
from similitude.evaluate.item_rows import rows_of_items

NAMES = tuple(f"i{k}" for k in range(12))
X = np.random.default_rng(0).gamma(0.5, size=(12, 3))
MODEL = pd.DataFrame(X, index=NAMES)
SIZE = pd.DataFrame({"size": X[:, 1], "word": ["a", "b"] * 6}, index=NAMES)
AS_READ = SIZE.iloc[::-1].rename_axis("item").reset_index()  # as of read_csv without index_col, in another order


@pytest.mark.parametrize(
    "given",
    [
        SIZE,
        AS_READ,
        AS_READ[["size", "word", "item"]],
        AS_READ.rename(columns={"item": "what it is"}),
        AS_READ.iloc[[5, 2, 1, 0, 3, 4, 6, 7, 8, 9, 10, 11]],
        SIZE.to_numpy(),
    ],
)
def test_rows_are_found_by_the_names_in_the_index_or_in_a_column(given):
    found = rows_of_items(given, NAMES, 12, "attributes")
    np.testing.assert_array_equal(found.iloc[:, 0].to_numpy(float), X[:, 1])
    assert found.shape == (12, 2)


def test_names_that_are_numbers_are_not_the_places_of_rows():
    names = tuple(str(k) for k in range(1, 13))
    given = pd.DataFrame({"item": range(12, 0, -1), "size": X[::-1, 1]})
    np.testing.assert_array_equal(rows_of_items(given, names, 12, "attributes")["size"], X[:, 1])
    with pytest.raises(ValueError, match=r"attributes: no row is about an item of the model \(1, \.\.\.\)"):
        rows_of_items(given[["size"]], names, 12, "attributes")
    from_zero = tuple(str(k) for k in range(12))
    np.testing.assert_array_equal(
        rows_of_items(given[["size"]], from_zero, 12, "attributes")["size"], X[::-1, 1]
    )  # the index of such a table holds the names


def test_items_without_names_are_their_numbers_or_places():
    order = np.random.default_rng(1).permutation(12)
    by_number = pd.DataFrame({"size": X[order, 1]}, index=order)
    as_read = pd.DataFrame({"item": order, "size": X[order, 1]})
    for given in (by_number, as_read, pd.DataFrame({"size": X[:, 1]}), pd.DataFrame({"size": X[:, 1]}, index=NAMES)):
        np.testing.assert_array_equal(rows_of_items(given, None, 12, "attributes")["size"], X[:, 1])


def test_the_right_dimension_gets_the_name():
    found = sm.describe_dimensions(MODEL, attributes=AS_READ[["item", "size"]])
    assert found.names[1] == "size?"
    assert set(found.attributes.attribute) == {"size"}


def test_a_table_without_names_is_refused_where_items_have_them():
    with pytest.raises(ValueError, match=r"attributes: no row is about an item of the model .* index_col=0"):
        sm.describe_dimensions(MODEL, attributes=SIZE.reset_index(drop=True))
    with pytest.raises(ValueError, match="second: the table does not say which items its rows are about"):
        sm.compare(MODEL, SIZE.reset_index(drop=True))
    with pytest.raises(ValueError, match="attributes: two rows are about 'i11'"):
        sm.describe_dimensions(MODEL, attributes=pd.concat([AS_READ, AS_READ]))
    with pytest.raises(TypeError, match=r"attributes: expected a table, found the text 'att.csv'; read the file first"):
        sm.describe_dimensions(MODEL, attributes="att.csv")
    with pytest.raises(TypeError, match="attributes: expected a table with a row per item, found dict"):
        sm.describe_dimensions(MODEL, attributes={"size": 1})


def test_infinity_is_no_attribute():
    with pytest.raises(ValueError, match="attributes: column 'size' holds infinity"):
        sm.describe_dimensions(MODEL, attributes=SIZE.assign(size=np.inf))


def test_compare_knows_items_by_a_column_of_names():
    expected = sm.compare(MODEL, SIZE, n_resamples=5, random_state=0).correlation
    for given in (AS_READ, AS_READ.iloc[::2], AS_READ.rename(columns={"item": "what"})):
        found = sm.compare(SIZE, given, n_resamples=5, random_state=0)
        assert found.correlation == pytest.approx(1.0)
        assert len(found.items) == len(given)
    assert sm.compare(MODEL, AS_READ, n_resamples=5, random_state=0).correlation == pytest.approx(expected)
    vectors = sm.compare(SIZE[["size"]], AS_READ[["item", "size"]], metric="euclidean", n_resamples=5, random_state=0)
    assert vectors.correlation == pytest.approx(1.0)
    numbers = pd.DataFrame(X[::-1], index=range(11, -1, -1))
    assert sm.compare(X, numbers, metric="euclidean", n_resamples=5).correlation == pytest.approx(1.0)


def test_a_column_of_items_is_preferred_to_an_index_that_counts_rows():
    given = pd.DataFrame({"item": range(11, -1, -1), "size": X[::-1, 1]})
    names = tuple(str(k) for k in range(12))
    np.testing.assert_array_equal(rows_of_items(given, names, 12, "attributes")["size"], X[:, 1])

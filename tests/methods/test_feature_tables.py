"""Features as tables: columns and rows by name, and warnings where rows or units may not be what was meant."""

import numpy as np
import pandas as pd
import pytest

import similitude as sm

NAMES = [f"item {k:02}" for k in range(18)]
TRUTH = np.kron(np.eye(3), np.ones((6, 1))) * 2
TABLE = pd.DataFrame(TRUTH @ np.random.default_rng(0).normal(size=(3, 4)), NAMES, list("wxyz"))
SETTINGS = {"penalty": 0.1, "map_penalty": 0.1, "scale": 1.0, "n_init": 1, "random_state": 0}


@pytest.fixture(scope="module")
def answers():
    return sm.simulate(TRUTH, 400, "odd_one_out", metric="dot", sharpness=1, names=NAMES, random_state=0)


@pytest.fixture(scope="module")
def model(answers):
    return sm.NonNegativeEmbedding(4, **SETTINGS).fit(answers, features=TABLE)


def test_columns_are_read_by_name_in_any_order_and_after_a_file(model):
    values = model.transform(TABLE)
    other = TABLE[list("zwxy")]
    assert not np.allclose(model.transform(other.to_numpy()), values)
    stored = sm.Similarity.from_bytes(model.similarity_.to_bytes())
    for one in (model, stored):
        np.testing.assert_allclose(one.transform(other), values)
        np.testing.assert_allclose(one.transform(TABLE.to_numpy()), values)
    np.testing.assert_allclose(stored.transform(other.loc["item 03"]), values[3])


@pytest.mark.parametrize(
    ("table", "said"),
    [(TABLE.rename(columns={"w": "v"}), "lacks the column 'w'"), (TABLE.assign(more=1.0), "has a column 'more'")],
)
def test_other_columns_are_refused_by_name(model, table, said):
    with pytest.raises(ValueError, match=said):
        model.transform(table)


def test_values_have_names(model):
    known, new = model.dimension_values(), model.dimension_values(TABLE.iloc[3:5])
    assert known.index.tolist() == NAMES
    assert known.columns[0] == "dimension 1"
    np.testing.assert_array_equal(known, model.embedding_)
    assert new.index.tolist() == NAMES[3:5]
    np.testing.assert_array_equal(new, model.transform(TABLE.iloc[3:5]))


def test_new_items_are_placed_by_the_names_of_their_rows(model):
    new = sm.Comparisons.from_odd_one_out([("item 00", "new 2", "item 08"), ("item 01", "new 1", "item 13")])
    table = TABLE.iloc[[0, 6]].set_axis(["new 1", "new 2"])
    first, second = (model.place(new, features=one).embedding for one in (table, table.iloc[::-1]))
    np.testing.assert_array_equal(first, second)


def test_rows_without_names_beside_items_with_names_are_said_to_be_in_the_order_of_the_alphabet(answers):
    with pytest.warns(sm.FeedbackWarning, match=r"the alphabet \(item 00, item 01, item 02"):
        sm.NonNegativeEmbedding(4, **SETTINGS).fit(answers, features=TABLE.to_numpy())


@pytest.mark.parametrize(
    "make",
    [
        lambda: sm.NonNegativeEmbedding(4, **SETTINGS),
        lambda: sm.FeatureEmbedding(2, random_state=0),
        sm.LPOE,
        sm.RankProjection,
        sm.DRankingVM,
        sm.RCKLAK,
    ],
    ids=["NonNegativeEmbedding", "FeatureEmbedding", "LPOE", "RankProjection", "DRankingVM", "RCKLAK"],
)
def test_items_without_a_row_are_named(make, answers):
    with pytest.warns(sm.FeedbackWarning, match=r"2 of the 18 items have no row \(item 16, item 17\)") as told:
        make().fit(answers, features=TABLE.iloc[:16])
    assert told[0].filename == __file__


def test_a_column_in_large_units_is_named(answers):
    with pytest.warns(sm.FeedbackWarning, match="column 'x' varies more than ten times"):
        sm.NonNegativeEmbedding(4, **SETTINGS).fit(answers, features=TABLE.assign(x=1000 * TABLE.x))


def test_a_gap_is_said_by_the_name_of_its_row(answers):
    broken = TABLE.iloc[::-1].copy()
    broken.loc["item 04", "x"] = np.nan
    with pytest.raises(ValueError, match="the row of 'item 04' lacks 1 of its 4 values"):
        sm.NonNegativeEmbedding(4, **SETTINGS).fit(answers, features=broken)

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


POSITIONS = np.random.default_rng(1).normal(size=(12, 2))
ROWS = pd.DataFrame(POSITIONS @ np.random.default_rng(2).normal(size=(2, 4)), columns=list("wxyz"))
SHUFFLED = ROWS.sort_values("w")


def by_position(names=None):
    return sm.simulate(POSITIONS, 200, names=names, random_state=0)


def fitted(features, names=None, make=lambda: sm.FeatureEmbedding(2, random_state=0)):
    return make().fit(by_position(names), features=features).embedding_


def assert_same(found, right):
    """Maps alike but for their last bits: a table that was put in order lies in memory in another one."""
    np.testing.assert_allclose(found, right, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("make", [lambda: sm.FeatureEmbedding(2, random_state=0), sm.LPOE, sm.DRankingVM])
@pytest.mark.parametrize(
    "table",
    [SHUFFLED, SHUFFLED.set_axis(map(str, SHUFFLED.index)), SHUFFLED.set_axis(SHUFFLED.index.astype(float))],
    ids=["numbers", "texts", "floats"],
)
def test_rows_are_about_the_positions_that_their_index_holds(make, table):
    assert_same(fitted(table, make=make), fitted(ROWS.to_numpy(), make=make))


def test_items_that_were_not_compared_may_have_rows_in_any_order():
    few = by_position().select((by_position().quadruplets < 10).all(1))
    few = sm.Comparisons.from_quadruplets(few.quadruplets)
    models = [sm.FeatureEmbedding(2, random_state=0).fit(few, features=one) for one in (ROWS, SHUFFLED)]
    assert few.n_items < 12
    assert_same(models[0].embedding_, models[1].embedding_)


@pytest.mark.parametrize("index", [[f"a{k}" for k in range(12)], range(1, 13)])
def test_rows_with_names_are_no_rows_of_positions(index):
    table = ROWS.set_axis(index)
    with pytest.raises(ValueError, match=r"row of the table is named '(a0|12)', but items are known by position, 0 to"):
        fitted(table)
    with pytest.raises(ValueError, match=r"kernel of modality 'features' has a row '(a0|12)', which is no item"):
        fitted(sm.kernels.Linear(table))


def test_a_number_twice_is_refused():
    with pytest.raises(ValueError, match="a name twice in the index"):
        fitted(ROWS.set_axis([0] * 12))


NUMBERED = [str(k) for k in range(1, 13)]


def test_an_index_that_counts_rows_names_items_only_where_it_knows_all():
    right = fitted(ROWS.to_numpy(), NUMBERED)
    assert_same(fitted(ROWS, NUMBERED), right)
    assert_same(fitted(SHUFFLED.set_axis(SHUFFLED.index + 1), NUMBERED), right)
    below = pd.concat([ROWS[-1:], ROWS], ignore_index=True)  # row k is about the item called so; none is called 0
    assert_same(fitted(below, NUMBERED), right)
    with pytest.raises(ValueError, match="rows of the table are not named after the items: found '0'"):
        fitted(SHUFFLED, NUMBERED)


@pytest.mark.parametrize(
    "kernel",
    [
        sm.kernels.RBF(SHUFFLED),
        sm.kernels.Sum([SHUFFLED, ROWS]),
        sm.kernels.Precomputed((SHUFFLED @ SHUFFLED.T).rename(columns=str)),
    ],
    ids=["RBF", "Sum", "Precomputed"],
)
def test_a_kernel_of_a_table_in_another_order_is_refused(kernel):
    with pytest.raises(ValueError, match="the rows of its table in another order than the items"):
        fitted(kernel)
    with pytest.raises(ValueError, match="has a row '0', which is no item"):
        fitted(kernel, NUMBERED)


def test_tables_of_new_items_are_about_the_same_ones_in_every_modality():
    model = sm.FeatureEmbedding(2, random_state=0).fit(by_position(), features={"a": ROWS, "b": ROWS**3})
    both = {"a": ROWS[:3], "b": ROWS[:3] ** 3}
    with pytest.raises(ValueError, match="features: found tables whose rows have other names, or another order"):
        model.transform({"a": both["a"].iloc[[0, 2, 1]], "b": both["b"].iloc[[2, 1, 0]]})
    assert model.transform(both).shape == (3, 2)
    kernel = sm.kernels.Sum({"a": ROWS, "b": ROWS**3})
    with pytest.raises(ValueError, match="new features: found tables whose rows have other names"):
        kernel.cross({"a": both["a"].iloc[[0, 2, 1]], "b": both["b"].iloc[[2, 1, 0]]})


def test_new_items_without_names_are_placed_by_the_numbers_of_their_rows():
    model = sm.FeatureEmbedding(2, random_state=0).fit(by_position(), features=ROWS)
    answers = [(0, 12, 5), (3, 13, 7)]
    new = SHUFFLED[:2].set_axis([13, 12])
    right, *others = (
        model.place(answers, features=one, random_state=0).embedding
        for one in (new[::-1].to_numpy(), new, new[::-1].reset_index(drop=True))
    )
    for other in others:
        assert_same(other, right)
    with pytest.raises(ValueError, match="named '1', but items are known by position, 12 to 13"):
        model.place(answers, features=new.set_axis([1, 0]))

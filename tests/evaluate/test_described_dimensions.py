"""What dimensions are about: items, names, attributes, shares of answers, reasons for one."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import similitude as sm
from similitude.evaluate.attributes import against_attributes
from similitude.evaluate.deciding import deciding, gains
from similitude.methods.dimension_parts import with_dimensions

NAMES = [f"item {k}" for k in range(12)]
X = np.random.default_rng(0).gamma(0.5, size=(12, 3))
TABLE = pd.DataFrame(X, index=NAMES)


def answers(form="odd_one_out", count=300, **more):
    return sm.simulate(2 * X, count, form, metric="dot", sharpness=1.0, names=NAMES, random_state=1, **more)


@pytest.mark.parametrize(
    ("form", "more"),
    [("odd_one_out", {}), ("triplet", {}), ("most_central", {}), ("choice", {"grid_size": 6, "n_chosen": 2})],
)
def test_reasons_add_up_to_the_log_odds_of_the_answer(form, more):
    similarity = with_dimensions(TABLE)
    c = answers(form, 20, **more)
    for k in range(5):
        one = c.select([k])
        why = sm.explain_answer(similarity, one)
        assert why.by_feature.sum() == pytest.approx(why.log_odds)
        assert why.confidence == pytest.approx(np.exp(-sm.answer_log_loss(similarity, one)), rel=1e-6)
        assert why.chance == pytest.approx(
            {"odd_one_out": 1 / 3, "triplet": 1 / 2, "most_central": 1 / 3}.get(form, 1 / 15)
        )


def test_between_two_alternatives_a_dimension_adds_its_product_less_the_other():
    why = sm.explain_answer(TABLE, sm.Comparisons.from_triplets([[0, 1, 2]], names=NAMES))
    np.testing.assert_allclose(why.by_feature, X[0] * X[1] - X[0] * X[2], atol=1e-12)


def test_a_dimension_that_nobody_has_is_no_reason_and_order_does_not_matter():
    wide = pd.DataFrame(np.column_stack([X[:, ::-1], np.zeros(12)]), index=NAMES)
    answer = sm.Comparisons.from_odd_one_out([NAMES[:3]])
    first, second = (sm.explain_answer(table, answer).by_feature for table in (TABLE, wide))
    np.testing.assert_allclose(second, [*first[::-1], 0.0], atol=1e-12)


def test_what_dimensions_add_is_the_gain_over_chance():
    similarity, c = with_dimensions(TABLE), answers()
    gain, without, weight = gains(similarity, c)
    assert (weight == 1).all()
    assert gain.sum(1).mean() == pytest.approx(np.log(3) - sm.answer_log_loss(similarity, c), rel=1e-9)
    for k in range(3):
        less = with_dimensions(pd.DataFrame(np.delete(X, k, axis=1), index=NAMES))
        lost = sm.answer_log_loss(less, c) - sm.answer_log_loss(similarity, c)
        assert without[:, k].mean() == pytest.approx(lost)


def test_shares_add_up_and_what_nobody_goes_by_has_none():
    table = deciding(pd.DataFrame(2 * X, index=NAMES), answers(count=800))
    assert table.share.sum() == pytest.approx(1.0)
    assert ((table.share_low < table.share) & (table.share < table.share_high)).all()
    other = np.column_stack([2 * X, np.random.default_rng(5).gamma(0.5, size=12) * 0.3])
    noise = deciding(pd.DataFrame(other, index=NAMES), answers(count=800)).iloc[3]
    assert noise.share_low < 0.05  # what raters do not go by gains nothing: its expectation is below 0


def test_intervals_are_over_raters_where_they_are_known():
    c = answers(count=400, raters=8)
    found = deciding(TABLE, c)
    without = gains(with_dimensions(TABLE), c)[1]
    by_rater = np.array([without[c.answers.rater.codes == k].mean(0) for k in range(8)])  # 50 answers of each
    half = stats.t.ppf(0.975, 7) * by_rater.std(0, ddof=1) / np.sqrt(8)
    np.testing.assert_allclose(found.without_high - found.without, half)


def test_rank_correlations_are_spearmans_also_with_gaps():
    rng = np.random.default_rng(2)
    given = pd.DataFrame({"a": rng.normal(size=12), "b": np.round(X[:, 0]), "c": rng.normal(size=12)}, index=NAMES)
    given.loc[NAMES[:4], "c"] = np.nan
    table = against_attributes(X, given.sample(frac=1, random_state=0), tuple(NAMES), n_resamples=20, random_state=0)
    for row in table.itertuples():
        known = given[row.attribute].notna()
        expected = stats.spearmanr(X[known, row.dimension - 1], given[row.attribute][known]).statistic
        assert row.correlation == pytest.approx(expected)
        assert row.items == known.sum()
    assert (table.low <= table.high).all()


def test_words_become_attributes_and_names_do_not():
    given = pd.DataFrame({"kind": ["a", "b"] * 6, "id": NAMES, "same": 1.0}, index=NAMES)
    table = against_attributes(X, given, tuple(NAMES), n_resamples=5, random_state=0)
    assert set(table.attribute) == {"kind: a", "kind: b"}


@pytest.mark.slow
def test_of_many_attributes_without_relation_none_is_claimed():
    """The smallest p of a table is below 0.05 in one table of 20: of 40 in 2, more than 9 with a chance of 1e-4."""
    rng = np.random.default_rng(3)
    small = [
        against_attributes(X, pd.DataFrame(rng.normal(size=(12, 15))), n_resamples=99, random_state=k).p_value.min()
        for k in range(40)
    ]
    assert sum(p <= 0.05 for p in small) <= 9


def test_names_are_suggestions_until_somebody_says_so():
    rng, ranks = np.random.default_rng(1), stats.rankdata(X, axis=0)
    noise = min((rng.permutation(12) for _ in range(300)), key=lambda p: np.abs(np.corrcoef(p, ranks.T)[0, 1:]).max())
    attributes = pd.DataFrame({"metallic": X[:, 0], "noise": noise}, index=NAMES)
    found = sm.describe_dimensions(TABLE, attributes=attributes)
    assert found.names[0] == "metallic?"
    assert found.table.named_from.tolist() == ["attribute", "items", "items"]
    assert found.names[1] == ", ".join(found.top(2, 3).item) + "?"
    said = found.renamed({2: "soft"})
    assert (said.names[1], said.table.named_from[1]) == ("soft", "you")
    assert found.names[1] != "soft"
    assert "suggestions" in " ".join(found.sentences())


def test_one_attribute_names_one_dimension():
    twice = pd.DataFrame(np.column_stack([X[:, 0], X[:, 0] + 0.2 * X[:, 1]]), index=NAMES)
    found = sm.describe_dimensions(twice, attributes=pd.DataFrame({"metallic": X[:, 0]}, index=NAMES))
    assert found.names.count("metallic?") == 1


def test_top_and_bottom_items():
    found = sm.describe_dimensions(pd.DataFrame({"a": [0.0, 3, 1, 0], "b": [1.0, 0, 0, 2]}, index=list("wxyz")))
    assert found.top(1).item.tolist() == ["x", "y"]  # what has none of it is not among its items
    assert found.bottom(1, 2).item.tolist() == ["z", "w"]  # z has most of everything else
    assert found.profile("x").value.tolist() == [3.0, 0.0]
    assert found.profile("y")["rank"].tolist() == [2, 3]


def test_what_does_not_come_again_is_said_and_can_be_left_out():
    columns = {"reproducible": [True, False, True], "seeds": [0.99, 0.4, 0.9], "seeds_low": 0.1, "seeds_high": 1.0}
    columns |= dict.fromkeys(["halves", "halves_low", "halves_high"], np.nan)
    again = SimpleNamespace(table=pd.DataFrame(columns))
    found = sm.describe_dimensions(TABLE, reproducibility=again)
    assert "2 of 3 come again from other starts." in " ".join(found.sentences())
    assert "halves" not in found.table
    kept = found.reproducible()
    assert kept.table.dimension.tolist() == [1, 3]
    np.testing.assert_array_equal(kept.values, X[:, [0, 2]])
    whole, part = found.why(*NAMES[:3]), kept.why(*NAMES[:3])
    assert part.log_odds == pytest.approx(whole.log_odds)
    assert part.features[-1] == "all others"
    halved = SimpleNamespace(table=again.table.assign(halves=[0.9, 0.2, 0.3]))
    said = " ".join(sm.describe_dimensions(TABLE, reproducibility=halved).sentences())
    assert "agree on 1 of them (r of 0.5 or more): half as many answers could not carry the others." in said
    with pytest.raises(ValueError, match=r"dimension: expected one of \[1, 3\], found 2"):
        kept.top(2)


def test_the_answers_that_a_model_learned_from_are_called_so():
    c = answers(count=300)
    model = sm.NonNegativeEmbedding(3, penalty=0.02, scale=1.0, random_state=0).fit(c)
    assert sm.describe_dimensions(model, c).about == "300 answers that the model learned from"
    assert sm.describe_dimensions(model, c.select(range(100))).about == "100 answers"


def test_nothing_learned_is_nothing_described():
    found = sm.describe_dimensions(pd.DataFrame(index=list("abcd"), columns=[], dtype=float))
    (said,) = found.sentences()
    assert said.startswith("The answers about 4 items carry no dimension that can be told from chance.")
    assert "here 80 for the first" in said
    assert repr(found) == "<0 dimensions: >"


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (sm.Similarity(X, sm.STE(2).comparison_loss()), "model: expected products of non-negative dimensions"),
        (-X, "model: expected a model, or a table .* found some below 0"),
        (X[0], r"found an array of shape \(3,\)"),
    ],
)
def test_other_models_have_no_reasons(model, message):
    with pytest.raises(ValueError, match=message):
        sm.describe_dimensions(model)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="answer: expected one answer that is one choice, found 2 choices"):
        sm.explain_answer(TABLE, answers(count=2))
    with pytest.raises(ValueError, match=r"answer: expected one answer, or three items .*, found 2"):
        sm.describe_dimensions(TABLE).why("item 1", "item 2")
    with pytest.raises(ValueError, match="dimensions: expected 3 names, found 1"):
        sm.explain_answer(TABLE, answers(count=1), dimensions=["a"])
    with pytest.raises(ValueError, match=r"attributes: no row is about an item of the model"):
        sm.describe_dimensions(TABLE, attributes=pd.DataFrame({"a": [1.0, 2]}, index=["x", "y"]))
    with pytest.raises(ValueError, match=r"attributes: found 2 rows, expected 12"):
        sm.describe_dimensions(TABLE, attributes=np.ones((2, 1)))
    with pytest.raises(TypeError, match=r"reproducibility: expected what dimension_reproducibility found, found int"):
        sm.describe_dimensions(TABLE, reproducibility=5)
    with pytest.raises(ValueError, match=r"random_state: expected a whole number of at least 0, .* found 'a'"):
        sm.describe_dimensions(TABLE, random_state="a")
    with pytest.raises(TypeError, match=r"dimensions: expected a list of 3 names, found the text 'abc'"):
        sm.explain_answer(TABLE, NAMES[:3], dimensions="abc")
    with pytest.raises(ValueError, match=r"reproducibility: expected to be given"):
        sm.describe_dimensions(TABLE).reproducible()


def test_what_is_no_name_and_no_count_is_refused():
    found = sm.describe_dimensions(TABLE)
    with pytest.raises(TypeError, match=r"names: expected names by the number of a dimension, .*, found list"):
        found.renamed(["x"])
    for name in (None, "", 5):
        with pytest.raises(ValueError, match=f"names: expected words for dimension 1, found {name!r}"):
            found.renamed({1: name})
    for look in (found.top, found.bottom):
        with pytest.raises(ValueError, match=r"k: expected a whole number of at least 1, found -1"):
            look(1, -1)


def test_three_items_are_an_answer():
    whole = sm.explain_answer(TABLE, sm.Comparisons.from_odd_one_out([NAMES[:3]]))
    for given in (NAMES[:3], tuple(NAMES[:3]), np.array([0, 1, 2])):
        np.testing.assert_array_equal(sm.explain_answer(TABLE, given).by_feature, whole.by_feature)
    with pytest.raises(ValueError, match=r"answer: expected one answer, or three items .*, found 2"):
        sm.explain_answer(TABLE, NAMES[:2])


def test_yes_has_its_column_in_the_name_and_no_names_nothing():
    table = pd.DataFrame(2.0 * np.kron(np.eye(2), np.ones((10, 1))), index=[f"i{k}" for k in range(20)])
    said = pd.DataFrame({"metal": ["yes"] * 10 + ["no"] * 10}, index=table.index)
    found = sm.describe_dimensions(table, attributes=said)
    assert found.names == ["metal: yes?", "i10, i11, i12?"]
    kinds = pd.DataFrame({"kind": ["tool"] * 10 + ["food"] * 10}, index=table.index)
    assert sm.describe_dimensions(table, attributes=kinds).names == ["tool?", "food?"]


def test_a_name_can_be_given_by_an_item_that_has_most_of_it():
    table = pd.DataFrame([[1.0, 0.0], [0.5, 2.0], [0.0, 0.0]], ["a", "b", "c"])
    found = sm.describe_dimensions(table, names={"b": "second"})
    assert found.table.name[1] == "second"
    assert found.renamed({"1": "first", 2: "other"}).names == ["first", "other"]
    with pytest.raises(ValueError, match="names: c has nothing of any dimension"):
        found.renamed({"c": "none"})
    with pytest.raises(ValueError, match="names: dimension 2 is called 'x' and 'y'"):
        found.renamed({"b": "x", 2: "y"})


def test_held_out_answers_are_scored_beside_chance():
    c = answers(count=600)
    settings = sm.NonNegativeEmbedding(3, penalty=0.1, scale=1.0, n_init=1, random_state=0)
    found = sm.held_out_answers(settings, c, n_folds=2, random_state=0)
    table = sm.cross_validate(settings, c, n_folds=2, random_state=0)
    assert found.answers == 600
    assert found.accuracy.value == pytest.approx(table.answer_accuracy[0])
    assert found.log_loss == pytest.approx(table.answer_log_loss[0])
    assert found.accuracy.low < found.accuracy.value < found.accuracy.high
    assert found.chance == pytest.approx(1 / 3)
    assert found.chance_log_loss == pytest.approx(np.log(3))
    said = sm.describe_dimensions(TABLE, c, held_out=found)
    assert str(found) in said.sentences()
    assert said.over == "answers"


def test_log_odds_are_said_to_be_beyond_chance():
    why = sm.describe_dimensions(TABLE).why(*NAMES[:3])
    odds = np.log(why.confidence / (1 - why.confidence))
    assert odds == pytest.approx(why.log_odds + np.log(0.5))
    assert "(33% by chance)" in repr(why)
    assert repr(why).endswith("beyond chance>")

"""Two similarities compared: identities, invariances, names, tables, answers, bad input."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.spatial import distance
from sklearn.exceptions import NotFittedError

import similitude as sm

TRUTH = np.random.default_rng(0).normal(size=(16, 2))
NAMES = [f"item {k}" for k in range(16)]
ANSWERS = sm.simulate(TRUTH, 400, random_state=3)
LOSS = sm.STE(2).comparison_loss()


def model(X, names=None):
    return sm.Similarity(np.asarray(X, float), LOSS, None if names is None else tuple(names))


def noisy(scale, seed=1):
    return TRUTH + scale * np.random.default_rng(seed).normal(size=TRUTH.shape)


def test_a_model_agrees_with_itself_moved_turned_and_scaled():
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    found = sm.compare(model(TRUTH), model(3.0 * TRUTH @ turn + 5.0), random_state=0)
    assert found.correlation == pytest.approx(1.0)
    assert found.procrustes == pytest.approx(0.0, abs=1e-12)
    assert found.p_value == pytest.approx(1 / 501)
    np.testing.assert_allclose(found.maps[0], found.maps[1], atol=1e-9)


def test_figures_are_those_of_their_definitions():
    other = noisy(0.5)
    found = sm.compare(model(TRUTH), model(other), random_state=0)
    expected = stats.spearmanr(distance.pdist(TRUTH), distance.pdist(other)).statistic
    assert found.correlation == pytest.approx(expected)
    assert found.procrustes == pytest.approx(sm.procrustes_distance(other, TRUTH))
    assert found.low < found.correlation < found.high


def test_less_alike_is_less_and_unrelated_is_nothing():
    near, far = (sm.compare(model(TRUTH), model(noisy(scale)), random_state=0) for scale in (0.2, 1.5))
    assert near.correlation > far.correlation
    assert near.procrustes < far.procrustes
    unrelated = [
        sm.compare(model(TRUTH), model(np.random.default_rng(k).normal(size=(16, 2))), random_state=k, n_resamples=99)
        for k in range(25)
    ]
    small = np.mean([one.p_value <= 0.1 for one in unrelated])
    assert small < 0.34  # .10 ± .06
    assert np.mean([one.low < 0 < one.high for one in unrelated]) > 0.75


def test_a_small_p_is_said_to_speak_for_agreement():
    found = sm.compare(model(TRUTH), model(TRUTH), random_state=0)
    assert "they agree (Mantel's test, p = 0.002)" in str(found)
    assert "no agreement is shown (Mantel's test, p = 0.300)" in str(replace(found, p_value=0.3))


@pytest.mark.slow
def test_intervals_hold_the_correlation_of_all_items():
    rng = np.random.default_rng(3)
    every = rng.normal(size=(600, 2))
    other = every + 0.6 * rng.normal(size=every.shape)
    true = stats.spearmanr(distance.pdist(every), distance.pdist(other)).statistic
    held = []
    for _ in range(40):
        some = rng.choice(600, 30, replace=False)
        found = sm.compare(model(every[some]), model(other[some]), n_resamples=100, random_state=rng)
        held.append(found.low < true < found.high)
    assert np.mean(held) > 0.72  # .91, and four standard errors of forty


def test_items_are_matched_by_name():
    order = np.random.default_rng(2).permutation(16)
    other = model(TRUTH[order][:12], [NAMES[k] for k in order[:12]])
    found = sm.compare(model(TRUTH, NAMES), other, random_state=0)
    assert found.correlation == pytest.approx(1.0)
    assert set(found.items) == {NAMES[k] for k in order[:12]}
    assert set(found.left_out) == {NAMES[k] for k in order[12:]}
    by_place = sm.compare(model(TRUTH, NAMES), TRUTH)
    assert by_place.items == tuple(NAMES)
    for named in (
        model(TRUTH, NAMES),
        pd.DataFrame(TRUTH, NAMES),
        pd.DataFrame(distance.squareform(distance.pdist(TRUTH)), NAMES, NAMES),
    ):
        with pytest.raises(ValueError, match=r"^second: the model knows its items by position, 0 to 15, .*'item 0'"):
            sm.compare(named, model(TRUTH))


def test_a_table_with_and_without_names_and_gaps():
    table = distance.squareform(distance.pdist(TRUTH))
    found = sm.compare(model(TRUTH), table, random_state=0)
    assert found.correlation == pytest.approx(1.0)
    assert found.procrustes == pytest.approx(0.0, abs=1e-9)
    frame = pd.DataFrame(table, NAMES, NAMES).iloc[::-1, ::-1]
    assert sm.compare(model(TRUTH, NAMES), frame, random_state=0).correlation == pytest.approx(1.0)
    table[0, 1] = table[1, 0] = np.nan
    gaps = sm.compare(model(TRUTH), table, random_state=0)
    assert gaps.correlation == pytest.approx(1.0)
    assert np.isnan(gaps.procrustes)
    assert gaps.maps is None


def test_answers_are_scored_for_both_with_a_paired_interval():
    answers = sm.simulate(TRUTH, 600, random_state=4)
    good, bad = model(TRUTH), model(noisy(1.0))
    found = sm.compare(bad, good, answers, random_state=0).answers
    assert found.second == good.score(answers) == 1.0
    assert found.first == pytest.approx(bad.score(answers))
    assert found.difference == pytest.approx(found.second - found.first)
    assert 0 < found.low < found.difference < found.high
    assert found.same == pytest.approx(found.first)
    assert found.comparisons == 600
    text = str(sm.compare(bad, good, answers, random_state=0))
    assert "rank correlation" in text
    assert "ordered the same way" in text


def test_answers_about_other_items_are_left_out():
    answers = sm.simulate(TRUTH, 600, random_state=4, names=NAMES)
    found = sm.compare(model(TRUTH, NAMES), model(TRUTH[:8], NAMES[:8]), answers, random_state=0)
    expected = int((answers.quadruplets < 8).all(1).sum())
    assert found.answers.comparisons == expected
    assert found.answers.first == 1.0
    assert found.to_dict()["answers"]["comparisons"] == expected


@pytest.mark.filterwarnings("ignore:.* items were never compared")
@pytest.mark.parametrize("names", [None, NAMES])
def test_items_that_one_never_compared_are_left_out_and_named(names):
    c = ANSWERS if names is None else ANSWERS.with_items(names)
    inner = c.select((c.answers.shown.matrix() > 1).all(1))
    every, some = (sm.STE(2, random_state=0).fit(one) for one in (c, inner))
    calls = ["0", "1"] if names is None else names[:2]
    with pytest.warns(
        sm.FeedbackWarning, match=f"^second: left out, since nothing is known of them: {', '.join(calls)}$"
    ):
        found = sm.compare(every, some, c, random_state=0)
    assert found.left_out == tuple(calls)
    assert (len(found.items), found.distances.shape[1]) == (14, 91)
    pairs = [(i, j) for i in range(2, 16) for j in range(i + 1, 16)]
    expected = stats.spearmanr(*(one.similarity_.pair_distance(pairs) for one in (every, some))).statistic
    assert found.correlation == pytest.approx(expected)
    known = c.select((c.answers.shown.matrix() > 1).all(1))
    assert (found.answers.first, found.answers.second) == (every.score(known), some.score(known))


@pytest.mark.filterwarnings("ignore:.* items were never compared", "ignore:.* did not converge")
@pytest.mark.parametrize(
    "method",
    [
        sm.STE(2, random_state=0),
        sm.ERKLE(random_state=0),
        sm.OnlineEmbedding(2, random_state=0),
        sm.NonNegativeEmbedding(2, n_init=1, random_state=0),
        sm.ChoiceEmbedding(2, similarity="dot", random_state=0),
        sm.RCKL(),
    ],
    ids=lambda method: type(method).__name__,
)
def test_items_without_answers_count_for_no_kind_of_model(method):
    names = [*NAMES, "x", "y", "z"]
    fitted = method.fit(sm.simulate(TRUTH, 200, "odd_one_out", random_state=5).with_items(NAMES).with_items(names))
    again = sm.Similarity.from_bytes(fitted.similarity_.to_bytes())
    table = pd.DataFrame(np.random.default_rng(6).normal(size=(19, 2)), names)
    with pytest.warns(sm.FeedbackWarning, match="^first: left out, since nothing is known of them: x, y, z$"):
        found = sm.compare(again, table, random_state=0, n_resamples=10)
    assert found.left_out == ("x", "y", "z")
    assert found.items == tuple(NAMES)


def test_items_that_were_only_placed_or_rated_count():
    few = sm.STE(2, random_state=0).fit(ANSWERS.with_items(NAMES))
    placed = few.place([("x", "item 0", "item 1"), ("item 3", "x", "item 2")])
    assert "x" in sm.compare(placed, placed, random_state=0).items
    pairs = np.transpose(np.triu_indices(16, 1))
    ratings = sm.Ratings.of(pairs, distance.pdist(TRUTH), larger="different", n_items=16)
    mixed = sm.MixedEmbedding(2, random_state=0).fit(ANSWERS[(ANSWERS.quadruplets > 0).all(1)], ratings=ratings)
    assert "0" in sm.compare(mixed, mixed, random_state=0).items


def test_an_item_that_was_put_at_the_centre_by_hand_counts():
    found = sm.compare(model(TRUTH - TRUTH[0]), model(TRUTH), random_state=0)
    assert len(found.items) == 16


def test_answers_are_about_the_items_that_they_name():
    c = sm.simulate(TRUTH, 400, random_state=4)
    good, other = model(TRUTH), model(noisy(0.3))
    by_number = c.with_items([str(k) for k in range(16)])
    turned = by_number.with_items(sorted(by_number.names))  # as a file has them: 0, 1, 10, 11, ...
    expected = sm.compare(good, other, c, random_state=0).answers
    found = sm.compare(good, other, turned, random_state=0).answers
    assert (found.first, found.second) == (expected.first, expected.second)
    with pytest.raises(ValueError, match=r"^comparisons: they know their items by name \('item 0', ...\), and what is"):
        sm.compare(good, other, c.with_items(NAMES))
    with pytest.raises(ValueError, match="by name, the comparisons theirs by position"):
        sm.compare(model(TRUTH, NAMES), model(TRUTH[1:], NAMES[1:]), c)
    part = sm.compare(model(TRUTH, NAMES), model(TRUTH[1:], NAMES[1:]), c.with_items(NAMES), random_state=0).answers
    assert (part.first, part.comparisons) == (1.0, int((c.quadruplets > 0).all(1).sum()))


def test_what_attributes_lack_is_said_and_an_item_without_any_is_left_out():
    table = pd.DataFrame(TRUTH.copy(), NAMES, ["x", "y"])
    table.iloc[3, 0] = np.nan
    assert "1 empty cell taken as the mean of the column" in sm.compare(model(TRUTH, NAMES), table).read[1]
    table.iloc[5] = np.nan
    with pytest.warns(sm.FeedbackWarning, match="^second: left out, since nothing is known of them: item 5$"):
        found = sm.compare(model(TRUTH, NAMES), table)
    assert found.left_out == ("item 5",)
    assert "1 empty cell" in found.read[1]


def test_bad_input_is_named():
    for use in (lambda c: sm.compare(c, model(TRUTH)), lambda c: sm.compare(TRUTH, c), sm.plot.embedding):
        with pytest.raises(TypeError, match="expected a fitted model, found Comparisons; learn one"):
            use(ANSWERS)
    with pytest.raises(ValueError, match="first has 16 and the second 5"):
        sm.compare(model(TRUTH), model(TRUTH[:5]))
    with pytest.raises(ValueError, match="at least 4 items in common, found 1: item 0"):
        sm.compare(model(TRUTH, NAMES), model(TRUTH[:2], ["item 0", "else"]))
    with pytest.raises(ValueError, match=r"second: expected a model, .* found an array of shape \(2, 2, 2, 2\)"):
        sm.compare(model(TRUTH), np.zeros((2, 2, 2, 2)))
    with pytest.raises(ValueError, match=r"second: expected n \(n - 1\) / 2 dissimilarities, .* found 5 numbers"):
        sm.compare(model(TRUTH), np.arange(5.0))
    with pytest.raises(ValueError, match="second: item 3 has a vector without a direction, so it has no cosine"):
        sm.compare(model(TRUTH), np.where(np.arange(16)[:, None] == 3, 0.0, TRUTH), metric="cosine")
    with pytest.raises(ValueError, match="second: the table is not symmetric"):
        sm.compare(model(TRUTH), np.triu(np.ones((16, 16))))
    with pytest.raises(NotFittedError):
        sm.compare(sm.STE(2), model(TRUTH))
    with pytest.raises(ValueError, match="comparisons: expected some about the items in common"):
        sm.compare(model(TRUTH, NAMES), model(TRUTH, NAMES), sm.Comparisons.from_triplets([("a", "b", "c")]))
    with pytest.raises(ValueError, match="n_resamples"):
        sm.compare(model(TRUTH), model(TRUTH), n_resamples=0)


def test_the_columns_of_a_table_are_known_by_name():
    table = pd.DataFrame(distance.cdist(TRUTH, TRUTH), NAMES, NAMES)
    found = sm.compare(model(TRUTH, NAMES), table[NAMES[::-1]], n_resamples=5, random_state=0)
    assert found.correlation == pytest.approx(1.0)
    with pytest.raises(ValueError, match="second: rows and columns of the table are not the same items"):
        sm.compare(model(TRUTH, NAMES), table.rename(columns={"item 3": "item three"}))


def test_distances_that_are_all_equal_are_refused():
    with pytest.raises(ValueError, match="second: all distances are 1, expected some that differ"):
        sm.compare(model(TRUTH), 1.0 - np.eye(16), n_resamples=5)


def dimensions(X):
    return sm.describe_dimensions(X).similarity


def test_a_model_of_products_is_drawn_where_its_values_are():
    X = pd.DataFrame(np.random.default_rng(0).random((12, 3)), [f"i{k}" for k in range(12)])
    found = sm.compare(dimensions(X), X, metric="dot", n_resamples=20, random_state=0)
    assert found.kinds == ("minus product", "minus product")
    assert found.correlation == pytest.approx(1.0)
    axes = sm.plot.agreement(found, labels=("model", "table"))
    (low, high), drawn = axes.get_xlim(), axes.collections[0].get_offsets()
    assert drawn[:, 0].min() >= low
    assert drawn[:, 0].max() <= high
    assert np.ptp(drawn[:, 0]) > 0.5 * (high - low)  # the cloud fills the picture
    assert axes.get_xlabel() == "minus product, model"


def test_it_is_said_how_each_was_read_and_over_what_the_interval_is():
    names = [f"i{k}" for k in range(16)]
    table = pd.DataFrame({"size": TRUTH[:, 0], "kind": ["a", "b"] * 8}, names)
    said = str(sm.compare(sm.STE(2, random_state=0).fit(ANSWERS), table.set_axis(range(16)), n_resamples=20))
    assert "STE, by its distances" in said
    assert "3 attributes, each in units of its deviation, by Euclidean distance" in said
    assert "95% over other items" in said
    vectors = pd.DataFrame(np.hstack([TRUTH, TRUTH]), names)
    read = sm.compare(vectors, vectors, metric="cosine", n_resamples=20).read
    assert read == ("vectors of 4 numbers, by cosine",) * 2


def test_a_model_that_learned_from_the_answers_is_said_to():
    first, second = sm.STE(2, random_state=0).fit(ANSWERS), model(TRUTH)
    found = sm.compare(first, second, ANSWERS, n_resamples=20)
    assert found.answers.learned == "first"
    assert "the first: figures on them are too good" in str(found)
    assert sm.compare(first, second, ANSWERS[: len(ANSWERS) // 2], n_resamples=20).answers.learned == ""


def test_rows_without_names_are_said_to_be_in_the_order_of_the_others():
    named = pd.DataFrame(np.random.default_rng(0).random((6, 3)), list("abcdef"))
    with pytest.warns(sm.FeedbackWarning, match=r"second: has no names.*alphabet \(a, b, c, ...\)"):
        sm.compare(named, named.to_numpy(), metric="euclidean", n_resamples=20)

import numpy as np
import pytest

import similitude as sm
from similitude.evaluate.intervals import clustered_mean, clustered_share


@pytest.fixture(scope="module")
def feedback():
    truth = np.random.default_rng(0).normal(size=(20, 2))
    return sm.simulate(truth, 1500, form="odd_one_out", sharpness=2.0, raters=10, random_state=1)


def test_cross_validate_compares_on_the_same_folds(feedback):
    table = sm.cross_validate([sm.STE(2, random_state=0), sm.SOE(2, random_state=0)], feedback, random_state=0)
    assert table.estimator.tolist() == ["STE", "SOE"]
    assert (table.low < table.accuracy).all()
    assert (table.accuracy < table.high).all()
    assert (table.accuracy > 0.7).all()
    assert (table.answer_accuracy < table.accuracy).all()
    assert table.log_loss.isna().tolist() == table.answer_log_loss.isna().tolist() == [False, True]
    again = sm.cross_validate([sm.STE(2, random_state=0), sm.SOE(2, random_state=0)], feedback, random_state=0)
    assert table.drop(columns="seconds").equals(again.drop(columns="seconds"))


def test_accuracy_is_that_of_all_held_out_comparisons(feedback):
    expected = []
    for train, test in sm.AnswerFold(3, random_state=4).split(feedback):
        model = sm.STE(2, random_state=0).fit(feedback[train])
        expected.append(model.score(feedback[test]) * len(test))
    table = sm.cross_validate(sm.STE(2, random_state=0), feedback, n_folds=3, random_state=4)
    assert table.accuracy[0] == pytest.approx(sum(expected) / len(feedback))


def test_scores_of_answers_are_those_of_all_held_out_answers(feedback):
    right, lost = [], []
    for train, test in sm.AnswerFold(3, random_state=4).split(feedback):
        model = sm.STE(2, random_state=0).fit(feedback[train])
        right.append(sm.answer_accuracy(model, feedback[test]))
        lost.append(sm.answer_log_loss(model, feedback[test]))
    table = sm.cross_validate(sm.STE(2, random_state=0), feedback, n_folds=3, random_state=4)
    assert table.answer_accuracy[0] == pytest.approx(np.mean(right))  # 1,500 answers in three equal folds
    assert table.answer_log_loss[0] == pytest.approx(np.mean(lost))


def test_a_row_per_fold(feedback):
    table = sm.cross_validate(
        {"map": sm.STE(2, random_state=0)}, feedback, n_folds=3, by="rater", random_state=0, per_fold=True
    )
    assert table.fold.tolist() == [0, 1, 2]
    assert set(table.estimator) == {"map"}


def test_by_item_an_embedding_knows_nothing_of_new_items(feedback):
    with pytest.warns(sm.FeedbackWarning, match="never compared"):
        table = sm.cross_validate(sm.STE(2, random_state=0), feedback, by="item", n_folds=4, random_state=0)
    assert table.accuracy[0] < 0.82  # .66 ± .034


def test_cleaning_touches_training_answers_only(feedback):
    seen = []

    def halve(c):
        seen.append(len(c))
        return c.select(np.arange(c.n_answers) % 2 == 0)

    table = sm.cross_validate(sm.STE(2, random_state=0), feedback, n_folds=3, clean=halve, random_state=0)
    assert seen == [2000] * 3
    plain = sm.cross_validate(sm.STE(2, random_state=0), feedback, n_folds=3, random_state=0)
    assert table.log_loss[0] != plain.log_loss[0]


@pytest.mark.slow
def test_the_same_table_from_two_processes(feedback):
    alone = sm.cross_validate(sm.STE(2, random_state=0), feedback, n_folds=2, random_state=0)
    spread = sm.cross_validate(sm.STE(2, random_state=0), feedback, n_folds=2, random_state=0, n_jobs=2)
    assert alone.drop(columns="seconds").equals(spread.drop(columns="seconds"))


def test_names_of_estimators(feedback):
    two = [sm.STE(1, random_state=0), sm.STE(2, random_state=0)]
    table = sm.cross_validate(two, feedback, n_folds=2, random_state=0)
    assert table.estimator.tolist() == ["STE(n_components=1, random_state=0)", "STE(random_state=0)"]
    with pytest.raises(ValueError, match="two are the same"):
        sm.cross_validate([sm.STE(2), sm.STE(2)], feedback)
    with pytest.raises(ValueError, match="found none"):
        sm.cross_validate([], feedback)


@pytest.mark.filterwarnings("ignore:.*never compared")  # by 40 answers an item may not be
def test_a_learning_curve_rises(feedback):
    table = sm.learning_curve(sm.STE(2, random_state=0), feedback, sizes=[40, 200, 1000], n_repeats=3, random_state=0)
    assert table.answers.tolist() == [40, 200, 1000]
    assert table.comparisons.tolist() == [80, 400, 2000]
    assert table.accuracy.is_monotonic_increasing
    assert (table.low < table.high).all()
    by_rater = sm.learning_curve(sm.STE(2, random_state=0), feedback, by="rater", n_repeats=2, random_state=0)
    assert len(by_rater) == 6
    with pytest.raises(ValueError, match="sizes"):
        sm.learning_curve(sm.STE(2), feedback, sizes=[10_000])
    with pytest.raises(ValueError, match="'answer' or 'rater'"):
        sm.learning_curve(sm.STE(2), feedback, by="item")


def test_a_learning_curve_of_answers_counts_each_answer_once(feedback):
    settings = {"sizes": [200], "n_repeats": 1, "random_state": 0}
    of_answers = sm.learning_curve(sm.STE(2, random_state=0), feedback, of="answers", **settings)
    of_comparisons = sm.learning_curve(sm.STE(2, random_state=0), feedback, **settings)
    right = of_answers.accuracy[0] * 300  # a fifth of 1,500 answers is held out
    assert right == pytest.approx(round(right))
    assert 2 * of_comparisons.accuracy[0] - 1 <= of_answers.accuracy[0] < of_comparisons.accuracy[0]


def test_intervals_cover_the_truth_when_values_come_in_clusters():
    rng = np.random.default_rng(0)
    covered = []
    for _ in range(1600):
        cluster = np.repeat(np.arange(40), 5)
        value = np.repeat(rng.normal(size=40), 5) + 0.3 * rng.normal(size=200)
        _, low, high = clustered_mean(value, rng.uniform(0.5, 1.5, 200), cluster, level=0.9)
        covered.append(low < 0 < high)
    assert 0.87 < np.mean(covered) < 0.93  # ± .0075


def test_one_cluster_has_no_interval():
    mean, low, high = clustered_mean(np.array([1.0, 0.0]), np.ones(2), np.zeros(2, int))
    assert mean == 0.5
    assert np.isnan([low, high]).all()


def test_the_interval_of_a_share_is_within_its_range_and_as_wide_as_that_of_the_mean():
    rng = np.random.default_rng(0)
    for count in (2, 3, 5, 400):
        for share in (0.0, 0.3, 0.9, 1.0):
            value = (rng.random(count) < share).astype(float)
            mean, low, high = clustered_share(value, np.ones(count), np.arange(count))
            assert 0.0 <= low <= mean <= high <= 1.0
            assert high - low > 0.001
    value = (rng.random(4000) < 0.7).astype(float)
    one, other = (f(value, np.ones(4000), np.arange(4000)) for f in (clustered_mean, clustered_share))
    np.testing.assert_allclose(one, other, atol=0.001)


def test_cross_validation_of_three_answers_stays_within_its_range():
    c = sm.Comparisons.from_triplets([(0, 1, 2), (1, 2, 3), (3, 0, 1)])
    row = sm.cross_validate(sm.STE(2, random_state=0), c, n_folds=3, random_state=0).iloc[0]
    assert 0.0 <= row.low <= row.accuracy <= row.high <= 1.0

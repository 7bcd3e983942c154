"""Baselines: their definitions, the same held-out answers as a model, gaps, modalities."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial import distance

import similitude as sm

RNG = np.random.default_rng(0)
LOOK, SOUND = RNG.normal(size=(25, 3)), RNG.normal(size=(25, 2))
ANSWERS = sm.simulate(np.hstack([LOOK, SOUND]), 900, sharpness=1.0, random_state=1)


def of(table, measure, modality=""):
    return table[(table.measure == measure) & (table.modality == modality)].iloc[0]


def share(table, c):
    i, j, k = c.triplets.T
    return np.average(np.where(table[i, j] < table[i, k], 1.0, 0.0), weights=c.weight)


@pytest.mark.parametrize(("measure", "metric"), [("cosine", "cosine"), ("Euclid", "euclidean")])
def test_figures_are_those_of_their_definitions(measure, metric):
    found = of(sm.baselines(ANSWERS, LOOK), measure)
    assert found.accuracy == pytest.approx(share(distance.cdist(LOOK, LOOK, metric), ANSWERS))
    assert found.low < found.accuracy < found.high


def test_modalities_one_by_one_and_their_mean():
    found = sm.baselines(ANSWERS, {"look": LOOK, "sound": SOUND})
    assert len(found) == 6
    for name, own in (("look", LOOK), ("sound", SOUND)):
        assert of(found, "Euclid", name).accuracy == of(sm.baselines(ANSWERS, own), "Euclid").accuracy
    assert of(found, "Euclid", "mean").accuracy > of(found, "Euclid", "sound").accuracy
    assert found.accuracy.is_monotonic_decreasing
    larger = sm.baselines(ANSWERS, {"look": 1000.0 * LOOK, "sound": SOUND})
    pd.testing.assert_frame_equal(larger, found)  # units of a modality mean nothing


def test_a_kernel_is_measured_in_its_own_space():
    plain, kernel = (
        sm.baselines(ANSWERS, given) for given in (LOOK, sm.kernels.Polynomial(LOOK, degree=1, offset=0.0))
    )
    pd.testing.assert_frame_equal(plain, kernel)


def test_a_model_is_scored_on_the_same_answers_held_out():
    model = sm.FeatureEmbedding(3, random_state=0)
    found = sm.baselines(ANSWERS, LOOK, model=model, n_folds=3, random_state=2)
    top = found.iloc[0]
    expected = sm.cross_validate(model, ANSWERS, features=LOOK, n_folds=3, random_state=2).iloc[0]
    assert (top.measure, top.accuracy) == ("FeatureEmbedding", pytest.approx(expected.accuracy))
    assert (top.low, top.high) == (pytest.approx(expected.low), pytest.approx(expected.high))
    others = found.iloc[1:]
    np.testing.assert_allclose(others.gain, top.accuracy - others.accuracy)
    assert (others.gain_low < others.gain).all()
    pd.testing.assert_frame_equal(
        others.reset_index(drop=True)[["measure", "modality", "accuracy", "low", "high"]], sm.baselines(ANSWERS, LOOK)
    )


@pytest.mark.parametrize(("model", "by"), [(sm.STE(2), "answer"), (sm.LPOE(), "item")])
def test_a_model_that_uses_no_features_will_do_and_so_will_new_items(model, by):
    model = model.set_params(tol=1e-2)
    if by == "answer":
        model.set_params(random_state=0)
    found = sm.baselines(ANSWERS, LOOK, model=model, by=by, n_folds=3, random_state=0)
    expected = sm.cross_validate(model, ANSWERS, by=by, features=LOOK, n_folds=3, random_state=0).iloc[0]
    assert (found.measure[0], found.accuracy[0]) == (type(model).__name__, pytest.approx(expected.accuracy))


def test_what_lacks_features_counts_half():
    gaps = LOOK.copy()
    gaps[:5] = np.nan
    lacking = (ANSWERS.quadruplets < 5).any(1)
    whole = sm.baselines(ANSWERS[~lacking], LOOK)
    for measure in ("cosine", "Euclid"):
        expected = (0.5 * lacking.sum() + of(whole, measure).accuracy * (~lacking).sum()) / len(ANSWERS)
        assert of(sm.baselines(ANSWERS, gaps), measure).accuracy == pytest.approx(expected)
    both = sm.baselines(ANSWERS, {"look": gaps, "sound": SOUND})
    assert of(both, "Euclid", "mean").accuracy > of(both, "Euclid", "look").accuracy


def test_a_table_is_read_by_the_names_of_its_rows():
    names = [f"i{k}" for k in range(25)]
    c = ANSWERS.with_items(names)
    table = pd.DataFrame(LOOK, names).iloc[::-1]
    pd.testing.assert_frame_equal(sm.baselines(c, table), sm.baselines(ANSWERS, LOOK))


def test_of_answers_a_baseline_is_right_where_every_comparison_is():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(15, 3))
    c = sm.simulate(features, 200, "odd_one_out", sharpness=1.0, random_state=1)
    table = sm.baselines(c, features, of="answers").set_index("measure")
    plain = sm.Similarity(features, sm.STE().comparison_loss())
    assert table.accuracy["Euclid"] == pytest.approx(sm.answer_accuracy(plain, c))
    assert table.accuracy["Euclid"] < sm.baselines(c, features).set_index("measure").accuracy["Euclid"]


def test_a_modality_may_be_called_mean():
    table = sm.baselines(ANSWERS, {"mean": LOOK, "sound": SOUND})
    assert sorted({*table.modality}) == ["mean", "mean of all", "sound"]
    assert of(table, "Euclid", "mean").accuracy == pytest.approx(of(sm.baselines(ANSWERS, LOOK), "Euclid").accuracy)


def test_a_level_that_is_no_share_is_refused():
    with pytest.raises(ValueError, match="level: expected a share between 0 and 1, found 0"):
        sm.baselines(ANSWERS, LOOK, level=0)

"""Which dimensions come again: matched over seeds and halves, with intervals, and the others left out."""

import numpy as np
import pytest

import similitude as sm
from similitude.evaluate.reproducibility import DimensionReproducibility, _between, _interval
from tests.methods.test_non_negative_embedding import answers, planted

QUICK = {"n_init": 1, "scale": 1.0, "random_state": 0}


@pytest.fixture(scope="module")
def found():
    c = answers(planted(30, 3), 30 * 3 * 20, 0)
    return sm.dimension_reproducibility(sm.NonNegativeEmbedding(8, **QUICK), c, n_seeds=3, n_halves=2, random_state=0)


def test_planted_dimensions_come_again(found):
    # over 12 draws the least of the three agrees over halves with .979 in the mean, with a deviation of .006
    table = found.table
    assert len(table) == found.model.n_dimensions_ == 3
    assert found.reproducible.all()
    assert (table.halves > 0.8).all()
    assert ((table.seeds_low <= table.seeds) & (table.seeds <= table.seeds_high)).all()
    assert "All 3 dimensions" in repr(found)
    assert "comes again" not in found._repr_html_()


def test_what_does_not_come_again_is_left_out(found):
    table = found.table.assign(reproducible=[True, False, True])
    some = DimensionReproducibility(table, found.model, 0.8, 0.95, 3, 2)
    kept = some.keep()
    np.testing.assert_array_equal(kept.embedding_, found.model.embedding_[:, [0, 2]])
    assert kept.reproducibility_.dimension.tolist() == [1, 3]  # counted from 1
    assert found.model.reproducibility_ is None
    assert "2 of 3 dimensions" in repr(some)
    assert "does not come again" in some._repr_html_()


def test_halves_are_compared_with_each_other_and_not_with_the_model():
    rng = np.random.default_rng(0)
    X = rng.random((50, 2))
    first, second = X[:, ::-1] + 0.05 * rng.random((50, 2)), X[:, :1] + 0.05 * rng.random((50, 1))
    r = _between(X, first, second)
    assert r[0] == pytest.approx(np.corrcoef(first[:, 1], second[:, 0])[0, 1])
    assert r[1] == 0.0  # the second half has no such dimension


def test_intervals_are_those_of_means():
    mean, low, high = _interval(np.array([[0.8, 1.0], [0.9, 1.0], [0.7, 1.0]]), 0.95)
    assert mean == pytest.approx([0.8, 1.0])
    assert low[0] == pytest.approx(0.8 - 4.302653 * 0.1 / np.sqrt(3))
    assert (low[1], high[1]) == (1.0, 1.0)
    assert np.isnan(_interval(np.zeros((0, 2)), 0.95)[0]).all()


def test_only_dimensions_with_a_meaning_are_matched():
    with pytest.raises(TypeError, match="NonNegativeEmbedding"):
        sm.dimension_reproducibility(sm.ChoiceEmbedding(), answers(planted(), 20, 0))
    with pytest.raises(ValueError, match=r"n_seeds: expected a whole number of at least 2, found 2.5"):
        sm.dimension_reproducibility(sm.NonNegativeEmbedding(), answers(planted(), 20, 0), n_seeds=2.5)


@pytest.fixture(scope="module")
def small():
    """A model of dimensions that somebody chose, with the answers that it says it learned from."""
    c = answers(planted(12, 2), 300, 0)
    return sm.NonNegativeEmbedding(4, **QUICK).fit(c), c


def again(model, c, **settings):
    return sm.dimension_reproducibility(model, c, **{"n_seeds": 2, "n_halves": 0, "random_state": 0} | settings)


def test_a_model_of_features_is_not_tested_as_another(small):
    model, c = small
    features = planted(12, 2)
    with pytest.raises(ValueError, match="features: the model learned from answers alone"):
        again(model, c, features=features)
    with pytest.raises(ValueError, match="features: the model learned from features, expected the same ones here"):
        again(sm.NonNegativeEmbedding(4, **QUICK).fit(c, features=features), c)


def test_answers_that_the_model_did_not_learn_from_are_told(small):
    model, c = small
    with pytest.warns(sm.FeedbackWarning, match="comparisons: the model was fitted to other answers"):
        again(model, c.select(range(200)))
    few = c.select([k for k, shown in enumerate(c.answers.shown.values.reshape(-1, 3)) if 0 not in shown])
    with pytest.raises(ValueError, match=r"comparisons: .* say nothing of 1 item of the model \(0, \.\.\.\)"):
        again(model, few)


def test_a_model_over_more_items_than_were_compared_is_tested():
    c = answers(planted(12, 2), 300, 0)
    model = sm.NonNegativeEmbedding(4, n_items=14, **QUICK).fit(c)
    assert len(again(model, c).table) == model.n_dimensions_


def test_nothing_learned_is_nothing_to_come_again(small):
    none = again(small[0].with_dimensions([]), small[1], n_halves=1)
    assert repr(none) == "The model has no dimensions: the answers teach nothing."
    assert not len(none.table)
    assert none.keep().n_dimensions_ == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"by": "item"}, "by: expected one of 'answer', 'rater', found 'item'"),
        ({"threshold": 1.5}, "threshold: expected a share between 0 and 1, found 1.5"),
        ({"random_state": "a"}, "random_state: expected a whole number of at least 0, .* found 'a'"),
        ({"random_state": -1}, "random_state: expected a whole number of at least 0, .* found -1"),
    ],
)
def test_bad_settings_are_named_before_anything_is_fitted(small, settings, message):
    with pytest.raises(ValueError, match=message):
        again(*small, **settings)


def test_what_was_learned_cannot_be_fitted_again(small):
    with pytest.raises(TypeError, match=r"found Similarity: .* give the estimator itself"):
        again(small[0].similarity_, small[1])

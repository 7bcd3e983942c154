"""Every estimator, however it learns: scikit-learn's manners, seeds, weights, bad input."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import Pipeline

import similitude as sm
from tests.contracts.registry import ESTIMATORS

pytestmark = pytest.mark.parametrize("make", ESTIMATORS.values(), ids=ESTIMATORS)
TRUTH = np.random.default_rng(0).normal(size=(15, 2))


@pytest.fixture(scope="module")
def noisy():
    return sm.simulate(TRUTH, 800, flip=0.15, random_state=2)


def test_learns_what_it_can(make, noisy):
    model = make().fit(noisy)
    assert model.score(sm.simulate(TRUTH, 3000, random_state=3)) > 0.87
    assert 0.5 < model.score(noisy) < 0.92


def test_clone_and_parameters(make, noisy):
    model = make()
    assert repr(clone(model).get_params()) == repr(model.get_params())
    with pytest.raises(NotFittedError):
        model.predict(noisy)
    with pytest.raises(NotFittedError):
        model.distances()
    assert model.fit(noisy) is model


def test_same_bits_again_and_on_any_number_of_threads(make, noisy):
    results = []
    for count in (1, 2):
        with sm.limit_threads(count):
            results.append(make().fit(noisy).embedding_)
    assert np.array_equal(*results)


def test_weight_zero_is_no_row(make, noisy):
    weight = (np.arange(len(noisy)) % 2).astype(float)
    both = [make().fit(c).score(noisy) for c in (noisy.reweight(weight), noisy[weight > 0])]
    assert both[0] == pytest.approx(both[1], abs=0.02)


def test_arrays_and_responses_as_in_cblearn(make, noisy):
    flipped = np.random.default_rng(0).random(len(noisy)) < 0.5
    rows = noisy.triplets.copy()
    rows[flipped] = rows[flipped][:, [0, 2, 1]]
    expected = make().fit(noisy)
    np.testing.assert_allclose(make().fit(rows, ~flipped).distances(), expected.distances(), atol=1e-6)


def test_predictions_agree_with_distances(make, noisy):
    model = make().fit(noisy)
    near, far = model.pair_distance(noisy.near), model.pair_distance(noisy.far)
    assert np.array_equal(model.predict(noisy), near < far)
    assert model.score(noisy) == pytest.approx((near < far).mean())
    chance = model.predict_proba(noisy)
    np.testing.assert_allclose(chance.sum(1), 1)
    assert np.array_equal(chance[:, 1] > 0.5, model.predict(noisy))
    assert sm.log_loss(model, noisy) < 0.6


def test_in_scikit_learns_tools(make, noisy):
    scores = cross_val_score(make(), noisy, cv=sm.AnswerFold(2, random_state=0))
    assert ((scores > 0.65) & (scores < 0.95)).all()
    model = make().fit(noisy)
    assert Pipeline([("learn", make())]).fit(noisy).score(noisy) == model.score(noisy)
    items = np.arange(noisy.n_items)[:, None]
    search = NearestNeighbors(n_neighbors=4, metric=model.get_metric()).fit(items)
    assert search.kneighbors([[3]], return_distance=False)[0, 1:].tolist() == model.neighbors(3, 3)


def test_save_and_load(make, noisy, tmp_path):
    names = [f"item {k}, «é»" for k in range(noisy.n_items)]
    model = make().fit(noisy.with_items(names))
    model.similarity_.save(tmp_path / "map.sim")
    loaded = sm.Similarity.load(tmp_path / "map.sim")
    assert np.array_equal(loaded.distances(), model.distances())
    assert loaded.neighbors(names[2]) == model.neighbors(names[2])
    np.testing.assert_array_equal(loaded.predict_proba(noisy), model.predict_proba(noisy))
    assert loaded.about["method"] == type(model).__name__


def test_an_item_never_compared_stands_at_the_centre_and_is_named(make, noisy):
    names = [f"i{k}" for k in range(15)] + ["nobody"]
    with pytest.warns(sm.FeedbackWarning, match="nobody"):
        model = make().fit(noisy.with_items(names))
    assert (model.embedding_[15] == 0).all()
    np.testing.assert_allclose(model.embedding_[:15].mean(0), 0, atol=1e-9)


def test_bad_feedback_is_refused(make, noisy):
    model = make()
    with pytest.raises(ValueError, match="none to learn from"):
        model.fit(np.empty((0, 3), int))
    with pytest.raises(ValueError, match="all have weight 0"):
        model.fit(noisy.reweight(0.0))
    with pytest.raises(ValueError, match="item 40 is not among the 15"):
        model.fit(noisy).score([(0, 1, 40)])

"""Every method: scikit-learn's manners, recovery of noiseless data, invariances, weights, bad input."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline

import similitude as sm
from tests.contracts.registry import METHODS

pytestmark = pytest.mark.parametrize("method", METHODS, ids=[method.__name__ for method in METHODS])
# Heavy tails never make a clear answer certain, so their best map of noiseless answers still trades some away.
HEAVY_TAILED = {sm.TSTE, sm.CKL}


def truth(n_items=25, d=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n_items, d))


@pytest.fixture(scope="module")
def clean():
    return sm.simulate(truth(), 4000, random_state=1)


@pytest.fixture(scope="module")
def noisy():
    return sm.simulate(truth(), 3000, flip=0.15, random_state=2)


def test_recovers_noiseless_answers(method, clean):
    model = method(2, penalty=1e-4, random_state=5, max_iter=3000).fit(clean)
    unseen = sm.simulate(truth(), 3000, random_state=3)
    # of sixteen draws at worst CKL's: 0.934 ± 0.011, and 0.05 ± 0.03 from the truth; of eight, SOE's 0.992 ± 0.003
    assert model.score(unseen) > (0.89 if method in HEAVY_TAILED else 0.98)
    assert sm.procrustes_distance(model.embedding_, truth()) < (0.3 if method in HEAVY_TAILED else 0.012)


def test_degrades_gracefully_with_noise(method, clean, noisy):
    unseen = sm.simulate(truth(), 3000, random_state=3)
    model = method(2, random_state=5).fit(noisy)
    assert model.score(unseen) > 0.87  # .927 ± .011 over seventeen draws
    assert 0.5 < model.score(noisy) < 0.9


def test_one_dimension_is_recovered_past_local_optima(method, clean):
    line = np.random.default_rng(9).uniform(size=(30, 1))
    model = method(1, penalty=1e-3, random_state=5, max_iter=2000).fit(sm.simulate(line, 4000, random_state=1))
    assert model.score(sm.simulate(line, 3000, random_state=3)) > 0.93


def test_relabelling_items_permutes_the_answer(method, noisy):
    new = np.random.default_rng(4).permutation(noisy.n_items)
    moved = sm.Comparisons.from_triplets(new[noisy.triplets])
    first = method(2, random_state=0, tol=1e-10, max_iter=3000).fit(noisy)
    second = method(2, random_state=0, tol=1e-10, max_iter=3000).fit(moved)
    assert second.objective_ == pytest.approx(first.objective_, rel=1e-4)
    np.testing.assert_allclose(second.distances()[np.ix_(new, new)], first.distances(), rtol=0.05, atol=0.02)


def test_weight_two_is_the_row_twice(method, noisy):
    weight = np.where(np.arange(len(noisy)) % 3 == 0, 2.0, 1.0)
    rows = np.repeat(np.arange(len(noisy)), weight.astype(int))
    start = truth(seed=8)
    weighted = method(2, init=start, tol=1e-10, max_iter=3000).fit(noisy.reweight(weight))
    repeated = method(2, init=start, tol=1e-10, max_iter=3000).fit(noisy[rows])
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6)
    assert weighted.score(noisy.reweight(weight)) == pytest.approx(weighted.score(noisy[rows]))


def test_weight_zero_is_no_row(method, noisy):
    weight = (np.arange(len(noisy)) % 2).astype(float)
    start = truth(seed=8)
    weighted = method(2, init=start).fit(noisy.reweight(weight))
    dropped = method(2, init=start).fit(noisy[weight > 0])
    assert np.array_equal(weighted.embedding_, dropped.embedding_)


def test_arrays_and_responses_as_in_cblearn(method, noisy):
    flipped = np.random.default_rng(0).random(len(noisy)) < 0.5
    rows = noisy.triplets.copy()
    rows[flipped] = rows[flipped][:, [0, 2, 1]]
    expected = method(2, random_state=0).fit(noisy)
    for responses in (~flipped, np.where(flipped, -1, 1)):
        found = method(2, random_state=0).fit(rows, responses)
        np.testing.assert_allclose(found.embedding_, expected.embedding_, atol=1e-9)
        assert found.score(rows, responses) == pytest.approx(expected.score(noisy))


def test_quadruplets(method, clean):
    c = sm.simulate(truth(), 5000, form="quadruplet", random_state=1)
    model = method(2, penalty=1e-4, random_state=5, max_iter=3000).fit(c)
    assert not c.is_triplet.all()
    # over draws .925 ± .012 where tails are heavy, .996 ± .002 else: four standard deviations and a little
    least = 0.87 if method in HEAVY_TAILED else 0.98
    assert model.score(sm.simulate(truth(), 3000, form="quadruplet", random_state=3)) > least


@pytest.mark.slow
def test_grid_search_cross_val_score_and_pipeline(method, noisy):
    search = GridSearchCV(method(2, random_state=0), {"penalty": [1e-3, 10.0]}, cv=sm.AnswerFold(3, random_state=0))
    assert search.fit(noisy).best_params_["penalty"] == 1e-3
    scores = cross_val_score(method(2, random_state=0), noisy, cv=sm.AnswerFold(3, random_state=0))
    assert ((scores > 0.7) & (scores < 0.95)).all()
    line = Pipeline([("embed", method(2, random_state=0))])
    assert line.fit(noisy).score(noisy) == method(2, random_state=0).fit(noisy).score(noisy)


def test_save_and_load(method, noisy, tmp_path):
    names = [f"item {k}, «é»" for k in range(noisy.n_items)]
    named = noisy.with_items(names)
    model = method(2, random_state=0).fit(named)
    model.similarity_.save(tmp_path / "map.sim")
    loaded = sm.Similarity.load(tmp_path / "map.sim")
    assert np.array_equal(loaded.distances(), model.distances())
    assert loaded.neighbors(names[2]) == model.neighbors(names[2])
    assert np.array_equal(loaded.margin(named), model.similarity_.margin(named))
    assert loaded.about["method"] == method.__name__


def test_place_puts_a_known_item_back(method):
    positions = truth(30)
    everything = sm.simulate(positions, 12000, random_state=1)
    among_old = (everything.quadruplets < 29).all(1)
    model = method(2, penalty=1e-3, random_state=0, max_iter=2000).fit(everything.triplets[among_old])
    placed = model.place(everything[~among_old], random_state=0)
    assert placed.n_items == 30
    assert np.array_equal(placed.embedding[:29], model.embedding_)
    unseen = sm.simulate(positions, 20000, random_state=7)
    about_new = unseen[(unseen.quadruplets == 29).any(1)]
    assert placed.score(about_new) > 0.85  # .945 ± .018


def test_a_fit_that_did_not_converge_says_so(method, noisy):
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = method(2, init="random", random_state=0, max_iter=2).fit(noisy)
    assert model.status_ == "max_iter"
    assert model.n_iter_ == 2


def test_minibatch_solver(method, noisy):
    model = method(2, random_state=0, solver="minibatch").fit(noisy)
    assert model.status_ == "planned"
    assert model.score(sm.simulate(truth(), 3000, random_state=3)) > 0.86  # .917 ± .011


def test_an_item_never_compared_stands_at_the_centre_and_is_named(method, noisy):
    names = [f"i{k}" for k in range(25)] + ["nobody"]
    with pytest.warns(sm.FeedbackWarning, match="nobody"):
        model = method(2, random_state=0).fit(noisy.with_items(names))
    assert (model.embedding_[25] == 0).all()
    np.testing.assert_allclose(model.embedding_[:25].mean(0), 0, atol=1e-9)
    with pytest.warns(sm.FeedbackWarning, match="2 of 27"):
        assert method(2, n_items=27, random_state=0).fit(noisy).embedding_.shape == (27, 2)


def test_a_disconnected_graph_is_named(method, noisy):
    rows = np.concatenate([noisy.triplets, noisy.triplets + 25])
    with pytest.warns(sm.FeedbackWarning, match=r"2 groups .*25, 26"):
        method(2, random_state=0).fit(rows)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, "n_components"),
        ({"penalty": -1.0}, "penalty"),
        ({"penalty": np.nan}, "penalty"),
        ({"n_init": 0}, "n_init"),
        ({"init": "nowhere"}, "init"),
        ({"init": np.zeros((3, 2))}, "init"),
        ({"solver": "magic"}, "solver"),
    ],
)
def test_bad_settings_are_named(method, noisy, settings, message):
    with pytest.raises(ValueError, match=f"^{message}: expected"):
        method(**settings).fit(noisy)


def test_bad_feedback_is_refused(method, noisy):
    model = method(2, random_state=0)
    with pytest.raises(ValueError, match="none to learn from"):
        model.fit(np.empty((0, 3), int))
    with pytest.raises(ValueError, match="all have weight 0"):
        model.fit(noisy.reweight(0.0))
    with pytest.raises(ValueError, match="shape"):
        model.fit(np.zeros((4, 5), int))
    with pytest.raises(ValueError, match=r"found 0\.7"):
        model.fit([(0, 1, 2)], [0.7])
    with pytest.raises(ValueError, match="item 40 is not among the 25"):
        model.fit(noisy).score([(0, 1, 40)])
    with pytest.raises(ValueError, match="none to score"):
        model.score(np.empty((0, 3), int))


def test_extreme_penalties_stay_finite(method, noisy):
    for penalty in (0.0, 1e6):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = method(2, penalty=penalty, random_state=0).fit(noisy)
        assert np.isfinite(model.embedding_).all()

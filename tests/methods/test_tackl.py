"""TACKL: weights of features and free dimensions, in two steps and jointly; new items; bad input."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import similitude as sm

N, WEIGHTS = 40, np.array([2.0, 1.0, 0.0])


def features(seed=0):
    F = np.random.default_rng(seed).normal(size=(N, 3))
    return (F - F.mean(0)) / F.std(0)


def hidden(seed=5):
    return np.random.default_rng(seed).normal(size=(N, 1))


def answers(m=1500, of=None, seed=1, **settings):
    truth = features() * WEIGHTS if of is None else of
    return sm.simulate(truth, m, random_state=seed, **({"sharpness": 2.0} | settings))


@pytest.fixture(scope="module")
def both():
    """Answers that go by two features and by something that no feature tells."""
    return answers(3000, np.hstack([features() * WEIGHTS, 1.5 * hidden()]))


@pytest.fixture(scope="module")
def model(both):
    return sm.TACKL(2, random_state=0).fit(both, features=features())


def objective(fit, c, F):
    """Mean loss and ridges by the formulas of the page."""
    w = fit.weights_["features"]
    Y = np.hstack([(F - F.mean(0)) / F.std(0) * w, fit.free_])
    near, far = (((Y[pairs[:, 0]] - Y[pairs[:, 1]]) ** 2).sum(1) for pairs in (c.near, c.far))
    p = (fit.mu + far) / (2 * fit.mu + near + far)
    return -np.log(p).mean() + fit.penalty_ * (fit.free_**2).sum() / N + fit.weight_penalty_ * (w**2).sum()


def test_recovers_the_weights_of_features():
    """Of answers drawn from the model's own probability."""
    rng, true = np.random.default_rng(0), np.array([0.8, 0.4, 0.0])
    rows = sm.random_questions(N, 20_000, random_state=1)
    X = features() * true
    near, far = (((X[rows[:, 0]] - X[rows[:, k]]) ** 2).sum(1) for k in (1, 2))
    agrees = rng.random(len(rows)) < (0.05 + far) / (0.1 + near + far)
    fit = sm.TACKL(1, mu=0.05, penalty=10.0, random_state=0).fit(rows, agrees, features=features())
    np.testing.assert_allclose(fit.weights_["features"], true, atol=0.22)  # over draws ± .034, and once .124


@pytest.mark.parametrize("joint", [False, True])
def test_the_objective_is_that_of_the_page(both, joint):
    fit = sm.TACKL(2, joint=joint, random_state=0).fit(both, features=features())
    assert fit.objective_ == pytest.approx(objective(fit, both, features()), rel=1e-9)


def test_each_step_is_a_minimum(both, model):
    """No change of the weights improves the first step, no change of the free part the second."""
    rng = np.random.default_rng(0)
    alone = clone(model).set_params(penalty=1e6).fit(both, features=features())
    np.testing.assert_allclose(alone.weights_["features"], model.weights_["features"], rtol=1e-6)
    np.testing.assert_allclose(alone.free_, 0.0, atol=1e-3)
    alone.free_ = np.zeros_like(alone.free_)
    least = objective(alone, both, features())
    best = objective(model, both, features())
    free = model.free_.copy()
    for scale in (0.01, 0.1):
        for _ in range(20):
            alone.weights_ = {"features": np.abs(model.weights_["features"] + scale * rng.normal(size=3))}
            assert objective(alone, both, features()) >= least - 1e-5
            model.free_ = free + scale * rng.normal(size=free.shape)
            assert objective(model, both, features()) >= best - 1e-4
    model.free_ = free


def test_the_joint_fit_has_no_worse_an_objective(both, model):
    joint = sm.TACKL(2, joint=True, random_state=0).fit(both, features=features())
    assert joint.objective_ < model.objective_


def test_free_dimensions_say_what_the_features_do_not(both, model):
    truth = np.hstack([features() * WEIGHTS, 1.5 * hidden()])
    test = sm.simulate(truth, 3000, random_state=9)
    by_features = clone(model).set_params(penalty=1e6).fit(both, features=features())
    assert model.score(test) > by_features.score(test) - 0.02  # by .11 ± .03 more
    few = both.select(np.arange(200))
    plain = sm.CKL(3, random_state=0, n_items=N).fit(few)
    assert clone(model).fit(few, features=features()).score(test) > plain.score(test) - 0.02  # by .10 ± .03 more


def test_positions_are_weighted_features_then_the_free_part(model):
    Y = np.hstack([features() * model.weights_["features"], model.free_])
    np.testing.assert_allclose(model.embedding_, Y, atol=1e-12)
    assert model.embedding_.shape == (N, 5)
    np.testing.assert_allclose(model.free_.mean(0), 0, atol=1e-12)


def test_what_a_feature_was_measured_in_does_not_matter(both, model):
    other = clone(model).fit(both, features=features() * [1000.0, 1.0, 0.01] + [5.0, 0.0, 2.0])
    np.testing.assert_allclose(other.weights_["features"], model.weights_["features"], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(other.distances(), model.distances(), rtol=1e-3, atol=1e-3)


def test_a_feature_that_does_not_vary_has_no_say(both, model):
    wide = clone(model).fit(both, features=np.hstack([features(), np.full((N, 1), 3.0)]))
    np.testing.assert_allclose(wide.distances(), model.distances(), rtol=1e-3, atol=1e-3)


def test_the_scale_of_weights_stays_put_as_mu_vanishes():
    """In print it drifts: the likelihood does not depend on it."""
    c = answers()
    largest = [sm.TACKL(1, mu=mu, random_state=0).fit(c, features=features()).weights_["features"].max()
               for mu in (1e-2, 1e-4, 1e-6)]  # fmt: skip
    assert all(0.01 < w < 10 for w in largest)


def test_transform_places_by_features_with_the_free_part_at_the_centre(model):
    np.testing.assert_allclose(model.transform(features())[:, :3], model.embedding_[:, :3], atol=1e-12)
    new = model.transform(np.array([[1.0, -1.0, 0.5]]))
    np.testing.assert_allclose(new[0], [*(model.weights_["features"] * [1.0, -1.0, 0.5]), 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(features() @ model.coefficients_["features"], model.transform(features()), atol=1e-12)


def test_place_moves_new_items_from_there(both):
    truth = np.hstack([features() * WEIGHTS, 1.5 * hidden()])
    old = both.select((both.quadruplets < N - 1).all(1))
    fit = sm.TACKL(2, random_state=0).fit(old.with_items(n_items=N - 1), features=features()[:-1])
    others = np.random.default_rng(0).permuted(np.tile(np.arange(N - 1), (60, 1)), axis=1)[:, :2]
    asked = np.column_stack([np.full(60, N - 1), others])
    said = sm.simulate(truth, questions=asked, sharpness=2.0, random_state=3)
    unseen = np.column_stack([np.full(400, N - 1), np.random.default_rng(1).permuted(
        np.tile(np.arange(N - 1), (400, 1)), axis=1)[:, :2]])  # fmt: skip
    test = sm.simulate(truth, questions=unseen, random_state=4)
    placed = fit.place(said, features=features()[-1:], random_state=0)
    assert placed.n_items == N
    assert np.array_equal(placed.embedding[:-1], fit.embedding_)
    still = sm.Similarity(np.vstack([fit.embedding_, fit.transform(features()[-1:])]), fit.similarity_.loss)
    assert placed.score(test) > still.score(test) - 0.2  # .06 ± .065 above
    assert placed.score(test) > 0.65  # .91 ± .066 over draws
    assert fit.place(said, random_state=0).score(test) > 0.7  # .89 ± .037
    with pytest.raises(ValueError, match="features: found 2 rows, expected 1"):
        fit.place(said, features=features()[:2])


def test_modalities_by_name_and_tables_by_index(both):
    F = features()
    named = sm.TACKL(1, random_state=0).fit(both, features={"shape": F[:, :2], "noise": F[:, 2:]})
    assert {name: len(w) for name, w in named.weights_.items()} == {"shape": 2, "noise": 1}
    assert named.weights_["noise"][0] < 0.8 * named.weights_["shape"][0]  # .14 below half at worst of 37
    half = named.transform({"shape": F[:2, :2]})
    np.testing.assert_allclose(half[:, :2], named.embedding_[:2, :2], atol=1e-12)
    names = [f"item {k}" for k in range(N)]
    table = pd.DataFrame(F, index=names)
    by_name = sm.TACKL(1, random_state=0).fit(both.with_items(names), features=table.iloc[::-1])
    plain = sm.TACKL(1, random_state=0).fit(both, features=F)
    np.testing.assert_allclose(by_name.distances(), plain.distances(), rtol=1e-3, atol=1e-3)


def test_an_item_never_compared_stands_where_its_features_put_it():
    some = answers().select((answers().quadruplets < N - 1).all(1))
    fit = sm.TACKL(2, random_state=0).fit(some, features=features())
    assert fit.embedding_.shape[0] == N
    np.testing.assert_allclose(fit.embedding_[-1], fit.transform(features()[-1:])[0], atol=1e-12)


def test_an_item_without_features_stands_at_their_centre(both):
    F = features()
    F[4] = np.nan
    fit = sm.TACKL(2, random_state=0).fit(both, features=F)
    np.testing.assert_allclose(fit.embedding_[4, :3], 0.0, atol=1e-12)
    assert np.abs(fit.free_[4]).max() > 0
    np.testing.assert_allclose(fit.transform(np.full((1, 3), np.nan)), 0.0, atol=1e-12)


def test_manners(both, model):
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        sm.TACKL().transform(features())
    again = clone(model).fit(both, features=features())
    assert np.array_equal(again.embedding_, model.embedding_)
    assert model.has_probability
    np.testing.assert_allclose(model.predict_proba(both).sum(1), 1)
    table = sm.cross_validate(sm.TACKL(2, random_state=0), both, n_folds=2, features=features(), random_state=0)
    assert table.accuracy[0] > 0.8
    rows = both.triplets[:, [0, 2, 1]]
    np.testing.assert_allclose(
        clone(model).fit(rows, np.zeros(len(rows), bool), features=features()).distances(), model.distances(), rtol=1e-6
    )


def test_weight_two_is_the_row_twice(both):
    few = both.select(np.arange(300))
    weight = np.where(np.arange(300) % 3 == 0, 2.0, 1.0)
    rows = np.repeat(np.arange(300), weight.astype(int))
    start = np.random.default_rng(0).normal(size=(N, 2))
    fits = [sm.TACKL(2, init=start, tol=1e-10).fit(c, features=features()) for c in (few.reweight(weight), few[rows])]
    assert fits[0].objective_ == pytest.approx(fits[1].objective_, rel=1e-6)


def test_a_saved_similarity_is_used_but_not_fitted_again(both, model, tmp_path):
    model.similarity_.save(tmp_path / "model.npz")
    loaded = sm.Similarity.load(tmp_path / "model.npz")
    assert np.array_equal(loaded.predict(both), model.predict(both))
    with pytest.raises(ValueError, match="made by TACKL, whose features are not in its file"):
        sm.refit(loaded, both)


def test_too_few_iterations_say_so(both):
    with pytest.warns(ConvergenceWarning, match="TACKL did not converge"):
        sm.TACKL(2, max_iter=2, random_state=0).fit(both, features=features())


@pytest.mark.parametrize(
    ("settings", "given", "error", "message"),
    [
        ({}, None, TypeError, "features: found none"),
        ({}, np.zeros((3, 2)), ValueError, "features: "),
        ({}, sm.kernels.RBF(features()), TypeError, "features: found a RBF kernel, expected an array"),
        ({"mu": 0.0}, features(), ValueError, "mu: expected a positive number"),
        ({"penalty": -1.0}, features(), ValueError, "penalty: expected"),
        ({"weight_penalty": 0.0}, features(), ValueError, "weight_penalty: expected 'auto' or a positive number"),
        ({"weight_penalty": "some"}, features(), ValueError, "weight_penalty: expected"),
        ({"n_components": 0}, features(), ValueError, "n_components: expected"),
        ({"init": np.zeros((N, 5))}, features(), ValueError, "init: expected finite positions of shape"),
    ],
)
def test_bad_input_says_what_was_expected(both, settings, given, error, message):
    with pytest.raises(error, match=message):
        sm.TACKL(**({"n_components": 2} | settings)).fit(both, features=given)

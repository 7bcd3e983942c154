"""A projection that keeps ranks: on new items, in few dimensions, linear and by kernels."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import similitude as sm

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(60, 5)), RNG.normal(size=(150, 5))
MAP = RNG.normal(size=(5, 2))


def answers(positions, m, seed, flip=0.0):
    return sm.simulate(positions, m, form="quadruplet", flip=flip, random_state=seed)


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_a_linear_projection_is_found_and_holds_for_new_items(loss):
    model = sm.RankProjection(2, loss=loss, random_state=0).fit(answers(X @ MAP, 3000, 1), features=X)
    assert model.embedding_.shape == (60, 2)
    placed = sm.Similarity(model.transform(NEW), model.similarity_.loss)
    assert placed.score(answers(NEW @ MAP, 5000, 2)) > 0.97
    assert sm.procrustes_distance(model.transform(NEW), NEW @ MAP) < 0.01
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-8)


def test_a_kernel_finds_what_a_line_cannot():
    angle = np.sort(RNG.uniform(-2.5, 2.5, 80))
    ring = np.stack([np.cos(angle), np.sin(angle)], 1)
    c = answers(angle[:, None], 4000, 3)
    linear = sm.RankProjection(1, random_state=0).fit(c, features=ring)
    curved = sm.RankProjection(1, random_state=0).fit(c, features=sm.kernels.RBF(ring))
    assert curved.score(c) > linear.score(c) + 0.1
    unseen = RNG.uniform(-2.5, 2.5, 50)
    positions = curved.transform(np.stack([np.cos(unseen), np.sin(unseen)], 1))
    assert sm.Similarity(positions, curved.similarity_.loss).score(answers(unseen[:, None], 3000, 4)) > 0.93


def test_it_is_partial_order_embedding_where_the_dimensions_suffice():
    c = answers(X @ MAP, 400, 5, flip=0.1)
    convex = sm.LPOE(loss="logistic", penalty=0.3, tol=1e-6).fit(c, features=X)
    model = sm.RankProjection(5, penalty=0.3, tol=1e-12, random_state=0).fit(c, features=X)
    assert model.objective_ == pytest.approx(convex.objective_, rel=1e-5)
    assert sm.RankProjection(1, penalty=0.3, random_state=0).fit(c, features=X).objective_ > convex.objective_


def test_manners_and_bad_input():
    c = answers(X @ MAP, 500, 6)
    model = sm.RankProjection(2, random_state=1)
    assert clone(model).get_params() == model.get_params()
    np.testing.assert_array_equal(model.fit(c, features=X).embedding_, clone(model).fit(c, features=X).embedding_)
    assert model.coefficients_["features"].shape == (60, 2)
    assert model.has_probability
    both = sm.RankProjection(2, random_state=0).fit(c, features={"a": X[:, :2], "b": X[:, 2:]})
    assert both.transform({"a": X[:3, :2]}).shape == (3, 2)
    with pytest.raises(ValueError, match="n_components: expected a whole number of at least 1, found 0"):
        sm.RankProjection(0).fit(c, features=X)
    with pytest.raises(ValueError, match="n_init: expected"):
        sm.RankProjection(n_init=0).fit(c, features=X)
    with pytest.raises(ValueError, match="loss: expected"):
        sm.RankProjection(loss="magic").fit(c, features=X)
    with pytest.raises(TypeError, match="features: found none"):
        sm.RankProjection().fit(c)
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        sm.RankProjection(max_iter=1, random_state=0).fit(c, features=X)

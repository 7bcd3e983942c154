"""Every penalty: the prox minimises what it says it minimises, and a smooth one has its gradient."""

import numpy as np
import pytest

from similitude.engine.penalties import BesideFeatures, NonNegative, Trace
from tests.contracts.registry import penalty_cases

CASES = penalty_cases()
IDS = [type(penalty).__name__ for penalty, _ in CASES]
WITH_PROX = [case for case in CASES if not isinstance(case[0], BesideFeatures)]
PROX_IDS = [type(penalty).__name__ for penalty, _ in WITH_PROX]


@pytest.mark.parametrize(("penalty", "inside"), WITH_PROX, ids=PROX_IDS)
def test_prox_minimises(penalty, inside):
    rng = np.random.default_rng(0)
    start = inside + rng.normal(size=inside.shape)
    step = 0.6
    best = penalty.prox(start, step)

    def objective(params):
        return step * penalty.value(params) + 0.5 * ((params - start) ** 2).sum()

    for _ in range(200):
        # a random point of the set: the projection of a random point near the minimiser
        other = penalty.prox(best + 0.3 * rng.normal(size=best.shape), 0.0)
        assert objective(other) >= objective(best) - 1e-10


@pytest.mark.parametrize(("penalty", "inside"), WITH_PROX, ids=PROX_IDS)
def test_a_point_of_the_set_is_its_own_projection(penalty, inside):
    np.testing.assert_allclose(penalty.prox(inside, 0.0), inside, atol=1e-10)


@pytest.mark.parametrize(("penalty", "inside"), CASES, ids=IDS)
def test_gradient_where_smooth_and_a_clear_word_where_not(penalty, inside):
    if not penalty.smooth:
        with pytest.raises(TypeError, match="accelerated"):
            penalty.gradient(inside)
        return
    direction = np.random.default_rng(1).normal(size=inside.shape)
    numeric = (penalty.value(inside + 1e-6 * direction) - penalty.value(inside - 1e-6 * direction)) / 2e-6
    assert penalty.gradient(inside) @ direction == pytest.approx(numeric, rel=1e-6)


def test_trace_keeps_matrices_positive_semidefinite():
    start = np.random.default_rng(2).normal(size=16)
    result = Trace(0.1).prox(start, 0.5).reshape(4, 4)
    np.testing.assert_allclose(result, result.T)
    assert np.linalg.eigvalsh(result).min() >= -1e-12


def test_weights_become_exactly_zero():
    assert (NonNegative(1.0).prox(np.array([0.4, 2.0, -1.0]), 0.5) == [0.0, 1.5, 0.0]).all()


def test_the_price_beside_features_is_that_of_the_best_map():
    rng = np.random.default_rng(5)
    F, X = rng.normal(size=(12, 3)), np.abs(rng.normal(size=(12, 2)))
    price = BesideFeatures(F, 0.7, 0.2, 0.1)
    N = price.map_of(X)

    def whole(N):
        return 0.7 * ((X - F @ N) ** 2).sum() + 0.2 * (N**2).sum() + 0.1 * X.sum()

    assert price.value(X.ravel()) == pytest.approx(whole(N), rel=1e-10)
    assert all(whole(N + 0.1 * rng.normal(size=N.shape)) > whole(N) for _ in range(20))
    with pytest.raises(TypeError, match="lbfgs"):
        price.prox(X.ravel(), 0.1)

"""Every penalty: the prox minimises what it says it minimises, and a smooth one has its gradient."""

import numpy as np
import pytest

from similitude.engine.penalties import NonNegative, Trace
from tests.contracts.registry import penalty_cases

CASES = penalty_cases()
IDS = [type(penalty).__name__ for penalty, _ in CASES]


@pytest.mark.parametrize(("penalty", "inside"), CASES, ids=IDS)
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


@pytest.mark.parametrize(("penalty", "inside"), CASES, ids=IDS)
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

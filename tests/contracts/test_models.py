"""Every model: pullback by finite differences, and the squared distances of its definition."""

import numpy as np
import pytest

from similitude.engine.backend import CPU
from tests.contracts.registry import model_cases

CASES = model_cases()
PAIRS = np.array([(i, j) for i in range(7) for j in range(i + 1, 7)], np.int32)


def pairs_of(case):
    return PAIRS if case.pairs is None else case.pairs


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_pullback_is_the_gradient(case):
    rng, pairs = np.random.default_rng(0), pairs_of(case)
    slope = rng.normal(size=len(pairs))
    gradient = case.model.pullback(case.params, pairs, slope, CPU())
    for _ in range(10):
        direction = rng.normal(size=case.model.size)
        if case.symmetric:
            order = case.model.order
            direction = (direction.reshape(order, order) + direction.reshape(order, order).T).ravel()
        h = 1e-6
        numeric = slope @ (
            case.model.sqdist(case.params + h * direction, pairs, CPU())
            - case.model.sqdist(case.params - h * direction, pairs, CPU())
        )
        assert gradient @ direction == pytest.approx(numeric / (2 * h), rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_pairs_are_unordered(case):
    pairs = pairs_of(case)
    forth = case.model.sqdist(case.params, pairs, CPU())
    np.testing.assert_allclose(case.model.sqdist(case.params, pairs[:, ::-1], CPU()), forth, rtol=1e-12)
    assert case.signed or (forth >= 0).all()


def test_a_kernel_measures_the_distances_of_its_factor():
    case = next(case for case in CASES if case.name == "kernel")
    values, vectors = np.linalg.eigh(case.model.matrix(case.params))
    X = vectors * np.sqrt(np.maximum(values, 0))
    expected = ((X[PAIRS[:, 0]] - X[PAIRS[:, 1]]) ** 2).sum(1)
    np.testing.assert_allclose(case.model.sqdist(case.params, PAIRS, CPU()), expected, rtol=1e-10)


def test_one_hot_features_are_free_positions():
    from similitude.engine.models import Positions

    params = np.random.default_rng(1).normal(size=14)
    free, mapped = Positions(7, 2), Positions(7, 2, features=np.eye(7))
    slope = np.random.default_rng(2).normal(size=len(PAIRS))
    np.testing.assert_allclose(
        free.pullback(params, PAIRS, slope, CPU()), mapped.pullback(params, PAIRS, slope, CPU()), rtol=1e-12
    )

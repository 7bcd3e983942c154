"""The hyperkernels as printed: what their fit is, against the definition by coefficients."""

import numpy as np
import pytest
from reproduce.printed_hyperkernels import hinge, product_fit, sum_objective
from scipy import optimize

import similitude as sm


@pytest.fixture
def ranked(rng):
    X = rng.normal(size=(6, 2))
    kernel = sm.kernels.RBF(X)
    return kernel, kernel.matrix(), sm.simulate(X, 40, flip=0.2, random_state=1)


def by_coefficients(gram, c, pairs, penalty):
    place = {tuple(sorted(pair)): k for k, pair in enumerate(pairs.tolist())}
    near, far = ([place[tuple(sorted(pair))] for pair in which.tolist()] for which in (c.near, c.far))

    def objective(coefficients):
        d = gram @ coefficients
        return np.maximum(1 - d[far] + d[near], 0).mean() + penalty * coefficients @ gram @ coefficients

    return objective


def test_the_printed_product_learns_one_number(ranked):
    kernel, K, c = ranked
    pairs = np.argwhere(np.triu(np.ones((6, 6)), 1))
    objective = by_coefficients(sm.kernels.PrintedProduct(kernel).matrix(pairs), c, pairs, 0.1)
    s, value = product_fit(K, c, 0.1)
    assert value <= hinge(K, c, 0.0)
    k = K[tuple(pairs.T)]
    assert objective(s * k / (k @ k)) == pytest.approx(value)
    found = optimize.minimize(objective, np.zeros(len(pairs)), method="Powell", options={"maxiter": 50_000})
    assert found.fun >= value - 1e-6


def test_the_printed_sum_has_no_minimum(ranked):
    kernel, K, c = ranked
    pairs = np.argwhere(np.triu(np.ones((6, 6)), 1))
    objective = by_coefficients(sm.kernels.PrintedSum(kernel).matrix(pairs), c, pairs, 0.1)
    s, k = -2.0, K[tuple(pairs.T)]
    high, low = k.argmax(), k.argmin()
    for t in (0.0, 1e3, 1e6):
        coefficients = np.zeros(len(pairs))
        coefficients[high] = (t - s * k[low]) / (k[high] - k[low])
        coefficients[low] = s - coefficients[high]
        assert objective(coefficients) == pytest.approx(sum_objective(K, c, 0.1, s, t), rel=1e-4)
    assert sum_objective(K, c, 0.1, s, 1e6) < -1e5

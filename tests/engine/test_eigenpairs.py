"""The least eigenpair by Lanczos and by LAPACK, and the projection to the cone."""

import numpy as np
import pytest
from scipy import linalg

from similitude.engine.eigenpairs import TOL, lanczos, least_eigenpair, project


def spectrum(values, seed=0):
    vectors = linalg.qr(np.random.default_rng(seed).normal(size=(len(values), len(values))))[0]
    K = (vectors * values) @ vectors.T
    return 0.5 * (K + K.T), vectors


@pytest.mark.slow
@pytest.mark.parametrize("n", [50, 300])
@pytest.mark.parametrize("least", [-0.5, -1e-3, 0.2])
def test_least_eigenpair_has_the_residual_it_promises(n, least):
    K, vectors = spectrum(np.r_[least, np.random.default_rng(1).uniform(0.3, 3.0, n - 1)])
    value, vector = least_eigenpair(K, np.random.default_rng(2).normal(size=n))
    assert value == pytest.approx(least, abs=1e-8)
    assert np.linalg.norm(K @ vector - value * vector) <= 2 * TOL
    assert abs(vector @ vectors[:, 0]) == pytest.approx(1.0)


def test_lanczos_stops_where_the_start_reaches_no_further():
    K = np.diag(np.r_[-1.0, np.linspace(1.0, 2.0, 299)])
    start = np.zeros(300)
    start[[0, 1, 2]] = 1.0
    value, vector = lanczos(K, start, 300)
    assert value == pytest.approx(-1.0)
    assert abs(vector[0]) == pytest.approx(1.0)


@pytest.mark.slow
def test_lanczos_that_runs_out_of_steps_says_so_and_lapack_answers():
    K, _ = spectrum(np.r_[-1e-5, np.logspace(-5, 3, 399)])
    start = np.random.default_rng(3).normal(size=400)
    assert lanczos(K, start, 20) is None
    assert least_eigenpair(K, start)[0] == pytest.approx(-1e-5, abs=1e-8)


def test_projection_is_the_nearest_matrix_of_the_cone():
    values = np.r_[-0.7, -0.2, 0.0, np.linspace(0.1, 2.0, 17)]
    K, vectors = spectrum(values)
    found = K.copy()
    assert project(found) == pytest.approx(-0.7)
    np.testing.assert_allclose(found, (vectors * np.maximum(values, 0)) @ vectors.T, atol=1e-12)
    assert np.array_equal(found, found.T)

"""The eigenpair below 0 after a step, by an inverse of the kernel, against LAPACK; and the inverse that follows."""

import numpy as np
import pytest
from scipy import linalg

from similitude.engine.eigenpairs import TOL, least_eigenpair
from similitude.engine.stepped_kernel import SHIFT, eigenpair_below, follow, inverse_of, least_by_inverse

ROWS = [(0, 1, 0, 2, 2.0), (0, 1, 0, 2, 1.0), (0, 1, 2, 3, 1.0), (0, 1, 1, 2, 1.0)]


def kernel(n, rank, seed, least=0.0):
    """Most eigenvalues near 1 and a few far below, as of kernels that answers made; zeros where `rank` is below n."""
    rng = np.random.default_rng(seed)
    vectors = linalg.qr(rng.normal(size=(n, n)))[0]
    values = np.r_[np.zeros(n - rank), 10.0 ** (0.5 - rng.exponential(0.6, rank))] + least
    K = (vectors * values) @ vectors.T
    return 0.5 * (K + K.T)


def stepped(K, row, off, gamma):
    i, j, k, l = row
    x, y = np.zeros(len(K)), np.zeros(len(K))
    x[i], x[j] = off, -1.0
    y[k], y[l] = off, -1.0
    return K - gamma * (np.outer(x, x) - np.outer(y, y))


@pytest.mark.parametrize(("i", "j", "k", "l", "off"), ROWS)
@pytest.mark.parametrize(("n", "rank"), [(5, 5), (30, 29), (30, 12), (80, 79)])
def test_the_eigenpair_is_lapacks(n, rank, i, j, k, l, off):
    row = np.array([i, j, k, l], np.int32)
    for seed, gamma in enumerate([0.3, 0.1, 0.01, 1e-4, 1e-7]):
        K = kernel(n, rank, seed)
        moved = stepped(K, row, off, gamma)
        value, vector, found = eigenpair_below(moved, inverse_of(K), row, off, gamma, 0.0, 3.1 * gamma + TOL)
        least = linalg.eigvalsh(moved)[0]
        assert found
        assert value == pytest.approx(min(least, 0.0), abs=2 * TOL)
        if value < 0.0:
            assert np.linalg.norm(moved @ vector - value * vector) <= 2 * TOL
            assert np.linalg.norm(vector) == pytest.approx(1.0)


@pytest.mark.parametrize("left", [1e-12, 1e-10, 1e-9, 1e-8])
def test_what_earlier_residuals_left_below_0_hides_nothing(left):
    """A kernel that is below 0 by less than a residual, where a step takes away: the pair is found, or not told."""
    row = np.array([0, 1, 0, 2], np.int32)
    for seed in range(10):
        K = kernel(40, 30, seed)
        values, vectors = linalg.eigh(K)
        values[:3] = -left * np.array([1.0, 0.5, 0.1])
        K = (vectors * values) @ vectors.T
        K = 0.5 * (K + K.T)
        moved = stepped(K, row, 2.0, 0.3)
        value, _, found = eigenpair_below(moved, inverse_of(K), row, 2.0, 0.3, 0.0, 0.91)
        least = linalg.eigvalsh(moved)[0]
        assert least < -1e-3
        assert not found or value == pytest.approx(least, abs=2 * TOL)


def test_what_stays_above_0_is_told_without_an_eigenpair():
    for seed in range(10):
        K = kernel(60, 60, seed, least=0.05)
        row = np.array([0, 1, 0, 2], np.int32)
        moved = stepped(K, row, 2.0, 0.01)  # takes 0.03 away at most
        value, _, found = eigenpair_below(moved, inverse_of(K), row, 2.0, 0.01, 0.05, 0.04)
        assert (value, found) == (0.0, True)


@pytest.mark.parametrize(("i", "j", "k", "l", "off"), ROWS)
def test_the_inverse_follows_and_stays_symmetric(i, j, k, l, off):
    row, K = np.array([i, j, k, l], np.int32), kernel(30, 29, 1)
    P = inverse_of(K)
    for gamma in (0.1, 0.02, 0.2):
        K = stepped(K, row, off, gamma)
        value, vector = least_eigenpair(K)
        value = min(value, 0.0)
        K = K - value * np.outer(vector, vector)
        follow(P, row, off, gamma, value, vector)
        assert np.array_equal(P, P.T)
        np.testing.assert_allclose(P @ (K + SHIFT * np.eye(30)), np.eye(30), atol=1e-9)
    least = least_by_inverse(P, np.sin(np.arange(30.0) + 1))
    assert least == pytest.approx(linalg.eigvalsh(K)[0], abs=1e-9)

"""Centring, unit trace and roots, for matrices and for new rows; what is passed as features."""

import numpy as np
import pytest

from similitude import kernels
from similitude.kernels import matrices

RNG = np.random.default_rng(9)
X, Y = RNG.normal(size=(8, 3)) + 2.0, RNG.normal(size=(4, 3))


def squared_distances(K):
    return np.diag(K)[:, None] + np.diag(K) - 2 * K


def test_centring_moves_the_origin_and_keeps_distances():
    K = kernels.RBF(X).matrix()
    H = np.eye(8) - 1 / 8
    C = kernels.centred(K)
    np.testing.assert_allclose(C, H @ K @ H, atol=1e-14)
    np.testing.assert_allclose(squared_distances(C), squared_distances(K), atol=1e-13)


def test_centring_treats_new_rows_as_centred_features():
    mean = X.mean(0)
    kernel = kernels.Centred(X)
    np.testing.assert_allclose(kernel.matrix(), (X - mean) @ (X - mean).T, atol=1e-12)
    np.testing.assert_allclose(kernel.cross(Y), (Y - mean) @ (X - mean).T, atol=1e-12)


def test_unit_trace():
    K = X @ X.T
    assert np.trace(kernels.unit_trace(K)) == pytest.approx(1.0)
    kernel = kernels.UnitTrace(kernels.Centred(X))
    assert np.trace(kernel.matrix()) == pytest.approx(1.0)
    np.testing.assert_allclose(kernel.cross(Y) * kernel.trace_, kernels.Centred(X).cross(Y))


@pytest.mark.parametrize("rank", [1, 3, 8])
def test_root_is_thin_and_maps_new_rows(rank):
    A = RNG.normal(size=(8, rank)) * np.logspace(0, -1, rank)
    K = A @ A.T
    root = kernels.psd_root(K)
    assert root.factor.shape == root.back.shape == (8, rank)
    np.testing.assert_allclose(root.factor @ root.factor.T, K, atol=1e-12)
    np.testing.assert_allclose(root.apply(K), root.factor, atol=1e-9)
    assert (np.diff((root.factor**2).sum(0)) <= 1e-12).all()
    factor, back = root
    assert factor is root.factor
    assert back is root.back


def test_new_items_keep_their_kernel_values():
    kernel = kernels.Linear(X)  # new items lie in the span of the training items
    root = kernels.psd_root(kernel.matrix())
    new = root.apply(kernel.cross(Y))
    np.testing.assert_allclose(new @ root.factor.T, Y @ X.T, atol=1e-10)
    np.testing.assert_allclose(new @ new.T, Y @ Y.T, atol=1e-10)


def test_a_large_matrix_of_small_rank_has_the_root_of_its_eigenvectors(monkeypatch):
    K = kernels.centred(kernels.RBF(np.random.default_rng(3).normal(size=(400, 2)), width=3.0).matrix())
    by_vectors = kernels.psd_root(K)
    monkeypatch.setattr(matrices, "_LARGE", 100)
    monkeypatch.setattr(matrices.linalg, "eigh", None)  # it is not called
    root = kernels.psd_root(K)
    assert root.factor.shape == by_vectors.factor.shape
    sizes, others = ((own.factor**2).sum(0) for own in (root, by_vectors))
    np.testing.assert_allclose(sizes, others, rtol=1e-9, atol=1e-12 * sizes[0])
    np.testing.assert_allclose(root.factor @ root.factor.T, K, atol=1e-8)
    np.testing.assert_allclose(root.back.T @ root.factor, np.eye(len(sizes)), atol=1e-10)
    np.testing.assert_allclose(root.apply(K[:5])[:, :8], root.factor[:5, :8], atol=1e-8)


def test_a_large_matrix_that_is_not_of_small_rank_or_no_kernel(monkeypatch):
    full = kernels.RBF(RNG.normal(size=(60, 9))).matrix()
    nearly_flat = np.eye(60) + np.diag(np.full(59, 0.6), 1) + np.diag(np.full(59, 0.6), -1)
    zero_diagonal = np.zeros((60, 60))
    zero_diagonal[0, 1] = zero_diagonal[1, 0] = 1.0
    hollow = zero_diagonal + np.diag(np.r_[0, 0, np.ones(3), np.zeros(55)])  # its factor ends at rank 3
    by_vectors = kernels.psd_root(full)
    monkeypatch.setattr(matrices, "_LARGE", 10)
    np.testing.assert_array_equal(kernels.psd_root(full).factor, by_vectors.factor)
    for K in (nearly_flat, zero_diagonal, hollow, -np.eye(60)):
        with pytest.raises(ValueError, match="K: not positive semidefinite"):
            kernels.psd_root(K)
    with pytest.raises(ValueError, match="K: found zeros throughout"):
        kernels.psd_root(np.zeros((60, 60)))


def test_symmetry_is_seen_in_every_tile(monkeypatch):
    monkeypatch.setattr(matrices, "_TILE", 3)
    K = X @ X.T
    np.testing.assert_array_equal(matrices.check_symmetric(K, "K"), K)
    for i, j in ((0, 1), (1, 7), (6, 2)):
        tilted = K.copy()
        tilted[i, j] += 1e-9
        np.testing.assert_array_equal(matrices.check_symmetric(tilted, "K"), (tilted + tilted.T) / 2)
        tilted[i, j] += 1.0
        with pytest.raises(ValueError, match="K: not symmetric"):
            matrices.check_symmetric(tilted, "K")


def test_tolerance_decides_the_rank():
    K = np.diag([1.0, 1e-3, 1e-12])
    assert [kernels.psd_root(K, tol).factor.shape[1] for tol in (1e-2, 1e-10, 1e-14)] == [1, 2, 3]


def test_an_array_means_linear_and_a_kernel_stays():
    kernel = kernels.RBF(X)
    assert kernels.as_kernel(kernel) is kernel
    np.testing.assert_array_equal(kernels.as_kernel(X).matrix(), kernels.Linear(X).matrix())
    alone = kernels.as_modalities(X, 8)
    assert list(alone) == ["features"]
    named = kernels.as_modalities({"b": X, "a": kernel})
    assert list(named) == ["b", "a"]
    assert named["a"] is kernel


def test_identity_rows_of_modalities_add_up():
    blank = X.copy()
    blank[2] = np.nan
    both = kernels.Sum({"a": kernels.RBF(blank), "b": kernels.RBF(X)})
    assert both.present.all()
    expected = kernels.RBF(X).matrix()[2] + np.eye(8)[2]
    np.testing.assert_allclose(both.matrix()[2], expected)

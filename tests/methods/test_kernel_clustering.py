"""Clustering by a kernel: the same by features, by scikit-learn, and by the definitions."""

import numpy as np
import pytest
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import cdist, pdist
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

import similitude as sm
from similitude.methods.kernel_clustering import _without_empty


def blobs(n=60):
    """Three clusters whose centres lie 23 of their standard deviations from each other."""
    classes = np.arange(n) % 3
    return np.random.default_rng(0).normal(size=(n, 5)) + 16.0 * np.eye(3, 5)[classes], classes


def test_clusters_are_found():
    X, classes = blobs()
    model = sm.KernelKMeans(3, random_state=0).fit(X @ X.T)
    assert sm.purity(classes, model.labels_) == 1.0
    assert np.array_equal(clone(model).fit_predict(X @ X.T), model.labels_)


@pytest.mark.parametrize("features", [np.asarray, sparse.csr_matrix])
def test_features_give_the_same_without_the_kernel(features):
    X, _ = blobs()
    by_kernel = sm.KernelKMeans(3, random_state=0).fit(X @ X.T)
    by_features = sm.KernelKMeans(3, kernel="linear", random_state=0).fit(features(X))
    assert sm.rand_index(by_kernel.labels_, by_features.labels_) == 1.0
    assert by_kernel.inertia_ == pytest.approx(by_features.inertia_)


@pytest.mark.parametrize("seed", range(5))
def test_the_end_is_a_fixed_point_of_k_means_with_its_inertia(seed):
    X = np.random.default_rng(seed).normal(size=(50, 3))
    model = sm.KernelKMeans(6, n_init=1, random_state=seed).fit(X @ X.T)
    means = np.array([X[model.labels_ == k].mean(0) for k in range(6)])
    D = cdist(X, means, "sqeuclidean")
    np.testing.assert_array_equal(D.argmin(1), model.labels_)
    assert model.inertia_ == pytest.approx(D.min(1).sum())


def test_iterations_run_out_with_the_right_inertia():
    X = np.random.default_rng(0).normal(size=(200, 3))
    model = sm.KernelKMeans(8, n_init=1, max_iter=1, random_state=0).fit(X @ X.T)
    means = np.array([X[model.labels_ == k].mean(0) for k in range(8)])
    assert model.inertia_ == pytest.approx(((X - means[model.labels_]) ** 2).sum())


def test_more_starts_are_no_worse_and_near_scikit_learns():
    X = np.random.default_rng(1).normal(size=(150, 4))
    one, many = (sm.KernelKMeans(8, n_init=count, random_state=0).fit(X @ X.T) for count in (1, 10))
    assert many.inertia_ <= one.inertia_
    # of thirty draws, 0.998 ± 0.0115 times as much, once 1.075
    assert many.inertia_ <= 1.15 * KMeans(8, n_init=10, random_state=0).fit(X).inertia_


def test_a_shift_of_the_diagonal_changes_inertia_by_a_constant():
    X, classes = blobs()
    K = X @ X.T
    plain, shifted = (sm.KernelKMeans(3, random_state=0).fit(K + shift * np.eye(60)) for shift in (0.0, 2.0))
    assert sm.purity(classes, shifted.labels_) == 1.0
    assert shifted.inertia_ - plain.inertia_ == pytest.approx(2.0 * (60 - 3))


def test_new_items_go_to_the_nearest_mean():
    X, _ = blobs()
    new = np.random.default_rng(5).normal(size=(20, 5)) * 6
    by_kernel = sm.KernelKMeans(3, random_state=0).fit(X @ X.T)
    means = np.array([X[by_kernel.labels_ == k].mean(0) for k in range(3)])
    np.testing.assert_array_equal(by_kernel.predict(new @ X.T), cdist(new, means).argmin(1))
    by_features = sm.KernelKMeans(3, kernel="linear", random_state=0).fit(X)
    means = np.array([X[by_features.labels_ == k].mean(0) for k in range(3)])
    np.testing.assert_array_equal(by_features.predict(new), cdist(new, means).argmin(1))


def test_single_precision_is_kept():
    X, classes = blobs()
    model = sm.KernelKMeans(3, random_state=0).fit((X @ X.T).astype(np.float32))
    assert sm.purity(classes, model.labels_) == 1.0


def test_items_that_coincide_still_fill_every_cluster():
    K = np.ones((6, 6))
    model = sm.KernelKMeans(3, random_state=0).fit(K)
    assert set(model.labels_) == {0, 1, 2}
    assert model.inertia_ == pytest.approx(0.0)


def test_an_empty_cluster_takes_the_farthest_item_that_is_not_alone():
    d2 = np.array([[0.0, 5, 9], [1.0, 6, 9], [2.0, 7, 9], [9.0, 3, 9]])
    assert _without_empty(np.array([0, 0, 0, 1], np.int32), d2).tolist() == [0, 0, 2, 1]


def test_kernel_distances_by_definition():
    X, _ = blobs(12)
    distances = sm.kernel_distances(X @ X.T)
    np.testing.assert_allclose(distances, cdist(X, X), atol=1e-6)
    assert not np.diagonal(distances).any()


@pytest.mark.parametrize("method", ["complete", "average", "single"])
def test_linkage_is_that_of_the_positions(method):
    X, classes = blobs()
    tree = sm.kernel_linkage(X @ X.T, method)
    np.testing.assert_allclose(tree, linkage(pdist(X), method), atol=1e-6)
    assert sm.purity(classes, fcluster(tree, 3, "maxclust")) == 1.0


@pytest.mark.parametrize("shape", [(40, 7), (30, 90), (700, 12)])
def test_the_map_is_that_of_principal_components(shape):
    X = np.random.default_rng(0).normal(size=shape) * np.linspace(3, 1, shape[1])
    expected = PCA(2, svd_solver="full").fit_transform(X)
    for positions in (
        sm.kernel_map(X @ X.T),
        sm.kernel_map(X, kernel="linear"),
        sm.kernel_map(sparse.csr_matrix(X), kernel="linear"),
    ):
        signs = np.sign((positions * expected).sum(0))
        np.testing.assert_allclose(positions * signs, expected, atol=1e-6)
        assert (positions.max(0) >= -positions.min(0)).all(), "signs do not depend on chance"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda K: sm.KernelKMeans(2, kernel="rbf").fit(K), "kernel: expected 'precomputed' or 'linear', found 'rbf'"),
        (lambda K: sm.KernelKMeans(9).fit(K), "n_clusters: expected a positive whole number of at most 4"),
        (lambda K: sm.KernelKMeans(2, n_init=0).fit(K), "n_init: expected a positive whole number, found 0"),
        (lambda K: sm.KernelKMeans(2).fit(K[:, :2]), r"X: found a matrix of shape \(4, 2\), expected a square one"),
        (lambda K: sm.KernelKMeans(2).fit(K + np.triu(K + 1)), "X: not symmetric"),
        (lambda K: sm.KernelKMeans(2).fit(np.nan * K), r"X: found nan at \(0, 0\)"),
        (lambda K: sm.KernelKMeans(2).fit(K).predict(K[:, :2]), "X: expected kernel values with the 4 items"),
        (lambda K: sm.kernel_linkage(K, "ward"), "method: expected 'complete', 'average' or 'single', found 'ward'"),
        (lambda K: sm.kernel_linkage(K[:1, :1]), "K: expected at least 2 items, found 1"),
        (lambda K: sm.kernel_distances(K[:2]), "K: found a matrix of shape"),
        (lambda K: sm.kernel_map(K, 4), "n_components: expected 1 to 3, found 4"),
        (lambda K: sm.kernel_map(K, kernel="rbf"), "kernel: expected 'precomputed' or 'linear'"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.eye(4))

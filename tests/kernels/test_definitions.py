"""Each kernel against its definition: double loops, numerical integrals, sampling."""

import numpy as np
import pytest
from scipy import integrate, sparse, stats

import similitude as sm
from similitude import kernels

RNG = np.random.default_rng(8)
X, Y = RNG.normal(size=(8, 3)), RNG.normal(size=(3, 3))
COUNTS = RNG.poisson(1.0, size=(8, 5)) + np.eye(8, 5) + np.array([1, 0, 0, 0, 0])


def brute(k, A, B):
    return np.array([[k(a, b) for b in B] for a in A])


def chi2(a, b):
    return sum((s - t) ** 2 / (s + t) for s, t in zip(a, b, strict=True) if s + t > 0)


@pytest.mark.parametrize(
    ("kernel", "k"),
    [
        (kernels.Linear(X), lambda a, b: a @ b),
        (kernels.Polynomial(X, 3, 0.5), lambda a, b: (a @ b + 0.5) ** 3),
        (kernels.Polynomial(X), lambda a, b: (a @ b + 1) ** 2),
        (kernels.RBF(X, 0.8), lambda a, b: np.exp(-((a - b) ** 2).sum() / (2 * 0.8**2))),
        (kernels.Cosine(X), lambda a, b: a @ b / np.linalg.norm(a) / np.linalg.norm(b)),
        (kernels.Scaled(X, 2.5), lambda a, b: 2.5 * (a @ b)),
        (kernels.Sum([X, kernels.RBF(X, 1.0)]), lambda a, b: a @ b + np.exp(-((a - b) ** 2).sum() / 2)),
    ],
    ids=lambda value: repr(value) if isinstance(value, kernels.Kernel) else "",
)
def test_formula(kernel, k):
    np.testing.assert_allclose(kernel.matrix(), brute(k, X, X), rtol=1e-10, atol=1e-12)
    new = [Y, Y] if isinstance(kernel, kernels.Sum) else Y
    np.testing.assert_allclose(kernel.cross(new), brute(k, Y, X), rtol=1e-10, atol=1e-12)


def test_rbf_width_is_the_median_distance():
    pairs = [np.linalg.norm(X[i] - X[j]) for i in range(8) for j in range(i)]
    assert kernels.RBF(X).width_ == pytest.approx(np.median(pairs), rel=1e-12)
    assert kernels.RBF(X + 1e6).width_ == pytest.approx(np.median(pairs), rel=1e-8)
    assert kernels.RBF(X, 2).width_ == 2.0
    missing = np.vstack([X, np.full(3, np.nan)])
    assert kernels.RBF(missing).width_ == pytest.approx(np.median(pairs), rel=1e-12)


def test_rbf_of_new_features_estimates_its_width_anew():
    assert kernels.RBF(X).with_features(3 * X).width_ == pytest.approx(3 * kernels.RBF(X).width_)
    assert kernels.RBF(X, 0.5).with_features(3 * X).width_ == 0.5


def test_chi_square():
    distances = brute(chi2, COUNTS, COUNTS)
    mean = distances[np.triu_indices(8, 1)].mean()
    kernel = kernels.ChiSquare(COUNTS)
    assert kernel.gamma_ == pytest.approx(1 / mean, rel=1e-12)
    np.testing.assert_allclose(kernel.matrix(), np.exp(-distances / mean), rtol=1e-12)
    np.testing.assert_allclose(
        kernels.ChiSquare(COUNTS, 0.3).cross(COUNTS[:2]), np.exp(-0.3 * distances[:2]), rtol=1e-12
    )


def test_cosine_of_tf_idf_is_that_of_scikit_learn():
    from sklearn.feature_extraction.text import TfidfTransformer

    new = np.array([[0, 2, 1, 0, 0], [1, 0, 0, 0, 3]])
    weigh = TfidfTransformer().fit(COUNTS)
    old_rows, new_rows = weigh.transform(COUNTS).toarray(), weigh.transform(new).toarray()
    kernel = kernels.Cosine(sparse.csr_matrix(COUNTS), tfidf=True)
    np.testing.assert_allclose(kernel.matrix(), old_rows @ old_rows.T, rtol=1e-12)
    np.testing.assert_allclose(kernel.cross(new), new_rows @ old_rows.T, rtol=1e-12)
    np.testing.assert_allclose(kernel.idf_, weigh.idf_, rtol=1e-12)


def test_an_item_without_any_tag_lacks_the_modality():
    kernel = kernels.Cosine([[1, 1, 0], [0, 0, 0], [0, 1, 1]])
    np.testing.assert_allclose(kernel.matrix(), [[1, 0, 0.5], [0, 1, 0], [0.5, 0, 1]], atol=1e-12)
    np.testing.assert_array_equal(kernel.cross([[0, 0, 0]]), np.zeros((1, 3)))


def test_bhattacharyya_is_the_integral():
    means, variances = [0.3, -1.0, 2.0], [0.5, 1.0, 3.0]
    densities = [stats.norm(m, np.sqrt(v)).pdf for m, v in zip(means, variances, strict=True)]

    def overlap(p, q):
        return integrate.quad(lambda t: np.sqrt(p(t) * q(t)), -30, 30, limit=200)[0]

    expected = brute(overlap, densities, densities)
    column = np.array(means)[:, None], np.array(variances)[:, None]
    np.testing.assert_allclose(kernels.Bhattacharyya(column).matrix(), expected, rtol=1e-7)
    full = column[0], column[1][:, :, None]
    np.testing.assert_allclose(kernels.Bhattacharyya(full).cross((full[0][:1], full[1][:1])), expected[:1], rtol=1e-7)


def test_diagonal_covariances_are_full_ones():
    means, variances = RNG.normal(size=(5, 3)), RNG.uniform(0.5, 2, size=(5, 3))
    diagonal, full = (
        kernels.Bhattacharyya((means, variances)),
        kernels.Bhattacharyya((means, variances[:, :, None] * np.eye(3))),
    )
    np.testing.assert_allclose(diagonal.matrix(), full.matrix(), rtol=1e-12)


def random_mixtures(count=3, parts=2, d=2):
    root = RNG.normal(size=(count, parts, d, d))
    covariances = root @ np.swapaxes(root, -1, -2) + 0.5 * np.eye(d)
    return RNG.dirichlet(np.ones(parts), size=count), RNG.normal(size=(count, parts, d)), covariances


def density(mixture, points):
    parts = zip(*mixture, strict=True)
    return sum(w * stats.multivariate_normal(m, C).pdf(points) for w, m, C in parts)


def test_expected_likelihood_is_the_mean_of_a_density_under_another():
    weights, means, covariances = features = random_mixtures()
    items = [tuple(part[i] for part in features) for i in range(3)]
    expected, error = np.empty((3, 3)), np.empty((3, 3))
    for i in range(3):
        chosen = RNG.choice(2, size=100_000, p=weights[i])
        roots = np.linalg.cholesky(covariances[i])[chosen]
        points = means[i][chosen] + np.einsum("pab,pb->pa", roots, RNG.normal(size=(100_000, 2)))
        for j in range(3):
            values = density(items[j], points)
            expected[i, j], error[i, j] = values.mean(), values.std() / np.sqrt(len(values))
    K = kernels.ExpectedLikelihood(features, normalise=False).matrix()
    assert (np.abs(K - expected) < 5 * error).all()
    assert (error < 0.03 * K).all()  # the largest of nine is 0.0045 ± 0.0014 of K, and 0.0114 in one of 250 other draws
    size = np.sqrt(np.diag(K))
    np.testing.assert_allclose(kernels.ExpectedLikelihood(features).matrix(), K / np.outer(size, size), rtol=1e-12)


def test_expected_likelihood_survives_many_dimensions():
    weights, means = np.ones((3, 1)), RNG.normal(size=(3, 1, 400))
    kernel = kernels.ExpectedLikelihood((weights, means, np.full((3, 1, 400), 30.0)))
    K = kernel.matrix()
    np.testing.assert_allclose(np.diag(K), 1.0)
    assert (K > 1e-10).all()


def test_filled_up_components_are_never_read():
    weights, means, covariances = (part.copy() for part in random_mixtures(parts=3))
    weights[1] = [0.4, 0.6, 0.0]
    expected = kernels.ExpectedLikelihood((weights, means, covariances)).matrix()
    means[1, 2], covariances[1, 2] = np.nan, np.nan
    np.testing.assert_array_equal(kernels.ExpectedLikelihood((weights, means, covariances)).matrix(), expected)


def test_precomputed_takes_rows_or_a_rule():
    K = X @ X.T
    np.testing.assert_array_equal(kernels.Precomputed(K).cross(Y @ X.T), Y @ X.T)
    np.testing.assert_array_equal(kernels.Precomputed(K, lambda new: new @ X.T).cross(Y), Y @ X.T)
    single = kernels.Precomputed(K.astype(np.float32))
    np.testing.assert_allclose(single.matrix(), K, rtol=1e-5, atol=1e-5)


def test_rounding_is_evened_out():
    K = X @ X.T
    K[1, 2] += 1e-9
    matrix = kernels.Precomputed(K).matrix()
    np.testing.assert_array_equal(matrix, matrix.T)


def test_the_features_that_a_kernel_holds_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        kernels.RBF(X).features[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        kernels.Bhattacharyya((X, np.ones_like(X))).features[1][0] = 2.0


def test_present_marks_what_nan_would():
    marks = np.arange(8) != 3
    blank = X.copy()
    blank[3] = np.nan
    np.testing.assert_array_equal(kernels.RBF(X, present=marks).matrix(), kernels.RBF(blank).matrix())
    K = X @ X.T
    expected = kernels.Linear(blank).matrix()
    np.testing.assert_allclose(kernels.Precomputed(K, present=marks).matrix(), expected, atol=1e-12)


def test_tables_are_features():
    import pandas as pd

    np.testing.assert_array_equal(sm.kernels.Linear(pd.DataFrame(X)).matrix(), sm.kernels.Linear(X).matrix())

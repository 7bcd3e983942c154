"""The methods that the papers compare with: slopes by finite differences, and that each does what its paper is for."""

import numpy as np
import pytest
from reproduce.baselines import (
    lmnn,
    lmnn_objective,
    mlkr,
    mlkr_objective,
    ranked_pairs,
    rca,
    svm_combo,
    svm_combo_objective,
)
from scipy import optimize
from scipy.stats import spearmanr
from sklearn.metrics.pairwise import euclidean_distances

import similitude as sm


@pytest.fixture
def stretched(rng):
    """Two classes apart in the first feature; the other two are noise, one of them ten times as wide."""
    y = np.repeat([0, 1], 30)
    X = rng.normal(size=(60, 3)) * [1.0, 10.0, 1.0]
    X[:, 0] += 4.0 * y
    return X, y


def all_similar(y):
    return np.argwhere(np.triu(y[:, None] == y, 1))


def parted(X, y):
    return sm.separation(euclidean_distances(X), y)


def assert_slope(objective, at):
    value_at = lambda flat: objective(flat.reshape(at.shape))[0]  # noqa: E731
    numeric = optimize.approx_fprime(at.ravel(), value_at, 1e-6).reshape(at.shape)
    np.testing.assert_allclose(objective(at)[1], numeric, rtol=1e-3, atol=1e-4 * np.abs(numeric).max())


def test_rca_whitens_what_varies_within_groups(stretched):
    X, y = stretched
    mapped = X @ rca(X, all_similar(y))
    within = np.cov(np.concatenate([mapped[y == k] - mapped[y == k].mean(0) for k in (0, 1)]).T, bias=True)
    np.testing.assert_allclose(within, np.eye(3), atol=0.1)  # but for the small ridge
    assert parted(mapped, y) > 1.3 * parted(X, y)


def test_rca_joins_chains_of_links_and_leaves_out_the_others(stretched):
    X, y = stretched
    chain = np.c_[np.arange(9), np.arange(1, 10)]
    every = all_similar(y)[(all_similar(y) < 10).all(1)]
    np.testing.assert_allclose(rca(X, chain), rca(X, every))
    moved = X.copy()
    moved[20:] += 100.0  # not linked
    np.testing.assert_allclose(rca(moved, chain), rca(X, chain), rtol=1e-6)


def test_lmnn_has_its_slope_and_parts_classes(stretched, rng):
    X, y = stretched
    same = y[:, None] == y
    targets = np.argsort(np.where(same & ~np.eye(60, dtype=bool), euclidean_distances(X), np.inf), axis=1)[:, :3]
    assert_slope(lambda L: lmnn_objective(L, X, same, targets), 0.1 * rng.normal(size=(3, 3)))
    L = lmnn(X, y)
    assert parted(X @ L.T, y) > parted(X, y)  # 1.09 times as well at the least of sixty draws
    start = np.eye(3) / np.sqrt(np.median(euclidean_distances(X, squared=True)))
    assert lmnn_objective(L, X, same, targets)[0] < lmnn_objective(start, X, same, targets)[0]


def test_lmnn_counts_targets_and_impostors(rng):
    X, y = rng.normal(size=(5, 2)), np.array([0, 0, 0, 1, 1])
    same, targets = y[:, None] == y, np.array([[1], [2], [0], [4], [3]])
    d2 = euclidean_distances(X, squared=True)
    pull = sum(d2[i, targets[i, 0]] for i in range(5))
    push = sum(max(1 + d2[i, targets[i, 0]] - d2[i, j], 0) ** 2 for i in range(5) for j in range(5) if y[i] != y[j])
    np.testing.assert_allclose(lmnn_objective(np.eye(2), X, same, targets)[0], (pull + push) / 5)


def test_mlkr_has_its_slope_and_finds_the_feature_that_tells(rng):
    X = rng.normal(size=(60, 3))
    target = np.tanh(X[:, 0])
    assert_slope(lambda L: mlkr_objective(L, X, target), rng.normal(size=(3, 3)))
    L = mlkr(X, target)
    size = np.linalg.norm(L, axis=0)
    assert size[0] > 1.5 * size[1:].max()  # over eight draws 4 to 16 times
    start = np.eye(3) / np.sqrt(np.median(euclidean_distances(X, squared=True)))
    assert mlkr_objective(L, X, target)[0] < 0.2 * mlkr_objective(start, X, target)[0]


def test_mlkr_leaves_an_item_out_of_its_own_regression():
    X, target = np.array([[0.0], [1.0], [3.0]]), np.array([1.0, 0.0, 0.0])
    by_hand = 0.0
    for i in range(3):
        others = [j for j in range(3) if j != i]
        k = np.exp(-((X[others, 0] - X[i, 0]) ** 2))
        by_hand += (k @ target[others] / k.sum() - target[i]) ** 2
    np.testing.assert_allclose(mlkr_objective(np.eye(1), X, target)[0], by_hand)


def test_svm_combo_has_its_slope_and_ends_where_it_is_0(rng):
    X, y, sure = rng.normal(size=(30, 4)), np.where(rng.random(30) < 0.5, 1, -1), rng.random(30)
    first, second = ranked_pairs(y, sure)
    gap = y[first, None] * (X[first] - X[second])
    objective = lambda flat: svm_combo_objective(flat, X, y, gap, 2.0, 3.0)  # noqa: E731
    assert_slope(objective, rng.normal(size=5))
    found = np.r_[svm_combo(X, y, sure, 2.0, 3.0)]
    assert np.abs(objective(found)[1]).max() < 1e-3
    plain = np.r_[svm_combo(X, y, None, 2.0, 3.0)]
    np.testing.assert_allclose(plain, np.r_[svm_combo(X, y, sure, 2.0, 0.0)], atol=1e-3)  # no confidence, no ranking


def test_ranked_pairs_are_of_one_class_and_in_order(rng):
    y, sure = rng.integers(0, 2, 20), rng.random(20).round(1)
    pairs = set(zip(*ranked_pairs(y, sure), strict=True))
    assert pairs == {(a, b) for a in range(20) for b in range(20) if y[a] == y[b] and sure[a] > sure[b]}


def test_svm_combo_learns_from_how_sure_raters_were(rng):
    agree = []
    for _ in range(12):
        X = rng.normal(size=(200, 6))
        margin = X[:, 0] + 0.5 * X[:, 1]
        y, few = np.where(margin > 0, 1, -1), slice(0, 20)
        both, plain = (svm_combo(X[few], y[few], given, 1.0, 5.0)[0] for given in (np.abs(margin[few]), None))
        agree.append([spearmanr(X[20:] @ w, margin[20:]).statistic for w in (both, plain)])
    told, silent = np.mean(agree, axis=0)
    assert told > silent  # by .10 ± .07 in a draw, / √12

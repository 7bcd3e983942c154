"""Every kernel: symmetric, positive semidefinite, the same for new items as for training items, blind to item order."""

import pickle

import numpy as np
import pytest

from similitude.kernels import Centred, Scaled, Sum, UnitTrace, psd_root
from tests.kernels.registry import M, N, blank_row, cases, take_rows

CASES = cases()
each = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


def assert_equal(values, expected):
    np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-11 * max(1.0, np.abs(expected).max()))


@each
def test_symmetric_and_positive_semidefinite(case):
    K = case.kernel.matrix()
    assert K.shape == (N, N)
    assert case.kernel.n_items == N
    np.testing.assert_array_equal(K, K.T)
    values = np.linalg.eigvalsh(K)
    assert values[-1] > 0
    assert values[0] >= -1e-9 * values[-1]


@each
def test_training_items_are_treated_as_new_ones(case):
    assert_equal(case.kernel.cross(case.features), case.kernel.matrix())


@each
def test_new_items_have_a_row_each_and_go_through_the_root(case):
    rows = case.kernel.cross(case.new)
    assert rows.shape == (M, N)
    assert np.isfinite(rows).all()
    assert np.ptp(rows) > 0
    root = psd_root(case.kernel.matrix())
    assert_equal(root.apply(case.kernel.matrix()), root.factor)


@each
def test_new_items_one_by_one_are_the_same(case):
    together = case.kernel.cross(case.new)
    alone = np.vstack([case.kernel.cross(take_rows(case.new, [i])) for i in range(M)])
    assert_equal(alone, together)


@each
def test_order_of_items_does_not_matter(case):
    order = np.random.default_rng(1).permutation(N)
    permuted = case.kernel.with_features(case.take(case.features, order))
    assert_equal(permuted.matrix(), case.kernel.matrix()[np.ix_(order, order)])
    if case.name != "Precomputed":  # its new items are rows of values, which have the order of the training items
        assert_equal(permuted.cross(case.new), case.kernel.cross(case.new)[:, order])


@each
def test_an_item_without_features_has_an_identity_row(case):
    kernel = case.kernel.with_features(case.blank(case.features, 2))
    np.testing.assert_array_equal(kernel.present, np.arange(N) != 2)
    K = kernel.matrix()
    if isinstance(case.kernel, Centred):
        K = K - K[:, [2]] - K[[2]] + K[2, 2]  # distances are what centring keeps
        inner = kernel.kernel.matrix()
        assert_equal(K, inner - inner[:, [2]] - inner[[2]] + inner[2, 2])
        return
    own = 2.0 if isinstance(case.kernel, Sum) else 0.3 if isinstance(case.kernel, Scaled) else 1.0
    own = 1.0 / kernel.trace_ if isinstance(case.kernel, UnitTrace) else own
    np.testing.assert_allclose(K[2], own * np.eye(N)[2], rtol=1e-15)
    others = np.flatnonzero(kernel.present)
    alone = case.kernel.with_features(case.take(case.features, others))
    if not isinstance(case.kernel, UnitTrace):  # its scale takes in the identity row
        assert_equal(K[np.ix_(others, others)], alone.matrix())
    assert (kernel.cross(case.features if case.name != "Precomputed" else np.ones((N, N)))[:, 2] == 0).all()


@each
def test_a_new_item_without_features_is_like_nothing(case):
    rows = case.kernel.cross(blank_row(case.new, 1))
    full = case.kernel.cross(case.new)
    assert_equal(rows[[0, 2, 3]], full[[0, 2, 3]])
    if isinstance(case.kernel, Centred):
        means = case.kernel.kernel.matrix().mean(0)
        assert_equal(rows[1], means.mean() - means)
    else:
        assert (rows[1] == 0).all()


@each
def test_it_is_frozen_and_what_it_returns_is_not(case):
    before = case.kernel.matrix()
    case.kernel.matrix()[:] = 0.0
    np.testing.assert_array_equal(case.kernel.matrix(), before)
    with pytest.raises(AttributeError):
        case.kernel.present = None
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(case.kernel)).matrix(), before)


@each
def test_features_are_copied(case):
    features = case.take(case.features, np.arange(N))
    kernel = case.kernel.with_features(features)
    before = kernel.matrix()
    parts = list(features.values()) if isinstance(features, dict) else features
    for part in [parts] if isinstance(parts, np.ndarray) else parts:
        part[:] = 1.0
    np.testing.assert_array_equal(kernel.matrix(), before)


@each
def test_it_says_what_it_is(case):
    assert repr(case.kernel) == f"{type(case.kernel).__name__}({N} items)"
    first = type(case.kernel).__doc__.splitlines()[0]
    assert "=" in first, "the first line of a kernel's docstring is its formula"

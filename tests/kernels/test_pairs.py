"""Kernels over pairs: definition, positive semidefinite, symmetric in a pair; the printed ones for the record."""

import numpy as np
import pytest

import similitude as sm
from similitude.kernels.matrices import check_psd

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 3))
PAIRS = np.array([(i, j) for i in range(12) for j in range(i + 1, 12)])
BASES = {
    "linear": sm.kernels.Linear(X),
    "rbf": sm.kernels.RBF(X),
    "polynomial": sm.kernels.Polynomial(X, degree=3),
}
SYMMETRIC = [sm.kernels.MetricPairs, sm.kernels.ProductPairs, sm.kernels.SumPairs]
DEFINITIONS = {
    sm.kernels.MetricPairs: lambda k, a, b, c, d: (k(a, c) - k(a, d) - k(b, c) + k(b, d)) ** 2,
    sm.kernels.ProductPairs: lambda k, a, b, c, d: k(a, c) * k(b, d) + k(a, d) * k(b, c),
    sm.kernels.SumPairs: lambda k, a, b, c, d: k(a, c) + k(b, d) + k(a, d) + k(b, c),
    sm.kernels.PrintedProduct: lambda k, a, b, c, d: k(a, b) * k(c, d),
    sm.kernels.PrintedSum: lambda k, a, b, c, d: k(a, b) + k(c, d),
}


def tensor(K, pairs):
    """The kernel of Proposition 4.1 as it stands: k(a, c) k(b, d)."""
    a, b = pairs.T
    return K[np.ix_(a, a)] * K[np.ix_(b, b)]


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("kind", DEFINITIONS, ids=lambda kind: kind.__name__)
def test_matrix_is_the_definition(kind, base):
    K, some = BASES[base].matrix(), PAIRS[::7]
    expected = [[DEFINITIONS[kind](lambda x, y: K[x, y], a, b, c, d) for c, d in some] for a, b in some]
    np.testing.assert_allclose(kind(BASES[base]).matrix(some), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("kind", SYMMETRIC, ids=lambda kind: kind.__name__)
def test_positive_semidefinite_and_symmetric_within_a_pair(kind, base):
    pair_kernel = kind(BASES[base])
    G = pair_kernel.matrix(PAIRS)
    check_psd(G, "G")
    swapped = np.where((np.arange(len(PAIRS)) % 2 == 0)[:, None], PAIRS, PAIRS[:, ::-1])
    np.testing.assert_allclose(pair_kernel.matrix(swapped), G, rtol=1e-9, atol=1e-9 * np.abs(G).max())


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("kind", SYMMETRIC, ids=lambda kind: kind.__name__)
def test_features_give_the_kernels_values(kind, base):
    """The gradient of the model by its parameters is the pair's feature vector: its inner products are the kernel."""
    from similitude.engine.backend import CPU

    root = sm.kernels.psd_root(BASES[base].matrix())
    model = kind.model(root.factor)
    weight = np.eye(len(PAIRS))[::5]
    feature = np.array([model.pullback(np.zeros(model.size), PAIRS, row, CPU()) for row in weight])
    expected = kind(BASES[base]).matrix(PAIRS[::5])
    np.testing.assert_allclose(feature @ feature.T, expected, rtol=1e-6, atol=1e-8 * np.abs(expected).max())
    params = feature[3]
    table = kind.table(root.factor, root.factor, params)
    np.testing.assert_allclose(table[tuple(PAIRS.T)], model.sqdist(params, PAIRS, CPU()), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(table, table.T, rtol=1e-9, atol=1e-9 * np.abs(table).max())


@pytest.mark.parametrize("kind", SYMMETRIC, ids=lambda kind: kind.__name__)
def test_new_pairs_of_known_items_have_the_known_values(kind):
    pair_kernel = kind(BASES["rbf"])
    some = PAIRS[::5]
    found = pair_kernel.cross(X[some[:, 0]], X[some[:, 1]], PAIRS)
    np.testing.assert_allclose(found, pair_kernel.matrix(PAIRS)[::5], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(pair_kernel.cross(X[some[:, 1]], X[some[:, 0]], PAIRS), found, rtol=1e-9, atol=1e-12)


def test_an_item_and_itself_are_at_zero_for_the_metric_kernel_alone():
    same = np.array([[0, 0], [3, 3]])
    assert not sm.kernels.MetricPairs(BASES["rbf"]).matrix(same).any()
    assert sm.kernels.ProductPairs(BASES["rbf"]).matrix(same).all()


def test_the_printed_forms_are_no_use():
    product = sm.kernels.PrintedProduct(BASES["rbf"]).matrix(PAIRS)
    assert np.linalg.matrix_rank(product) == 1
    values = np.linalg.eigvalsh(sm.kernels.PrintedSum(BASES["rbf"]).matrix(PAIRS))
    assert values[0] < -0.01 * values[-1]
    with pytest.raises(ValueError, match="not positive semidefinite"):
        check_psd(sm.kernels.PrintedSum(BASES["rbf"]).matrix(PAIRS), "G")


def test_the_propositions_kernel_changes_when_a_pair_is_swapped():
    K = BASES["rbf"].matrix()
    swapped = PAIRS.copy()
    swapped[0] = swapped[0, ::-1]
    check_psd(tensor(K, PAIRS), "G")
    assert np.abs(tensor(K, swapped) - tensor(K, PAIRS)).max() > 0.01


def test_fractional_powers_are_no_kernels():
    K = BASES["polynomial"].matrix()
    root = sm.kernels.Cosine(RNG.normal(size=(12, 3))).matrix()
    assert np.linalg.eigvalsh(np.abs(root) ** 0.5)[0] < -1e-3
    assert np.linalg.eigvalsh(K**2)[0] > -1e-6 * np.linalg.eigvalsh(K**2)[-1]


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([[0, 1, 2]], "pairs: expected rows of two"),
        ([[0.0, 1.0]], "pairs: expected rows of two"),
        ([[0, 12]], "pairs: expected items from 0 to 11, found 0 to 12"),
    ],
)
def test_bad_pairs_are_named(pairs, message):
    with pytest.raises(ValueError, match=message):
        sm.kernels.MetricPairs(X).matrix(pairs)


def test_bad_features_are_named():
    with pytest.raises(ValueError, match="second: expected features of 3 items, as in first, found 2"):
        sm.kernels.MetricPairs(X).cross(X[:3], X[:2], PAIRS)
    with pytest.raises(TypeError, match="features"):
        sm.kernels.MetricPairs(None)
    assert repr(sm.kernels.MetricPairs(X)) == "MetricPairs(Linear(12 items))"


@pytest.mark.parametrize("powers", [(1, 1), (2, 1), (1, 3)])
def test_two_kernels_with_whole_powers_are_a_kernel_over_pairs(powers):
    one, other = list(BASES.values())[:2]
    pair_kernel = sm.kernels.TensorPairs(one, other, powers=powers)
    G, K, L = pair_kernel.matrix(PAIRS), one.matrix() ** powers[0], other.matrix() ** powers[1]
    check_psd(G, "G")
    (a, b), (c, d) = PAIRS[3], PAIRS[8]
    expected = sum(K[i, k] * L[j, m] for i, j in ((a, b), (b, a)) for k, m in ((c, d), (d, c)))
    assert G[3, 8] == pytest.approx(expected)
    np.testing.assert_allclose(pair_kernel.matrix(PAIRS[:, ::-1]), G, rtol=1e-9, atol=1e-9 * np.abs(G).max())


def test_other_powers_and_items_are_refused():
    X = [[0.0], [1.0], [3.0]]
    with pytest.raises(ValueError, match=r"powers: expected two whole numbers.*0\.5"):
        sm.kernels.TensorPairs(X, X, powers=(0.5, 1))
    with pytest.raises(ValueError, match="other: expected 3 items"):
        sm.kernels.TensorPairs(X, X[:2])

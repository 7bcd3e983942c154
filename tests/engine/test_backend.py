"""The compiled kernels against the numpy reference, merged and unmerged, on any number of threads."""

from dataclasses import replace

import numpy as np
import pytest

import similitude as sm
from similitude.engine.backend import CPU, _chunks
from similitude.engine.terms import ComparisonLoss, Formula, logistic
from similitude.graph.build import build_graph
from tests.contracts.registry import losses

LOSSES = losses()
IDS = [f"{loss.scale.name}-{loss.shape.name}" for loss in LOSSES]


def feedback(n_items=40, m=3000, seed=0):
    rng = np.random.default_rng(seed)
    rows = np.array([rng.permutation(n_items)[:4] for _ in range(m)])
    rows[: m // 2, 2] = rows[: m // 2, 0]  # half triplets, half quadruplets
    return sm.Comparisons.from_quadruplets(rows, weight=rng.uniform(0.1, 2, m))


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES, ids=IDS)
@pytest.mark.parametrize("merged", [True, False])
def test_embedding_gradient_by_definition(loss, merged):
    graph = replace(build_graph(feedback()), merged=merged)
    X = np.random.default_rng(1).normal(size=(40, 3))
    d2 = ((X[graph.pairs[:, 0]] - X[graph.pairs[:, 1]]) ** 2).sum(1)
    value, w = loss.evaluate(d2, graph.near, graph.far, graph.weight)
    laplacian = np.zeros((40, 40))
    for (i, j), slope in zip(graph.pairs, w, strict=True):
        laplacian[[i, j], [i, j]] += slope
        laplacian[[i, j], [j, i]] -= slope
    found_value, found = CPU().embedding(loss, X, graph)
    assert found_value == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(found, laplacian @ X, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES[:4], ids=IDS[:4])
@pytest.mark.parametrize("merged", [True, False])
def test_same_bits_on_any_number_of_threads(loss, merged):
    graph = replace(build_graph(feedback(60, 40_000)), merged=merged)
    X = np.random.default_rng(1).normal(size=(60, 3))
    assert len(_chunks(len(graph), X.size)) > 3, "the problem is too small to be cut into chunks"
    results = []
    for count in (1, 2, 3, 7):
        with sm.limit_threads(count):
            results.append(CPU().embedding(loss, X, graph))
    for value, gradient in results[1:]:
        assert value == results[0][0]
        assert np.array_equal(gradient, results[0][1])


@pytest.mark.parametrize("steps", [1, 3000])
def test_ratios_are_summed_as_logs_of_products(steps):
    """CKL's pass takes the log of many ratios at once: none may overflow, whatever the weights."""
    rng = np.random.default_rng(0)
    rows = np.array([rng.permutation(300)[:3] for _ in range(6000)])
    given = np.repeat(rng.choice([0.5, 1.0, 2.0], 6000 // steps), steps)
    graph = replace(build_graph(sm.Comparisons.from_triplets(rows, weight=given)), merged=False)
    weight = graph.weight
    loss, X = sm.CKL(2).comparison_loss(), 100.0 * rng.normal(size=(300, 2))
    value, product = CPU().embedding(loss, X, graph)
    near, far = (CPU().sqdist(X, pairs) for pairs in (graph.near_pairs, graph.far_pairs))
    assert value == pytest.approx(np.average(loss.shape(loss.margin(near, far))[0], weights=weight), rel=1e-12)
    slopes = [
        CPU().laplacian(X, pairs, w)
        for pairs, w in zip(
            (graph.near_pairs, graph.far_pairs), ratio_slopes(near, far, weight / weight.sum()), strict=True
        )
    ]
    np.testing.assert_allclose(product, sum(slopes), rtol=1e-9, atol=1e-15)


def ratio_slopes(near, far, weight, mu=0.05):
    a, b = mu + near, mu + far
    return weight / (a + b), -weight * a / (b * (a + b))


def test_a_formula_of_the_users_own_is_evaluated_by_numpy():
    def cubic(t, a):
        return a * t**3, 3 * a * t**2, 6 * a * t

    graph = build_graph(feedback())
    loss = ComparisonLoss(Formula(cubic, 0.2), Formula(logistic))
    X = np.random.default_rng(1).normal(size=(40, 2))
    step = 1e-6 * np.random.default_rng(2).normal(size=X.shape)
    numeric = CPU().embedding(loss, X + step, graph)[0] - CPU().embedding(loss, X - step, graph)[0]
    assert 2 * (2 * CPU().embedding(loss, X, graph)[1] * step).sum() == pytest.approx(numeric, rel=1e-5)


def test_threads_come_from_the_block_then_the_environment(monkeypatch):
    from similitude.engine.threads import thread_count

    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert thread_count() == 1
    with sm.limit_threads(5):
        assert thread_count() == 5
    with pytest.raises(ValueError, match="at least 1"), sm.limit_threads(0):
        pass

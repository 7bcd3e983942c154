"""Fits in shards: the same objective, gradient and positions as in memory; starts, weights, checks, kernels."""

from itertools import pairwise

import numpy as np
import pytest

import similitude as sm
from similitude.engine.comparison_terms import Compared, ComparedInShards
from similitude.engine.joint_terms import Judged, Linked
from similitude.engine.models import Matrix, Positions
from similitude.engine.penalties import Ridge
from similitude.engine.problem import Problem
from similitude.engine.solvers.lbfgs import lbfgs
from similitude.graph.build import build_graph
from similitude.graph.counts import count_shards
from similitude.graph.passes import check_shards
from similitude.methods import sharded

METHODS = [sm.STE, sm.TSTE, sm.CKL, sm.SOE, sm.GNMDS]

pytest.importorskip("pyarrow", reason="folders of comparisons need pyarrow")


@pytest.fixture(scope="module")
def answers():
    truth = np.random.default_rng(0).normal(size=(40, 2))
    c = sm.simulate(truth, 6000, sharpness=1.0, random_state=1)
    return c.reweight(np.random.default_rng(2).choice([0.0, 0.5, 1.0, 2.0], len(c)))


@pytest.fixture(scope="module")
def dataset(answers, tmp_path_factory):
    folder = tmp_path_factory.mktemp("dataset") / "answers"
    with sm.ComparisonWriter(folder, group_rows=200) as writer:
        writer.write(answers)
    return sm.ComparisonDataset(folder, shard_rows=500)


@pytest.mark.parametrize("method", METHODS)
def test_value_and_gradient_are_those_of_the_whole(method, answers, dataset):
    graph, loss, params = build_graph(answers), method(2).comparison_loss(), np.random.default_rng(3).normal(size=80)
    whole = Problem(Positions(40, 2), Compared(graph, loss), Ridge(0.1, 40))
    said = ComparedInShards(dataset, loss, float(answers.weight.sum()))
    parts = Problem(Positions(40, 2), said, Ridge(0.1, 40))
    value, gradient = whole.value_and_gradient(params)
    assert dataset.n_shards == 10
    assert parts.value(params) == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(parts.value_and_gradient(params)[1], gradient, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_shards_beside_links_and_raters_are_the_sum_in_memory(order, answers, dataset):
    """What is not in shards is evaluated in memory beside them: the slopes come back by the same pullback."""
    rng, loss = np.random.default_rng(4), sm.STE(2).comparison_loss()
    pairs = np.sort(rng.permutation(40)[:20].reshape(10, 2), axis=1)
    links = Linked(loss.scale, pairs, rng.random(10) < 0.5, rng.uniform(0.5, 2.0, 10))
    some = answers.select(np.arange(300))
    raters = Judged(loss, some.near, some.far, np.ones(300), np.arange(300) % 3, 3)
    whole, parts = (
        Problem(
            Positions(40, 2),
            [[said, links, raters][k] for k in order],
            Ridge(0.1, 40),
            np.array([1.0, 3.0, 0.5])[[*order]],
        )
        for said in (
            Compared(build_graph(answers), loss),
            ComparedInShards(dataset, loss, float(answers.weight.sum())),
        )
    )
    at = whole.start(rng.normal(size=80)) + 0.1
    value, gradient = whole.value_and_gradient(at)
    assert len(at) == 80 + 2 + 3
    assert parts.value(at) == pytest.approx(value, rel=1e-9)
    np.testing.assert_allclose(parts.value_and_gradient(at)[1], gradient, rtol=1e-9, atol=1e-12)
    assert lbfgs(parts, at).value == pytest.approx(lbfgs(whole, at).value, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_fit_in_shards_ends_where_a_fit_in_memory_does(method, answers, dataset):
    settings = {"random_state": 0, "tol": 1e-10}
    whole, parts = (method(2, **settings).fit(feedback) for feedback in (answers, dataset))
    assert parts.penalty_ == pytest.approx(whole.penalty_)
    assert parts.objective_ <= whole.objective_ * (1 + 1e-3)  # 1e-10; 3e-5 in a draw where one item has two places
    assert parts.score(dataset) == pytest.approx(parts.score(answers), abs=1e-12)
    assert np.array_equal(parts.embedding_, method(2, **settings).fit(dataset).embedding_)


def cube(m, _):
    """A shape of one's own: max(0, 1 - m)³."""
    short = np.maximum(1.0 - m, 0.0)
    return short**3, -3.0 * short**2, 6.0 * short


@pytest.mark.parametrize("solver", ["lbfgs", "minibatch"])
def test_a_loss_of_ones_own_is_fitted_in_shards(solver, answers, dataset):
    whole = sm.Embedding(2, loss=cube, random_state=0).fit(answers)
    parts = sm.Embedding(2, loss=cube, solver=solver, random_state=0).fit(dataset)
    assert parts.objective_ <= whole.objective_ * (1.001 if solver == "lbfgs" else 1.2)


def test_a_model_that_shards_cannot_fit_is_named(dataset):
    with pytest.raises(TypeError, match="model: shards are fitted by positions of the items, found Matrix"):
        sm.Embedding(model=Matrix(40)).fit(dataset)


def test_minibatches_from_disk_come_close(answers, dataset):
    whole = sm.STE(2, random_state=0).fit(answers)
    near = sm.STE(2, random_state=0, solver="minibatch").fit(dataset)
    assert near.status_ == "planned"
    assert near.objective_ < 1.02 * whole.objective_
    again = sm.STE(2, random_state=0, solver="minibatch").fit(dataset)
    assert np.array_equal(near.embedding_, again.embedding_)


def test_minibatches_are_taken_where_lbfgs_does_not_fit(dataset):
    small, wide, huge = (Positions(n, 16) for n in (10**5, 10**6, 10**7))
    assert [sharded.lbfgs_memory(model.size) for model in (small, wide)] == [12, 5]
    assert [sharded.by_minibatch("auto", dataset, model) for model in (small, wide, huge)] == [False, False, True]
    assert sharded.by_minibatch("minibatch", dataset, small)
    assert not sharded.by_minibatch("lbfgs", dataset, huge)


def test_a_start_that_is_given_is_where_it_starts(dataset):
    init = np.random.default_rng(0).normal(size=(40, 2))
    seen = []
    sm.STE(2, init=init).fit(dataset, callback=lambda k, value: seen.append((k, value)))
    assert [k for k, _ in seen] == list(range(1, len(seen) + 1))
    assert all(later <= earlier for (_, earlier), (_, later) in pairwise(seen))
    with pytest.raises(ValueError, match=r"init: expected finite positions of shape \(40, 2\)"):
        sm.STE(2, init=init[:5]).fit(dataset)


def test_gaps_are_told_and_wrong_arguments_refused(tmp_path, dataset):
    with sm.ComparisonWriter(tmp_path / "a", n_items=9, group_rows=2) as writer:
        writer.write([(0, 1, 2), (1, 0, 2), (3, 4, 5), (4, 3, 5), (5, 4, 3)])
    split = sm.ComparisonDataset(tmp_path / "a", shard_rows=2)
    with pytest.warns(sm.FeedbackWarning) as told:
        X = sm.STE(2, random_state=0).fit(split).embedding_
    assert any("3 of 9 items were never compared" in str(warning.message) for warning in told)
    assert any("2 groups" in str(warning.message) for warning in told)
    assert not X[6:].any()
    with pytest.raises(ValueError, match="leave y out"):
        sm.STE(2).fit(dataset, np.ones(len(dataset)))
    with pytest.raises(ValueError, match="n_items: 50 was given"):
        sm.STE(2, n_items=50).fit(dataset)


def test_counts_are_those_of_the_graph(answers, dataset):
    counts, graph = count_shards(dataset), build_graph(answers)
    assert np.array_equal(counts.occurrences, graph.occurrences)
    assert np.array_equal(counts.components, graph.components)
    assert (counts.comparisons, counts.weight) == (len(graph), pytest.approx(graph.weight.sum()))


def test_rows_that_compare_an_item_with_itself_are_counted(tmp_path):
    import pandas as pd

    pd.DataFrame({"i": [0, 1, 2, 0], "j": [1, 1, 0, 1], "k": [2, 0, 0, 1]}).to_parquet(tmp_path / "one.parquet")
    with pytest.raises(ValueError, match="3 rows compare an item or a pair with itself"):
        count_shards(sm.ComparisonDataset(tmp_path))


@pytest.mark.parametrize("rows_per_pass", [10**6, 700])
def test_passes_find_what_check_finds(tmp_path, rows_per_pass):
    truth = np.random.default_rng(0).normal(size=(8, 2))
    c = sm.simulate(truth, 2000, form="quadruplet", sharpness=0.5, random_state=1)
    c = c.reweight(np.random.default_rng(2).choice([0.0, 0.5, 1.0, 2.0], len(c)))
    with sm.ComparisonWriter(tmp_path / "a", n_items=10, group_rows=100) as writer:
        writer.write(c)
    report = check_shards(sm.ComparisonDataset(tmp_path / "a", shard_rows=300), rows_per_pass=rows_per_pass)
    whole = sm.check(c[c.weight > 0])
    assert (report.contradicted, report.outvoted) == (whole.contradicted, pytest.approx(whole.outvoted))
    assert report.repeats.questions == whole.repeats.questions
    for ours, theirs in ((report.repeats.agreement, whole.repeats.agreement), (report.ceiling, whole.ceiling)):
        assert (ours.value, ours.low, ours.high) == pytest.approx((theirs.value, theirs.low, theirs.high))
    assert (report.groups, report.never, report.never_compared) == ((8,), 2, ("8", "9"))
    assert "items never compared" in report.doubts()[-1]
    assert "circles" in str(report)
    assert report.to_dict()["contradicted"] == report.contradicted
    assert sm.check(sm.ComparisonDataset(tmp_path / "a")).outvoted == pytest.approx(report.outvoted)


@pytest.mark.parametrize("kind", ["k1", "k2"])
def test_kernel_features_are_those_of_the_whole(kind, answers, dataset):
    whole, parts = (sm.ComparisonKernel(kind).fit(feedback) for feedback in (answers, dataset))
    assert np.array_equal(whole.columns_, parts.columns_)
    np.testing.assert_allclose(parts.features_.toarray(), whole.features_.toarray(), atol=1e-12)
    np.testing.assert_allclose(parts.transform(answers).toarray(), whole.transform(answers).toarray(), atol=1e-12)


@pytest.mark.parametrize("kind", ["k1", "k2"])
def test_landmark_features_are_those_of_the_whole(kind, tmp_path):
    truth = np.random.default_rng(0).normal(size=(12, 2))
    rows = sm.landmark_questions(12, [0, 3, 5, 9], kind=kind, random_state=1)
    c = sm.simulate(truth, questions=rows, sharpness=1.0, random_state=2)
    with sm.ComparisonWriter(tmp_path / "a", group_rows=10) as writer:
        writer.write(c)
    dataset = sm.ComparisonDataset(tmp_path / "a", shard_rows=30)
    whole, parts = (sm.ComparisonKernel(kind, landmarks=[0, 3, 5, 9]).fit(feedback) for feedback in (c, dataset))
    assert np.array_equal(whole.features_, parts.features_)
    with pytest.raises(ValueError, match="do not follow the design"):
        sm.ComparisonKernel(kind, landmarks=[1, 2]).fit(dataset)


def test_kernels_refuse_comparisons_without_a_head(tmp_path):
    with sm.ComparisonWriter(tmp_path / "a") as writer:
        writer.write([(0, 1, 2, 3)])
    with pytest.raises(ValueError, match="found 1 that share none"):
        sm.ComparisonKernel().fit(sm.ComparisonDataset(tmp_path / "a"))


def test_a_dataset_by_position_is_no_test_of_a_model_with_names(answers, dataset):
    model = sm.STE(2, n_init=1, random_state=0).fit(answers.with_items([f"item {k}" for k in range(40)]))
    with pytest.raises(ValueError, match="by name, the comparisons theirs by position"):
        model.score(dataset)

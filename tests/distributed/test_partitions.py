"""A cluster of two processes gives the bits of one, loses a worker and goes on, and runs joblib's work."""

import os
import signal

import joblib
import numpy as np
import pytest

import similitude as sm
from tests.systems import unix_only

pytestmark = pytest.mark.slow  # a process for each test

distributed = pytest.importorskip("distributed", reason="clusters need Dask: pip install 'similitude[distributed]'")
pytest.importorskip("pyarrow", reason="folders of comparisons need pyarrow")

# A dead worker is asked for its data until the connection times out: 30 s by default, too long for a test.
TIMEOUT = {"distributed.comm.timeouts.connect": "2s"}


@pytest.fixture(scope="module")
def client():
    import dask

    environment = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "2s"}
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with (
        dask.config.set(TIMEOUT),
        distributed.LocalCluster(**settings, env=environment, silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def answers():
    truth = np.random.default_rng(0).normal(size=(30, 2))
    return sm.simulate(truth, 3000, sharpness=1.0, random_state=1)


@pytest.fixture(scope="module")
def dataset(answers, tmp_path_factory):
    folder = tmp_path_factory.mktemp("dataset") / "answers"
    with sm.ComparisonWriter(folder, group_rows=100) as writer:
        writer.write(answers)
    return sm.ComparisonDataset(folder, shard_rows=300)


def test_a_fit_check_and_score_have_the_bits_of_one_process(client, dataset):
    spread = sm.spread(str(dataset.path))
    assert (len(spread), spread.n_items) == (len(dataset), dataset.n_items)
    spread = sm.spread(dataset, client=client)
    assert spread.n_shards == dataset.n_shards == 10
    one, many = (sm.STE(2, random_state=0).fit(feedback) for feedback in (dataset, spread))
    assert np.array_equal(one.embedding_, many.embedding_)
    assert one.score(dataset) == many.score(spread)
    assert str(sm.check(spread)) == str(sm.check(dataset))


@unix_only
def test_a_lost_worker_costs_nothing_but_time(client, dataset):
    init = np.random.default_rng(0).normal(size=(30, 2))
    killed = []

    def kill(iteration, _):
        if iteration == 3 and not killed:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    whole = sm.STE(2, init=init).fit(dataset)
    survived = sm.STE(2, init=init).fit(sm.spread(dataset), callback=kill)
    assert killed
    assert survived.n_iter_ > 3
    assert np.array_equal(whole.embedding_, survived.embedding_)
    client.wait_for_workers(2)


def test_partitions_of_a_dask_table(client, answers, dataset):
    frames = pytest.importorskip("dask.dataframe", reason="dask tables need dask[dataframe]")
    table = answers.to_frame()[["near_a", "near_b", "far_a", "far_b", "weight"]]
    names = [f"item{k}" for k in range(30)]
    spread = sm.spread(frames.from_pandas(table, npartitions=3), names=names)
    assert spread.sizes == (1000, 1000, 1000)
    settings = {"init": np.random.default_rng(0).normal(size=(30, 2)), "tol": 1e-12}
    found, whole = (sm.STE(2, **settings).fit(feedback) for feedback in (spread, dataset))
    assert found.similarity_.names == tuple(names)
    np.testing.assert_allclose(found.embedding_, whole.embedding_, atol=1e-4)
    with pytest.raises(ValueError, match="expected columns near_a"):
        sm.spread(frames.from_pandas(table[["near_a"]], npartitions=1))


@pytest.mark.parametrize("kind", ["k1", "k2"])
def test_kernel_features_over_partitions(client, answers, dataset, kind):
    spread, whole = (sm.ComparisonKernel(kind).fit(feedback) for feedback in (sm.spread(dataset), answers))
    np.testing.assert_allclose(spread.features_.toarray(), whole.features_.toarray(), atol=1e-12)


@pytest.mark.own_seed  # the cluster's processes draw as they always do
def test_validation_and_curves_spread_without_a_change_of_code(client, answers):
    def tables():
        model = sm.STE(2, random_state=0)
        validated = sm.cross_validate(model, answers, n_folds=3, random_state=0)
        path = sm.penalty_path(model, answers, [0.01, 0.1], n_folds=2, random_state=0)
        learned = sm.learning_curve(model, answers, sizes=[500, 1000], n_repeats=2, random_state=0)
        replayed = sm.active_curve(model, np.eye(6), strategies=["random"], rounds=2, n_repeats=2, random_state=0)
        return [table.drop(columns="seconds", errors="ignore") for table in (validated, path, learned, replayed)]

    here = tables()
    with joblib.parallel_config(backend="dask"):
        there = tables()
    for one, two in zip(here, there, strict=True):
        assert one.equals(two)


@pytest.mark.own_seed  # the cluster's processes draw as they always do
def test_a_choice_and_its_doubt_spread_with_the_bits_of_one_process(client):
    few = sm.simulate(np.random.default_rng(0).normal(size=(12, 2)), 400, sharpness=1.5, random_state=1)
    settings = {"candidates": [sm.STE(), sm.CKL()], "dimensions": (1, 2), "n_folds": 2, "random_state": 0}

    def chosen():
        model = sm.AutoSimilarity(**settings).fit(few)
        found = sm.uncertainty(model, few, n=3, random_state=0)
        return model.embedding_, model.tried_.drop(columns="seconds"), found.draws, found.accuracy

    here = chosen()
    with joblib.parallel_config(backend="dask"):
        there = chosen()
    assert np.array_equal(here[0], there[0])
    assert here[1].equals(there[1])
    assert np.array_equal(here[2], there[2])
    assert here[3] == there[3]


def test_minibatches_are_refused_on_a_cluster(client, dataset):
    with pytest.raises(TypeError, match="minibatch reads a folder in one process"):
        sm.STE(2, solver="minibatch").fit(sm.spread(dataset))


def test_what_cannot_be_spread_is_refused(client, dataset):
    with pytest.raises(TypeError, match="expected a ComparisonDataset, a folder or a dask DataFrame, found list"):
        sm.spread([1, 2, 3])
    with pytest.raises(ValueError, match="the folder knows its items"):
        sm.spread(dataset, n_items=50)


def test_without_a_client_it_says_so(dataset, monkeypatch):
    monkeypatch.setattr(distributed, "get_client", lambda: (_ for _ in ()).throw(ValueError("none")))
    with pytest.raises(ValueError, match=r"client: there is none in use; make one with distributed.Client"):
        sm.spread(dataset)

"""Agreement of orders: draws by counting are draws by repeating, a sample says how far off it may be, progress."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.spatial import distance

import similitude as sm
from similitude.evaluate import rank_agreement
from similitude.evaluate.compiled import matched_product, repeated_rank_correlation
from similitude.evaluate.rank_agreement import PairSample, every_pair
from similitude.evaluate.views import View

LOSS = sm.STE(2).comparison_loss()


def two_maps(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, X + 0.5 * rng.normal(size=X.shape)


def views(*maps):
    return [View.of(sm.Similarity(X, LOSS), "map") for X in maps]


@pytest.mark.parametrize("ties", [False, True])
def test_counting_items_is_repeating_them(ties):
    rng = np.random.default_rng(1)
    tables = [np.abs(table + table.T) for table in rng.normal(size=(2, 12, 12))]
    if ties:
        tables = [np.round(table) for table in tables]
    drawn = rng.integers(0, 12, 12)
    a, b = drawn[every_pair(12)].T
    kept = a != b
    expected = stats.spearmanr(*(table[a, b][kept] for table in tables)).statistic
    pairs = every_pair(12)
    codes = [np.unique(table[tuple(pairs.T)], return_inverse=True)[1] for table in tables]
    times = np.bincount(drawn, minlength=12).astype(float)
    assert repeated_rank_correlation(pairs, *codes, times) == pytest.approx(expected)


def test_what_has_no_order_has_no_correlation():
    pairs = every_pair(5)
    same, other = np.zeros(len(pairs), int), np.arange(len(pairs))
    assert np.isnan(repeated_rank_correlation(pairs, same, other, np.ones(5)))
    assert np.isnan(repeated_rank_correlation(pairs, other, other, np.array([5.0, 0, 0, 0, 0])))


def test_a_matching_is_the_second_table_in_another_order():
    rng = np.random.default_rng(2)
    first, second = (table + table.T for table in rng.normal(size=(2, 9, 9)))
    order, upper = rng.permutation(9), np.triu_indices(9, 1)
    expected = first[upper] @ second[np.ix_(order, order)][upper]
    assert matched_product(first, second, order) == pytest.approx(expected)


def test_a_sample_of_pairs_is_as_near_as_it_says(monkeypatch):
    X, Y = two_maps(300)
    true = stats.spearmanr(distance.pdist(X), distance.pdist(Y)).statistic
    exact = PairSample.of(*views(X, Y), np.random.default_rng(0))
    assert (exact.complete, exact.error()) == (True, 0.0)
    assert exact.correlation() == pytest.approx(true)
    monkeypatch.setattr(rank_agreement, "ALL_ITEMS", 100)
    monkeypatch.setattr(rank_agreement, "_PAIRS", 5000)
    off, said = np.array(
        [
            (one.correlation() - true, one.error())
            for one in (PairSample.of(*views(X, Y), np.random.default_rng(k)) for k in range(40))
        ]
    ).T
    # the error of 20 batches is known to 16%, the scatter of 40 samples to 11%: four standard errors of the two
    assert 0.4 < np.sqrt((off**2).mean()) / said.mean() < 1.8
    assert 0.002 < said.mean() < 0.03


def test_groups_of_ranks_hardly_change_an_interval(monkeypatch):
    sample = PairSample.of(*views(*two_maps(120)), np.random.default_rng(0))
    whole = sample.interval(40, 0.9, np.random.default_rng(1), lambda *_: None)
    monkeypatch.setattr(rank_agreement, "_GROUPS", 1024)  # of 7,140 pairs
    grouped = sample.interval(40, 0.9, np.random.default_rng(1), lambda *_: None)
    np.testing.assert_allclose(grouped, whole, atol=5e-4)  # 4e-5, and ten times less with as many groups as in use


@pytest.mark.slow
def test_many_items_are_compared_by_drawing_and_it_is_said():
    X, Y = two_maps(1500)
    told = []
    found = sm.compare(
        sm.Similarity(X, LOSS), sm.Similarity(Y, LOSS), n_resamples=60, random_state=0,
        callback=lambda done, of: told.append((done, of)),
    )  # fmt: skip
    true = stats.spearmanr(distance.pdist(X), distance.pdist(Y)).statistic
    assert abs(found.correlation - true) < 5 * found.error
    assert found.low < true < found.high
    assert found.distances.shape == (2, 500_000)
    assert "500,000 of 1,124,250" in str(found)
    assert "of pairs drawn" in str(replace(found, error=0.0))  # as of a model and itself: it is said all the same
    assert found.maps.shape == (2, 1500, 2)
    assert found.to_dict()["error"] == found.error
    assert told == [(50, 120), (60, 120), (110, 120), (120, 120)]


def test_of_a_large_table_a_part_is_scaled(monkeypatch):
    monkeypatch.setattr(rank_agreement, "ALL_ITEMS", 50)
    monkeypatch.setattr("similitude.evaluate.comparing.ALL_ITEMS", 50)
    X, _ = two_maps(80)
    names = tuple(f"i{k}" for k in range(80))
    found = sm.compare(
        sm.Similarity(X, LOSS, names), distance.squareform(distance.pdist(X)), n_resamples=20, random_state=0
    )
    assert len(found.mapped) == 50
    assert set(found.mapped) < set(names)
    assert found.procrustes == pytest.approx(0.0, abs=1e-9)
    assert sm.plot.agreement(found, kind="maps") is not None


def test_any_number_of_threads_gives_the_same():
    maps = [sm.Similarity(X, LOSS) for X in two_maps(40)]
    found = []
    for count in (1, 2):
        with sm.limit_threads(count):
            found.append(sm.compare(*maps, n_resamples=80, random_state=3).to_dict())
    assert found[0] == found[1]

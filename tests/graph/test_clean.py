"""Cleaning by its properties: acyclic, maximal, no more lost than said, the same closure after reduction."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import similitude as sm
from similitude.graph.acyclic import cycle_loss, greedy_edges, ordered_edges, strong_components, transitive_reduction
from similitude.graph.votes import count_votes, directed


def noise(n_items, m, seed, form="quadruplet"):
    rng = np.random.default_rng(seed)
    rows = np.array([rng.permutation(n_items)[: 3 if form == "triplet" else 4] for _ in range(m)])
    make = sm.Comparisons.from_triplets if form == "triplet" else sm.Comparisons.from_quadruplets
    return make(rows, weight=rng.integers(1, 4, m).astype(float))


graphs = st.builds(
    lambda n, m, seed: (n, *np.random.default_rng(seed).integers(0, n, (2, m)), seed),
    st.integers(3, 14),
    st.integers(1, 60),
    st.integers(0, 10**6),
)


def edges_of(graph):
    """Distinct directed edges without loops, with weights."""
    n, tail, head, seed = graph
    code = np.unique((tail * n + head)[tail != head])
    return n, code // n, code % n, np.random.default_rng(seed).integers(1, 5, len(code)).astype(float)


def is_acyclic(n, tail, head):
    return len(np.unique(strong_components(n, tail, head))) == n


@given(graphs, st.booleans())
def test_kept_edges_are_acyclic_and_maximal(graph, greedy):
    n, tail, head, weight = edges_of(graph)
    kept = greedy_edges(n, tail, head, weight, 0) if greedy else ordered_edges(n, tail, head, weight)
    assert is_acyclic(n, tail[kept], head[kept])
    for e in np.flatnonzero(~kept):
        assert not is_acyclic(n, np.append(tail[kept], tail[e]), np.append(head[kept], head[e]))
    assert weight[kept].sum() >= 0.5 * weight.sum()


@given(graphs)
def test_bounds_hold_the_best_loss(graph):
    n, tail, head, weight = edges_of(graph)
    lower, upper = cycle_loss(n, tail, head, weight)
    assert 0 <= lower <= upper + 1e-9
    assert (lower == 0) == is_acyclic(n, tail, head)


def test_bounds_against_the_exact_answer():
    """On small graphs the best order is found by dynamic programming over subsets."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        n = 7
        matrix = rng.integers(0, 4, (n, n)) * (rng.random((n, n)) < 0.5)
        np.fill_diagonal(matrix, 0)
        tail, head = np.nonzero(matrix)
        weight = matrix[tail, head].astype(float)
        best = {0: 0.0}
        for subset in range(1, 2**n):
            members = [v for v in range(n) if subset >> v & 1]
            best[subset] = min(best[subset ^ 1 << v] + sum(matrix[v, x] for x in members) for v in members)
        lower, upper = cycle_loss(n, tail, head, weight)
        assert lower <= best[2**n - 1] <= upper
        assert upper <= best[2**n - 1] * 1.5 + 2  # of 2,000 graphs all but one have 1 less


@given(graphs)
def test_reduction_is_networkx_transitive_reduction(graph):
    n, tail, head, _ = edges_of(graph)
    forward = tail < head
    tail, head = tail[forward], head[forward]
    kept = transitive_reduction(n, tail, head)
    expected = nx.transitive_reduction(nx.DiGraph(list(zip(tail.tolist(), head.tolist(), strict=True))))
    assert set(zip(tail[kept].tolist(), head[kept].tolist(), strict=True)) == set(expected.edges)


def test_reduction_by_search_is_the_same(monkeypatch):
    n, tail, head, _ = edges_of((60, *np.random.default_rng(1).integers(0, 60, (2, 900)), 1))
    tail, head = np.minimum(tail, head), np.maximum(tail, head)
    by_bits = transitive_reduction(n, tail, head)
    monkeypatch.setattr("similitude.graph.acyclic.BITS_BELOW", 0)
    assert np.array_equal(transitive_reduction(n, tail, head), by_bits)


def test_without_bits_the_result_is_acyclic_and_maximal_too(monkeypatch):
    monkeypatch.setattr("similitude.graph.acyclic.BITS_BELOW", 0)
    n, tail, head, weight = edges_of((40, *np.random.default_rng(2).integers(0, 40, (2, 500)), 2))
    kept = ordered_edges(n, tail, head, weight)
    assert is_acyclic(n, tail[kept], head[kept])
    for e in np.flatnonzero(~kept):
        assert not is_acyclic(n, np.append(tail[kept], tail[e]), np.append(head[kept], head[e]))


def test_the_last_bits_of_weights_break_no_tie():
    for seed in range(20):
        n, tail, head, weight = edges_of((12, *np.random.default_rng(seed).integers(0, 12, (2, 60)), seed))
        weight *= 0.1
        bits = np.random.default_rng([seed, 1]).integers(-2, 3, len(weight)) * np.finfo(float).eps
        kept = ordered_edges(n, tail, head, weight)
        assert np.array_equal(ordered_edges(n, tail, head, weight * (1 + bits)), kept)
        np.testing.assert_allclose(
            cycle_loss(n, tail, head, weight * (1 + bits)), cycle_loss(n, tail, head, weight), rtol=1e-14
        )
    assert ordered_edges(2, np.array([0, 1]), np.array([1, 0]), np.zeros(2)).sum() == 1


def test_majority_keeps_the_heavier_side_with_the_difference():
    c = sm.Comparisons.from_triplets(
        [(0, 1, 2), (0, 1, 2), (0, 2, 1), (3, 1, 2), (3, 2, 1), (1, 2, 0)], weight=[1, 2, 2, 1, 1, 5]
    )
    kept = sm.majority(c)
    assert kept.triplets.tolist() == [[0, 1, 2], [0, 1, 2], [1, 2, 0]]
    np.testing.assert_allclose(kept.weight, [1 / 3, 2 / 3, 5])
    assert kept.removed[0].step == "majority"
    assert kept.removed[0].comparisons.triplets.tolist() == [[0, 2, 1], [3, 1, 2], [3, 2, 1]]
    assert kept.removed[0].weight == pytest.approx(6)


@pytest.mark.parametrize("seed", range(5))
def test_majority_is_idempotent(seed):
    once = sm.majority(noise(6, 300, seed))
    twice = sm.majority(once)
    assert np.array_equal(once.quadruplets, twice.quadruplets)
    np.testing.assert_array_equal(once.weight, twice.weight)


def test_drop_contradictions_drops_both():
    c = sm.Comparisons.from_triplets([(0, 1, 2), (0, 1, 2), (0, 2, 1), (1, 2, 0)])
    assert sm.drop_contradictions(c).triplets.tolist() == [[1, 2, 0]]


@pytest.mark.parametrize("form", ["triplet", "quadruplet"])
@pytest.mark.parametrize("method", ["ordered", "greedy"])
def test_acyclic_feedback(form, method):
    kept = sm.acyclic(noise(7, 200, 3, form), method=method, random_state=0)
    votes = count_votes(kept)
    tail, head, _, _ = directed(votes)
    assert is_acyclic(len(votes.pairs), tail, head)
    assert len(kept) + len(kept.removed[-1].comparisons) == 200
    with pytest.raises(ValueError, match="'ordered' or 'greedy'"):
        sm.acyclic(kept, method="magic")


def test_unordered_pairs_see_cycles_across_heads():
    """d(a,b) < d(b,c) < d(c,a) < d(a,b): no two share a head, but no distances satisfy them."""
    c = sm.Comparisons.from_quadruplets([(0, 1, 1, 2), (1, 2, 2, 0), (2, 0, 0, 1)])
    assert len(sm.acyclic(c)) == 2


def test_clean_chains_the_steps_and_records_them():
    c = noise(7, 400, 5)
    cleaned = sm.clean(c, reduce=True)
    assert [step.step for step in cleaned.removed] == ["majority", "acyclic", "reduce"]
    assert cleaned.n_answers == c.n_answers
    lost = sum(step.weight for step in cleaned.removed)
    assert cleaned.weight.sum() == pytest.approx(c.weight.sum() - lost)
    assert len(sm.clean(c)) > len(cleaned)


def test_reducing_a_cycle_is_refused():
    with pytest.raises(ValueError, match="clean"):
        sm.reduce(sm.Comparisons.from_quadruplets([(0, 1, 1, 2), (1, 2, 2, 0), (2, 0, 0, 1)]))


def test_drop_raters_by_name():
    c = sm.Comparisons.from_triplets([(0, 1, 2), (1, 2, 0), (2, 0, 1)], rater=["ann", "bob", "ann"])
    kept = sm.drop_raters(c, ["ann"])
    assert kept.triplets.tolist() == [[1, 2, 0]]
    assert kept.answers.rater.labels == ("bob",)
    assert len(kept.removed[0].comparisons) == 2
    with pytest.raises(ValueError, match="'eve' is not among the 2 raters"):
        sm.drop_raters(c, ["eve"])


@pytest.mark.parametrize("seed", range(8))
def test_exact_embedding_satisfies_every_comparison(seed):
    c = sm.clean(noise(8, 150, seed, "triplet" if seed % 2 else "quadruplet"))
    positions = sm.exact_embedding(c)
    assert positions.shape == (8, 7)
    near = ((positions[c.near[:, 0]] - positions[c.near[:, 1]]) ** 2).sum(1)
    far = ((positions[c.far[:, 0]] - positions[c.far[:, 1]]) ** 2).sum(1)
    assert (near < far - 0.5).all()


def test_exact_embedding_names_a_contradiction():
    with pytest.raises(ValueError, match=r"\(cat, dog\) and \(car, cat\) are each|\(car, cat\) and \(cat, dog\)"):
        sm.exact_embedding(sm.Comparisons.from_triplets([("cat", "dog", "car"), ("cat", "car", "dog")]))
    with pytest.raises(ValueError, match="lead back"):
        sm.exact_embedding(sm.Comparisons.from_quadruplets([(0, 1, 1, 2), (1, 2, 2, 0), (2, 0, 0, 1)]))
    with pytest.raises(ValueError, match="none to embed"):
        sm.exact_embedding(sm.Comparisons.from_triplets(np.empty((0, 3), int)))


def test_empty_feedback_stays_empty():
    empty = sm.Comparisons.from_triplets(np.empty((0, 3), int), n_items=4)
    assert len(sm.clean(empty, reduce=True)) == 0


def test_scoring_cleaned_feedback_warns():
    c = sm.simulate(np.random.default_rng(0).normal(size=(10, 2)), 300, flip=0.2, random_state=0)
    model = sm.STE(2, random_state=0).fit(sm.clean(c))
    with pytest.warns(sm.CleanedWarning, match="too good"):
        model.score(sm.clean(c))
    model.score(c)


def test_cleaning_inside_cross_validation_of_pure_noise_gives_nothing_away():
    rng = np.random.default_rng(0)
    rows = np.array([rng.permutation(20)[:3] for _ in range(4000)])
    table = sm.cross_validate(
        sm.STE(2, random_state=0), sm.Comparisons.from_odd_one_out(rows), clean=sm.clean, random_state=0
    )
    assert table.accuracy[0] == pytest.approx(
        0.5, abs=0.03
    )  # an answer scatters by .41: four errors of 4,000, and more


@pytest.mark.slow
def test_on_real_answers_much_is_kept(data):
    zappos = sm.read_comparisons(data / "zappos85" / "triplets.csv.gz")
    assert len(sm.acyclic(zappos)) >= 254_000
    food = sm.read_comparisons(data / "food100" / "triplets_unique.csv.gz")
    assert count_votes(food).contradicted.sum() == 9349
    music = sm.read_comparisons(data / "music_aset400" / "triplets.csv", drop_degenerate=True)
    for c in (music, sm.majority(food)):
        greedy = sm.acyclic(c, method="greedy", random_state=0)
        assert sm.acyclic(c).weight.sum() >= greedy.weight.sum()

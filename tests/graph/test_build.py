import numpy as np
import pytest

import similitude as sm
from similitude.graph.build import build_graph, distinct_pairs


def random_feedback(n_items, m, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, n_items, (3 * m, 3))
    rows = rows[(rows[:, 0] != rows[:, 1]) & (rows[:, 0] != rows[:, 2]) & (rows[:, 1] != rows[:, 2])][:m]
    return sm.Comparisons.from_triplets(rows, n_items=n_items, weight=rng.uniform(0, 2, len(rows)))


@pytest.mark.parametrize("n_items", [12, 5000])
def test_distinct_pairs_by_definition(n_items):
    pairs = np.random.default_rng(0).integers(0, n_items, (300, 2)).astype(np.int32)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    found, place = distinct_pairs(pairs, n_items)
    expected = sorted({(min(i, j), max(i, j)) for i, j in pairs.tolist()})
    assert [tuple(pair) for pair in found.tolist()] == expected
    assert np.array_equal(found[place], np.sort(pairs, 1))


@pytest.mark.parametrize(("n_items", "m", "merged"), [(20, 2000, True), (500, 2000, False), (6000, 4000, False)])
def test_pairs_are_merged_where_they_repeat(n_items, m, merged):
    c = random_feedback(n_items, m)
    graph = build_graph(c)
    assert graph.merged is merged
    sorted_near = {tuple(sorted(pair)) for pair in graph.pairs[graph.near].tolist()}
    assert sorted_near == {tuple(sorted(pair)) for pair in c.near.tolist()}
    rows = sorted(
        zip(
            map(tuple, graph.near_pairs.tolist()),
            map(tuple, graph.far_pairs.tolist()),
            graph.weight,
            strict=True,
        )
    )
    assert rows == sorted(zip(map(tuple, c.near.tolist()), map(tuple, c.far.tolist()), c.weight, strict=True))


def test_comparisons_of_weight_zero_are_left_out():
    c = random_feedback(20, 50).reweight(np.arange(50) % 2)
    assert len(build_graph(c)) == 25


def test_components_and_occurrences():
    c = sm.Comparisons.from_triplets([(0, 1, 2), (4, 5, 6), (0, 2, 1)], n_items=8)
    graph = build_graph(c)
    assert graph.components.tolist() == [0, 0, 0, -1, 1, 1, 1, -1]
    assert graph.occurrences.tolist() == [4, 2, 2, 0, 2, 1, 1, 0]
    assert build_graph(sm.Comparisons.from_triplets([(0, 1, 2)])).components.tolist() == [0, 0, 0]


def test_two_pairs_of_a_quadruplet_do_not_link_each_other():
    graph = build_graph(sm.Comparisons.from_quadruplets([(0, 1, 2, 3)]))
    assert graph.components.tolist() == [0, 0, 1, 1]


def test_heads_come_in_order_and_comparisons_of_one_in_theirs():
    for n_items in (40, 70_000):  # sorted by digits, and not
        rows = np.random.default_rng(0).integers(0, n_items, size=(500, 3))
        rows = rows[(rows[:, 0] != rows[:, 1]) & (rows[:, 0] != rows[:, 2]) & (rows[:, 1] != rows[:, 2])]
        graph = build_graph(sm.Comparisons.from_triplets(rows, n_items=n_items))
        expected = rows[np.argsort(rows[:, 0], kind="stable")]
        np.testing.assert_array_equal(np.c_[graph.near_pairs, graph.far_pairs[:, 1]], expected)

"""Which items to lay out next: against the definition by loops, and what it is for."""

import itertools

import numpy as np
import pytest

from similitude.active.arrangements import evidence, on_table, weakest_subsets
from similitude.feedback.columns import Rows


def utility(weight):
    return 1 - np.exp(-10 * weight)


def gain(distance, known, subset):
    """The definition, by loops: what a subset adds when its largest distance fills the table."""
    pairs = list(itertools.combinations(subset, 2))
    largest = max(distance[pair] for pair in pairs)
    return sum(utility(known[pair] + (distance[pair] / largest) ** 2) - utility(known[pair]) for pair in pairs)


@pytest.fixture
def distance():
    place = np.random.default_rng(0).normal(size=(9, 2))
    return np.sqrt(((place[:, None] - place[None]) ** 2).sum(-1))


def test_evidence_is_the_squared_share_of_the_largest_distance():
    shown, said = Rows.of([[0, 1, 2], [2, 1, 3]]), Rows.of([[0.0, 0, 0.5, 0, 0, 1], []], float)
    found = evidence(4, shown, said)
    far = 1.25  # squared, from (0.5, 0) to (0, 1)
    expected = np.zeros((4, 4))
    expected[0, 1], expected[0, 2], expected[1, 2] = 0.25 / far, 1 / far, 1.0
    np.testing.assert_allclose(found, expected + expected.T)


def test_a_subset_begins_with_the_weakest_pair_and_grows_by_what_adds_most(distance):
    known = np.random.default_rng(1).random((9, 9))
    known += known.T
    known[2, 7] = known[7, 2] = 0.0
    ((subset, added),) = weakest_subsets(distance, known, 5, 1, np.random.default_rng(2))
    assert set(subset[:2]) == {2, 7}
    for k in range(2, 5):
        others = [item for item in range(9) if item not in subset[:k]]
        best = max(others, key=lambda item: gain(distance, known, [*subset[:k], item]))
        assert subset[k] == best
    assert added == pytest.approx(gain(distance, known, subset))


def test_what_was_chosen_counts_as_laid_out_so_that_all_pairs_are_lifted(distance):
    known = np.zeros((9, 9))
    chosen = weakest_subsets(distance, known, 4, 20, np.random.default_rng(3))
    assert not known.any()
    for subset, _ in chosen:
        assert len(set(subset)) == 4
        known[np.ix_(subset, subset)] += on_table(distance[np.ix_(subset, subset)])
    assert {pair for subset, _ in chosen for pair in itertools.permutations(subset, 2)} == set(
        itertools.permutations(range(9), 2)
    )


def test_two_that_lay_close_together_are_laid_out_again_without_the_distant_ones():
    place = np.array([[0.0, 0], [0.1, 0], [0, 0.1], [5, 0], [5, 5], [0, 5]])
    distance = np.sqrt(((place[:, None] - place[None]) ** 2).sum(-1))
    known = on_table(distance)  # all of them have been laid out once
    ((subset, _),) = weakest_subsets(distance, known, 3, 1, np.random.default_rng(4))
    assert set(subset) == {0, 1, 2}

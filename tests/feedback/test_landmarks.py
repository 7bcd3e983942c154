"""Landmark designs: every question once and no other, landmarks at random and spread out."""

import itertools

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

import similitude as sm


def expected_questions(n, landmarks, kind):
    found = set()
    for item, (i, j) in itertools.product(range(n), itertools.permutations(landmarks, 2)):
        row = (item, i, j) if kind == "k1" else (i, item, j)
        if len(set(row)) == 3:
            found.add((row[0], *sorted(row[1:])))
    return found


@pytest.mark.parametrize("kind", ["k1", "k2"])
@pytest.mark.parametrize("landmarks", [[0, 3, 5, 8], [7, 2], [0, 1, 2, 3, 4, 5, 6, 7, 8]])
def test_every_question_of_the_design_once(kind, landmarks):
    questions = sm.landmark_questions(9, landmarks, kind, random_state=0)
    asked = [(head, *sorted(pair)) for head, *pair in questions.tolist()]
    assert len(asked) == len(set(asked))
    assert set(asked) == expected_questions(9, landmarks, kind)


@pytest.mark.parametrize("kind", ["k1", "k2"])
def test_a_part_of_the_design(kind):
    everything = expected_questions(40, range(5, 15), kind)
    questions = sm.landmark_questions(40, np.arange(5, 15), kind, 300, random_state=0)
    asked = {(head, *sorted(pair)) for head, *pair in questions.tolist()}
    assert len(asked) == 300
    assert asked <= everything
    assert 0.3 < (questions[:, 1] < questions[:, 2]).mean() < 0.7, "neither side is favoured"
    assert np.array_equal(questions, sm.landmark_questions(40, np.arange(5, 15), kind, 300, random_state=0))


def test_a_number_of_landmarks_is_drawn():
    questions = sm.landmark_questions(50, 6, random_state=0)
    assert len(np.unique(questions[:, 1:])) == 6
    assert len(questions) == 44 * 15 + 6 * 10


def test_random_landmarks_are_different_items():
    chosen = sm.choose_landmarks(20, 8, random_state=1)
    assert len(set(chosen.tolist())) == 8
    assert np.all(np.diff(chosen) > 0)
    assert not np.array_equal(chosen, sm.choose_landmarks(20, 8, random_state=2))


def test_spread_landmarks_go_to_the_farthest():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(21, 2)) + np.repeat([[0, 0], [30, 0], [0, 50]], [10, 10, 1], axis=0)
    chosen = sm.choose_landmarks(X, 3, random_state=0)
    assert sorted(np.searchsorted([10, 20], chosen, side="right")) == [0, 1, 2]
    D = cdist(X, X)
    assert np.array_equal(sm.choose_landmarks(D, 3, metric="precomputed", random_state=0), chosen)
    assert np.array_equal(sm.choose_landmarks(sparse.csr_matrix(X), 3, random_state=0), chosen)


def test_every_item_may_be_a_landmark_even_where_items_coincide():
    assert sm.choose_landmarks(np.zeros((4, 2)), 4, random_state=0).tolist() == [0, 1, 2, 3]


@pytest.mark.slow
def test_landmarks_after_a_pilot_lie_apart():
    truth = np.repeat([[0.0, 0], [9, 0], [0, 9], [9, 9]], 10, axis=0) + np.random.default_rng(0).normal(size=(40, 2))
    pilot = sm.simulate(truth, 6000, random_state=1)
    found = sm.ComparisonKernel().fit(pilot).features_
    chosen = [sm.choose_landmarks(found, 4, random_state=start) // 10 for start in range(10)]
    assert sum(len(set(clusters.tolist())) == 4 for clusters in chosen) >= 8  # 629 of 630: one item may stand apart


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sm.landmark_questions(5, [1, 9]), "landmarks: .*found index 9, but there are 5 items"),
        (lambda: sm.landmark_questions(5, [1, 1]), "landmarks: expected at least 2 different items"),
        (lambda: sm.landmark_questions(5, [1, 2], "k5"), "kind: expected 'k1' or 'k2', found 'k5'"),
        (lambda: sm.landmark_questions(5, [1, 2], "k1", 99), "n_questions: expected 0 to 3, .* found 99"),
        (lambda: sm.landmark_questions(5, 7), "n_landmarks: expected 2 to 5, the number of items, found 7"),
        (lambda: sm.choose_landmarks(5, 1), "n_landmarks: expected 2 to 5"),
        (
            lambda: sm.choose_landmarks(np.zeros((5, 2)), 2, metric="l1"),
            "metric: expected 'euclidean' or 'precomputed'",
        ),
        (lambda: sm.choose_landmarks(np.zeros((5, 2)), 2, metric="precomputed"), "items: expected a square table"),
        (lambda: sm.choose_landmarks(np.zeros(5), 2), r"items: expected features \(n, p\), found shape \(5,\)"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()

"""Answers to questions drawn evenly are told from those to chosen ones."""

import numpy as np

import similitude as sm
from similitude.feedback.drawn import evenly_drawn

TRIPLETS = np.array([(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1)])


def test_evenly_drawn_are_random_and_fallback_questions():
    ways = ["random", "fallback", "information_gain", "repeat"]
    assert evenly_drawn(sm.Comparisons.from_triplets(TRIPLETS, strategy=ways)).tolist() == [True, True, False, False]


def test_what_is_not_recorded_counts_as_drawn_evenly():
    assert evenly_drawn(sm.Comparisons.from_triplets(TRIPLETS)).all()

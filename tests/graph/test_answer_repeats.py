"""Whole answers given again: against counting by hand, a known truth, and the formula for two alternatives."""

from itertools import combinations

import numpy as np
import pytest

import similitude as sm
from similitude.graph.answer_repeats import AnswerRepeats, answer_ceiling, answer_repeats
from similitude.graph.repeats import Estimate, Repeats, noise_ceiling


def odd_ones(p, questions=400, answers=5, seed=0):
    """Questions about three items each, of which the first, second and third are left out with chances p."""
    rng = np.random.default_rng(seed)
    asked = rng.permuted(np.tile(np.arange(60), (questions, 1)), axis=1)[:, :3]
    shown = np.repeat(asked, answers, axis=0)
    order = rng.permuted(np.tile(np.arange(3), (len(shown), 1)), axis=1)  # the same question in any order
    odd = np.argsort(order, axis=1)[np.arange(len(shown)), rng.choice(3, len(shown), p=p)]
    return sm.Comparisons.from_odd_one_out(np.take_along_axis(shown, order, axis=1), odd)


def test_agreement_is_that_of_counting_by_hand():
    rng = np.random.default_rng(0)
    shown = np.array([rng.permutation(5)[:3] for _ in range(90)])
    odd = rng.integers(0, 3, 90)
    said = {}
    for items, place in zip(shown, odd, strict=True):
        said.setdefault(tuple(sorted(items)), []).append(items[place])
    again = [own for own in said.values() if len(own) > 1]
    total = sum(len(own) * np.mean([x == y for x, y in combinations(own, 2)]) for own in again)
    found = answer_repeats(sm.Comparisons.from_odd_one_out(shown, odd))
    assert (found.questions, found.answers, found.alternatives) == (len(again), sum(map(len, again)), 3)
    assert found.agreement.value == pytest.approx(total / found.answers)


def test_picks_of_two_are_the_same_in_any_order():
    c = sm.Comparisons.from_choices([[0, 1, 2, 3, 4], [0, 4, 3, 2, 1], [0, 1, 2, 3, 4]], [[1, 2], [2, 1], [1, 3]])
    found = answer_repeats(c)
    assert (found.questions, found.answers, found.alternatives) == (1, 3, 6)
    assert found.agreement.value == pytest.approx(1 / 3)


def test_plain_comparisons_have_no_answers_of_their_own():
    truth = np.random.default_rng(0).normal(size=(6, 2))
    c = sm.simulate(truth, 300, random_state=0)
    assert answer_repeats(c) is None
    assert sm.check(c).answer_ceiling is None


def test_the_ceiling_holds_the_best_that_a_model_could_do():
    report = sm.check(odd_ones([0.7, 0.15, 0.15]))
    assert report.answer_ceiling.value == pytest.approx(0.7, abs=0.05)  # its standard error is 0.01
    # where one of the other two is likelier, it is an upper bound
    assert sm.check(odd_ones([0.6, 0.4, 0.0])).answer_ceiling.value > 0.6
    assert "noise ceiling of answers" in repr(report)
    assert report.to_dict()["answer_ceiling"]["value"] == report.answer_ceiling.value


def test_of_two_alternatives_the_ceiling_is_that_of_comparisons():
    agreement = Estimate(0.8, 0.7, 0.9)
    of_answers = answer_ceiling(AnswerRepeats(50, 100, 2, agreement))
    of_comparisons = noise_ceiling(Repeats(50, 100, agreement))
    assert of_answers.value == pytest.approx(of_comparisons.value)
    assert of_answers.low == pytest.approx(of_comparisons.low)


def test_answers_that_agree_less_than_by_chance_tell_nothing():
    rng = np.random.default_rng(0)
    asked = rng.permuted(np.tile(np.arange(60), (100, 1)), axis=1)[:, :3]
    unlike = sm.Comparisons.from_odd_one_out(np.repeat(asked, 3, axis=0), np.tile([0, 1, 2], 100))
    assert "merged" in sm.check(unlike).answer_ceiling.note
    assert sm.check(odd_ones([0.5, 0.3, 0.2], questions=2, answers=2)).answer_ceiling.value is None

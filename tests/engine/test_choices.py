"""Answers as choices: chances of sets against counting them all, whole answers, and what the likelihood is for."""

from itertools import combinations

import numpy as np
import pytest

import similitude as sm
from similitude.engine.choice_terms import Picked, log_sets, set_losses
from similitude.engine.comparison_terms import Compared
from similitude.engine.models import DotProducts, Positions
from similitude.engine.penalties import Ridge
from similitude.engine.problem import Problem
from similitude.engine.solvers.lbfgs import lbfgs
from similitude.engine.terms import ComparisonLoss, Formula, logistic, squared
from similitude.feedback.whole_answers import choices_of
from similitude.graph.build import build_graph
from similitude.methods.answering import tie_chances

SQUARED = Formula(squared)


@pytest.mark.parametrize("picked", [1, 2, 3, 5])
@pytest.mark.parametrize("size", [1.0, 300.0])
def test_chances_of_sets_are_those_of_counting_all(picked, size):
    value = size * np.random.default_rng(picked).normal(size=(4, 6))
    sets = list(combinations(range(6), picked))
    total = np.array([[value[q, list(one)].sum() for one in sets] for q in range(4)])
    chance = np.exp(total - total.max(1, keepdims=True))
    every = total.max(1) + np.log(chance.sum(1))
    chance /= chance.sum(1, keepdims=True)
    included = np.array([[chance[q, [a in one for one in sets]].sum() for a in range(6)] for q in range(4)])
    lost, slope = set_losses(value, picked)
    np.testing.assert_allclose(lost, every - value[:, :picked].sum(1), rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(slope + (np.arange(6) < picked), included, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(slope.sum(1), 0.0, atol=1e-12 * size)


def test_triplets_as_choices_are_triplets_as_comparisons():
    rng = np.random.default_rng(0)
    c = sm.simulate(rng.normal(size=(8, 2)), 60, random_state=0)
    model, at = Positions(8, 2), rng.normal(size=16)
    chosen = Problem(model, Picked(SQUARED, choices_of(c)), Ridge(0.1, 8))
    compared = Problem(model, Compared(build_graph(c), ComparisonLoss(SQUARED, Formula(logistic))), Ridge(0.1, 8))
    assert chosen.value(at) == pytest.approx(compared.value(at))
    np.testing.assert_allclose(chosen.value_and_gradient(at)[1], compared.value_and_gradient(at)[1], rtol=1e-9)


def test_what_is_left_of_an_answer_counts_as_its_comparisons():
    c = sm.Comparisons.from_odd_one_out([(0, 1, 2), (1, 2, 3), (0, 2, 3)])
    with pytest.warns(sm.PartialAnswerWarning):
        part = c[[0, 1, 2]]
    whole, loose = choices_of(part)
    assert whole.pairs.shape == (1, 3, 1, 2)
    assert loose.pairs.shape == (1, 2, 1, 2)
    assert (whole.weight, loose.weight) == (1.0, 1.0)
    assert [len(one) for one in choices_of(c)] == [3]


def test_the_chosen_pair_stands_first():
    (one,) = choices_of(sm.Comparisons.from_odd_one_out([(4, 5, 6)]))  # 6 is the odd one
    assert set(one.pairs[0, 0, 0].tolist()) == {4, 5}
    (central,) = choices_of(sm.Comparisons.from_most_central([(4, 5, 6)]))  # 4 stands between
    assert set(central.pairs[0, 0, 0].tolist()) == {5, 6}
    assert central.sign == 1.0


@pytest.mark.parametrize("dot", [False, True], ids=["distances", "dot products"])
def test_the_truth_is_found_from_sharp_choices(dot):
    rng = np.random.default_rng(1)
    truth = 1.5 * rng.normal(size=(12, 2))
    shown = np.array(list(combinations(range(12), 3)))
    pairs = shown[:, [[1, 2], [0, 2], [0, 1]]]
    one, other = truth[pairs[..., 0]], truth[pairs[..., 1]]
    value = (one * other).sum(-1) if dot else -((one - other) ** 2).sum(-1)
    odd = value.argmax(1)
    rows = [[*np.delete(row, k), row[k]] for row, k in zip(shown, odd, strict=True)]
    c = sm.Comparisons.from_odd_one_out(rows)
    positions = Positions(12, 2)
    problem = Problem(DotProducts(positions) if dot else positions, Picked(SQUARED, choices_of(c)), Ridge(1e-3, 12))
    best = min((lbfgs(problem, rng.normal(size=24), max_iter=500) for _ in range(4)), key=lambda one: one.value)
    X = best.params.reshape(12, 2)
    one, other = X[pairs[..., 0]], X[pairs[..., 1]]
    found = (one * other).sum(-1) if dot else -((one - other) ** 2).sum(-1)
    assert (found.argmax(1) == odd).mean() > 0.97


def test_any_number_of_threads_gives_the_same_bits():
    rng = np.random.default_rng(2)
    c = sm.simulate(rng.normal(size=(40, 3)), 9000, "odd_one_out", random_state=0)
    problem = Problem(DotProducts(Positions(40, 3)), Picked(SQUARED, choices_of(c)), Ridge(0.1, 40))
    at = rng.normal(size=120)
    with sm.limit_threads(1):
        value, gradient = problem.value_and_gradient(at)
    with sm.limit_threads(3):
        again, slope = problem.value_and_gradient(at)
    assert value == again
    assert np.array_equal(gradient, slope)


def test_the_loss_of_a_set_is_minus_the_log_of_its_chance():
    value = np.log([[4.0, 3.0, 2.0, 1.0]])
    lost, slope = set_losses(value, 2)  # 12 of 12 + 8 + 4 + 6 + 3 + 2
    assert lost[0] == pytest.approx(-np.log(12 / 35))
    np.testing.assert_allclose(slope[0], [24 / 35 - 1, 21 / 35 - 1, 16 / 35, 9 / 35])


def tied(value, picked, share):
    """-log of every outcome by counting: all sets, and last "can't tell"."""
    sets = list(combinations(range(value.shape[1]), picked))
    total = np.array([[row[list(one)].sum() for one in sets] for row in value])
    tie = np.log(share / (1 - share)) + np.log(len(sets)) + total.mean(1)  # the geometric mean over sets
    total = np.column_stack([total, tie])
    return np.log(np.exp(total).sum(1))[:, None] - total


@pytest.mark.parametrize("picked", [1, 2, 4])
def test_cant_tell_is_the_geometric_mean_of_all_sets(picked):
    value, share = np.random.default_rng(picked).normal(size=(5, 6)), 0.3
    lost = tied(value, picked, share)
    odds = log_sets(6, picked) + np.log(share / (1 - share))
    np.testing.assert_allclose(set_losses(value, picked, odds)[0], lost[:, 0], rtol=1e-12)
    found, slope = set_losses(value, picked, odds, tied=True)
    np.testing.assert_allclose(found, lost[:, -1], rtol=1e-12)
    np.testing.assert_allclose(slope.sum(1), 0.0, atol=1e-12)
    np.testing.assert_allclose(tie_chances(value, picked, share), np.exp(-lost[:, -1]), rtol=1e-12)
    assert tie_chances(0.0 * value, picked, share) == pytest.approx(share)
    assert (np.exp(-lost[:, -1]) < share).all()


def test_of_two_it_is_davidsons():
    p, q, nu = 3.0, 0.5, 1.7
    chance = tie_chances(np.log([[p, q]]), 1, nu / (2 + nu))
    assert chance == pytest.approx(nu * np.sqrt(p * q) / (p + q + nu * np.sqrt(p * q)))


def test_cant_tell_has_its_question_in_every_form():
    c = sm.Comparisons.concatenate(
        [
            sm.Comparisons.from_triplets([(0, 1, 2), (0, 2, 3)], [None, True]),
            sm.Comparisons.from_odd_one_out([(0, 1, 2), (1, 2, 3)], [np.nan, 0]),
            sm.Comparisons.from_choices([[0, 1, 2, 3, 4], [1, 0, 2, 3, 4]], [[1, 2], []]),
            sm.Comparisons.from_ratings([(0, 1), (1, 2), (0, 2)], [1.0, np.nan, 3.0], larger="similar"),
        ]
    )
    found = [one for one in choices_of(c, cant_tell=True) if one.tied]
    assert sorted((one.pairs.shape, one.picked) for one in found) == [
        ((1, 2, 1, 2), 1),
        ((1, 3, 1, 2), 1),
        ((1, 4, 1, 2), 2),  # as many as others picked of as many
    ]
    assert sorted(row for one in found for row in one.row) == np.flatnonzero(c.answers.cant_tell).tolist()
    assert not any(one.tied for one in choices_of(c))
    can = {int(row): one.can_tie for one in choices_of(c) for row in one.row}
    assert can == {1: True, 3: True, 4: True, 6: False}  # a sheet of ratings asks for no comparison

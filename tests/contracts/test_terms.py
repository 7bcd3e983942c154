"""Every term of a problem: gradients by finite differences, alone and together, and invariances."""

import numpy as np
import pytest

from similitude.engine.models import Positions
from similitude.engine.penalties import Ridge
from similitude.engine.problem import Problem
from tests.contracts.registry import term_cases

CASES = term_cases()
IDS = [case[0] for case in CASES]


def problem_of(term, model, weights=None):
    return Problem(model, term, Ridge(0.1, 6), weights)


def point(problem, seed=0):
    rng = np.random.default_rng(seed)
    start = problem.start(rng.normal(size=problem.model.size))
    return start + 0.1 * rng.normal(size=len(start))


def numeric_gradient(problem, at, h=1e-6):
    return np.array([(problem.value(at + h * e) - problem.value(at - h * e)) / (2 * h) for e in np.eye(len(at))])


@pytest.mark.parametrize(("name", "term", "model"), CASES, ids=IDS)
def test_gradient_is_that_of_the_value(name, term, model):
    problem = problem_of(term, model)
    at = point(problem)
    value, gradient = problem.value_and_gradient(at)
    assert value == pytest.approx(problem.value(at))
    np.testing.assert_allclose(gradient, numeric_gradient(problem, at), rtol=1e-5, atol=1e-8)


def test_terms_together_with_weights_have_the_gradient_of_their_sum():
    terms = [term for _, term, _ in CASES if term.pairs.max() < 6]  # the same items to all
    problem = Problem(Positions(6, 2), terms, Ridge(0.1, 6), np.linspace(0.2, 2.0, len(terms)))
    at = point(problem)
    np.testing.assert_allclose(problem.value_and_gradient(at)[1], numeric_gradient(problem, at), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize(("name", "term", "model"), CASES, ids=IDS)
def test_start_and_prior_fit_the_term(name, term, model):
    problem = problem_of(term, model)
    start = problem.start(np.random.default_rng(1).normal(size=model.size))
    assert len(start) == model.size + term.size
    assert np.isfinite(problem.value(start))
    assert problem.penalty.value(start) >= 0


@pytest.mark.parametrize(("name", "term", "model"), CASES, ids=IDS)
def test_finite_where_a_long_step_may_lead(name, term, model):
    """Own parameters are mostly logarithms: 8 is e^8 of what they are."""
    problem = problem_of(term, model)
    at = problem.start(np.random.default_rng(1).normal(size=model.size))
    for far in (8.0, -8.0):
        moved = np.concatenate([at[: model.size], at[model.size :] + far])
        value, gradient = problem.value_and_gradient(moved)
        assert np.isfinite(value)
        assert np.isfinite(gradient).all()


@pytest.mark.parametrize(("name", "term", "model"), CASES, ids=IDS)
def test_the_weight_of_a_lone_term_changes_nothing_but_its_prior(name, term, model):
    once, twice = problem_of(term, model), problem_of(term, model, [2.0])
    at = point(once)
    assert twice.data(at)[0] == pytest.approx(once.data(at)[0])
    np.testing.assert_allclose(twice.data(at)[1], once.data(at)[1], rtol=1e-12)

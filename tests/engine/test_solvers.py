"""Solvers: they agree with each other and with an independent convex solver."""

import cvxpy
import numpy as np
import pytest

import similitude as sm
from similitude.engine.comparison_terms import Compared
from similitude.engine.models import Matrix, Positions, SumOfModels, Weights
from similitude.engine.penalties import Blocks, NonNegative, Ridge, Trace
from similitude.engine.problem import Objective, Problem
from similitude.engine.solvers.accelerated import accelerated
from similitude.engine.solvers.lbfgs import lbfgs
from similitude.engine.solvers.minibatch import minibatch
from similitude.engine.terms import ComparisonLoss, Formula, hinge, logistic, squared
from similitude.graph.build import build_graph
from tests.reference_solver import optimum

LOGISTIC = ComparisonLoss(Formula(squared), Formula(logistic))


def graph(n_items=8, m=60, seed=0):
    truth = np.random.default_rng(seed).normal(size=(n_items, 2))
    return build_graph(sm.simulate(truth, m, sharpness=2.0, random_state=seed + 1))


@pytest.mark.parametrize("seed", range(3))
def test_accelerated_finds_the_kernel_that_cvxpy_finds(seed):
    g = graph(seed=seed)
    problem = Problem(Matrix(8), Compared(g, LOGISTIC), Trace(0.1, 8))
    found = accelerated(problem, np.zeros(64), max_iter=5000, tol=1e-12)
    K = cvxpy.Variable((8, 8), PSD=True)

    def d2(pairs):
        return cvxpy.hstack([K[i, i] + K[j, j] - 2 * K[i, j] for i, j in pairs.tolist()])

    margin = d2(g.far_pairs) - d2(g.near_pairs)
    judge = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum(cvxpy.logistic(-margin)) / len(g) + 0.1 / 8 * cvxpy.trace(K)))
    assert found.value == pytest.approx(optimum(judge), rel=1e-5)


def test_accelerated_finds_the_weights_that_cvxpy_finds():
    g = graph()
    tables = np.abs(np.random.default_rng(5).normal(size=(4, 8, 8)))
    tables += tables.transpose(0, 2, 1)
    found = accelerated(
        Problem(Weights(tables), Compared(g, LOGISTIC), NonNegative(0.05)), np.ones(4), max_iter=5000, tol=1e-12
    )
    w = cvxpy.Variable(4, nonneg=True)
    i, j, k, l = *g.near_pairs.T, *g.far_pairs.T
    margin = (tables[:, k, l] - tables[:, i, j]).T @ w
    judge = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum(cvxpy.logistic(-margin)) / len(g) + 0.05 * cvxpy.sum(w)))
    assert found.value == pytest.approx(optimum(judge), rel=1e-5)
    np.testing.assert_allclose(found.params, w.value, atol=1e-2)


def test_accelerated_and_lbfgs_agree_on_a_smooth_problem():
    features = np.random.default_rng(6).normal(size=(8, 3))
    problem = Problem(Matrix(8, features=features), Compared(graph(), LOGISTIC), Ridge(0.2))
    first = lbfgs(problem, np.zeros(9), tol=1e-14, max_iter=2000)
    second = accelerated(problem, np.zeros(9), tol=1e-14, max_iter=20000)
    np.testing.assert_allclose(first.params, second.params, atol=1e-4)
    assert {first.status, second.status} <= {"converged", "stalled"}  # which of the two, the last bits decide


def test_a_start_at_the_optimum_has_converged_though_no_step_is_left():
    """Within rounding of the optimum every line search fails: some of these starts ended as "stalled"."""
    problem = Problem(Positions(8, 2), Compared(graph(), LOGISTIC), Ridge(0.1))
    best = lbfgs(problem, np.random.default_rng(1).normal(size=16), tol=1e-13, max_iter=2000).params
    moves = 1e-8 * np.random.default_rng(2).normal(size=(50, 16))
    assert {lbfgs(problem, best + move).status for move in moves} == {"converged"}


def test_a_sum_of_models_is_solved_by_blocks():
    g = graph()
    tables = np.abs(np.random.default_rng(5).normal(size=(2, 8, 8)))
    tables += tables.transpose(0, 2, 1)
    both = SumOfModels([Matrix(8), Weights(tables)])
    penalty = Blocks([(Trace(0.1, 8), 64), (NonNegative(0.05), 2)])
    joint = accelerated(Problem(both, Compared(g, LOGISTIC), penalty), np.zeros(66), max_iter=3000, tol=1e-10)
    alone = accelerated(
        Problem(Matrix(8), Compared(g, LOGISTIC), Trace(0.1, 8)), np.zeros(64), max_iter=3000, tol=1e-10
    )
    assert joint.value <= alone.value + 1e-8
    assert (joint.params[64:] >= 0).all()


def mapped(copies, seed=0):
    """A map of features with a free rest of each item, for so many copies of the same items, and a start."""
    rng = np.random.default_rng(seed)
    features, n, q = rng.normal(size=(30, 4)), 30, 4
    answers = sm.simulate(features[:, :2], 400, random_state=seed).quadruplets
    every = np.concatenate([answers + n * copy for copy in range(copies)])
    g = build_graph(sm.Comparisons.from_quadruplets(every, n_items=n * copies))
    model = Positions(n * copies, 2, features=np.tile(features, (copies, 1)), residual=True)
    penalty = Blocks([(Ridge(0.1, n), 2 * q), (Ridge(0.2, n * copies), 2 * n * copies)])
    start = np.concatenate([rng.normal(size=2 * q), np.tile(0.1 * rng.normal(size=2 * n), copies)])
    units = np.repeat([1.0, np.sqrt(n * copies)], [2 * q, 2 * n * copies])
    return Problem(model, Compared(g, LOGISTIC), penalty), start, units


def test_lbfgs_in_units_goes_the_same_way_for_any_number_of_items():
    few, many = (lbfgs(problem, start, units=units) for problem, start, units in (mapped(1), mapped(50)))
    assert few.status == many.status == "converged"
    assert abs(few.n_iter - many.n_iter) <= 1  # sums of another order may meet the tolerance an iteration sooner
    assert many.value == pytest.approx(few.value, rel=1e-6)
    np.testing.assert_allclose(many.params[: len(few.params)], few.params, atol=1e-3)


def test_units_change_the_way_of_lbfgs_and_not_its_end():
    rng = np.random.default_rng(6)
    problem = Problem(Matrix(8, features=rng.normal(size=(8, 3))), Compared(graph(), LOGISTIC), Ridge(0.2))  # convex
    plain, counted = (
        lbfgs(problem, np.zeros(9), units=units, tol=1e-12, max_iter=5000) for units in (1.0, rng.uniform(0.1, 10.0, 9))
    )
    assert counted.value == pytest.approx(plain.value, rel=1e-6)
    np.testing.assert_allclose(counted.params, plain.params, atol=1e-3)


@pytest.mark.parametrize("small", [1e-3, 1e-6])
def test_lbfgs_leaves_a_saddle_before_it_has_converged(small):
    problem, start, units = mapped(1)
    found = lbfgs(problem, small * start, units=units)
    assert found.status == "converged"
    assert found.value < 0.6 < problem.value(small * start)  # at the saddle it is log 2


class Wall(Objective):
    """A gentle slope down to 0.02, and a wall that rises from there: scipy's search along a line gives up at 0."""

    penalty = Ridge(0.0)

    def data(self, params):
        over = np.maximum(params - 0.02, 0.0)
        value = np.where(over < 1e-3, over**2 / 2e-3, over - 5e-4) - 0.006 * params
        return float(value.sum()), np.minimum(over / 1e-3, 1.0) - 0.006


def test_lbfgs_goes_on_where_the_search_along_a_line_gave_up():
    found = lbfgs(Wall(), np.zeros(1), tol=1e-9)
    assert found.status == "converged"
    assert found.params == pytest.approx([0.020006], abs=1e-6)
    assert found.value == pytest.approx(Wall().value(found.params), abs=1e-12)


@pytest.mark.parametrize("start", [np.nan, np.inf])
def test_lbfgs_ends_where_nothing_is_finite(start):
    with np.errstate(invalid="ignore"):
        assert lbfgs(Wall(), np.full(3, start)).status != "max_iter"


def test_lbfgs_ends_at_a_wall_from_afar():
    found = lbfgs(Wall(), np.array([-300.0, 0.0, 5.0]), tol=1e-9, max_iter=2000)
    assert found.value == pytest.approx(Wall().value(np.full(3, 0.020006)), abs=1e-6)
    assert found.value == pytest.approx(Wall().value(found.params), abs=1e-12)


class Cliff(Objective):
    """A bowl with its lowest point at 1, behind a wall at 0.5 whose slopes have squares that no number holds."""

    penalty = Ridge(0.0)

    def data(self, params):
        past = np.maximum(params - 0.5, 0.0)
        return float(((params - 1.0) ** 2 + 1e200 * past**2).sum() / 2), params - 1.0 + 1e200 * past


@pytest.mark.parametrize("start", [0.0, 0.75])
def test_lbfgs_ends_no_higher_where_a_slope_is_too_steep_to_square(start):
    assert lbfgs(Cliff(), np.full(3, start)).value <= Cliff().value(np.full(3, start))


def test_lbfgs_refuses_a_penalty_without_gradient():
    with pytest.raises(TypeError, match="accelerated"):
        lbfgs(Problem(Matrix(8), Compared(graph(), LOGISTIC), Trace(0.1)), np.zeros(64))


@pytest.mark.slow
def test_minibatches_come_close_to_the_full_batch():
    truth = np.random.default_rng(0).normal(size=(60, 2))
    g = build_graph(sm.simulate(truth, 20_000, sharpness=1.0, random_state=1))
    problem = Problem(Positions(60, 2), Compared(g, LOGISTIC), Ridge(0.03, 60))
    start = np.random.default_rng(2).normal(size=(60, 2))
    exact = lbfgs(problem, start, tol=1e-9)
    quick = minibatch(problem, start, epochs=20, batch=500, random_state=0)
    assert quick.value == pytest.approx(exact.value, rel=0.01)
    again = minibatch(problem, start, epochs=20, batch=500, random_state=0)
    assert np.array_equal(quick.params, again.params)


def test_minibatch_names_what_it_cannot_do():
    with pytest.raises(TypeError, match="free positions"):
        minibatch(Problem(Matrix(8), Compared(graph(), LOGISTIC), Ridge(0.1)), np.zeros(64))
    with pytest.raises(TypeError, match="Trace"):
        minibatch(Problem(Positions(8, 2), Compared(graph(), LOGISTIC), Trace(0.1)), np.zeros(16))


def test_iterations_run_out_and_say_so():
    problem = Problem(Positions(8, 2), Compared(graph(), LOGISTIC), Ridge(0.01, 8))
    start = np.random.default_rng(0).normal(size=16)
    assert lbfgs(problem, start, max_iter=2).status == "max_iter"
    assert accelerated(problem, start, max_iter=2).status == "max_iter"


def test_a_callback_sees_every_iteration_and_may_interrupt():
    problem = Problem(
        Positions(8, 2), Compared(graph(), ComparisonLoss(Formula(squared), Formula(hinge, 0.1))), Ridge(0.01, 8)
    )
    start = np.random.default_rng(0).normal(size=16)
    seen = []
    found = lbfgs(problem, start, callback=lambda number, value: seen.append((number, value)))
    assert [number for number, _ in seen] == list(range(1, found.n_iter + 1))
    assert seen[-1][1] == pytest.approx(found.value)

    def interrupt(number, value):
        raise KeyboardInterrupt

    for solver in (lbfgs, accelerated, minibatch):
        with pytest.raises(KeyboardInterrupt):
            solver(problem, start, callback=interrupt)


def test_a_lifted_start_may_have_more_dimensions_than_items():
    c = sm.Comparisons.from_triplets([(0, 1, 2), (1, 0, 2), (2, 1, 0)])
    assert sm.STE(2, random_state=0).fit(c).score(c) == 1.0

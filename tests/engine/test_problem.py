"""One problem: the pass over positions against the way through pairs, and what cannot be is said."""

import numpy as np
import pytest

import similitude as sm
from similitude.engine.comparison_terms import Compared, ComparedInShards
from similitude.engine.joint_terms import Judged, Linked
from similitude.engine.losses import as_loss
from similitude.engine.models import Additive, FeatureWeights, Matrix, Positions, SumOfModels
from similitude.engine.penalties import Blocks, NonNegative, Ridge, Trace
from similitude.engine.problem import Problem
from similitude.engine.solvers.accelerated import accelerated
from similitude.engine.solvers.certificate import Certificate
from similitude.engine.solvers.coordinates import coordinate_descent
from similitude.engine.solvers.lbfgs import lbfgs
from similitude.engine.solvers.minibatch import minibatch, minibatch_from_disk
from similitude.engine.solvers.rounds import certified
from similitude.engine.terms import Formula, squared
from similitude.graph.build import build_graph

TRUTH = np.random.default_rng(0).normal(size=(9, 2))
ANSWERS = sm.simulate(TRUTH, 200, sharpness=1.0, random_state=1)
STE = Compared(build_graph(ANSWERS), as_loss("ste"))


def judged(n_raters=2):
    rater = np.arange(len(ANSWERS)) % n_raters
    return Judged(as_loss("probit"), ANSWERS.near, ANSWERS.far, np.ones(len(ANSWERS)), rater, n_raters)


@pytest.mark.parametrize("loss", ["ste", "ckl", "soe", "probit"])
def test_the_pass_over_positions_is_the_way_through_pairs(loss):
    term = Compared(build_graph(ANSWERS), as_loss(loss))
    fused = Problem(Positions(9, 2), term, Ridge(0.1, 9))
    through_pairs = Problem(SumOfModels([Positions(9, 2)]), term, Ridge(0.1, 9))
    assert fused.in_one_pass is term
    assert through_pairs.in_one_pass is None
    at = TRUTH.ravel()
    assert through_pairs.value(at) == pytest.approx(fused.value(at), rel=1e-12)
    for one, other in zip(fused.value_and_gradient(at), through_pairs.value_and_gradient(at), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-10, atol=1e-14)


def test_terms_add_up_by_their_weights():
    at = TRUTH.ravel()
    terms = [Compared(build_graph(ANSWERS), as_loss(loss)) for loss in ("ste", "ckl")]
    alone = [Problem(Positions(9, 2), term, Ridge(0.0)) for term in terms]
    both = Problem(Positions(9, 2), terms, Ridge(0.0), weights=[3.0, 1.0])
    mean = [0.75 * one + 0.25 * other for one, other in zip(*(problem.data(at) for problem in alone), strict=True)]
    assert both.data(at)[0] == pytest.approx(mean[0], rel=1e-12)
    np.testing.assert_allclose(both.data(at)[1], mean[1], rtol=1e-10, atol=1e-14)


def test_raters_of_normal_noise_in_a_problem_are_found():
    """A rater who answers at random is dull beside one who knows the truth, whatever the noise is called."""
    d2 = [((TRUTH[pair[:, 0]] - TRUTH[pair[:, 1]]) ** 2).sum(1) for pair in (ANSWERS.near, ANSWERS.far)]
    right = d2[0] < d2[1]
    guesses = np.random.default_rng(2).random(len(ANSWERS)) < 0.5
    near, far = (np.concatenate([own, own]) for own in (ANSWERS.near, ANSWERS.far))
    turned = np.concatenate([~right, guesses])
    near[turned], far[turned] = far[turned], near[turned]
    rater = np.repeat([0, 1], len(ANSWERS))
    term = Judged(as_loss("probit"), near, far, np.ones(len(near)), rater, 2)
    problem = Problem(Positions(9, 2), term, Ridge(0.01, 9))
    found = lbfgs(problem, problem.start(TRUTH))
    sharp = term.sources.sharpness(problem.split(found.params)[1])
    assert sharp[0] > 3 * sharp[1]


def test_what_a_device_and_shards_cannot_do_is_said():
    away = type("Away", (), {})()
    with pytest.raises(TypeError, match=r"a device works on positions with a term of comp.*found Matrix with Compared"):
        Problem(Matrix(9), STE, Trace(0.1), backend=away)
    with pytest.raises(TypeError, match=r"found Positions with Judged; use device='cpu'"):
        Problem(Positions(9, 2), judged(), Ridge(0.1), backend=away)
    in_shards = ComparedInShards(None, as_loss("ste"), 200.0)
    with pytest.raises(TypeError, match=r"comparisons in shards need positions.*found Matrix with ComparedInShards"):
        Problem(Matrix(9), in_shards, Trace(0.1))
    links = Linked(Formula(squared), np.array([[0, 1]]), np.array([True]), np.ones(1))
    links.size = 0  # with parameters of their own the penalty is no ridge, which is said first
    with pytest.raises(TypeError, match=r"nothing beside it, found NoneType, Linked; use lbfgs"):
        minibatch_from_disk(Problem(Positions(9, 2), [in_shards, links], Ridge(0.1)), None, np.zeros(18), epochs=1)


def test_a_pass_goes_beside_other_terms():
    """Comparisons by the pass, raters' and links through pairs: the sum of each alone, with all own parameters."""
    links = Linked(Formula(squared), np.array([[0, 1], [2, 3], [4, 5]]), np.array([True, False, True]), np.ones(3))
    terms, weights = [judged(), STE, links], [2.0, 1.0, 0.5]
    together = Problem(Positions(9, 2), terms, Ridge(0.0), weights)
    at = together.start(TRUTH) + 0.1
    position, *own = together.split(at)
    value, gradient = 0.0, np.zeros(len(at))
    ends = np.cumsum([18, *(term.size for term in terms)])
    for k, (term, weight, mine) in enumerate(zip(terms, weights, own, strict=True)):
        alone = Problem(SumOfModels([Positions(9, 2)]), term, Ridge(0.0))
        found, slope = alone.data(np.concatenate([position, mine]))
        share = weight * term.total / together.total
        value += share * found
        gradient[:18] += share * slope[:18]
        gradient[ends[k] : ends[k + 1]] = share * slope[18:]
    assert together.data(at)[0] == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(together.data(at)[1], gradient, rtol=1e-9, atol=1e-12)


def test_solvers_say_what_they_need():
    with pytest.raises(TypeError, match=r"lbfgs needs a smooth penalty, and Trace has no gradient; use accelerated"):
        lbfgs(Problem(Matrix(9), STE, Trace(0.1)), np.zeros(81))
    assert accelerated(Problem(Matrix(9), STE, Trace(0.1)), np.zeros(81)).ok
    with pytest.raises(TypeError, match=r"minibatch needs free positions, found Matrix; use lbfgs"):
        minibatch(Problem(Matrix(9), STE, Ridge(0.1)), np.zeros(81))
    with pytest.raises(TypeError, match=r"minibatch needs free positions, found Positions; use lbfgs"):
        minibatch(Problem(Positions(9, 2, beside=TRUTH), STE, Ridge(0.1)), np.zeros(18))
    with pytest.raises(TypeError, match=r"minibatch needs a ridge, found Trace; use accelerated"):
        minibatch(Problem(Positions(9, 2), STE, Trace(0.1)), np.zeros(18))
    with pytest.raises(
        TypeError, match=r"minibatch needs comparisons in memory as the one term, found Compared, Compared"
    ):
        minibatch(Problem(Positions(9, 2), [STE, STE], Ridge(0.1)), np.zeros(18))


def test_a_proof_is_of_losses_and_parts_whose_bound_is_known():
    graph, hinge = build_graph(ANSWERS), Compared(build_graph(ANSWERS), as_loss("hinge"))
    with pytest.raises(TypeError, match=r"a bound is known for hinge and logistic.*found squared and probit"):
        certified(Problem(Matrix(9), Compared(graph, as_loss("probit")), Trace(0.1)))
    with pytest.raises(TypeError, match=r"a bound is known for a Matrix with a Trace.*found Positions with Ridge"):
        certified(Problem(Positions(9, 2), hinge, Ridge(0.1)))
    with pytest.raises(TypeError, match=r"a proof needs comparisons in memory as the one term, found Judged"):
        certified(Problem(Matrix(9), judged(), Trace(0.1)))
    with pytest.raises(TypeError, match=r"coordinate_descent needs a hinge and a ridge"):
        coordinate_descent(Problem(Matrix(9), hinge, Trace(0.1)), np.eye(36))


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_the_rounds_prove_the_optimum_of_any_sum_of_parts(loss):
    """A free kernel, weights and, with a hinge, a ridged form in one problem: no method has them all."""
    features = np.random.default_rng(3).normal(size=(9, 2))
    models = [Matrix(9), FeatureWeights(features)]
    prices = [Trace(0.02), NonNegative(0.05)]
    if loss == "hinge":
        models, prices = [*models, Additive(features)], [*prices, Ridge(0.3)]
    blocks = Blocks([(price, model.size) for price, model in zip(prices, models, strict=True)])
    problem = Problem(SumOfModels(models), Compared(build_graph(ANSWERS), as_loss(loss).smoothed(1e-5)), blocks)
    found = certified(problem, tol=1e-3)
    assert found.status == "converged"
    assert found.lower > 0
    other = accelerated(problem, np.zeros(problem.model.size), max_iter=3000, tol=1e-9)
    assert found.lower <= other.value
    assert found.value <= other.value * (1 + 1e-3) + found.gap


def test_a_certificate_keeps_the_best_point_and_the_best_bound():
    seen = []
    proof = Certificate("start", 0.1, lambda n_iter, value: seen.append((n_iter, value)), lower=0.0)
    assert not proof.proven(0.5)
    assert proof.slow(0.5)  # nothing was offered: there is no gap yet
    proof.count(3)
    proof.offer("first", 2.0)
    assert not proof.proven(1.0)
    assert (proof.best.gap, proof.slow(0.5)) == (1.0, False)
    proof.offer("worse", 3.0)
    assert not proof.proven(0.2)  # a weaker bound changes nothing
    assert (proof.best.point, proof.best.gap, proof.slow(0.5)) == ("first", 1.0, True)
    proof.count(4)
    proof.offer("second", 1.05)
    assert proof.proven(0.7)
    assert (proof.best.point, proof.best.status, proof.best.n_iter) == ("second", "converged", 7)
    assert proof.best.gap == pytest.approx(0.05)
    assert seen == [(0, np.inf), (3, 2.0), (3, 2.0), (7, 1.05)]

"""The losses of PyTorch against the terms of the engine: values, gradients, second derivatives, starts."""

import importlib.util
import inspect
import sys

import numpy as np
import pytest

import similitude as sm
from similitude.engine.comparison_terms import Compared, Hinges
from similitude.engine.joint_terms import Mixed
from similitude.engine.models import DotProducts, Positions
from similitude.engine.penalties import Ridge
from similitude.engine.problem import Problem
from similitude.engine.terms import SCALES, Formula
from similitude.graph.build import build_graph
from tests.contracts.registry import KINKS, losses, scales, shapes, term_cases
from tests.docs.test_docstrings import explained, run_examples

N_ITEMS, WIDTH, ROWS = 12, 3, 60
LOSSES = losses()
FORMULAS = [*scales(), *shapes()]
NOT_OVER_VECTORS = {Hinges, Mixed}  # a step of a solver; one that sees all answers of a rater at once, in n maps


def rows(columns, seed=0):
    rng = np.random.default_rng(seed)
    return np.array([rng.permutation(N_ITEMS)[:columns] for _ in range(ROWS)])


def comparisons(seed=0):
    rng = np.random.default_rng(seed)
    who = rng.choice(["ann", "bob", "cem"], ROWS)
    return sm.Comparisons.from_quadruplets(rows(4, seed), weight=rng.uniform(0.5, 2, ROWS), rater=who, n_items=N_ITEMS)


def links():
    rng = np.random.default_rng(1)
    return sm.Links.of(rows(2), rng.random(ROWS) < 0.5, weight=rng.uniform(0.5, 2, ROWS), n_items=N_ITEMS)


def ratings(steps, larger="different"):
    rng = np.random.default_rng(2)
    value = rng.integers(0, steps, ROWS) if steps else rng.normal(size=ROWS)
    who = rng.choice(["ann", "bob", None], ROWS)
    return sm.Ratings.of(rows(2), value, larger=larger, rater=who, weight=rng.uniform(0.5, 2, ROWS), n_items=N_ITEMS)


def odd_ones():
    who = np.random.default_rng(4).choice(["ann", "bob", None], ROWS)
    return sm.Comparisons.from_odd_one_out(rows(3), rater=who, n_items=N_ITEMS)


def picks():
    shown = rows(6)
    return sm.Comparisons.from_choices(shown[:, 1:], shown[:, 1:3], head=shown[:, 0], n_items=N_ITEMS)


CASES = {
    "odd ones out with a lapse": (odd_ones, lambda st, c: st.PickedLoss(c, lapse=True)),
    "odd ones out by raters": (odd_ones, lambda st, c: st.PickedLoss(c, "ckl", raters=True, lapse=True)),
    "picks of two of five": (picks, lambda st, c: st.PickedLoss(c, "tste", lapse=True)),
    "sharpness": (comparisons, lambda st, c: st.JudgedLoss(c, "ckl")),
    "sharpness and lapse": (comparisons, lambda st, c: st.JudgedLoss(c, "probit", lapse=True)),
    "links": (links, lambda st, said: st.LinkedLoss(said)),
    "five steps": (lambda: ratings(5), lambda st, said: st.GradedLoss(said)),
    "two steps": (lambda: ratings(2, "similar"), lambda st, said: st.GradedLoss(said, spread=0.3)),
    "numbers": (lambda: ratings(0, "similar"), lambda st, said: st.MeasuredLoss(said)),
}


@pytest.fixture
def vectors(torch):
    drawn = np.random.default_rng(3).normal(size=(N_ITEMS, WIDTH))
    return torch.tensor(drawn, requires_grad=True)


def whole(st, feedback, loss=None):
    """One batch of everything that was said, over all items in their order."""
    batch = st.FeedbackDataset(feedback, whole=isinstance(loss, st.PickedLoss))[:]
    assert batch.items.tolist() == list(range(N_ITEMS))
    return batch


def engine(term, vectors, own=()):
    """Value and gradient of the engine's objective, without a penalty on positions."""
    problem = Problem(Positions(N_ITEMS, WIDTH), term, Ridge(0.0))
    return problem.value_and_gradient(np.concatenate([vectors.detach().numpy().ravel(), own]))


def close(found, wanted):
    """Weights are 32-bit in a batch."""
    wanted = np.asarray(wanted)
    np.testing.assert_allclose(found.detach().numpy(), wanted, rtol=0, atol=1e-6 * max(np.abs(wanted).max(), 1e-3))


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: f"{loss.scale.name}-{loss.shape.name}")
def test_comparisons_have_the_engines_value_and_gradient(st, vectors, loss):
    c = comparisons()
    value = st.ComparedLoss(loss)(vectors, whole(st, c))
    value.backward()
    wanted, gradient = engine(Compared(build_graph(c), loss), vectors)
    close(value, wanted)
    close(vectors.grad.ravel(), gradient)


@pytest.mark.parametrize("name", CASES)
def test_terms_with_parameters_have_the_engines_value_and_gradients(torch, st, vectors, name):
    feedback, make = CASES[name][0](), CASES[name][1]
    loss = make(st, feedback).double()
    with torch.no_grad():
        loss.own += torch.linspace(-0.4, 0.7, len(loss.own))
    value = loss(vectors, whole(st, feedback, loss))
    value.backward()
    wanted, gradient = engine(loss.term, vectors, loss.own.detach().numpy())
    close(value, wanted)
    close(vectors.grad.ravel(), gradient[: vectors.numel()])
    close(loss.own.grad, gradient[vectors.numel() :])


def test_products_of_vectors_are_chosen_by(torch, st, vectors):
    c = odd_ones()
    loss = st.PickedLoss(c, products=True)
    assert len(loss.own) == 0
    value = loss(vectors, whole(st, c, loss))
    value.backward()
    model = DotProducts(Positions(N_ITEMS, WIDTH))
    wanted, gradient = Problem(model, loss.term, Ridge(0.0)).value_and_gradient(vectors.detach().numpy().ravel())
    close(value, wanted)
    close(vectors.grad.ravel(), gradient)


def test_whole_answers_are_of_one_kind_and_for_their_loss(st, vectors):
    several = sm.Comparisons.concatenate([odd_ones(), comparisons()])
    with pytest.raises(ValueError, match="whole: expected answers of one form"):
        st.FeedbackDataset(several, whole=True)
    batch = whole(st, odd_ones())
    with pytest.raises(ValueError, match="batch: expected whole answers, found comparisons"):
        st.PickedLoss(odd_ones())(vectors, batch)
    with pytest.raises(ValueError, match="batch: expected comparisons, found whole answers"):
        st.ComparedLoss()(vectors, st.FeedbackDataset(odd_ones(), whole=True)[:])


def test_every_term_of_the_engine_is_a_loss_here_or_says_why_not(st):
    here = {Compared, *(type(make(st, feedback()).term) for feedback, make in CASES.values())}
    assert here | NOT_OVER_VECTORS == {type(term) for _, term, _ in term_cases()}


@pytest.mark.parametrize("name", CASES)
def test_parameters_start_where_those_of_the_engine_do(st, vectors, name):
    feedback, make = CASES[name][0](), CASES[name][1]
    loss = make(st, feedback)
    loss.start(vectors)
    problem = Problem(Positions(N_ITEMS, WIDTH), loss.term, Ridge(0.0))
    close(loss.own, problem.start(vectors.detach().numpy())[vectors.numel() :])


@pytest.mark.parametrize("formula", FORMULAS, ids=lambda formula: formula.name)
def test_formulas_are_twice_differentiable(torch, st, formula):
    from similitude.torch.formulas import value_of

    kinks = KINKS.get(formula.name, [])
    places = [at for at in (0.05, 0.3, 0.9, 2.0, 7.0) if min((abs(at - kink) for kink in kinks), default=1) > 0.01]
    if formula.expression not in SCALES:
        places += [-at for at in places]
    argument = torch.tensor(places, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: value_of(formula, x), argument, atol=1e-6)
    assert torch.autograd.gradgradcheck(lambda x: value_of(formula, x), argument, atol=1e-5)


def test_items_in_one_place_are_pulled_apart_as_the_formula_says(torch, st):
    """|m| has no slope at 0; the logistic shape has one there: -1/2."""
    from similitude.torch.formulas import value_of

    margin = torch.zeros(1, requires_grad=True)
    value_of(Formula(LOSSES[0].shape.expression), margin).backward()
    assert margin.grad.item() == -0.5


def test_far_wrong_margins_have_finite_gradients(torch, st):
    for loss in LOSSES:
        vectors = torch.tensor([[0.0], [1e4], [1e-4]], requires_grad=True)
        st.ComparedLoss(loss)(vectors, [[0, 1, 2]]).backward()
        assert torch.isfinite(vectors.grad).all(), loss


def test_probabilities_are_those_of_the_loss(torch, st, vectors):
    c = comparisons()
    loss = st.ComparedLoss("probit")
    similarity = sm.Similarity(vectors.detach().numpy(), loss.loss)
    close(loss.probability(vectors, whole(st, c)), similarity.predict_proba(c)[:, 1])
    with pytest.raises(ValueError, match="gives no probability"):
        st.ComparedLoss("soe").probability(vectors, whole(st, c))


def test_the_mean_over_batches_of_equal_weight_is_the_whole(torch, st, vectors):
    said = ratings(5)
    dataset = st.FeedbackDataset(sm.Ratings.of(said.pairs, said.value, larger="different", n_items=N_ITEMS))
    loss = st.GradedLoss(dataset.feedback).double()
    parts = [dataset[start : start + 15] for start in range(0, ROWS, 15)]
    mean = sum(loss(vectors[part.items], part) for part in parts) / len(parts)
    close(mean, loss(vectors, dataset[:]).item())


def test_vectors_of_other_items_and_batches_of_other_kinds_are_refused(st, vectors):
    batch = st.FeedbackDataset(comparisons())[:3]
    with pytest.raises(ValueError, match=r"vectors: expected one for each of the \d+ items of the batch"):
        st.ComparedLoss()(vectors, batch)
    with pytest.raises(ValueError, match="batch: expected links, found comparisons"):
        st.LinkedLoss(links())(vectors, whole(st, comparisons()))
    with pytest.raises(ValueError, match="rows of 3 or 4 places"):
        st.ComparedLoss()(vectors, [[0.5, 1.0, 2.0]])


@pytest.mark.parametrize(
    "name", ["Batch", "ComparedLoss", "FeedbackDataset", "GradedLoss", "HeadSampler", "JudgedLoss", "LinkedLoss",
             "MeasuredLoss", "PickedLoss", "TripletDataset", "loader"]
)  # fmt: skip
def test_help_explains_every_parameter_and_its_examples_run(st, name):
    value = getattr(st, name)
    assert name in st.__all__
    known = explained("Parameters", value.__doc__) | explained("Attributes", value.__doc__)
    assert [parameter for parameter in inspect.signature(value).parameters if parameter not in known] == []
    run_examples(name, value.__doc__)


def test_it_says_what_it_lacks_where_torch_is_missing(monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "torch" else real(name, *more))
    for module in [name for name in sys.modules if name.startswith("similitude.torch")]:
        monkeypatch.delitem(sys.modules, module)
    with pytest.raises(ModuleNotFoundError, match=r'similitude.torch needs torch.*pip install "similitude\[gpu\]"'):
        importlib.import_module("similitude.torch")

"""What a whole answer tells, against brute force: all answers at very many positions drawn; and its information."""

from itertools import combinations

import numpy as np
import pytest

import similitude as sm
from similitude.active import answer_gain
from similitude.active.answer_gain import AnswerGain
from similitude.active.compiled_answers import inclusion_covariance
from similitude.active.posterior import Posterior
from similitude.active.scores import InformationGain
from similitude.engine.measures import SignedProduct
from similitude.feedback.forms import picking_forms
from similitude.feedback.forms.alternatives import Alternatives
from tests.active.test_posterior import LOSSES, answers, model

N = 9
ASKED = {"odd_one_out": (3, 1), "most_central": (3, 1), "choice": (6, 2)}


def products(d=3, seed=0):
    X = np.random.default_rng(seed).normal(size=(N, d))
    return sm.Similarity(X, LOSSES["STE"], form=SignedProduct(X, -np.ones(d)))


def posterior_of(loss):
    similarity = products() if loss == "product" else model(loss, n=N)
    return Posterior.of(similarity, answers(n=N, m=40))


def choices_of_form(form, count, seed=0, picked=None):
    width, picks = ASKED[form]
    rng = np.random.default_rng(seed)
    shown = np.array([rng.permutation(N)[:width] for _ in range(count)], np.int32)
    one = picking_forms()[form]
    return Alternatives(one.alternatives(shown), picked or picks, np.arange(count), one.prefers)


def chances(values, picked):
    """(draws, sets) chances of all sets, from (draws, m) values."""
    sets = np.array(list(combinations(range(values.shape[1]), picked)))
    weight = np.exp(values[:, sets].sum(2))
    return weight / weight.sum(1, keepdims=True)


def bits(p):
    return -(p * np.log2(np.maximum(p, 1e-300))).sum(-1)


def by_brute_force(posterior, choices, draws=20_000):
    rng, X = np.random.default_rng(1), posterior.positions
    root = np.linalg.cholesky(posterior.covariance)
    drawn = X + np.einsum("nde,sne->snd", root, rng.normal(size=(draws, *X.shape)))
    found = []
    for pairs in choices.pairs:
        x, y = drawn[:, pairs[..., 0]], drawn[:, pairs[..., 1]]
        between = (x * y) @ posterior.signs if len(posterior.signs) else ((x - y) ** 2).sum(-1)
        p = chances(choices.sign * posterior.loss.scale(between)[0].sum(-1), choices.picked)
        found.append(bits(p.mean(0)) - bits(p).mean())
    return np.array(found)


@pytest.mark.parametrize("loss", ["STE", "CKL", "product"])
@pytest.mark.parametrize("form", ASKED)
def test_the_gain_of_an_answer_is_that_of_all_answers_at_drawn_positions(loss, form, monkeypatch):
    monkeypatch.setattr(answer_gain, "_HALF", 4000)
    posterior, choices = posterior_of(loss), choices_of_form(form, 6)
    found = AnswerGain(posterior).of(choices.pairs, choices.sign, choices.picked)
    # both sides have at least 8,000 draws of numbers that scatter by less than 1 bit: a standard error of 0.013
    assert np.allclose(found, by_brute_force(posterior, choices), atol=0.06)


@pytest.mark.parametrize("form", ASKED)
def test_few_draws_tell_the_questions_apart(form, monkeypatch):
    posterior, choices = posterior_of("STE"), choices_of_form(form, 60)
    few = AnswerGain(posterior).of(choices.pairs, choices.sign, choices.picked)
    monkeypatch.setattr(answer_gain, "_HALF", 2000)
    many = AnswerGain(posterior).of(choices.pairs, choices.sign, choices.picked)
    assert np.corrcoef(few, many)[0, 1] > 0.8
    assert np.abs(few - many).mean() < 0.15  # of the widest form .07 ± .018


def test_of_two_alternatives_it_is_close_to_the_closed_form():
    posterior = Posterior.of(model("STE", n=N), answers(n=N, m=1200))
    near, far = (np.random.default_rng(k).permuted(np.tile(np.arange(N), (40, 1)), axis=1) for k in (0, 1))
    near, far = near[:, :2].astype(np.int32), np.column_stack([near[:, 0], near[:, 2]]).astype(np.int32)
    two = Alternatives.of_two(near, far, np.arange(40))
    drawn, closed = InformationGain(posterior).of_choices(two), InformationGain(posterior).of(near, far)
    assert np.abs(drawn - closed).mean() < 0.03  # .004 ± .002; of a hundred draws .017 at most, of wide positions
    assert np.corrcoef(drawn, closed)[0, 1] > 0.8


def test_nothing_is_told_by_what_is_known_or_noise_alone():
    posterior = posterior_of("STE")
    known = Posterior(posterior.positions, posterior.covariance * 1e-10, posterior.loss)
    choices = choices_of_form("odd_one_out", 20)
    assert InformationGain(known).of_choices(choices).max() < 1e-6


def test_a_pick_of_very_many_sets_is_told_by_a_pick_of_fewer():
    assert answer_gain._sets(20, 5).shape == (20, 1)
    assert answer_gain._sets(20, 17).shape == (20, 19)
    assert answer_gain._sets(12, 4).shape == (66, 2)
    assert answer_gain._sets(8, 4).shape == (70, 4)


@pytest.mark.parametrize("picked", [1, 2, 3, 4])
def test_the_covariance_of_who_is_picked_is_that_of_all_sets(picked):
    value = np.random.default_rng(picked).normal(size=5) * 3
    p = chances(value[None], picked)[0]
    inside = np.array([np.isin(np.arange(5), one) for one in combinations(range(5), picked)], float)
    expected = (inside.T * p) @ inside - np.outer(p @ inside, p @ inside)
    found = np.empty((5, 5))
    inclusion_covariance(value, picked, found)
    assert np.allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("far_apart", [800.0, -800.0])
def test_the_covariance_is_finite_for_any_values(far_apart):
    found = np.empty((4, 4))
    inclusion_covariance(np.array([0.0, far_apart, 2 * far_apart, 3 * far_apart]), 3, found)
    assert np.isfinite(found).all()
    assert np.abs(found).max() < 1e-6


@pytest.mark.parametrize("loss", ["STE", "CKL", "product"])
@pytest.mark.parametrize("form", ASKED)
def test_the_information_is_fishers(loss, form):
    """E of the outer product of the slopes of log p(answer) by an item's position, by central differences."""
    posterior, choices = posterior_of(loss), choices_of_form(form, 1)
    item, step = int(choices.pairs[0, 0, 0, 0]), 1e-5

    def log_chances(x):
        moved = posterior.positions.copy()
        moved[item] = x
        here = Posterior(moved, posterior.covariance, posterior.loss, posterior.signs)
        level = posterior.loss.scale(here.values(choices.pairs.reshape(-1, 2)))[0].reshape(choices.pairs.shape[1:3])
        return np.log(chances(choices.sign * level.sum(1)[None], choices.picked)[0])

    x = posterior.positions[item]
    slopes = np.array([(log_chances(x + e) - log_chances(x - e)) / (2 * step) for e in step * np.eye(len(x))])
    expected = (slopes * np.exp(log_chances(x))) @ slopes.T
    before = np.linalg.inv(posterior.covariance[item])
    posterior.learn_choices(choices)
    assert np.allclose(np.linalg.inv(posterior.covariance[item]) - before, expected, atol=1e-5)


@pytest.mark.parametrize("form", ["odd_one_out", "most_central", "choice"])
def test_a_pending_choice_counts_as_one_that_was_made(form):
    similarity, c = model("CKL"), answers(form=form, m=30)
    first = c.select(np.arange(20))
    rest = c.answers.take(np.arange(20, 30))
    told = Posterior.of(similarity, first)
    for one in picking_forms()[form].chosen(rest.shown.matrix(), rest.response.matrix()):
        told.learn_choices(one)
    assert np.allclose(told.covariance, Posterior.of(similarity, c).covariance)


def test_what_was_asked_is_worth_less_when_it_is_asked_again():
    scorer, choices = InformationGain(posterior_of("STE")), choices_of_form("choice", 12)
    before = scorer.of_choices(choices)
    scorer.learn_choices(choices)
    assert (scorer.of_choices(choices) < before).all()


def test_products_have_logits_like_distances():
    similarity, c = products(), answers(n=N, m=40)
    posterior = Posterior.of(similarity, c)
    small = Posterior(posterior.positions, posterior.covariance * 1e-6, posterior.loss, posterior.signs)
    mean, variance = small.logits(c.near, c.far)
    assert np.allclose(mean, similarity.margin(c))
    rng, root, X = np.random.default_rng(0), np.linalg.cholesky(small.covariance), posterior.positions
    drawn = X + np.einsum("nde,sne->snd", root, rng.normal(size=(4000, *X.shape)))
    near, far = (-(drawn[:, pairs[:, 0]] * drawn[:, pairs[:, 1]]).sum(-1) for pairs in (c.near, c.far))
    assert np.allclose((far - near).var(0), variance, rtol=0.15)  # six standard errors of a variance of 4,000 numbers
    level, F, q = small.of_head(2)
    b, k, head = np.array([0, 1, 5]), np.array([3, 8, 4]), np.full(3, 2)
    mean, variance = small.logits(np.stack([head, b], 1), np.stack([head, k], 1))
    assert np.allclose(level[k] - level[b], mean)
    assert np.allclose(((F[b] - F[k]) ** 2).sum(1) + q[b] + q[k], variance)


def test_a_pending_comparison_of_products_counts_as_an_answered_one():
    similarity, c = products(), answers(n=N)
    told = Posterior.of(similarity, c.select(np.arange(60)))
    told.learn(c.near[60:], c.far[60:])
    assert np.allclose(told.covariance, Posterior.of(similarity, c).covariance)

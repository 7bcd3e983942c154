"""The Laplace posterior: its Hessian, its logits, and that a pending question counts as an answered one."""

import numpy as np
import pytest

import similitude as sm
from similitude.active.posterior import Posterior
from similitude.engine.terms import ComparisonLoss, Formula, logarithm, logistic, squared, student

LOSSES = {
    "STE": ComparisonLoss(Formula(squared), Formula(logistic)),
    "TSTE": ComparisonLoss(Formula(student, 1.5), Formula(logistic)),
    "CKL": ComparisonLoss(Formula(logarithm, 0.05), Formula(logistic)),
}


def model(loss="STE", n=9, d=3, seed=0):
    return sm.Similarity(np.random.default_rng(seed).normal(size=(n, d)), LOSSES[loss])


def answers(n=9, m=80, form="triplet", seed=1):
    return sm.simulate(np.random.default_rng(seed).normal(size=(n, 2)), m, form, sharpness=1.0, random_state=seed)


def test_without_answers_it_is_the_prior():
    similarity = model()
    posterior = Posterior.of(similarity, None)
    variance = (similarity.embedding - similarity.embedding.mean(0)).var()
    assert np.allclose(posterior.covariance, variance * np.eye(3))


def test_for_ste_a_head_has_the_exact_hessian():
    similarity, head = model(), 4
    c = answers()
    c = c.select(np.flatnonzero(c.near[:, 0] == head))
    X = similarity.embedding

    def minus_log_posterior(x):
        moved = X.copy()
        moved[head] = x
        d2 = [((moved[pairs[:, 0]] - moved[pairs[:, 1]]) ** 2).sum(1) for pairs in (c.near, c.far)]
        prior = ((x - X.mean(0)) ** 2).sum() / (2 * ((X - X.mean(0)) ** 2).mean())
        return np.logaddexp(0, d2[0] - d2[1]).sum() + prior

    step, eye = 1e-4, np.eye(3)
    hessian = np.array(
        [
            [
                (
                    minus_log_posterior(X[head] + step * (eye[r] + eye[k]))
                    - minus_log_posterior(X[head] + step * (eye[r] - eye[k]))
                    - minus_log_posterior(X[head] - step * (eye[r] - eye[k]))
                    + minus_log_posterior(X[head] - step * (eye[r] + eye[k]))
                )
                / (4 * step**2)
                for k in range(3)
            ]
            for r in range(3)
        ]
    )
    assert np.allclose(np.linalg.inv(Posterior.of(similarity, c).covariance[head]), hessian, atol=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("form", ["triplet", "quadruplet"])
def test_logits_are_those_of_sampled_positions(loss, form):
    similarity, c = model(loss), answers(form=form, m=40)
    posterior = Posterior.of(similarity, c)
    small = Posterior(posterior.positions, posterior.covariance * 1e-6, posterior.loss)
    mean, variance = small.logits(c.near, c.far)
    assert np.allclose(mean, similarity.margin(c))
    rng = np.random.default_rng(0)
    root = np.linalg.cholesky(small.covariance)
    drawn = []
    for _ in range(4000):
        X = similarity.embedding + np.einsum("nde,ne->nd", root, rng.normal(size=similarity.embedding.shape))
        drawn.append(sm.Similarity(X, similarity.loss).margin(c))
    assert np.allclose(np.var(drawn, axis=0), variance, rtol=0.15)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_heads_own_form_agrees_with_the_logits(loss):
    posterior = Posterior.of(model(loss), answers())
    level, F, q = posterior.of_head(2)
    b, c = np.array([0, 1, 5]), np.array([3, 8, 4])
    head = np.full(3, 2)
    mean, variance = posterior.logits(np.stack([head, b], 1), np.stack([head, c], 1))
    assert np.allclose(level[c] - level[b], mean)
    assert np.allclose(((F[b] - F[c]) ** 2).sum(1) + q[b] + q[c], variance)


@pytest.mark.parametrize("form", ["triplet", "quadruplet"])
def test_a_pending_question_counts_as_an_answered_one(form):
    similarity, c = model("CKL"), answers(form=form)
    told = Posterior.of(similarity, c.select(np.arange(60)))
    told.learn(c.near[60:], c.far[60:])
    assert np.allclose(told.covariance, Posterior.of(similarity, c).covariance)


def test_a_comparison_of_weight_two_is_two_comparisons():
    similarity, c = model(), answers()
    twice = Posterior.of(similarity, sm.Comparisons.concatenate([c, c]))
    assert np.allclose(Posterior.of(similarity, c.reweight(2.0)).covariance, twice.covariance)


def test_close_neighbours_are_not_called_more_uncertain_than_they_are():
    X = np.array([[0.0, 0.0], [0.12, 0.1], [1.0, 0.0], [0.0, 1.3]])
    posterior = Posterior(X, np.tile(0.15 * np.eye(2), (4, 1, 1)), LOSSES["CKL"])
    near, far = np.array([[0, 1]], np.int32), np.array([[0, 2]], np.int32)
    drawn = X + np.sqrt(0.15) * np.random.default_rng(0).normal(size=(20_000, 4, 2))
    d2 = [((drawn[:, 0] - drawn[:, k]) ** 2).sum(1) for k in (1, 2)]
    truth = posterior.loss.margin(*d2).var()
    certain = Posterior(X, np.tile(1e-9 * np.eye(2), (4, 1, 1)), LOSSES["CKL"])
    naive = certain.logits(near, far)[1][0] * 0.15e9
    found = posterior.logits(near, far)[1][0]
    assert naive > 2 * truth
    assert abs(found - truth) < abs(naive - truth)
    assert found < truth

"""Raters who weigh the dimensions differently: weights found where they differ, none where they do not."""

from dataclasses import replace

import numpy as np
import pytest

import similitude as sm
from similitude.display.estimate import Estimate
from similitude.engine.backend import CPU
from similitude.engine.group_models import RaterWeights
from similitude.engine.models import DotProducts, Positions
from similitude.evaluate.answer_scores import answer_losses
from similitude.evaluate.ceiling import above_ceiling
from similitude.evaluate.held_out_answers import HeldOutAnswers

KINDS = {"dot": "dot", "distance": "euclidean"}  # similarity of the method, metric of the simulated raters


def drawn(truth, weights, count, similarity, seed):
    """So many odd ones out of each rater, who sees the truth by weights of the dimensions."""
    parts = [
        sm.simulate(
            truth * np.sqrt(own), count, "odd_one_out", raters=sm.Raters.of([1.0], names=[f"r{k:02d}"]),
            metric=KINDS[similarity], random_state=100 * seed + k,
        )
        for k, own in enumerate(weights)
    ]  # fmt: skip
    return sm.Comparisons.concatenate(parts)


def planted(spread, seed, n_raters=20, d=3):
    rng = np.random.default_rng(seed)
    weights = np.exp(spread * rng.normal(size=(n_raters, d)))
    return rng.normal(size=(30, d)), weights / weights.mean(0)


def both_tell(rng):
    """Items on two dimensions that vary alike, so that raters who see one of them differ."""
    truth = rng.normal(size=(15, 2))
    return 1.5 * truth / truth.std(0)


def fitted(c, similarity, raters="weights"):
    return sm.ChoiceEmbedding(8, similarity=similarity, raters=raters, random_state=0).fit(c)


def gain(without, knows, test):
    """Mean gain in the loss of answers, and its standard error."""
    by_answer = answer_losses(without, test)[0] - answer_losses(knows, test)[0]
    return by_answer.mean(), by_answer.std() / np.sqrt(len(by_answer))


@pytest.mark.slow
@pytest.mark.parametrize("similarity", list(KINDS))
def test_planted_weights_are_found_and_foretell_answers(similarity):
    truth, weights = planted(0.9, 0)
    train, test = (drawn(truth, weights, 200, similarity, seed) for seed in (1, 2))
    model, alike = fitted(train, similarity), fitted(train, similarity, True)
    assert gain(alike, model, test)[0] > 0  # of products .08; of eight draws ± .018
    found = model.weights_[:, : model.n_dimensions_] * model.raters_.sharpness.to_numpy()[:, None]
    across = np.abs(np.corrcoef(np.log(found).T, np.log(weights).T)[: found.shape[1], found.shape[1] :])
    assert across.max(0).min() > 0.6  # of products .87; of eight draws ± .06
    assert len(set(across.argmax(0))) == 3


@pytest.mark.slow
@pytest.mark.parametrize("similarity", list(KINDS))
def test_raters_who_do_not_differ_are_not_harmed(similarity):
    truth, weights = planted(0.0, 0)
    train, test = (drawn(truth, weights, 60, similarity, seed) for seed in (3, 4))
    model, alike = fitted(train, similarity), fitted(train, similarity, True)
    mean, error = gain(alike, model, test)
    assert mean > -4 * error - 1e-12
    assert model.spread_ <= 0.8  # 0 in 21 of 24 draws, .4 at the most


@pytest.fixture(scope="module")
def two_views():
    """Answers of eight raters, every second of whom sees one dimension, the others another; and a fit to them."""
    truth = both_tell(np.random.default_rng(0))
    c = drawn(truth, np.array([[2.0, 0.05], [0.05, 2.0]] * 4), 200, "distance", 0)
    return c, fitted(c, "distance")


def test_weights_are_one_on_average_and_never_negative(two_views):
    model = two_views[1]
    assert model.spread_ > 0
    assert (model.weights_ >= 0).all()
    np.testing.assert_allclose(model.weights_.mean(0), 1.0, rtol=1e-6)  # all gave as many answers
    known = model.similarity_.answering
    assert (known.weights[-1] == 1.0).all()  # somebody unknown
    columns = [f"w{k + 1}" for k in range(model.n_dimensions_)]
    assert list(model.raters_) == ["rater", "answers", "sharpness", "lapse", *columns]
    np.testing.assert_array_equal(model.raters_[columns], model.weights_[:, : model.n_dimensions_])


def test_predictions_are_those_of_the_rater(two_views):
    model = two_views[1]
    rows = np.array([(i, j, k) for i in range(15) for j in range(15) for k in range(j) if i not in (j, k)])
    by = {who: model.predict(sm.Comparisons.from_triplets(rows, rater=[who] * len(rows))) for who in ("r00", "r01")}
    assert 0.2 < (by["r00"] != by["r01"]).mean() < 0.8  # they see different dimensions
    X, known = model.embedding_, model.similarity_.answering
    d2 = [(known.weights[0] * (X[rows[:, 0]] - X[rows[:, k]]) ** 2).sum(1) for k in (1, 2)]
    expected = 1 / (1 + np.exp(-known.sharpness[0] * (d2[1] - d2[0])))
    asked = sm.Comparisons.from_triplets(rows, rater=["r00"] * len(rows))
    np.testing.assert_allclose(model.predict_proba(asked)[:, 1], expected, rtol=1e-9)


def test_answers_are_scored_as_their_raters_see(two_views):
    c, model = two_views
    strangers = sm.Comparisons.from_odd_one_out(c.answers.shown.matrix(), c.answers.response.matrix()[:, 0])
    assert sm.answer_log_loss(model, c) < sm.answer_log_loss(model, strangers) - 0.05
    assert sm.answer_accuracy(model, c) > sm.answer_accuracy(model, strangers) + 0.05


def test_nobody_known_is_everybody_alike():
    c = sm.simulate(np.random.default_rng(0).normal(size=(15, 2)), 300, "odd_one_out", random_state=0)
    plain, weighed = fitted(c, "dot", False), fitted(c, "dot")
    assert np.array_equal(plain.embedding_, weighed.embedding_)
    assert weighed.weights_.shape == (0, 8)
    assert weighed.spread_ == 0.0


def test_a_bad_setting_is_named():
    with pytest.raises(ValueError, match="raters: expected one of False, True, 'weights', found 'maps'"):
        sm.ChoiceEmbedding(raters="maps").fit([(0, 1, 2)])
    with pytest.raises(ValueError, match=r"spread: 0\.4 is that of raters' weights"):
        sm.ChoiceEmbedding(spread=0.4).fit([(0, 1, 2)])


@pytest.mark.slow
def test_who_gave_which_answer_by_chance_has_no_weights():
    found = []
    for seed in range(2):
        truth, weights = planted(0.8, seed)
        c = drawn(truth, weights, 60, "distance", 5 + seed)
        who = np.random.default_rng(6).permutation(c.answers.rater.values)
        shown, response = c.answers.shown.matrix(), c.answers.response.matrix()[:, 0]
        found.append(fitted(sm.Comparisons.from_odd_one_out(shown, response, rater=who), "distance").spread_)
    assert min(found) <= 0.1  # by chance weights may help once


@pytest.mark.parametrize("dot", [True, False])
def test_a_map_with_weights_is_its_definition(dot):
    rng, share = np.random.default_rng(0), np.array([0.6, 0.3, 0.1])
    base = Positions(4, 2)
    model = RaterWeights(DotProducts(base) if dot else base, share)
    params = rng.normal(size=model.size)
    X, weights = params[:8].reshape(4, 2), model.weights(params)
    np.testing.assert_allclose(share @ weights, 1.0)
    pairs = np.array([(r * 4 + i, r * 4 + j) for r in range(3) for i in range(4) for j in range(i)], np.int32)
    rater, i, j = pairs[:, 0] // 4, pairs[:, 0] % 4, pairs[:, 1] % 4
    value = -(weights[rater] * X[i] * X[j]).sum(1) if dot else (weights[rater] * (X[i] - X[j]) ** 2).sum(1)
    np.testing.assert_allclose(model.sqdist(params, pairs, CPU()), value)


@pytest.mark.slow
def test_weights_go_with_features_lapses_and_cant_tell():
    rng = np.random.default_rng(1)
    truth = both_tell(rng)
    c = drawn(truth, np.array([[2.0, 0.05], [0.05, 2.0]] * 4), 150, "dot", 1)
    shown, odd = c.answers.shown.matrix(), c.answers.response.matrix()[:, 0].astype(float)
    odd[rng.random(len(odd)) < 0.1] = np.nan
    said = sm.Comparisons.from_odd_one_out(shown, odd, rater=c.answers.rater.values)
    features = truth @ rng.normal(size=(2, 3)) + 0.1 * rng.normal(size=(15, 3))
    model = sm.ChoiceEmbedding(6, raters="weights", lapse="auto", cant_tell="auto", random_state=0)
    model.fit(said, features=features)
    assert model.spread_ > 0
    np.testing.assert_allclose(model.transform(features) + model.residual_, model.embedding_, atol=1e-9)
    assert (model.raters_.lapse >= 0).all()
    assert 0 < model.cant_tell_ < 1
    loaded = sm.Similarity.from_bytes(model.similarity_.to_bytes())
    assert np.array_equal(loaded.predict_cant_tell(said), model.similarity_.predict_cant_tell(said))
    assert np.array_equal(loaded.predict_proba(said), model.predict_proba(said))


def test_somebody_unknown_is_one_of_those_who_are_known(two_views):
    model = two_views[1]
    rows = np.array([(i, j, k) for i in range(15) for j in range(15) for k in range(j) if i not in (j, k)])
    known = [
        model.predict_proba(sm.Comparisons.from_triplets(rows, rater=[who] * len(rows)))[:, 1]
        for who in model.raters_.rater
    ]
    for who in (None, ["nobody"] * len(rows)):
        found = model.predict_proba(sm.Comparisons.from_triplets(rows, rater=who))[:, 1]
        np.testing.assert_allclose(found, np.mean(known, 0), rtol=1e-9)


def test_who_is_alone_differs_from_nobody():
    c = drawn(1.5 * np.random.default_rng(0).normal(size=(10, 2)), np.ones((1, 2)), 3, "distance", 3)
    again = sm.Comparisons.concatenate([c] * 10)  # the same few answers: held out, they are foretold by themselves
    assert fitted(again, "distance").spread_ == 0.0


def test_the_press_on_cant_tell_is_taken_off_as_raters_see(two_views):
    c = two_views[0]
    rng, odd = np.random.default_rng(2), c.answers.response.matrix()[:, 0].astype(float)
    odd[rng.random(len(odd)) < 0.2] = np.nan
    said = sm.Comparisons.from_odd_one_out(c.answers.shown.matrix(), odd, rater=c.answers.rater.values)
    model = sm.ChoiceEmbedding(4, similarity="distance", raters="weights", cant_tell="auto", random_state=0).fit(said)
    assert model.spread_ > 0
    assert model.cant_tell_ > model.similarity_.cant_tell  # a ridge presses: as raters see, the true share is more
    unknown = sm.Comparisons.from_odd_one_out(c.answers.shown.matrix(), odd)
    shares = [
        model.similarity_.predict_cant_tell(
            sm.Comparisons.from_odd_one_out(c.answers.shown.matrix(), odd, rater=[who] * len(odd))
        )
        for who in model.raters_.rater
    ]
    np.testing.assert_allclose(model.similarity_.predict_cant_tell(unknown), np.mean(shares, 0), rtol=1e-9)


@pytest.mark.parametrize(("part", "value"), [("sharpness", -1.0), ("lapse", -0.1), ("lapse", 1.5)])
def test_a_file_of_impossible_raters_is_damaged(two_views, part, value):
    similarity = two_views[1].similarity_
    values = getattr(similarity.answering, part).copy()
    values[0] = value
    damaged = replace(similarity, answering=replace(similarity.answering, **{part: values}))
    with pytest.raises(ValueError, match="is damaged"):
        sm.Similarity.from_bytes(damaged.to_bytes())


def test_more_than_the_ceiling_is_not_called_impossible(two_views):
    ceiling = Estimate(0.4, 0.35, 0.45, "")
    found = HeldOutAnswers(100, 5, Estimate(0.6, 0.5, 0.7, ""), 0.9, 1 / 3, 1.1, ceiling)
    assert "no model" not in str(found)
    assert "does not know who answers" in str(found)
    assert "knows its raters" in above_ceiling(0.6, ceiling)
    assert "does not know who answers" in str(sm.check(sm.Comparisons.concatenate([two_views[0]] * 3)))

"""FeatureEmbedding: a map of the features and a free rest of each item, whatever the features are counted in."""

import pickle

import numpy as np
import pandas as pd
import pytest

import similitude as sm
from similitude.engine.information import information, mapped_information

RNG = np.random.default_rng(0)
FEATURES = RNG.normal(size=(60, 5))
TRUTH = FEATURES[:, :2]


def answers(count=1500, seed=0):
    return sm.simulate(TRUTH, count, random_state=seed)


def fitted(comparisons, features, **settings):
    settings = {"penalty": 0.2, "map_penalty": 0.1, "random_state": 0, "tol": 1e-9} | settings
    return sm.FeatureEmbedding(2, **settings).fit(comparisons, features=features)


def agree(one, other):
    """Whether two maps say the same distances, up to what the tolerance leaves open."""
    np.testing.assert_allclose(one.distances(), other.distances(), atol=0.02 * one.distances().max())


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_it_does_not_matter_what_features_are_counted_in(factor):
    agree(fitted(answers(), FEATURES), fitted(answers(), factor * FEATURES + factor))


def test_answers_said_twice_or_weighing_more_are_the_same_answers():
    c = answers()
    twice = sm.Comparisons.from_quadruplets(np.repeat(c.quadruplets, 2, axis=0), n_items=60)
    heavy = sm.Comparisons.from_quadruplets(c.quadruplets, n_items=60, weight=np.full(len(c), 1000.0))
    agree(fitted(c, FEATURES), fitted(twice, FEATURES))
    agree(fitted(c, FEATURES), fitted(heavy, FEATURES))


def test_many_noisy_answers_about_many_items_are_learned_to_the_end():
    """With few answers an item the spectral start is noise, and its map is next to nothing: a saddle."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 30))
    truth = X @ rng.normal(size=(30, 4)) / 30**0.5
    model = sm.FeatureEmbedding(4, random_state=0).fit(sm.simulate(truth, 9000, random_state=2), features=X)
    assert model.status_ == "converged"
    new = rng.normal(size=(300, 30))
    assert (
        sm.Similarity(model.transform(new), model.similarity_.loss).score(
            sm.simulate(new @ np.linalg.lstsq(X, truth, rcond=None)[0], 2000, random_state=3)
        )
        > 0.85
    )


def in_parts(c, count, features=None, **settings):
    model = sm.FeatureEmbedding(2, random_state=0, **settings)
    for rows in np.array_split(np.arange(len(c)), count):
        model.partial_fit(c[rows], features=features)
        features = None
    return model


@pytest.mark.parametrize("loss", ["logistic", "ckl"])
def test_a_stream_in_parts_ends_near_the_fit_of_the_whole(loss):
    c, later = answers(4000), answers(8000, seed=7)
    whole = sm.FeatureEmbedding(2, loss=loss, random_state=0).fit(c, features=FEATURES)
    part = sm.FeatureEmbedding(2, loss=loss, random_state=0).fit(c[np.arange(400)], features=FEATURES)
    stream = in_parts(c, 10, FEATURES, loss=loss)
    gap = whole.score(later) - part.score(later)
    assert stream.score(later) > whole.score(later) - 0.6 * gap  # a share of .18 ± .08 over ten draws
    assert stream.penalty_ == pytest.approx(whole.penalty_)
    assert stream.similarity_.about["data"] == {"comparisons": 4000, "answers": 4000}


def test_what_a_stream_remembers_does_not_grow_and_does_not_fade():
    c = answers(3000)
    model = in_parts(c[np.arange(1500)], 3, FEATURES)
    size, before = len(pickle.dumps(model)), model.score(c)
    few = c[np.arange(1500, 1530)]
    for _ in range(3):
        model.partial_fit(few)
    assert len(pickle.dumps(model)) < 1.01 * size
    assert model.score(c) > before - 0.02  # thirty answers, said again and again, do not push out what was known


@pytest.mark.parametrize("named", [False, True])
def test_a_stream_welcomes_new_items_with_their_features(named):
    names = [f"item {k}" for k in range(60)] if named else None
    c = sm.simulate(TRUTH, 6000, names=names, random_state=3)
    old = (c.quadruplets < 50).all(1)
    first, second = c[old], c[~old]
    known = (
        first.with_items(n_items=50)
        if not named
        else sm.Comparisons.from_quadruplets(np.array(names)[first.quadruplets], names=names[:50])
    )
    model = sm.FeatureEmbedding(2, random_state=0).partial_fit(known, features=FEATURES[:50])
    new = pd.DataFrame(FEATURES, index=names).sample(frac=1.0, random_state=0) if named else FEATURES[50:]
    model.partial_fit(second, features=new)
    assert model.embedding_.shape == (60, 2)
    assert model.similarity_.names == (None if names is None else tuple(names))
    later = sm.simulate(TRUTH, 4000, names=names, random_state=4)
    assert model.score(later[(later.quadruplets >= 50).any(1)]) > 0.85
    assert sm.Similarity(model.transform(FEATURES), model.similarity_.loss).score(later.quadruplets) > 0.8


def test_new_items_without_their_features_are_refused():
    model = sm.FeatureEmbedding(2, random_state=0).fit(answers(), features=FEATURES)
    with pytest.raises(TypeError, match="features: found none, expected those of the 2 new items"):
        model.partial_fit([(0, 60, 61)])
    with pytest.raises(ValueError, match="features: found rows for 1 items, expected the 2 new ones alone"):
        model.partial_fit([(0, 60, 61)], features=FEATURES[:1])
    with pytest.raises(ValueError, match="5 columns"):
        model.partial_fit([(0, 60, 61)], features=FEATURES[:2, :3])


def test_the_information_on_a_map_and_its_rests_is_that_on_positions():
    rng = np.random.default_rng(2)
    features, N, rests = rng.normal(size=(8, 3)), rng.normal(size=(3, 2)), 0.1 * rng.normal(size=(8, 2))
    c, loss = sm.simulate(rng.normal(size=(8, 2)), 50, random_state=3), sm.CKL().comparison_loss()
    said = features @ N + rests, loss, c.near, c.far, np.asarray(c.weight)
    found = mapped_information(said[0], features, *said[1:])
    whole = information(*said)
    onto = np.kron(np.hstack([features, np.eye(8)]), np.eye(2))  # from the map and the rests to positions
    np.testing.assert_allclose(found.ravel(), np.diag(onto.T @ whole @ onto), rtol=1e-8, atol=1e-10)


def ring(X):
    """What no weighted sum of features tells."""
    return 1.5 * np.column_stack([np.cos(2 * X[:, 0]), np.sin(2 * X[:, 0])])


def test_waves_learn_what_no_weighted_sum_of_features_tells():
    rng = np.random.default_rng(4)
    X, new = rng.normal(size=(300, 2)), rng.normal(size=(200, 2))
    c, later = sm.simulate(ring(X), 4500, random_state=5), sm.simulate(ring(new), 4000, random_state=6)

    def score(how):
        model = sm.FeatureEmbedding(4, map=how, random_state=0).fit(c, features=X)
        return sm.Similarity(model.transform(new), model.similarity_.loss).score(later)

    assert score("fourier") > score("linear")  # by .119 ± .031 over eight draws


def test_waves_are_those_of_the_training_items_for_new_vectors_too():
    X = np.where(np.arange(60)[:, None] == 7, np.nan, 1e6 + FEATURES)  # an item without features, others far from 0
    model = sm.FeatureEmbedding(2, map="fourier", random_state=0).fit(answers(), features=X)
    again = model.transform(X)
    np.testing.assert_allclose(again[7], 0.0)
    gap = (again - model.embedding_ + model.residual_)[np.arange(60) != 7]
    np.testing.assert_allclose(gap - gap.mean(0), 0.0, atol=1e-6 * np.abs(again).max())  # the rest apart, up to a shift
    assert model.coefficients_["features"].shape == (5 + 500, 2)
    with pytest.raises(AttributeError, match="by a kernel or by waves"):
        _ = model.components_


def test_a_stream_goes_on_with_the_waves_that_it_began_with():
    model = sm.FeatureEmbedding(2, map="fourier").partial_fit(answers(), features=FEATURES)
    before = model.transform(FEATURES)
    model.partial_fit(answers(200, seed=9)[np.arange(1)])
    np.testing.assert_allclose(model.transform(FEATURES), before, atol=0.05 * np.abs(before).max())

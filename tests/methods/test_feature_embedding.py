"""FeatureEmbedding: a map of the features and a free rest of each item, whatever the features are counted in."""

import numpy as np
import pytest

import similitude as sm

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

"""Models to export and to serve."""

import numpy as np

import similitude as sm
from tests.seeds import cached


@cached
def mapped(n_items=40, width=12):
    """A model that learned a linear map from vectors, and the vectors."""
    vectors = np.random.default_rng(0).normal(size=(n_items, width))
    names = [f"item {k}" for k in range(n_items)]
    c = sm.simulate(vectors[:, :3], 1500, names=names, random_state=1)
    order = [names.index(name) for name in c.names]
    return sm.FeatureEmbedding(3, random_state=0).fit(c, features=vectors[order]).similarity_, vectors[order]


@cached
def placed(n_items=30):
    """A model of answers alone, whose items have no names."""
    truth = np.random.default_rng(2).normal(size=(n_items, 3))
    return sm.STE(3, random_state=0).fit(sm.simulate(truth, 1500, random_state=3)).similarity_


@cached
def product(n_items=12):
    """A model of dot products, with a linear map from vectors, and the vectors."""
    vectors = np.random.default_rng(0).normal(size=(n_items, 3))
    answers = sm.simulate(vectors[:, :2], 300, "odd_one_out", sharpness=2.0, random_state=0)
    return sm.ChoiceEmbedding(2, random_state=0).fit(answers, features=vectors).similarity_, vectors

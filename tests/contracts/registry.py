"""Everything that must pass the contracts. A new part joins by a line here; formulas join by being registered."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import similitude as sm
from similitude.engine import models, penalties, terms

# A parameter for every registered formula, and the places where its slope jumps.
SCALE_PARAMETERS = {"squared": 0.0, "student": 1.5, "logarithm": 0.05, "distance": 0.01}
SHAPE_PARAMETERS = {"logistic": 0.0, "hinge": 0.2, "squared_hinge": 0.7}
KINKS = {"student": [0.0], "logarithm": [0.0], "distance": [0.0], "hinge": [0.8, 1.0], "squared_hinge": [0.7]}


def scales():
    return [terms.Formula(expression, SCALE_PARAMETERS[expression.__name__]) for expression in terms.SCALES]


def shapes():
    return [terms.Formula(expression, SHAPE_PARAMETERS[expression.__name__]) for expression in terms.SHAPES]


def losses():
    return [terms.ComparisonLoss(scale, shape) for scale in scales() for shape in shapes()]


@dataclass
class ModelCase:
    name: str
    model: models.Model
    params: np.ndarray
    symmetric: bool = False  # the parameters are a symmetric matrix: perturbations must be, too
    signed: bool = False  # values may be negative


def model_cases(n_items=7):
    rng = np.random.default_rng(3)
    features = rng.normal(size=(n_items, 4))
    tables = np.abs(rng.normal(size=(3, n_items, n_items)))
    tables += tables.transpose(0, 2, 1)
    free = models.Positions(n_items, 2)
    mapped = models.Positions(n_items, 2, features=features)
    rest = models.Positions(n_items, 2, features=features, residual=True)
    placed = models.Positions(2, 3, fixed=rng.normal(size=(n_items - 2, 3)))
    further = models.Positions(n_items, 2, beside=features)
    kernel = models.Matrix(n_items)
    metric = models.Matrix(n_items, features=features)
    weights = models.Weights(tables)
    columns = models.FeatureWeights(features)
    products, additive = models.Products(features), models.Additive(features)
    both = models.Sum([free, weights])
    cases = [
        ModelCase("free positions", free, rng.normal(size=free.size)),
        ModelCase("mapped positions", mapped, rng.normal(size=mapped.size)),
        ModelCase("mapped positions with a rest", rest, rng.normal(size=rest.size)),
        ModelCase("placed positions", placed, rng.normal(size=placed.size)),
        ModelCase("positions beside given ones", further, rng.normal(size=further.size)),
        ModelCase("kernel", kernel, _gram(n_items, rng), symmetric=True),
        ModelCase("metric", metric, _gram(4, rng), symmetric=True),
        ModelCase("products", products, _gram(4, rng) - np.eye(4).ravel(), symmetric=True, signed=True),
        ModelCase("additive", additive, rng.normal(size=additive.size), signed=True),
        ModelCase("weights", weights, np.abs(rng.normal(size=3))),
        ModelCase("feature weights", columns, np.abs(rng.normal(size=columns.size))),
        ModelCase("sum", both, np.abs(rng.normal(size=both.size))),
    ]
    classes = {cls for cls in vars(models).values() if isinstance(cls, type) and issubclass(cls, models.Model)}
    assert {type(case.model) for case in cases} == classes - {models.Model}, "a model is missing from the registry"
    return cases


def penalty_cases():
    rng = np.random.default_rng(4)
    cases = [
        (penalties.Ridge(0.7, 3), rng.normal(size=9)),
        (penalties.Ridge(0.7, centre=rng.normal(size=4)), rng.normal(size=4)),
        (penalties.Trace(0.4, 3), _gram(3, rng)),
        (penalties.UnitDiagonal(), _correlation(3, rng)),
        (penalties.NonNegative(0.3), np.abs(rng.normal(size=5))),
        (penalties.NonNegative(np.array([0.3, 0.0, 2.0])), np.abs(rng.normal(size=3))),
        (
            penalties.Blocks([(penalties.Trace(0.4), 9), (penalties.NonNegative(0.2), 2)]),
            np.r_[_gram(3, rng), 0.5, 1.5],
        ),
    ]
    classes = {cls for cls in vars(penalties).values() if isinstance(cls, type) and issubclass(cls, penalties.Penalty)}
    assert {type(case[0]) for case in cases} == classes - {penalties.Penalty}, "a penalty is missing from the registry"
    return cases


def _correlation(order, rng):
    rows = rng.normal(size=(order, order))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows @ rows.T).ravel()


def _gram(order, rng):
    root = rng.normal(size=(order, order))
    return (root @ root.T).ravel()


METHODS = [sm.STE, sm.TSTE, sm.CKL, sm.SOE, sm.GNMDS]
ONLINE = [sm.ERKLE, sm.OnlineEmbedding]

# Estimators of every kind, small: what they all must do is in test_estimators.py.
ESTIMATORS = {
    "STE": lambda: sm.STE(2, random_state=0),
    "RCKL": lambda: sm.RCKL(),
    "AutoSimilarity": lambda: sm.AutoSimilarity(
        candidates=[sm.STE(), sm.CKL()], dimensions=(2, 3), n_folds=2, random_state=0
    ),
}

"""Everything that must pass the contracts. A new part joins by a line here; formulas join by being registered."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import similitude as sm
from similitude.engine import (
    choice_terms,
    comparison_terms,
    group_models,
    joint_terms,
    models,
    penalties,
    problem,
    rating_terms,
    terms,
)
from similitude.feedback.forms import picking_forms
from similitude.feedback.whole_answers import choices_of
from similitude.graph.build import SimilarityGraph
from similitude.methods.rater_weights import as_raters_see

# A parameter for every registered formula, and the places where its slope jumps.
SCALE_PARAMETERS = {"squared": 0.0, "student": 1.5, "logarithm": 0.05, "distance": 0.01}
SHAPE_PARAMETERS = {"logistic": 0.0, "hinge": 0.2, "squared_hinge": 0.7, "probit": 0.0}
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
    pairs: np.ndarray | None = None  # all pairs of the first seven items where nothing is said


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
    shifted, stretched = group_models.GroupShifts(4, 2, 2), group_models.GroupWeights(4, 2, 2)
    kernel = models.Matrix(n_items)
    metric = models.Matrix(n_items, features=features)
    weights = models.Weights(tables)
    columns = models.FeatureWeights(features)
    products, additive = models.Products(features), models.Additive(features)
    both = models.SumOfModels([free, weights])
    own = np.random.default_rng(6)  # what is new draws its own numbers: those of the others are stored
    twice = models.Positions(2 * n_items, 2, features=own.normal(size=(2 * n_items, 3)))
    copied = models.Copies(twice, n_items)
    dots = models.DotProducts(rest)
    newer = np.random.default_rng(8)
    viewed = group_models.PlacedInViews(1, newer.normal(size=(3, 3)), newer.normal(size=(2, 3, 2)))
    share, among = np.array([0.5, 0.0, 0.3, 0.2]), np.array([(i, j) for i in range(5) for j in range(i)], np.int32)
    own_pairs = np.concatenate([among + 5 * who for who in (0, 1, 3)])
    weighed = group_models.RaterWeights(models.Positions(5, 2), share)
    weighed_rest = models.Positions(5, 2, features=newer.normal(size=(5, 3)), residual=True)
    weighed_dots = group_models.RaterWeights(models.DotProducts(weighed_rest), share)
    cases = [
        ModelCase("free positions", free, rng.normal(size=free.size)),
        ModelCase("mapped positions", mapped, rng.normal(size=mapped.size)),
        ModelCase("mapped positions with a rest", rest, rng.normal(size=rest.size)),
        ModelCase("placed positions", placed, rng.normal(size=placed.size)),
        ModelCase("positions beside given ones", further, rng.normal(size=further.size)),
        ModelCase("copies of a mapped item", copied, own.normal(size=copied.size)),
        ModelCase("dot products of mapped vectors with a rest", dots, own.normal(size=dots.size), signed=True),
        ModelCase("shifts of groups", shifted, rng.normal(size=shifted.size)),
        ModelCase("weights of groups", stretched, rng.normal(size=stretched.size)),
        ModelCase("an item placed in the views of groups", viewed, newer.normal(size=viewed.size)),
        ModelCase("weights of raters", weighed, newer.normal(size=weighed.size), pairs=own_pairs),
        ModelCase(
            "weights of raters on products", weighed_dots, newer.normal(size=weighed_dots.size), False, True, own_pairs
        ),
        ModelCase("kernel", kernel, _gram(n_items, rng), symmetric=True),
        ModelCase("metric", metric, _gram(4, rng), symmetric=True),
        ModelCase("products", products, _gram(4, rng) - np.eye(4).ravel(), symmetric=True, signed=True),
        ModelCase("additive", additive, rng.normal(size=additive.size), signed=True),
        ModelCase("weights", weights, np.abs(rng.normal(size=3))),
        ModelCase("feature weights", columns, np.abs(rng.normal(size=columns.size))),
        ModelCase("sum", both, np.abs(rng.normal(size=both.size))),
    ]
    classes = _subclasses(models.Model, models, group_models)
    assert {type(case.model) for case in cases} == classes - {models.Model}, "a model is missing from the registry"
    return cases


def penalty_cases():
    rng = np.random.default_rng(4)
    cases = [
        (penalties.Ridge(0.7, 3), rng.normal(size=9)),
        (penalties.Ridge(0.7, centre=rng.normal(size=4)), rng.normal(size=4)),
        (penalties.Parabola(rng.uniform(0.1, 2.0, 4), rng.normal(size=4)), rng.normal(size=4)),
        (penalties.Trace(0.4, 3), _gram(3, rng)),
        (penalties.UnitDiagonal(), _correlation(3, rng)),
        (penalties.NonNegative(0.3), np.abs(rng.normal(size=5))),
        (penalties.NonNegative(np.array([0.3, 0.0, 2.0])), np.abs(rng.normal(size=3))),
        (penalties.NonNegative(0.3, ridge=0.7), np.abs(rng.normal(size=4))),
        (penalties.BesideFeatures(rng.normal(size=(5, 3)), 0.7, 0.2, 0.1), np.abs(rng.normal(size=10))),
        (
            penalties.Blocks([(penalties.Trace(0.4), 9), (penalties.NonNegative(0.2), 2)]),
            np.r_[_gram(3, rng), 0.5, 1.5],
        ),
    ]
    classes = {cls for cls in vars(penalties).values() if isinstance(cls, type) and issubclass(cls, penalties.Penalty)}
    assert {type(case[0]) for case in cases} == classes - {penalties.Penalty}, "a penalty is missing from the registry"
    return cases


def term_cases(n_items=6, rows=40):
    """Terms of a joint problem over six items, with a model for each."""
    rng = np.random.default_rng(5)
    every = np.array([(i, j) for i in range(n_items) for j in range(i + 1, n_items)], np.int32)
    loss = terms.ComparisonLoss(terms.Formula(terms.logarithm, 0.05), terms.Formula(terms.logistic))
    scale, squared = terms.Formula(terms.distance, 0.01), terms.Formula(terms.squared)
    weight, who = rng.uniform(0.5, 2.0, rows), rng.integers(-1, 3, rows)
    near, far = every[rng.integers(0, 7, rows)], every[rng.integers(7, len(every), rows)]
    free = models.Positions(n_items, 2)
    graph = SimilarityGraph(n_items, near, far, weight, merged=True)
    a, caps = np.linspace(0.0, 0.5, rows), np.linspace(0.5, 1.0, rows)
    cases = [
        ("comparisons", comparison_terms.Compared(graph, loss), free),
        ("hinges", comparison_terms.Hinges(graph, a, caps, 10.0 * caps), free),
        ("sharpness", joint_terms.Judged(loss, near, far, weight, who, 3), free),
        ("sharpness and lapse", joint_terms.Judged(loss, near, far, weight, who, 3, lapse=True), free),
        (
            "groups",
            joint_terms.Mixed(loss, near, far, weight, np.abs(who), 3, n_items, 2),
            group_models.GroupShifts(n_items, 2, 2),
        ),
        ("links", joint_terms.Linked(scale, near, rng.random(rows) < 0.5, weight), free),
        ("five steps", rating_terms.Graded(scale, near, rng.integers(0, 5, rows), 5, weight, who, 3), free),
        ("two steps", rating_terms.Graded(scale, near, rng.integers(0, 2, rows), 2, weight, who, 3), free),
        ("choices", choice_terms.Picked(scale, _choices(n_items)), free),
        ("choices by dot products", choice_terms.Picked(squared, _choices(n_items)), models.DotProducts(free)),
        ("choices with a lapse", choice_terms.Picked(scale, _choices(n_items), lapse=None), free),
        ("choices by raters", _picked_by_raters(squared, _choices(n_items)), models.DotProducts(free)),
        ("choices or can't tell", choice_terms.Picked(scale, _choices(n_items, 0.3), unsure=None), free),
        ("choices by raters or can't tell", _picked_by_raters(squared, _choices(n_items, 0.3), unsure=None), free),
        (
            "choices by raters who weigh dimensions",
            _picked_by_raters(squared, _choices(n_items, 0.3), seen=n_items, unsure=None),
            group_models.RaterWeights(models.DotProducts(free), np.array([0.3, 0.3, 0.2, 0.2])),
        ),
        ("numbers", rating_terms.Measured(scale, near, rng.normal(size=rows), weight, who, 3), free),
    ]
    shared = {problem.Term, problem.OnePass, rating_terms.Rated}
    in_shards = {comparison_terms.ComparedInShards}  # compared with those in memory in tests/methods/test_sharded.py
    classes = _subclasses(problem.Term, choice_terms, comparison_terms, joint_terms, rating_terms) - shared - in_shards
    assert {type(case[1]) for case in cases} == classes, "a term is missing from the registry"
    return cases


def _picked_by_raters(scale, choices, seen=0, **further):
    who = np.random.default_rng(7).integers(-1, 3, 1 + max(int(one.row.max()) for one in choices))
    choices = as_raters_see(choices, who, 3, seen)
    return choice_terms.Picked(scale, choices, rater=who, n_raters=3, lapse=None, **further)


def _choices(n_items, cant_tell=0.0):
    """Answers of every form that has chances of its own."""
    truth = np.random.default_rng(6).normal(size=(n_items, 2))
    forms = [form for form in picking_forms().values() if form.has_own_chances]
    settings = {"grid_size": 4, "cant_tell": cant_tell}
    said = [sm.simulate(truth, 8, form.name, random_state=k, **settings) for k, form in enumerate(forms)]
    return [part for c in said for part in choices_of(c, cant_tell=True)]


def _subclasses(base, *modules):
    every = [value for module in modules for value in vars(module).values()]
    return {value for value in every if isinstance(value, type) and issubclass(value, base)}


def _correlation(order, rng):
    rows = rng.normal(size=(order, order))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows @ rows.T).ravel()


def _gram(order, rng):
    root = rng.normal(size=(order, order))
    return (root @ root.T).ravel()


# The recipe of ordinal embedding, whatever the loss: what these must do beyond that is in test_methods.py.
METHODS = [
    sm.STE,
    sm.TSTE,
    sm.CKL,
    sm.SOE,
    sm.GNMDS,
    sm.Embedding,
    sm.RaterEmbedding,
    sm.GroupEmbedding,
    sm.MixedEmbedding,
]
ONLINE = [sm.ERKLE, sm.OnlineEmbedding]

# Every public estimator that learns from comparisons, small: what they all must do is in test_estimators.py.
ESTIMATORS = {
    "STE": lambda: sm.STE(2, random_state=0),
    "TSTE": lambda: sm.TSTE(2, random_state=0),
    "CKL": lambda: sm.CKL(2, random_state=0),
    "SOE": lambda: sm.SOE(2, random_state=0),
    "GNMDS": lambda: sm.GNMDS(2, random_state=0),
    "Embedding": lambda: sm.Embedding(2, loss="probit", random_state=0),
    "RaterEmbedding": lambda: sm.RaterEmbedding(2, random_state=0),
    "GroupEmbedding": lambda: sm.GroupEmbedding(2, n_groups=1, random_state=0),
    "MixedEmbedding": lambda: sm.MixedEmbedding(2, random_state=0),
    "ERKLE": lambda: sm.ERKLE(passes=3, random_state=0),
    "OnlineEmbedding": lambda: sm.OnlineEmbedding(2, random_state=0),
    "RCKL": lambda: sm.RCKL(),
    "RCKLMKL": lambda: sm.RCKLMKL(penalty=0.01),
    "RCKLAK": lambda: sm.RCKLAK(),
    "LPOE": lambda: sm.LPOE(),
    "KPOE": lambda: sm.KPOE(),
    "MKPOE": lambda: sm.MKPOE(),
    "DRankingVM": lambda: sm.DRankingVM(),
    "ChoiceEmbedding": lambda: sm.ChoiceEmbedding(8, random_state=0),
    "NonNegativeEmbedding": lambda: sm.NonNegativeEmbedding(8, random_state=0),
    "FeatureEmbedding": lambda: sm.FeatureEmbedding(2, random_state=0),
    "RankProjection": lambda: sm.RankProjection(2, random_state=0),
    "TACKL": lambda: sm.TACKL(2, random_state=0),
    "AutoSimilarity": lambda: sm.AutoSimilarity(
        candidates=[sm.STE(), sm.CKL()], dimensions=(2, 3), n_folds=2, random_state=0
    ),
}

"""Scores: how well a similarity predicts answers, how sure it may be, and how well it matches classes or a truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from scipy import linalg
from sklearn.metrics import adjusted_rand_score, rand_score
from sklearn.metrics.cluster import contingency_matrix, pair_confusion_matrix

from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.types import Array, Column, Floats, Table

if TYPE_CHECKING:
    import pandas as pd


class Predicts(Protocol):
    """A fitted estimator or a similarity."""

    def predict_proba(self, comparisons: Any) -> Floats:
        """Probabilities of disagreeing, agreeing."""

    def answer_margin(self, comparisons: Any) -> Floats:
        """What says by its sign which pair is nearer."""


def correct(model: Predicts, comparisons: Comparisons) -> Floats:
    """For each comparison 1 where the model orders it correctly, 0 where wrongly, a half for a tie.

    A model that tells raters apart (`GroupEmbedding`) orders each by its rater's map.
    """
    return 0.5 * (1.0 + np.sign(model.answer_margin(comparisons)))


def accuracy(model: Predicts, comparisons: ComparisonsLike) -> float:
    """Weighted share of comparisons ordered correctly, ties half (1 - TQPE; GAUC where nothing ties).

    Parameters
    ----------
    model : a fitted estimator, or a `Similarity`
    comparisons : the answers to score it on, best some that it has not seen

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> train, test = sm.simulate(truth, 800, sharpness=2.0, random_state=0).split(0.25, random_state=0)
    >>> model = sm.STE(2, random_state=0).fit(train)
    >>> sm.accuracy(model, test) > 0.7
    True
    """
    c = as_comparisons(comparisons)
    return float(np.average(correct(model, c), weights=c.weight))


def head_auc(model: Predicts, comparisons: Comparisons) -> pd.Series:
    """Area under the ROC curve of each head's ranking: how often what is alike stands before what is not, ties half.

    Where a head's comparisons are all pairs of a relevant and an irrelevant item, this is the AUC of ranking items by
    their distance from the head (McFee & Lanckriet 2011, appendix C). Its mean counts every head once, where `accuracy`
    counts heads by their comparisons.

    Parameters
    ----------
    model : a fitted estimator, or a `Similarity`
    comparisons : comparisons with a head, best some that it has not seen

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> train, test = sm.simulate(truth, 800, sharpness=2.0, random_state=0).split(0.25, random_state=0)
    >>> by_head = sm.head_auc(sm.STE(2, random_state=0).fit(train), test)
    >>> bool(by_head.mean() > 0.7), by_head.index.name
    (True, 'head')
    """
    import pandas as pd

    table = pd.DataFrame({"head": comparisons.triplets[:, 0], "weight": comparisons.weight})
    table["right"] = correct(model, comparisons) * table.weight
    total = table.groupby("head").sum()
    if comparisons.names is not None:
        total.index = pd.Index([comparisons.names[head] for head in total.index], name="head")
    return (total.right / total.weight).rename("auc")


def likelihoods(model: Predicts, comparisons: Comparisons) -> Floats:
    """The probability that the model gives to each comparison."""
    return model.predict_proba(comparisons)[:, 1]


def mean_likelihood(model: Predicts, comparisons: ComparisonsLike) -> float:
    """Weighted mean of the probability given to what was said.

    Parameters
    ----------
    model : a fitted estimator, or a `Similarity`
    comparisons : the answers to score it on, best some that it has not seen

    Examples
    --------
    >>> import similitude as sm
    >>> answers = sm.simulate([[0.0], [1.0], [3.0], [7.0]], 400, sharpness=2.0, random_state=0)
    >>> model = sm.STE(1, random_state=0).fit(answers[:300])
    >>> sm.mean_likelihood(model, answers[300:]) > 0.6
    True
    """
    c = as_comparisons(comparisons)
    return float(np.average(likelihoods(model, c), weights=c.weight))


def log_loss(model: Predicts, comparisons: ComparisonsLike) -> float:
    """Weighted mean of -log of the probability given to what was said; 0.693 is a coin.

    Parameters
    ----------
    model : a fitted estimator, or a `Similarity`
    comparisons : the answers to score it on, best some that it has not seen

    Examples
    --------
    >>> import similitude as sm
    >>> answers = sm.simulate([[0.0], [1.0], [3.0], [7.0]], 400, sharpness=2.0, random_state=0)
    >>> model = sm.Embedding(1, loss="probit", random_state=0).fit(answers[:300])
    >>> sm.log_loss(model, answers[300:]) < 0.693
    True
    """
    c = as_comparisons(comparisons)
    chance = np.maximum(likelihoods(model, c), np.finfo(float).tiny)
    return float(np.average(-np.log(chance), weights=c.weight))


def calibration(model: Predicts, comparisons: ComparisonsLike, n_bins: int = 10) -> pd.DataFrame:
    """How often the model is right among the answers of which it is so sure.

    Parameters
    ----------
    model : a fitted estimator, or a `Similarity`
    comparisons : the answers to score it on, best some that it has not seen
    n_bins : number of bins of the probability, from a half to 1

    Returns
    -------
    a table with a row per bin of the probability of the likelier answer: `predicted` (its mean), `observed` (share
    right), `weight`; the expected calibration error is the weighted mean of their difference

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> train, test = sm.simulate(truth, 800, sharpness=2.0, random_state=0).split(0.25, random_state=0)
    >>> model = sm.STE(2, random_state=0).fit(train)
    >>> table = sm.calibration(model, test, n_bins=5)
    >>> list(table.columns), len(table) <= 5
    (['predicted', 'observed', 'weight'], True)
    """
    c = as_comparisons(comparisons)
    chance = likelihoods(model, c)
    sure, right = np.maximum(chance, 1.0 - chance), np.where(chance == 0.5, 0.5, chance > 0.5)
    return binned(sure, right, c.weight, 2.0 * sure - 1.0, n_bins)


def binned(chance: Floats, came: Array, weight: Floats, place: Floats, n_bins: int) -> pd.DataFrame:
    """Return by bins the mean probability, how often what it is of came true, and the weight.

    `place` says where between 0 and 1 each stands in the order of the bins; bins that hold nothing are left out.
    """
    import pandas as pd

    bin_of = np.minimum((place * n_bins).astype(int), n_bins - 1)
    size = np.bincount(bin_of, weight, n_bins)
    used = size > 0
    means = [np.bincount(bin_of, weight * own, n_bins)[used] / size[used] for own in (chance, came)]
    return pd.DataFrame({"predicted": means[0], "observed": means[1], "weight": size[used]})


def off_by(table: pd.DataFrame) -> float:
    """Weighted mean of |predicted - observed| over the rows of a calibration table."""
    return float(np.average(np.abs(table.predicted - table.observed), weights=table.weight))


def calibration_error(model: Predicts, comparisons: Comparisons, n_bins: int = 10) -> float:
    """Expected calibration error: weighted mean of |predicted - observed| over the bins of `calibration`.

    Parameters
    ----------
    model : a fitted estimator, or a `Similarity`
    comparisons : the answers to score it on, best some that it has not seen
    n_bins : number of bins of the probability, from a half to 1

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> train, test = sm.simulate(truth, 800, sharpness=2.0, random_state=0).split(0.25, random_state=0)
    >>> model = sm.STE(2, random_state=0).fit(train)
    >>> sm.calibration_error(model, test) < 0.2
    True
    """
    return off_by(calibration(model, comparisons, n_bins))


def purity(classes: Column, clusters: Column) -> float:
    """Share of items whose class is the commonest of their cluster.

    Parameters
    ----------
    classes : the true class of each item
    clusters : the cluster that each item was put into

    Examples
    --------
    >>> import similitude as sm
    >>> sm.purity(["cat", "cat", "car", "car"], [0, 0, 0, 1])
    0.75
    """
    table = contingency_matrix(classes, clusters)
    return float(table.max(0).sum() / table.sum())


def rand_index(classes: Column, clusters: Column, kind: Literal["plain", "adjusted", "balanced"] = "plain") -> float:
    """Share of pairs of items on which classes and clusters agree.

    Parameters
    ----------
    classes, clusters : one label per item each
    kind : "plain"; "adjusted" for chance; "balanced", where pairs of one class and pairs of two weigh the same

    Examples
    --------
    >>> import similitude as sm
    >>> sm.rand_index(["cat", "cat", "car", "car"], [0, 0, 0, 1])
    0.5
    >>> sm.rand_index(["cat", "cat", "car", "car"], [5, 5, 9, 9], kind="adjusted")
    1.0
    """
    if kind == "plain":
        return float(rand_score(classes, clusters))
    if kind == "adjusted":
        return float(adjusted_rand_score(classes, clusters))
    if kind != "balanced":
        raise ValueError(f"kind: expected 'plain', 'adjusted' or 'balanced', found {kind!r}")
    pairs = pair_confusion_matrix(classes, clusters)  # by one class or two, then by one cluster or two
    if not pairs.sum(1).all():
        raise ValueError("classes: expected at least two classes, and a class with two items")
    return float(0.5 * (np.diagonal(pairs) / pairs.sum(1)).sum())


def separation(distances: Table, classes: Column) -> float:
    """J: mean distance between items of different classes over mean distance between items of one class.

    Parameters
    ----------
    distances : (n, n) distance between every two items, as `model.distances()` returns
    classes : the class of each item

    Examples
    --------
    >>> import similitude as sm
    >>> sm.separation([[0, 1, 4], [1, 0, 4], [4, 4, 0]], ["cat", "cat", "car"])
    4.0
    """
    table = np.asarray(distances, float)
    upper = np.triu_indices(len(table), 1)
    same, value = _same(classes), table[upper]
    if not same.any() or same.all():
        raise ValueError("classes: expected at least two classes, and a class with two items")
    return float(value[~same].mean() / value[same].mean())


def _same(labels: Column) -> Array:
    """For every two items i < j, whether they have one label."""
    code = np.unique(np.asarray(labels), return_inverse=True)[1]
    upper = np.triu_indices(len(code), 1)
    return code[upper[0]] == code[upper[1]]


def align(positions: Table, truth: Table) -> Floats:
    """Return positions moved, turned, mirrored and scaled onto the truth as well as can be (Procrustes).

    Where the number of dimensions differs, the smaller is filled up with zeros.

    Parameters
    ----------
    positions : (n, d) positions, those of a model, say
    truth : (n, k) the positions to compare them with

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    >>> turned = 3.0 * truth @ [[0.0, 1.0], [-1.0, 0.0]] + 5.0
    >>> np.allclose(sm.align(turned, truth), truth)
    True
    """
    X, Y = _same_width(np.asarray(positions, float), np.asarray(truth, float))
    centre = Y.mean(0)
    X, Y = X - X.mean(0), Y - centre
    turn, stretch = linalg.orthogonal_procrustes(X, Y)
    size = float((X**2).sum())
    return (stretch / size if size > 0 else 0.0) * X @ turn + centre


def procrustes_distance(positions: Table, truth: Table) -> float:
    """Share of the truth's variance that the aligned positions miss: 0 is a perfect map, 1 no better than a point.

    Parameters
    ----------
    positions : (n, d) positions, those of a model, say
    truth : (n, k) the positions to compare them with

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> model = sm.STE(2, random_state=0).fit(sm.simulate(truth, 2000, random_state=0))
    >>> sm.procrustes_distance(model.embedding_, truth) < 0.1
    True
    """
    X, Y = _same_width(np.asarray(positions, float), np.asarray(truth, float))
    if len(X) != len(Y):
        raise ValueError(f"truth: expected {len(X)} items as in positions, found {len(Y)}")
    total = float(((Y - Y.mean(0)) ** 2).sum())
    if total == 0:
        raise ValueError("truth: all items are at one point")
    return float(((align(X, Y) - Y) ** 2).sum() / total)


def _same_width(X: Floats, Y: Floats) -> tuple[Floats, Floats]:
    width = max(X.shape[1], Y.shape[1])
    return np.pad(X, ((0, 0), (0, width - X.shape[1]))), np.pad(Y, ((0, 0), (0, width - Y.shape[1])))

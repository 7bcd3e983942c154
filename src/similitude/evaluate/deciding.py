"""How much each dimension decides answers: its share of what a model knows of them, and what is lost without it.

log P(answer) is log P by chance at t = 0 and the model's at t = 1, where all values are multiplied by t. Its derivative
by t is the sum over alternatives of ([picked] - chance of being picked at t) · value, and values are sums over
dimensions: the integral (Gauss) divides what the model gains over chance, in no order (the value of Aumann and
Shapley, as in `methods.explanation`). The mean over answers is log(chance) less the log-loss; of this a dimension has a
share, which is how much it decides. Shares add up to 1; one below 0 misleads.

What is lost without a dimension, the others being as they are, does not add up: where two dimensions say the same,
neither is missed.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from similitude.engine.choice_terms import set_losses
from similitude.evaluate.intervals import clustered_mean
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.forms.alternatives import Alternatives
from similitude.feedback.whole_answers import choices_of
from similitude.methods.base import Fitted
from similitude.methods.dimension_parts import values_of, with_dimensions
from similitude.methods.similarity import Similarity
from similitude.types import Array, Floats, Seed, Table

_NODES = 24  # of Gauss: exact to 1e-9 for values up to 30
_NUMBERS = 4_000_000  # of one block
_MOST = 50_000  # answers; more change a share by less than its interval
_FEWEST_RATERS = 8  # whose answers are then the draws of an interval


def deciding(
    model: Fitted | Table, comparisons: Comparisons, *, level: float = 0.95, random_state: Seed = 0
) -> pd.DataFrame:
    """Return how much each dimension decides answers, best of answers that the model has not seen.

    Parameters
    ----------
    model : a fitted `NonNegativeEmbedding`, its `Similarity`, or a table of items and non-negative dimensions
    comparisons : the answers; of more than 50,000 so many are drawn
    level : of the intervals, over raters where eight or more are known, else over answers
    random_state : seed or generator of that draw

    Returns
    -------
    a table with a row per dimension: `share` of the gain in log-likelihood over chance, with `share_low` and
    `share_high`; `without`, by how much the log-loss of an answer rises when the dimension is left out, with
    `without_low` and `without_high`. Shares are NaN where the model does no better than chance.
    """
    similarity = with_dimensions(model)
    c = similarity.over_items(comparisons)
    if not len(c):
        raise ValueError("comparisons: expected some answers, found none")
    if c.n_answers > _MOST:
        drawn = np.random.default_rng(random_state).choice(c.n_answers, _MOST, replace=False)
        c = c.select(np.sort(drawn))
    gain, without, weight = gains(similarity, c)
    said = np.flatnonzero(weight > 0)
    cluster = _clusters(c)[said]
    rows = [
        (*_share(gain[said], k, weight[said], cluster, level), *clustered_mean(lost, weight[said], cluster, level))
        for k, lost in enumerate(without[said].T)
    ]
    columns = [f"{what}{end}" for what in ("share", "without") for end in ("", "_low", "_high")]
    return pd.DataFrame(rows, columns=columns)


def gains(similarity: Similarity, c: Comparisons) -> tuple[Floats, Floats, Floats]:
    """(a, d) what each dimension adds to the log-likelihood of each answer, (a, d) what is lost without it; weights."""
    d = similarity.embedding.shape[1]
    gain, without, weight = np.zeros((c.n_answers, d)), np.zeros((c.n_answers, d)), np.zeros(c.n_answers)
    for one in choices_of(c):
        step = max(_NUMBERS // max(one.n_alternatives * d, 1), 1)
        for begin in range(0, len(one), step):
            part = one.select(np.arange(begin, min(begin + step, len(one))))
            own, lost = _of_block(similarity, part)
            np.add.at(gain, part.row, own)
            np.add.at(without, part.row, lost)
            weight[part.row] = 1.0 if part.weight is None else part.weight
    return gain, without, weight


def _of_block(similarity: Similarity, one: Alternatives) -> tuple[Floats, Floats]:
    parts = values_of(similarity, one)
    value = parts.sum(2)
    node, weight = np.polynomial.legendre.leggauss(_NODES)
    pull = -sum(0.5 * w * set_losses(0.5 * (t + 1.0) * value, one.picked)[1] for t, w in zip(node, weight, strict=True))
    gain = np.einsum("qm,qmd->qd", pull, parts)
    lost = set_losses(value, one.picked)[0]
    without = np.stack([set_losses(value - parts[..., k], one.picked)[0] for k in range(parts.shape[2])], axis=1)
    return gain, without - lost[:, None]


def _share(gain: Floats, k: int, weight: Floats, cluster: Array, level: float) -> tuple[float, float, float]:
    """A ratio of means, with the interval of its linear part."""
    whole = gain.sum(1)
    total = float(np.average(whole, weights=weight))
    if not total > 0:
        return np.nan, np.nan, np.nan
    share = float(np.average(gain[:, k], weights=weight)) / total
    _, low, high = clustered_mean((gain[:, k] - share * whole) / total, weight, cluster, level)
    return share, share + low, share + high


def over_whom(c: Comparisons) -> str:
    """What the intervals are over: "raters" where enough are known, else "answers"."""
    codes = np.asarray(c.answers.rater.codes)
    return "raters" if len(np.unique(codes[codes >= 0])) >= _FEWEST_RATERS else "answers"


def _clusters(c: Comparisons) -> Array:
    """Who gave each answer, where enough raters are known; else each answer is a draw of its own."""
    codes, alone = np.asarray(c.answers.rater.codes), np.arange(c.n_answers)
    known = over_whom(c) == "raters"
    return np.where(codes >= 0, codes, codes.max(initial=0) + 1 + alone) if known else alone

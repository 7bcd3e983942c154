"""Scores of answers as wholes: an odd one out is one choice among three, however many comparisons follow from it.

The probability of an answer is that of what was picked among all that could have been, by the odds that the model gives
between two alternatives each; a ranking is a choice from what is left each time. It is the measure of the field
(THINGS, SPoSE, VICE, psiz). Where the model knows raters, the odds are those of whoever answered. Where it knows "can't
tell" as an answer, it is one that could have been given, and those who gave it count.
"""

from __future__ import annotations

from math import inf, log
from typing import TYPE_CHECKING

import numpy as np

from similitude.engine.choice_terms import log_sets, set_losses
from similitude.evaluate.scores import Predicts, binned, correct, likelihoods, off_by
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.feedback.forms.alternatives import Alternatives
from similitude.feedback.whole_answers import choices_of
from similitude.types import Bools, Floats

if TYPE_CHECKING:
    import pandas as pd

_SURE = 1e-15  # of a probability that is 0 or 1 in floating point, no more is known


def answer_accuracy(model: Predicts, comparisons: ComparisonsLike) -> float:
    """Share of answers all of whose comparisons are ordered correctly.

    Parameters
    ----------
    model : a fitted estimator, or a `Similarity`
    comparisons : the answers to score it on, best some that it has not seen

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> train, test = sm.simulate(truth, 800, "odd_one_out", random_state=0).split(0.25, random_state=0)
    >>> model = sm.STE(2, random_state=0).fit(train)
    >>> 0.6 < sm.answer_accuracy(model, test) <= sm.accuracy(model, test)
    True
    """
    c = as_comparisons(comparisons)
    said = np.bincount(c.answer, minlength=c.n_answers) > 0
    return float(answers_right(correct(model, c), c)[said].mean())


def answers_right(right: Floats, comparisons: Comparisons) -> Bools:
    """(a,) which answers have every comparison right, given for each 1 where it is, less where it is not."""
    wrong = np.bincount(comparisons.answer, np.asarray(right) < 1.0, comparisons.n_answers)
    found: Bools = wrong == 0
    return found


def answer_losses(model: Predicts, comparisons: Comparisons) -> tuple[Floats, Floats]:
    """(a,) -log of the probability that the model gives to each answer as a whole, and (a,) the weights of the answers.

    An answer that compares nothing has weight 0.
    """
    lost, weight = np.zeros(comparisons.n_answers), np.zeros(comparisons.n_answers)
    unsure: float = getattr(getattr(model, "similarity_", model), "cant_tell", 0.0)
    for one in choices_of(comparisons, cant_tell=unsure > 0.0):
        tie = (
            log(unsure / (1.0 - unsure)) + log_sets(one.n_alternatives, one.picked) if unsure and one.can_tie else -inf
        )
        losses = set_losses(_odds(model, comparisons, one), one.picked, tie, one.tied)[0]
        lost += np.bincount(one.row, losses, len(lost))
        weight[one.row] = 1.0 if one.weight is None else one.weight
    return lost, weight


def answer_log_loss(model: Predicts, comparisons: ComparisonsLike) -> float:
    """Weighted mean of -log of the probability of each answer as a whole; for odd ones out 1.099 is chance.

    `log_loss` is that of comparisons, of which an answer may give several. A model that knows "can't tell" as an answer
    (`ChoiceEmbedding(cant_tell="auto")`) is scored on those, too: its loss is over more answers, with one more outcome
    each, and is not to be compared with that of a model without.

    Parameters
    ----------
    model : a fitted estimator, or a `Similarity`
    comparisons : the answers to score it on, best some that it has not seen

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> train, test = sm.simulate(truth, 800, "odd_one_out", random_state=0).split(0.25, random_state=0)
    >>> model = sm.ChoiceEmbedding(5, similarity="distance", random_state=0).fit(train)
    >>> sm.answer_log_loss(model, test) < 0.7
    True
    """
    lost, weight = answer_losses(model, as_comparisons(comparisons))
    return float(np.average(lost, weights=weight))


def answer_calibration(model: Predicts, comparisons: ComparisonsLike, n_bins: int = 10) -> pd.DataFrame:
    """How often an alternative is picked that the model gives such a probability of being picked.

    Every alternative of every question counts to which something was picked: the three pairs of an odd one out, each
    item of a grid. `calibration`
    is the same of comparisons, from a half to 1.

    Parameters
    ----------
    model : a fitted estimator, or a `Similarity`
    comparisons : the answers to score it on, best some that it has not seen
    n_bins : number of bins of the probability, from 0 to 1

    Returns
    -------
    a table with a row per bin: `predicted` (mean probability), `observed` (share that was picked), `weight`

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> train, test = sm.simulate(truth, 800, "odd_one_out", random_state=0).split(0.25, random_state=0)
    >>> model = sm.ChoiceEmbedding(5, similarity="distance", random_state=0).fit(train)
    >>> table = sm.answer_calibration(model, test, n_bins=5)
    >>> list(table.columns), len(table)
    (['predicted', 'observed', 'weight'], 5)
    """
    c, chance, picked, weight = as_comparisons(comparisons), [], [], []
    for one in choices_of(c):
        slope = set_losses(_odds(model, c, one), one.picked)[1]  # the chance to be picked, less 1 if it was
        was = np.broadcast_to(np.arange(one.n_alternatives) < one.picked, slope.shape)
        chance.append((slope + was).ravel())
        picked.append(was.ravel())
        weight.append(np.repeat(np.ones(len(one)) if one.weight is None else one.weight, one.n_alternatives))
    value = np.clip(np.concatenate(chance), 0.0, 1.0)
    return binned(value, np.concatenate(picked), np.concatenate(weight), value, n_bins)


def answer_calibration_error(model: Predicts, comparisons: ComparisonsLike, n_bins: int = 10) -> float:
    """Expected calibration error of answers: weighted mean of |predicted - observed| over `answer_calibration`.

    Parameters
    ----------
    model : a fitted estimator, or a `Similarity`
    comparisons : the answers to score it on, best some that it has not seen
    n_bins : number of bins of the probability, from 0 to 1

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> train, test = sm.simulate(truth, 800, "odd_one_out", random_state=0).split(0.25, random_state=0)
    >>> model = sm.ChoiceEmbedding(5, similarity="distance", random_state=0).fit(train)
    >>> sm.answer_calibration_error(model, test) < 0.2
    True
    """
    return off_by(answer_calibration(model, comparisons, n_bins))


def _odds(model: Predicts, comparisons: Comparisons, one: Alternatives) -> Floats:
    """(q, m) log-odds of each alternative against the first."""
    others = one.pairs[:, 1:]
    rows = np.concatenate([others, np.broadcast_to(one.pairs[:, :1], others.shape)], axis=-1).reshape(-1, 4)
    who = np.repeat(comparisons.answers.rater.values[one.row], others[0, ..., 0].size)
    asked = Comparisons.from_quadruplets(rows, n_items=comparisons.n_items, rater=who).with_items(comparisons.names)
    nearer = np.clip(likelihoods(model, asked), _SURE, 1.0 - _SURE)
    value = -one.sign * np.log(nearer / (1.0 - nearer)).reshape(others.shape[:3]).sum(axis=2)
    return np.concatenate([np.zeros((len(one), 1)), value], axis=1)

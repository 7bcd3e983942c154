"""How well a model predicts answers that it has not seen, beside chance and the noise ceiling, in one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from similitude.display.cards import card, note
from similitude.display.estimate import Estimate
from similitude.engine.choice_terms import log_sets
from similitude.evaluate.validation import cross_validate
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.feedback.whole_answers import choices_of
from similitude.graph.consistency import check
from similitude.kernels.modalities import Features


@dataclass(frozen=True, eq=False, repr=False)
class HeldOutAnswers:
    """What `held_out_answers` finds. Prints as a sentence.

    Attributes
    ----------
    answers : how many were predicted, each by a fit without it
    folds : how many parts were held out in turn
    accuracy : share of answers that were predicted as wholes, a tie being none, with an interval over answers
    log_loss : mean of -log of the probability of an answer
    chance, chance_log_loss : both of somebody who guesses
    ceiling : what share a model could predict that does not know who answers, by questions that were asked again;
        unknown where there were none

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(10, 2))
    >>> answers = sm.simulate(truth, 300, "odd_one_out", random_state=0)
    >>> found = sm.held_out_answers(sm.STE(2, random_state=0), answers, n_folds=3, random_state=0)
    >>> found.answers, round(found.chance, 2), found.accuracy.value > found.chance
    (300, 0.33, True)
    """

    answers: int
    folds: int
    accuracy: Estimate
    log_loss: float
    chance: float
    chance_log_loss: float
    ceiling: Estimate

    def __repr__(self) -> str:
        known = self.ceiling.value is not None
        most = f"a model that does not know who answers at most {self.ceiling}" if known else "the most is not known"
        return (
            f"Of {self.answers:,} answers, each asked of a fit without it ({self.folds} folds), {self.accuracy} were "
            f"predicted (by chance {self.chance:.2f}; {most}), with a log-loss of {self.log_loss:.3f} (by chance "
            f"{self.chance_log_loss:.3f})."
        )

    def _repr_html_(self) -> str:
        return card("Answers that were held out", note(repr(self)))


def held_out_answers(
    model: Any,
    comparisons: ComparisonsLike,
    *,
    features: Features | None = None,
    n_folds: int = 5,
    level: float = 0.95,
    random_state: int | None = None,
    n_jobs: int | None = None,
) -> HeldOutAnswers:
    """Say how well a model predicts answers that it has not seen: accuracy and log-loss, chance, noise ceiling.

    Parameters
    ----------
    model : settings, or a fitted model whose settings are taken: an estimator with probabilities
    comparisons : the answers
    features : given to the fits, where the model learns from features
    n_folds : how many parts are held out in turn; each is a fit
    level : of the interval
    random_state : seed of the folds
    n_jobs : processes, through joblib

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(9, 2))
    >>> answers = sm.simulate(truth, 300, "odd_one_out", sharpness=2.0, random_state=0)
    >>> found = sm.held_out_answers(sm.STE(2, random_state=0), answers, n_folds=3, random_state=0)
    >>> found.chance < found.accuracy.value, found.log_loss < found.chance_log_loss
    (True, True)
    """
    c = as_comparisons(comparisons)
    row = cross_validate(
        model, c, n_folds=n_folds, features=features, random_state=random_state, level=level, n_jobs=n_jobs
    ).iloc[0]
    said, chance, lost = by_chance(c)
    report = check(c)
    value = float(row.answer_accuracy)
    low, high = stats.binomtest(round(value * said), said).proportion_ci(level, "wilson")
    ceiling = getattr(report, "answer_ceiling", None) or report.ceiling
    return HeldOutAnswers(
        said, n_folds, Estimate(value, float(low), float(high), "over answers"), float(row.answer_log_loss), chance,
        lost, ceiling,
    )  # fmt: skip


def by_chance(c: Comparisons) -> tuple[int, float, float]:
    """How many answers say something; the mean probability of one by chance, and the mean of -log of it."""
    lost, said = np.zeros(c.n_answers), np.zeros(c.n_answers, bool)
    for one in choices_of(c):
        lost += np.bincount(one.row, np.full(len(one), log_sets(one.n_alternatives, one.picked)), c.n_answers)
        said[one.row] = True
    return int(said.sum()), float(np.exp(-lost[said]).mean()), float(lost[said].mean())

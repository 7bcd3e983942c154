"""How many dimensions? Held-out accuracy by their number, the one-standard-error rule, and a test of each step."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.base import clone

from similitude.display.words import counted
from similitude.evaluate.cards import dimension_card
from similitude.evaluate.validation import Estimator, Progress, run_all
from similitude.feedback.comparisons import By
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.folds import AnswerFold
from similitude.kernels.modalities import Features
from similitude.methods.base import FeedbackWarning
from similitude.renaming import renamed
from similitude.settings import check_estimator
from similitude.types import Floats


@dataclass(frozen=True, eq=False, repr=False)
class DimensionChoice:
    """What `dimension` finds. Prints as a sentence.

    Attributes
    ----------
    table : a row per number of dimensions: `dimensions`, `accuracy` with its interval (`low`, `high`), `behind` and
        `error` (how far it is behind the best, with the standard error of that), `gain` over the number before it, and
        `p_value` of that gain (one-sided, Holm's correction for the number of steps)
    chosen : by the one-standard-error rule: the least number that is not more than one standard error behind the best
    tested : the last number whose gain over the one before is significant
    best : the number with the best accuracy
    level : of the intervals; the test is at 1 - level

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 600, random_state=0)
    >>> model = sm.STE(random_state=0)
    >>> found = sm.dimension(model, answers, dimensions=(1, 2), n_folds=3, n_repeats=1, random_state=0)
    >>> found.best, found.table.dimensions.tolist()
    (2, [1, 2])
    """

    table: pd.DataFrame
    chosen: int
    tested: int
    best: int
    level: float

    def __repr__(self) -> str:
        at = self.table.set_index("dimensions").accuracy
        text = f"{counted(self.chosen, 'dimension')} (accuracy {at[self.chosen]:.1%} on held-out answers; "
        text += f"best at {self.best}: {at[self.best]:.1%})"
        return text + f"; gains beyond {self.tested} are not significant at {1 - self.level:.2g}."

    def _repr_html_(self) -> str:
        return dimension_card(self)


@renamed(n_splits="n_folds")
def dimension(
    estimator: Estimator,
    comparisons: ComparisonsLike,
    *,
    dimensions: Sequence[int] = (1, 2, 3, 4, 5, 6),
    by: By = "answer",
    n_folds: int = 5,
    n_repeats: int = 2,
    features: Features | None = None,
    level: float = 0.95,
    random_state: int | None = None,
    n_jobs: int | None = None,
    callback: Progress | None = None,
) -> DimensionChoice:
    """Find how many dimensions the answers ask for.

    Each number of dimensions is fitted on the same folds, and differences are taken fold by fold. Training parts
    overlap, so that folds are no independent draws: the variance of a mean difference over J folds with spread s is
    (1/J + test/train) s² (Nadeau & Bengio 2003). This is the procedure of Künstle, von Luxburg & Wichmann (2022), who
    take the first step without a significant gain; here it is the last step with one, since three dimensions
    may be needed before a fourth shows.

    Parameters
    ----------
    estimator : with a parameter `n_components`
    comparisons : feedback
    dimensions : the numbers to try
    by : what is held out together (see `AnswerFold`)
    n_folds, n_repeats : folds, and how many times over
    features : given to the estimator, where it learns from features
    level : of the intervals; 1 - level is the level of the test
    random_state : seed of the folds
    n_jobs : processes, through joblib
    callback : called after each fit with the number done and the number of all

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 600, random_state=0)
    >>> model = sm.STE(random_state=0)
    >>> found = sm.dimension(model, answers, dimensions=(1, 2), n_folds=3, n_repeats=1, random_state=0)
    >>> found.chosen
    2
    """
    check_estimator("estimator", estimator)
    if "n_components" not in estimator.get_params():
        raise ValueError(f"estimator: expected one with n_components, found {type(estimator).__name__}")
    tried = sorted({int(d) for d in dimensions})
    if len(tried) < 2 or tried[0] < 1:
        raise ValueError(f"dimensions: expected at least two positive whole numbers, found {list(dimensions)}")
    c = as_comparisons(comparisons)
    seeds = np.random.default_rng(random_state).integers(2**31, size=n_repeats)
    folds = [fold for seed in seeds for fold in AnswerFold(n_folds, by, int(seed)).split(c)]
    work = [(clone(estimator).set_params(n_components=d), *fold) for d in tried for fold in folds]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeedbackWarning)  # a fold may leave items out
        rows = run_all(work, (c, None, features, None), n_jobs, callback)
    share = np.array([np.average(row.right, weights=row.weight) for row in rows]).reshape(len(tried), len(folds))
    ratio = float(np.mean([len(test) / max(len(train), 1) for train, test in folds]))
    return _choice(tried, share, ratio, level)


def _choice(tried: list[int], share: Floats, ratio: float, level: float) -> DimensionChoice:
    """Choose from the accuracy of each number of dimensions (rows) on each fold (columns)."""
    mean = share.mean(1)
    best = int(mean.argmax())
    half = stats.t.ppf(0.5 + level / 2, share.shape[1] - 1) * _errors(share, ratio)
    behind, error = mean[best] - mean, _errors(share - share[best], ratio)
    gain = np.diff(mean, prepend=np.nan)
    p_value = np.r_[np.nan, _holm(_p_values(np.diff(share, axis=0), ratio))]
    table = pd.DataFrame(
        {
            "dimensions": tried,
            "accuracy": mean,
            "low": np.maximum(mean - half, 0.0),
            "high": np.minimum(mean + half, 1.0),
            "behind": behind,
            "error": error,
            "gain": gain,
            "p_value": p_value,
        }
    )
    chosen = int(np.flatnonzero(behind <= error)[0])
    significant = np.flatnonzero(p_value < 1 - level)
    tested = int(significant[-1]) if len(significant) else 0
    return DimensionChoice(table, tried[chosen], tried[tested], tried[best], level)


def _errors(values: Floats, ratio: float) -> Floats:
    """Standard error of each row's mean over folds, corrected for the overlap of their training parts."""
    return values.std(1, ddof=1) * np.sqrt(1.0 / values.shape[1] + ratio)


def _p_values(gains: Floats, ratio: float) -> Floats:
    """One-sided p-value of each row's mean being above 0."""
    error = np.maximum(_errors(gains, ratio), 1e-300)
    return np.asarray(stats.t.sf(gains.mean(1) / error, gains.shape[1] - 1))


def _holm(p: Floats) -> Floats:
    """Holm's step-down correction for testing several at once."""
    order = np.argsort(p)
    adjusted = np.maximum.accumulate(np.minimum(p[order] * np.arange(len(p), 0, -1), 1.0))
    found = np.empty(len(p))
    found[order] = adjusted
    return found

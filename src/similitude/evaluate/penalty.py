"""The penalty path: held-out accuracy along a grid of penalties, each fit started from the last."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from similitude.engine.jobs import over_jobs
from similitude.evaluate.validation import Cleaner, Estimator, Progress, clusters, held_out_rows, summarise
from similitude.feedback.comparisons import By, Comparisons
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.folds import AnswerFold
from similitude.kernels.modalities import Features
from similitude.methods.base import FeedbackWarning
from similitude.renaming import renamed
from similitude.settings import check_estimator
from similitude.types import Array

_GRID = np.geomspace(0.01, 100.0, 9)


@renamed(n_splits="n_folds")
def penalty_path(
    estimator: Estimator,
    comparisons: ComparisonsLike,
    penalties: Sequence[float] | None = None,
    *,
    parameter: str = "penalty",
    features: Features | None = None,
    by: By = "answer",
    n_folds: int = 5,
    clean: Cleaner | None = None,
    random_state: int | None = None,
    level: float = 0.95,
    n_jobs: int | None = None,
    callback: Progress | None = None,
) -> pd.DataFrame:
    """Score an estimator on held-out feedback at each of several penalties.

    Within a fold, penalties go from strong to weak, and a convex fit starts from the one before: a path costs little
    more than its weakest penalty. Give `table.penalty[table.chosen].item()` to the final fit.

    Parameters
    ----------
    estimator : with a parameter `penalty`
    comparisons : feedback
    penalties : the grid; by default nine from 0.01 to 100 times n / (total weight of the comparisons)
    parameter : the parameter to vary, where it is another (`"auxiliary_penalty"`, say)
    features : given to the estimator, where it learns from features
    by : what is held out together (see `AnswerFold`)
    n_folds : number of folds
    clean : applied to the training part of each fold only
    random_state : seed of the folds
    level : of the intervals
    n_jobs : processes, through joblib: folds at the same time
    callback : called for each fit with the number done and the number of all, when its fold is done

    Returns
    -------
    a table with a row per penalty, ascending: `penalty`, `accuracy`, `low`, `high` and the other columns of
    `cross_validate`; `chosen` marks the best accuracy, the stronger penalty on a tie

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 400, sharpness=2.0, random_state=0)
    >>> table = sm.penalty_path(sm.STE(2), answers, [0.003, 0.03, 0.3], n_folds=3, random_state=0)
    >>> table.penalty.tolist(), int(table.chosen.sum())
    ([0.003, 0.03, 0.3], 1)
    """
    check_estimator("estimator", estimator)
    c = as_comparisons(comparisons)
    grid = _strong_first(penalties, c)
    if parameter not in estimator.get_params():
        raise ValueError(f"parameter: {type(estimator).__name__} has none called {parameter!r}")
    folds = list(AnswerFold(n_folds, by, random_state).split(c))
    parts: list[pd.DataFrame] = []
    work = [(clone(estimator), *fold) for fold in folds]
    for path in over_jobs(_along, work, n_jobs, shared=(c, clean, features, parameter, grid)):
        for rows in path:
            parts.append(rows)
            if callback is not None:
                callback(len(parts), len(folds) * len(grid))
    groups = pd.concat(parts).groupby("penalty")
    table = pd.DataFrame([summarise(["penalty"], (key,), part, clusters(c, by), level) for key, part in groups])
    best = np.flatnonzero(table.accuracy == table.accuracy.max())[-1]
    return table.assign(chosen=np.arange(len(table)) == best)


def _along(
    c: Comparisons,
    clean: Cleaner | None,
    features: Any,
    parameter: str,
    grid: Sequence[float],
    estimator: Any,
    train: Array,
    test: Array,
) -> list[pd.DataFrame]:
    """Fit and score at each penalty of one fold, from where the last fit ended if the estimator can."""
    warm = "start" in inspect.signature(estimator.fit).parameters
    last: dict[str, Any] = {}
    scored = []
    for penalty in grid:
        estimator.set_params(**{parameter: penalty})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FeedbackWarning)  # at its strong end a path may leave nothing: that is seen
            rows = held_out_rows(c, clean, features, None, estimator, train, test, **last)
        scored.append(rows.assign(penalty=penalty))
        last = {"start": estimator.point_} if warm else {}
    return scored


def _strong_first(penalties: Sequence[float] | None, c: Comparisons) -> list[float]:
    if penalties is None:
        return sorted(_GRID * len(c.items_compared) / float(c.weight.sum()), reverse=True)
    grid = sorted({float(penalty) for penalty in penalties}, reverse=True)
    if not grid or not all(0 < penalty < np.inf for penalty in grid):
        raise ValueError(f"penalties: expected positive numbers, found {list(penalties)}")
    return grid

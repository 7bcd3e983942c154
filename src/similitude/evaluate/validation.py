"""Cross-validation and learning curves over answers, raters or items: tidy tables with intervals."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

import numpy as np
import pandas as pd
from sklearn.base import clone

from similitude.engine.jobs import over_jobs
from similitude.evaluate.answer_scores import answer_losses
from similitude.evaluate.intervals import clustered_share
from similitude.evaluate.scores import correct, likelihoods
from similitude.feedback.comparisons import By, Comparisons
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.feedback.splitting import draw
from similitude.folds import AnswerFold, parted
from similitude.kernels.modalities import Features
from similitude.methods.base import described
from similitude.renaming import renamed
from similitude.settings import check_count, check_estimator, one_of
from similitude.types import Array

Of = Literal["comparisons", "answers"]
"""What an accuracy is the share of."""

Cleaner = Callable[[Comparisons], Comparisons]
Progress = Callable[[int, int], None]


class Estimator(Protocol):
    """What can be fitted to comparisons and made anew with other settings: an instance, not a class."""

    def fit(self, comparisons: Any, y: Any = None, /) -> Any:
        """Learn from comparisons."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the settings."""


Estimators = Estimator | Sequence[Estimator] | Mapping[str, Estimator]


@renamed(n_splits="n_folds")
def cross_validate(
    estimators: Estimators,
    comparisons: ComparisonsLike,
    *,
    by: By = "answer",
    n_folds: int = 5,
    features: Features | None = None,
    further: Mapping[str, Any] | None = None,
    clean: Cleaner | None = None,
    random_state: int | None = None,
    level: float = 0.95,
    n_jobs: int | None = None,
    per_fold: bool = False,
    callback: Progress | None = None,
) -> pd.DataFrame:
    """Compare estimators on held-out feedback, the same folds for all.

    Parameters
    ----------
    estimators : one, several, or a dict of names
    comparisons : feedback
    by : what is held out together (see `AnswerFold`)
    n_folds : number of folds
    features : given to the estimators that learn from features, and not to the others
    further : further feedback by name (`{"ratings": ratings}`), given whole to the estimators that learn from it
        (`MixedEmbedding`), and not to the others
    clean : applied to the training part of each fold and never to the test part, whose hard answers must stay
    random_state : seed of the folds
    level : of the intervals, which take answers (raters, items) as the independent draws
    n_jobs : processes, through joblib
    per_fold : return a row per estimator and fold instead of a row per estimator
    callback : called after each fit with the number done and the number of all

    Returns
    -------
    a table with the accuracy of comparisons and its interval (`low`, `high`), `mean_likelihood` and `log_loss` where
    the estimator has probabilities, the same of whole answers (`answer_accuracy`, the share with every comparison
    right, and `answer_log_loss`, by what could have been said), and `seconds` per fit

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 400, sharpness=2.0, random_state=0)
    >>> table = sm.cross_validate([sm.STE(2), sm.CKL(2)], answers, n_folds=3, random_state=0)
    >>> table.estimator.tolist(), bool((table.low < table.accuracy).all())
    (['STE', 'CKL'], True)
    """
    named = _named(estimators)
    c = as_comparisons(comparisons)
    folds = list(AnswerFold(n_folds, by, random_state).split(c))
    jobs = [(name, k, *fold) for name in named for k, fold in enumerate(folds)]
    work = [(clone(named[name]), train, test) for name, _, train, test in jobs]
    rows = run_all(work, (c, clean, features, further), n_jobs, callback)
    table: pd.DataFrame = pd.concat(
        [row.assign(estimator=name, fold=k) for (name, k, *_), row in zip(jobs, rows, strict=True)]
    )
    cluster = clusters(c, by)
    keys = ["estimator", "fold"] if per_fold else ["estimator"]
    groups = table.groupby(keys, sort=False)
    return pd.DataFrame([summarise(keys, key, part, cluster, level) for key, part in groups])


def learning_curve(
    estimators: Estimators,
    comparisons: ComparisonsLike,
    *,
    sizes: Sequence[int] | None = None,
    by: By = "answer",
    of: Of = "comparisons",
    test_size: float = 0.2,
    n_repeats: int = 5,
    features: Features | None = None,
    further: Mapping[str, Any] | None = None,
    clean: Cleaner | None = None,
    random_state: int | None = None,
    level: float = 0.95,
    n_jobs: int | None = None,
    per_repeat: bool = False,
    callback: Progress | None = None,
) -> pd.DataFrame:
    """Accuracy on held-out feedback against the number of training answers.

    Each repeat holds out another random part and takes growing parts of the rest, so that sizes are compared on the
    same test answers.

    Parameters
    ----------
    estimators : one, several, or a dict of names
    comparisons : feedback
    sizes : numbers of training answers; by default six from a thirty-second to all of them
    by : what is held out together: "answer" or "rater"
    of : what the accuracy is the share of: "comparisons", or "answers" with every comparison right
    test_size : share held out
    n_repeats : number of repeats
    features : given to the estimators that learn from features, and not to the others
    further : further feedback by name (`{"ratings": ratings}`), given whole to the estimators that learn from it
        (`MixedEmbedding`), and not to the others
    clean : applied to training answers only
    random_state : seed
    level : of the intervals, over test answers within repeats averaged over repeats
    n_jobs : processes, through joblib
    per_repeat : return a row per estimator, size and `repeat` instead of a row per estimator and size
    callback : called after each fit with the number done and the number of all

    Returns
    -------
    a table with a row per estimator and size: `answers`, `comparisons`, `accuracy`, `low`, `high`, `seconds`

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 400, sharpness=2.0, random_state=0)
    >>> table = sm.learning_curve(sm.STE(2), answers, sizes=[80, 300], n_repeats=2, random_state=0)
    >>> table.answers.tolist(), table.accuracy.is_monotonic_increasing
    ([80, 300], True)
    """
    one_of("of", of, ("comparisons", "answers"))
    if by == "item":
        raise ValueError("by: a learning curve grows by answers; expected 'answer' or 'rater', found 'item'")
    named = _named(estimators)
    c = as_comparisons(comparisons)
    rng = np.random.default_rng(random_state)
    jobs: list[tuple[str, int, int, Array, Array]] = []
    check_count("n_repeats", n_repeats)
    for repeat in range(n_repeats):
        train, test = _rows_of_split(c, test_size, by, rng)
        answers = rng.permutation(np.unique(c.answer[train]))
        for size in _sizes(sizes, len(answers)):
            part = train[np.isin(c.answer[train], answers[:size])]
            jobs.extend((name, size, repeat, part, test) for name in named)
    work = [(clone(named[name]), train, test) for name, _, _, train, test in jobs]
    rows = run_all(work, (c, clean, features, further), n_jobs, callback)
    table: pd.DataFrame = pd.concat(
        [
            _scored(row, of).assign(estimator=name, answers=size, repeat=repeat, comparisons=len(train))
            for (name, size, repeat, train, _), row in zip(jobs, rows, strict=True)
        ]
    )
    keys = ["estimator", "answers", *(["repeat"] if per_repeat else [])]
    groups = table.groupby(keys, sort=False)
    return pd.DataFrame([_curve_point(keys, key, part, clusters(c, by), level) for key, part in groups])


def run_all(
    work: Sequence[tuple[Any, Array, Array]],
    shared: tuple[Comparisons, Cleaner | None, Any, Any],
    n_jobs: int | None,
    callback: Progress | None,
) -> list[pd.DataFrame]:
    """Fit and score everything through joblib, telling the callback as results come in.

    `work` holds estimators with the rows to train and to test on; `shared` the first arguments of `held_out_rows`.
    """
    rows = []
    for row in over_jobs(held_out_rows, work, n_jobs, shared=shared):
        rows.append(row)
        if callback is not None:
            callback(len(rows), len(work))
    return rows


def held_out_rows(
    c: Comparisons,
    clean: Cleaner | None,
    features: Any,
    further: Mapping[str, Any] | None,
    estimator: Any,
    train: Array,
    test: Array,
    **fit: Any,
) -> pd.DataFrame:
    """Fit on some rows and score the others: a row per held-out comparison. `fit` holds the fit's further arguments."""
    training, held_out = parted(c, train, test)
    if getattr(estimator, "needs_features", False):
        fit["features"] = features
    if getattr(estimator, "takes_further", False):
        fit |= further or {}
    start = time.perf_counter()
    estimator.fit(clean(training) if clean is not None else training, **fit)
    seconds = time.perf_counter() - start
    columns = {"row": test, "right": correct(estimator, held_out), "weight": np.array(held_out.weight)}
    if estimator.has_probability:
        columns["likelihood"] = likelihoods(estimator, held_out)
        columns["answer_lost"] = answer_losses(estimator, held_out)[0][held_out.answer]
    else:
        columns["likelihood"] = columns["answer_lost"] = np.full(len(test), np.nan)
    return pd.DataFrame(columns).assign(answer=c.answer[test], seconds=seconds)


def summarise(keys: list[str], key: Any, part: pd.DataFrame, cluster: Array, level: float) -> dict[str, Any]:
    """Return accuracy with its interval, likelihoods and seconds of some held-out rows."""
    weight = part.weight.to_numpy()
    mean, low, high = clustered_share(part.right.to_numpy(), weight, cluster[part.row], level)
    chance = np.maximum(part.likelihood.to_numpy(), np.finfo(float).tiny)
    answers = part.groupby("answer")
    return {
        **dict(zip(keys, key, strict=True)),
        "accuracy": mean,
        "low": low,
        "high": high,
        "mean_likelihood": float(np.average(chance, weights=weight)),
        "log_loss": float(np.average(-np.log(chance), weights=weight)),
        "answer_accuracy": float((answers.right.min() == 1).mean()),
        "answer_log_loss": float(np.average(answers.answer_lost.mean(), weights=answers.weight.max())),
        "seconds": float(part.seconds.drop_duplicates().mean()),
    }


def _scored(rows: pd.DataFrame, of: Of) -> pd.DataFrame:
    """The rows of held-out comparisons, or one for each answer, right where all of its comparisons are."""
    if of == "comparisons":
        return rows
    worst = rows.sort_values("right", kind="stable").groupby("answer", as_index=False).first()
    return worst.assign(right=(worst.right == 1).astype(float))


def _curve_point(keys: list[str], key: Any, part: pd.DataFrame, cluster: Array, level: float) -> dict[str, Any]:
    """Mean over repeats; the interval is the mean half-width of the repeats, whose test answers overlap."""
    points = [
        clustered_share(one.right.to_numpy(), one.weight.to_numpy(), cluster[one.row], level)
        for _, one in part.groupby("repeat")
    ]
    mean = float(np.mean([point[0] for point in points]))
    half = float(np.mean([(point[2] - point[1]) / 2 for point in points]))
    return {
        **dict(zip(keys, key, strict=True)),
        "comparisons": round(part.groupby("repeat").comparisons.first().mean()),
        "accuracy": mean,
        "low": max(mean - half, 0.0),
        "high": min(mean + half, 1.0),
        "seconds": float(part.groupby("repeat").seconds.first().mean()),
    }


def _named(estimators: Estimators) -> dict[str, Any]:
    if isinstance(estimators, Mapping):
        for estimator in estimators.values():
            check_estimator("estimators", estimator)
        return dict(estimators)
    several = list(estimators) if isinstance(estimators, Sequence) and not isinstance(estimators, str) else [estimators]
    for estimator in several:
        check_estimator("estimators", estimator)
    if not several:
        raise ValueError("estimators: expected at least one, found none")
    names = [type(estimator).__name__ for estimator in several]
    if len(set(names)) < len(names):
        names = [described(estimator) for estimator in several]
    if len(set(names)) < len(names):
        raise ValueError("estimators: two are the same; give a dict to name them")
    return dict(zip(names, several, strict=True))


def clusters(c: Comparisons, by: By) -> Array:
    """For each comparison the group that counts as one draw in an interval."""
    if by == "item":
        return c.near[:, 0]
    return c.groups(by)[c.answer]


def _rows_of_split(c: Comparisons, test_size: float, by: Any, rng: np.random.Generator) -> tuple[Array, Array]:
    group = c.groups(by)[c.answer]
    held_out = np.isin(group, draw(np.unique(group), test_size, rng))
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)


def _sizes(sizes: Sequence[int] | None, available: int) -> list[int]:
    if sizes is None:
        return sorted({max(1, available // 2**k) for k in range(6)})
    usable = sorted({int(size) for size in sizes if 0 < size <= available})
    if not usable:
        raise ValueError(f"sizes: expected numbers of answers from 1 to {available}, found {list(sizes)}")
    return usable

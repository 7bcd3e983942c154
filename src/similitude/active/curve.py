"""Does choosing questions pay? Replays of strategies, many times, on the same raters and the same test answers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from similitude.active.select import Chooser
from similitude.active.sources import AnswerSource, RaterOptions, RecordedAnswers, SimulatedRater, error_of
from similitude.engine.jobs import over_jobs
from similitude.engine.terms import ComparisonLoss, Formula, logistic, squared
from similitude.evaluate.validation import Estimator
from similitude.feedback.comparisons import Comparisons
from similitude.kernels.modalities import Features
from similitude.methods.base import FeedbackWarning
from similitude.methods.refit import best_fit
from similitude.methods.similarity import Similarity
from similitude.settings import check_estimator
from similitude.types import Table

Progress = Callable[[int, int], None]
_LOSS = ComparisonLoss(Formula(squared), Formula(logistic))


def active_curve(
    estimator: Estimator,
    source: Comparisons | Table,
    *,
    strategies: Sequence[str] | Mapping[str, Mapping[str, Any]] = ("random", "information_gain"),
    features: Features | None = None,
    rounds: int | Sequence[int] = 20,
    form: str = "triplet",
    first_rounds: int = 1,
    test_size: float = 0.2,
    n_repeats: int = 10,
    level: float = 0.95,
    random_state: int | None = None,
    n_jobs: int | None = None,
    per_repeat: bool = False,
    callback: Progress | None = None,
    **rater: Unpack[RaterOptions],
) -> pd.DataFrame:
    """Error against the number of answers, for several ways of choosing the questions.

    In each repeat all strategies begin with the same random round(s) and are tested on the same questions, which are
    random and never those that were chosen. After every round the model is fitted again: the best of a warm, a spectral
    and a random start, with the estimator's own penalty (the refit decides more than the score).

    Parameters
    ----------
    estimator : what learns, the same for all strategies; one with probabilities (STE, TSTE, CKL, TACKL)
    source : (n, d) positions of items about which a simulated rater is asked; or recorded `Comparisons` (triplets), of
        which each strategy takes the best-scored question that has an answer
    strategies : names of strategies; or what to call each and the options of `next_questions` for it, such as
        `{"all pairs": {"strategy": "ackl", "candidates": "all"}}`. There are no random questions unless `random_share`
        says so.
    features : given to the estimator, where it learns from features
    rounds : number of rounds, each of as many questions as there are items; or the number of questions in each round
    form : form of question; recorded answers are asked as triplets
    first_rounds : rounds of random questions at the start, which count as answers
    test_size : share of recorded answers that is held out; a simulated rater is tested against its truth without noise
    n_repeats : repeats, each with chance, test and first round of its own
    level : of the intervals over repeats
    random_state : seed
    n_jobs : processes, through joblib
    per_repeat : return a row per strategy, repeat and round (for `answers_needed`) instead of their means
    callback : called after each replay with the number done and the number of all
    **rater : how the simulated rater answers: `sharpness`, `flip`, `lapse`, ... of `simulate`

    Returns
    -------
    a table with a row per strategy and number of answers: `error`, its interval `low`, `high`, and `likelihood` (mean
    probability given to the test answers)

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> table = sm.active_curve(sm.CKL(2), truth, rounds=3, n_repeats=2, random_state=0, sharpness=3.0)
    >>> sorted({*table.strategy}), sorted({*table.answers})
    (['information_gain', 'random'], [12, 24, 36])
    """
    check_estimator("estimator", estimator)
    _check(source, form, rater)
    named = strategies if isinstance(strategies, Mapping) else {name: {"strategy": name} for name in strategies}
    jobs = [(label, repeat) for repeat in range(n_repeats) for label in named]
    seeds = np.random.SeedSequence(random_state).spawn(n_repeats)
    size = (rounds, first_rounds)
    work = [(dict(named[label]), seeds[repeat]) for label, repeat in jobs]
    shared = (estimator, source, features, form, test_size, rater, size)
    rows = []
    for (label, repeat), part in zip(jobs, over_jobs(_replay, work, n_jobs, shared=shared), strict=True):
        rows.append(part.assign(strategy=label, repeat=repeat))
        if callback is not None:
            callback(len(rows), len(jobs))
    table: pd.DataFrame = pd.concat(rows, ignore_index=True)
    return table if per_repeat else summarised(table, level)


def summarised(table: pd.DataFrame, level: float = 0.95) -> pd.DataFrame:
    """Return means over repeats with t intervals, from the rows of `active_curve(..., per_repeat=True)`."""
    groups = table.groupby(["strategy", "answers"], sort=False)
    means = groups[["error", "likelihood"]].mean()
    count = groups.error.count()
    half = stats.t.ppf(0.5 + level / 2, np.maximum(count - 1, 1)) * groups.error.std() / np.sqrt(count)
    means["low"], means["high"] = (means.error - half).clip(lower=0.0), (means.error + half).clip(upper=1.0)
    return means.reset_index()[["strategy", "answers", "error", "low", "high", "likelihood"]]


def answers_needed(table: pd.DataFrame, error: float, *, baseline: str = "random", level: float = 0.95) -> pd.DataFrame:
    """How many answers each strategy needs until the error is so low, and what share of the baseline's that is.

    Per repeat, the first point at which the curve crosses the error (linear between rounds). A repeat that does not
    get there counts as its last number of answers, so that `answers` is then a lower bound, as `reached` tells.

    Parameters
    ----------
    table : of `active_curve(..., per_repeat=True)`
    error : the error to reach
    baseline : the strategy to compare with
    level : of the interval of the share: over repeats, of the ratio of means (delta method)

    Returns
    -------
    a table with a row per strategy: `answers` (mean over repeats), `reached` (share of repeats), `share` of the
    baseline's answers, `low`, `high`

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> table = sm.active_curve(sm.CKL(2), truth, rounds=3, n_repeats=2, random_state=0, per_repeat=True, sharpness=3.0)
    >>> needed = sm.answers_needed(table, error=0.3)
    >>> needed.strategy.tolist(), needed.share[needed.strategy == "random"].item()
    (['random', 'information_gain'], 1.0)
    """
    need = pd.DataFrame(
        {
            strategy: {repeat: crossing(one, error)[0] for repeat, one in part.groupby("repeat")}
            for strategy, part in table.groupby("strategy", sort=False)
        }
    )
    got = {
        strategy: float(np.mean([crossing(one, error)[1] for _, one in part.groupby("repeat")]))
        for strategy, part in table.groupby("strategy", sort=False)
    }
    if baseline not in need:
        raise ValueError(f"baseline: {baseline!r} is not among the strategies {', '.join(map(str, need))}")
    rows = []
    for strategy in need:
        share, half = _ratio(need[strategy].to_numpy(), need[baseline].to_numpy(), level)
        rows.append(
            {
                "strategy": strategy,
                "answers": float(need[strategy].mean()),
                "reached": got[str(strategy)],
                "share": share,
                "low": max(share - half, 0.0),
                "high": share + half,
            }
        )
    return pd.DataFrame(rows)


def crossing(part: pd.DataFrame, error: float) -> tuple[float, bool]:
    """Return where a curve first falls to an error (linear between rounds), and whether it does; else its end."""
    part = part.sort_values("answers")
    at, value = part.answers.to_numpy(float), part.error.to_numpy(float)
    below = np.flatnonzero(value <= error)
    if not len(below):
        return float(at[-1]), False
    k = int(below[0])
    if k == 0:
        return float(at[0]), True
    fraction = (value[k - 1] - error) / (value[k - 1] - value[k])
    return float(at[k - 1] + fraction * (at[k] - at[k - 1])), True


def _ratio(top: npt.NDArray[Any], bottom: npt.NDArray[Any], level: float) -> tuple[float, float]:
    """Ratio of two means over the same repeats, and the half-width of its interval."""
    share = float(top.mean() / bottom.mean())
    count = len(top)
    if count < 2:
        return share, float("nan")
    deviation = float(np.std(top - share * bottom, ddof=1)) / np.sqrt(count) / float(bottom.mean())
    return share, float(stats.t.ppf(0.5 + level / 2, count - 1)) * deviation


def _check(source: Any, form: str, rater: RaterOptions) -> None:
    if not isinstance(source, Comparisons):
        return
    if form != "triplet":
        raise ValueError(f"form: recorded answers are asked as triplets, found {form!r}")
    if rater:
        raise ValueError(f"{next(iter(rater))}: recorded answers are as they are; this is for a simulated rater")


def _replay(
    estimator: Any,
    source: Any,
    features: Any,
    form: str,
    test_size: float,
    rater: RaterOptions,
    size: tuple[int | Sequence[int], int],
    options: dict[str, Any],
    seed: np.random.SeedSequence,
) -> pd.DataFrame:
    """One strategy, one repeat: a row per round."""
    begin, go_on = (np.random.default_rng([*seed.generate_state(4), k]) for k in range(2))
    who = _answerer(source, form, test_size, rater, begin)
    learner = clone(estimator).set_params(n_items=who.n_items, random_state=int(begin.integers(2**31)))
    rounds = [who.n_items] * size[0] if isinstance(size[0], (int, np.integer)) else list(size[0])
    answers, model, rows = None, None, []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeedbackWarning)  # at first some items have no answer yet
        warnings.simplefilter("ignore", ConvergenceWarning)
        for k, count in enumerate(rounds):
            first = k < size[1]
            rng = begin if first else go_on
            at_random = {"strategy": "random", "repeat": options.get("repeat", False)}
            chooser = Chooser(
                Similarity(np.zeros((who.n_items, 1)), _LOSS) if model is None else model,
                form=form, asked=answers, pool=who.pool, random_state=rng,
                **(at_random if first else {"random_share": 0.0} | options),
            )  # fmt: skip
            said = who.ask(chooser.choose(count)[0], rng)
            answers = said if answers is None else Comparisons.concatenate([answers, said])
            model = best_fit(learner, answers, model, features)
            error, likelihood = error_of(model, who.test)
            rows.append({"answers": answers.n_answers, "error": error, "likelihood": likelihood})
    return pd.DataFrame(rows)


def _answerer(source: Any, form: str, test_size: float, rater: RaterOptions, rng: np.random.Generator) -> AnswerSource:
    if isinstance(source, Comparisons):
        return RecordedAnswers(source, test_size, rng)
    return SimulatedRater(np.asarray(source, float), form, rng, rater)

"""Before collecting: roughly how many answers for which accuracy, by simulation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit

from similitude.active.curve import Progress, active_curve, crossing
from similitude.evaluate.validation import Estimator
from similitude.feedback.forms import find
from similitude.feedback.questions import random_questions
from similitude.feedback.simulation.mind import Truth
from similitude.methods.ordinal import STE
from similitude.settings import check_count
from similitude.types import Array

_PER_ITEM = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)


def plan(
    n_items: int,
    n_components: int = 2,
    *,
    accuracy: Sequence[float] = (0.8, 0.85, 0.9, 0.95),
    wrong: float = 0.15,
    strategy: str = "random",
    form: str = "triplet",
    estimator: Estimator | None = None,
    at_most: int | None = None,
    n_repeats: int = 5,
    random_state: int | None = None,
    n_jobs: int | None = None,
    callback: Progress | None = None,
) -> pd.DataFrame:
    """Estimate how many answers a study needs.

    Simulated raters judge items at normal positions; a model learns from ever more of their answers and is tested
    against the truth without noise. Real items are less even and real raters less alike: take the numbers for their
    order of magnitude, and look again with `learning_curve` when answers come in. Where there are fewer questions than
    answers (few items), questions are asked more than once.

    Parameters
    ----------
    n_items : number of items of the study
    n_components : dimensions in which people see them, as you suppose
    accuracy : the accuracies to plan for: shares of random questions that the model answers as the truth does
    wrong : share of the answers to random questions that go against the truth; 0.05 is careful, 0.2 not unusual
    strategy : how questions are chosen, see `next_questions`
    form : form of question
    estimator : what learns; `STE(n_components)` when not given
    at_most : number of answers to look as far as; 128 per item when not given
    n_repeats : simulated studies
    random_state : seed
    n_jobs : processes, through joblib
    callback : called after each simulated study with the number done and the number of all

    Returns
    -------
    a table with a row per accuracy: `answers` (mean over the simulated studies that got there, NaN if none did),
    `low`, `high` (the least and the most), `per_item`, and `reached`, the share of studies that got there

    Examples
    --------
    >>> import similitude as sm
    >>> table = sm.plan(12, accuracy=(0.8, 0.9), wrong=0.1, n_repeats=2, at_most=400, random_state=0)
    >>> table.answers.is_monotonic_increasing
    True
    """
    check_count("n_items", n_items, 4)
    check_count("n_components", n_components)
    check_count("n_repeats", n_repeats)
    if not 0 <= wrong < 0.5:
        raise ValueError(f"wrong: expected a share from 0 to less than 0.5, found {wrong}")
    if not all(0.5 < goal < 1 for goal in accuracy):
        raise ValueError(f"accuracy: expected shares between 0.5 and 1, found {list(accuracy)}")
    truth = np.random.default_rng(random_state).normal(size=(n_items, n_components))
    rounds = _rounds(n_items, at_most)
    asked = find(form)
    few = sum(rounds) > asked.arrangement.number(asked.width(n_items), n_items)
    table = active_curve(
        STE(n_components) if estimator is None else estimator, truth, form=form, rounds=rounds,
        strategies={strategy: {"strategy": strategy, "repeat": few}}, sharpness=sharpness_of(truth, wrong),
        n_repeats=n_repeats, random_state=random_state, n_jobs=n_jobs, per_repeat=True, callback=callback,
    )  # fmt: skip
    return pd.DataFrame([_row(table, float(goal), n_items) for goal in accuracy])


def sharpness_of(truth: Array, wrong: float) -> float | None:
    """Return the sharpness at which simulated raters answer this share of random triplets against the truth."""
    if wrong == 0:
        return None
    known = Truth.of(truth, "euclidean", None)
    shown = random_questions(known.n_items, 20_000, random_state=0)
    gap = np.abs(known.squared(shown[:, 0], shown[:, 1]) - known.squared(shown[:, 0], shown[:, 2]))
    log = brentq(lambda log: expit(-gap * np.exp(log)).mean() - wrong, -15.0, 15.0)
    return float(np.exp(log))


def _rounds(n_items: int, at_most: int | None) -> list[int]:
    last = _PER_ITEM[-1] * n_items if at_most is None else at_most
    totals = [size * n_items for size in _PER_ITEM if size * n_items < last] + [last]
    return np.diff([0, *totals]).tolist()


def _row(table: pd.DataFrame, goal: float, n_items: int) -> dict[str, float]:
    found = [crossing(one, 1.0 - goal) for _, one in table.groupby("repeat")]
    needed = [answers for answers, reached in found if reached] or [np.nan]
    return {
        "accuracy": goal,
        "answers": float(np.mean(needed)),
        "low": min(needed),
        "high": max(needed),
        "per_item": float(np.mean(needed)) / n_items,
        "reached": sum(reached for _, reached in found) / len(found),
    }

"""What features say without learning: cosine and Euclidean distance on the answers that a model is scored on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from similitude.engine.distances import pair_sqdist
from similitude.evaluate.intervals import clustered_mean, clustered_share
from similitude.evaluate.scores import correct
from similitude.evaluate.validation import Estimator, Of, clusters
from similitude.feedback.comparisons import By, Comparisons
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.folds import AnswerFold, held_out
from similitude.kernels.base import Kernel
from similitude.kernels.modalities import Features
from similitude.kernels.vectors import Linear
from similitude.methods.modalities import read_kernels
from similitude.settings import check_estimator, check_share, one_of
from similitude.types import Array, Bools, Floats

_AT_A_TIME = 2**14  # pairs: wide vectors need room
Measure = Callable[[Array], Floats]
"""(p,) how unlike the items of each pair are; NaN where one of them lacks features."""


def baselines(
    comparisons: ComparisonsLike,
    features: Features,
    *,
    model: Estimator | None = None,
    by: By = "answer",
    of: Of = "comparisons",
    n_folds: int = 5,
    random_state: int | None = None,
    level: float = 0.95,
    n_jobs: int | None = 1,
) -> pd.DataFrame:
    """Say how well distances of the features predict answers without learning; beside a model, on the same answers.

    A baseline learns nothing, so every answer is new to it. A model is fitted to all folds but one and predicts the
    answers of that one, in turn; the answers scored are the same for all.

    Parameters
    ----------
    comparisons : the answers
    features : an array with a row per item, a kernel (which is measured in its own space), or a dict of these by
        modality
    model : an estimator to hold out answers from, `FeatureEmbedding()` say; None scores the baselines alone, on all
        answers
    by : what is held out together, and counts as one draw in an interval (see `AnswerFold`)
    of : what accuracies are the share of: "comparisons", or "answers" with every comparison right
    n_folds : number of folds
    random_state : seed of the folds
    level : of the intervals
    n_jobs : processes for the fits, through joblib

    Returns
    -------
    a table with a row per baseline, best first, and the model above them: `measure` ("cosine", "Euclid"), `modality`
    (of several also their "mean", each in units of its mean, which is called "mean of all" where a modality is called
    "mean"), `accuracy` with its interval (`low`, `high`), a comparison of items without features counting half; and
    where there is a model `gain`, what it predicts more, with an interval paired by answer (`gain_low`, `gain_high`)

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> rng = np.random.default_rng(0)
    >>> look, price = rng.normal(size=(20, 2)), rng.normal(size=(20, 1))
    >>> answers = sm.simulate(look * [2.0, 1.0], 600, sharpness=2.0, random_state=0)
    >>> table = sm.baselines(answers, {"look": look, "price": price}, model=sm.FeatureEmbedding(2), random_state=0)
    >>> table.modality.tolist()[:2], len(table), bool((table.gain_high > 0).iloc[1:].all())
    (['', 'look'], 7, True)
    """
    one_of("of", of, ("comparisons", "answers"))
    check_share("level", level)
    if model is not None:
        check_estimator("model", model)
    kernels, c = read_kernels(features, as_comparisons(comparisons))
    learned, rows = None, np.arange(len(c))
    if model is not None:
        folds = list(AnswerFold(n_folds, by, random_state).split(c))
        learned = held_out(c, folds, _correct_when_fitted, shared=(model, features), n_jobs=n_jobs)
        rows = np.flatnonzero(np.isfinite(learned))  # where items are held out, not every comparison is in a fold
    whole = None if of == "comparisons" else c.answer[rows]
    weight = np.asarray(c.weight)[rows] if whole is None else 1.0 / np.bincount(whole)[whole]  # an answer counts once
    scored = _Scored(weight, clusters(c, by)[rows], level, None if learned is None else _of(learned[rows], whole))
    measures = _measures(kernels).items()
    table = pd.DataFrame([scored.row(*name, _of(_right(measure, c)[rows], whole)) for name, measure in measures])
    table = table.sort_values("accuracy", ascending=False, kind="stable", ignore_index=True)
    return table if model is None else pd.concat([scored.model_row(model), table], ignore_index=True)


@dataclass(frozen=True)
class _Scored:
    """The answers scored, as weights and draws of an interval; where there is a model, which of them it gets right."""

    weight: Floats
    cluster: Array
    level: float
    learned: Floats | None

    def row(self, measure: str, modality: str, right: Floats) -> dict[str, Any]:
        """The figures of a baseline."""
        share = clustered_share(right, self.weight, self.cluster, self.level)
        row = {"measure": measure, "modality": modality, **dict(zip(("accuracy", "low", "high"), share, strict=True))}
        if self.learned is None:
            return row
        gain = clustered_mean(self.learned - right, self.weight, self.cluster, self.level)
        return row | dict(zip(("gain", "gain_low", "gain_high"), gain, strict=True))

    def model_row(self, model: Any) -> pd.DataFrame:
        """The figures of the model."""
        assert self.learned is not None
        return pd.DataFrame([replace(self, learned=None).row(type(model).__name__, "", self.learned)])


def _correct_when_fitted(model: Any, features: Any, training: Comparisons, test: Comparisons) -> Floats:
    given = {"features": features} if getattr(model, "needs_features", False) else {}
    return correct(clone(model).fit(training, **given), test)


def _of(right: Floats, answer: Array | None) -> Floats:
    """Which comparisons are right; where their answers are given, in which of these every comparison is."""
    return right if answer is None else (np.bincount(answer, right < 1.0) == 0)[answer].astype(float)


def _right(measure: Measure, c: Comparisons) -> Floats:
    """1 where a measure orders a comparison correctly, 0 where wrongly, a half where it cannot tell."""
    return 0.5 * (1.0 + np.nan_to_num(np.sign(measure(c.far) - measure(c.near))))


def _measures(kernels: dict[str, Kernel]) -> dict[tuple[str, str], Measure]:
    """Every baseline by measure and modality."""
    single = len(kernels) == 1
    found: dict[tuple[str, str], Measure] = {}
    for measure, of_kernel in (("cosine", _cosine), ("Euclid", _euclid)):
        each = {name: of_kernel(kernel) for name, kernel in kernels.items()}
        found |= {(measure, "" if single else name): own for name, own in each.items()}
        if not single:
            together = "mean" if "mean" not in kernels else "mean of all"  # a modality may be called so
            found[measure, together] = _mean(each, [kernel.present for kernel in kernels.values()])
    return found


def _mean(each: dict[str, Measure], present: list[Bools]) -> Measure:
    """The mean over the modalities that know a pair, each in units of its mean over pairs drawn at random."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, len(present[0]), (_AT_A_TIME, 2))
    drawn = drawn[drawn[:, 0] != drawn[:, 1]]
    units = [max(float(np.nanmean(own(drawn))), np.finfo(float).tiny) for own in each.values()]

    def mean(pairs: Array) -> Floats:
        scaled = np.stack([own(pairs) / unit for own, unit in zip(each.values(), units, strict=True)])
        known = np.isfinite(scaled)
        count = known.sum(0)
        return np.where(count > 0, np.where(known, scaled, 0.0).sum(0) / np.maximum(count, 1), np.nan)

    return mean


def _euclid(kernel: Kernel) -> Measure:
    """|x - y|, in the kernel's own space where it is not of plain vectors."""
    if isinstance(kernel, Linear):
        rows = np.asarray(kernel.features, float)
        return partial(_in_parts, lambda pairs: np.sqrt(pair_sqdist(rows, pairs)))
    K, lacking = kernel.matrix(), ~kernel.present
    square = np.diagonal(K)
    return partial(_of_table, lambda i, j: np.sqrt(np.maximum(square[i] + square[j] - 2.0 * K[i, j], 0.0)), lacking)


def _cosine(kernel: Kernel) -> Measure:
    """1 - x'y / |x||y|, in the kernel's own space where it is not of plain vectors."""
    if isinstance(kernel, Linear):
        rows = np.asarray(kernel.features, float)
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        unit = rows / np.where(length > 0, length, 1.0)
        return partial(_in_parts, lambda pairs: 0.5 * pair_sqdist(unit, pairs))  # |u - v|²/2 of unit vectors
    K, lacking = kernel.matrix(), ~kernel.present
    length = np.sqrt(np.maximum(np.diagonal(K), np.finfo(float).tiny))
    return partial(_of_table, lambda i, j: 1.0 - K[i, j] / (length[i] * length[j]), lacking)


def _in_parts(measure: Measure, pairs: Array) -> Floats:
    parts = range(0, max(len(pairs), 1), _AT_A_TIME)
    return np.concatenate([measure(pairs[begin : begin + _AT_A_TIME]) for begin in parts])


def _of_table(value: Callable[[Array, Array], Floats], lacking: Bools, pairs: Array) -> Floats:
    return np.where(lacking[pairs].any(1), np.nan, value(pairs[:, 0], pairs[:, 1]))

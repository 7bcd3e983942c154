"""Intervals for means of things that come in clusters, as comparisons come in answers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import stats

from similitude.graph.repeats import wilson
from similitude.types import Floats

FEWEST = 20
"""Held-out answers below which an accuracy is too uncertain to be told as a figure."""


def too_few(n_answers: int) -> str:
    """Return why no accuracy is told of so few answers; empty where there are enough."""
    return "" if n_answers >= FEWEST else f"too few to tell: {n_answers} answers, an accuracy needs {FEWEST} or more"


def clustered_mean(
    value: Floats, weight: Floats, cluster: npt.NDArray[np.integer], level: float = 0.95
) -> tuple[float, float, float]:
    """Weighted mean with an interval that takes whole clusters as the independent draws.

    With cluster sums a_k = sum w v and b_k = sum w: mean = sum a / sum b, and its variance is that of a ratio,
    K/(K-1) · sum (a_k - mean · b_k)² / (sum b)².
    """
    kinds, code = np.unique(cluster, return_inverse=True)
    total, size = np.bincount(code, weight * value), np.bincount(code, weight)
    mean = float(total.sum() / size.sum())
    count = len(kinds)
    if count < 2:
        return mean, np.nan, np.nan
    error = np.sqrt(count / (count - 1) * ((total - mean * size) ** 2).sum()) / size.sum()
    half = float(stats.t.ppf(0.5 + level / 2, count - 1) * error)
    return mean, mean - half, mean + half


def clustered_share(
    value: Floats, weight: Floats, cluster: npt.NDArray[np.integer], level: float = 0.95
) -> tuple[float, float, float]:
    """Weighted share with an interval within 0 and 1: Wilson's, of as many draws as the clusters are worth.

    The variance of `clustered_mean` is that of mean (1 - mean) / variance independent draws, at most one per cluster;
    where all values are equal, of one per cluster. So three right answers out of three are no proof of perfection.
    """
    mean, low, _ = clustered_mean(value, weight, cluster, level)
    count = len(np.unique(cluster))
    if count < 2:
        return mean, 0.0, 1.0
    score = float(stats.t.ppf(0.5 + level / 2, count - 1))
    error = (mean - low) / score
    draws = mean * (1 - mean) / error**2 if error > 1e-12 else float(count)
    ends = wilson(np.array([mean]), np.array([max(draws, 1.0)]), score)
    return mean, min(float(ends[0][0]), mean), max(float(ends[1][0]), mean)

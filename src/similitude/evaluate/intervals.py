"""Intervals for means of things that come in clusters, as comparisons come in answers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import stats

from similitude.types import Floats


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

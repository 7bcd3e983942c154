"""Correlations of ranks over items drawn again and again, compiled by numba."""

from __future__ import annotations

from typing import Any

import numpy as np

from similitude.jit import kernel


@kernel()
def repeated_rank_correlation(pairs: Any, first: Any, second: Any, times: Any) -> float:
    """Spearman's correlation over pairs of which (i, j) stands times[i] · times[j] times, as items drawn again make it.

    `first` and `second` number the distances of the pairs in ascending order, equal ones alike. Pairs are ranked by
    counting: a rank is what stands before, and half of what is equal; so a draw costs a pass, and no sorting.
    """
    one, two = np.zeros(first.max() + 1), np.zeros(second.max() + 1)
    whole, kinds = 0.0, 0
    for p in range(len(pairs)):
        weight = times[pairs[p, 0]] * times[pairs[p, 1]]
        one[first[p]] += weight
        two[second[p]] += weight
        whole += weight
        kinds += weight > 0.0
    spread = _to_middle_ranks(one, whole) * _to_middle_ranks(two, whole)
    if kinds < 3 or spread <= 0.0:
        return np.nan
    product = 0.0
    for p in range(len(pairs)):
        weight = times[pairs[p, 0]] * times[pairs[p, 1]]
        product += weight * one[first[p]] * two[second[p]]
    return product / np.sqrt(spread)


@kernel()
def _to_middle_ranks(counts: Any, whole: float) -> float:
    """Turn how many have each value into the rank of each value, less the mean rank; return the sum of squares."""
    before, square = 0.0, 0.0
    for k in range(len(counts)):
        own = counts[k]
        counts[k] = before + 0.5 * own - 0.5 * whole
        square += own * counts[k] * counts[k]
        before += own
    return square


@kernel()
def matched_product(first: Any, second: Any, order: Any) -> float:
    """Sum over i < j of first[i, j] · second[order[i], order[j]]."""
    total = 0.0
    for i in range(len(order)):
        own = second[order[i]]
        for j in range(i + 1, len(order)):
            total += first[i, j] * own[order[j]]
    return total

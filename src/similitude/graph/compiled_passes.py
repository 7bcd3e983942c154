"""Kernels of passes over comparisons, compiled by numba: who was compared and linked, which question was answered."""

from __future__ import annotations

from typing import Any

import numpy as np

from similitude.jit import kernel

_kernel = kernel()


@_kernel
def _root(parent: Any, item: int) -> int:
    while parent[item] != item:
        parent[item] = parent[parent[item]]
        item = parent[item]
    return item


@_kernel
def _unite(parent: Any, one: int, two: int) -> None:
    """Join two groups; the root of a group is its first item."""
    one, two = _root(parent, one), _root(parent, two)
    if one < two:
        parent[two] = one
    elif two < one:
        parent[one] = two


@_kernel
def note_items(near: Any, far: Any, weight: Any, occurrences: Any, parent: Any) -> int:
    """Count the occurrences of items and link the items of each pair, rows of weight 0 left out.

    Returns the number of rows that compare an item with itself, or a pair with itself.
    """
    degenerate = 0
    for t in range(len(near)):
        i, j, k, l = near[t, 0], near[t, 1], far[t, 0], far[t, 1]
        if i == j or k == l or (i == k and j == l) or (i == l and j == k):
            degenerate += 1
        if weight[t] > 0.0:
            occurrences[i] += 1
            occurrences[j] += 1
            occurrences[k] += 1
            occurrences[l] += 1
            _unite(parent, i, j)
            _unite(parent, k, l)
    return degenerate


@_kernel
def join_groups(parent: Any, other: Any) -> None:
    """Add to the groups of `parent` the links of `other`."""
    for item in range(len(parent)):
        _unite(parent, item, other[item])


@_kernel
def first_of_group(parent: Any) -> None:
    """Replace each item's parent by the first item of its group."""
    for item in range(len(parent)):
        parent[item] = _root(parent, item)


@_kernel
def questions_of(
    near: Any, far: Any, weight: Any, n_items: int, part: int, n_parts: int, low: Any, high: Any, side: Any
) -> int:
    """Write the questions of the rows that a hash puts into a part: codes of both pairs, and the weight for the first.

    A pair i < j has the code i · n + j, `low < high` are the codes of the two pairs, and `side` is the weight, negative
    where `high` was called more alike. Returns how many rows were written; rows of weight 0 are left out.
    """
    count = 0
    n = np.int64(n_items)
    for t in range(len(near)):
        if weight[t] == 0.0:
            continue
        one = min(near[t, 0], near[t, 1]) * n + max(near[t, 0], near[t, 1])
        two = min(far[t, 0], far[t, 1]) * n + max(far[t, 0], far[t, 1])
        first, second = min(one, two), max(one, two)
        mixed = np.uint64(first) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(second) * np.uint64(0xC2B2AE3D27D4EB4F)
        mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        if (mixed >> np.uint64(32)) % np.uint64(n_parts) == np.uint64(part):
            low[count], high[count] = first, second
            side[count] = weight[t] if one < two else -weight[t]
            count += 1
    return count


@_kernel
def merge_sorted(first: Any, second: Any, sums: Any, first2: Any, second2: Any, sums2: Any) -> Any:
    """Merge two tables with distinct keys (first, second) in ascending order, adding the sums of equal keys."""
    most, width = len(first) + len(first2), sums.shape[1]
    one, two, total = np.empty(most, first.dtype), np.empty(most, second.dtype), np.empty((most, width))
    i = j = count = 0
    while i < len(first) or j < len(first2):
        left = j == len(first2) or (
            i < len(first) and (first[i] < first2[j] or (first[i] == first2[j] and second[i] <= second2[j]))
        )
        if left:
            one[count], two[count] = first[i], second[i]
            for c in range(width):
                total[count, c] = sums[i, c]
            if j < len(first2) and first[i] == first2[j] and second[i] == second2[j]:
                for c in range(width):
                    total[count, c] += sums2[j, c]
                j += 1
            i += 1
        else:
            one[count], two[count] = first2[j], second2[j]
            for c in range(width):
                total[count, c] = sums2[j, c]
            j += 1
        count += 1
    return one[:count].copy(), two[:count].copy(), total[:count].copy()

"""Sums by a key of two whole numbers: sorted, so that the tables of many shards are merged in linear time."""

from __future__ import annotations

import numpy as np

from similitude.types import Array, Floats

Keyed = tuple[Array, Array, Floats]
"""Two columns that are the key, ascending and distinct, and the sums (m, k) of each key."""


def by_key(first: Array, second: Array, values: Floats) -> Keyed:
    """Sum the values of rows with the same key."""
    order = np.lexsort((second, first))
    first, second = first[order], second[order]
    new = np.ones(len(first), bool)
    new[1:] = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
    starts = np.flatnonzero(new)
    sums = np.add.reduceat(values[order], starts) if len(starts) else values
    return first[starts], second[starts], sums


def merge_keyed(one: Keyed, two: Keyed) -> Keyed:
    """Merge two tables, adding what they have of the same key."""
    from similitude.graph.compiled_passes import merge_sorted

    # What comes from another process is read-only, to the kernel another type.
    columns = (np.require(column, requirements=["C", "W"]) for column in (*one, *two))
    first, second, sums = merge_sorted(*columns)
    return first, second, sums

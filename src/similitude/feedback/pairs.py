"""Comparisons among rated or linked pairs without forming all of them: a sample, or a chain of neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from similitude.feedback.columns import Rows
from similitude.types import Array, Ints

Edges = tuple[Ints, Ints, Ints]


def chain(pairs: Array, difference: Array) -> Edges:
    """Compare each pair with the next larger one; neighbours that tie are passed over."""
    order = np.argsort(difference, kind="stable")
    order = order[np.isfinite(difference[order])]
    rises = difference[order][1:] > difference[order][:-1]
    near, far = pairs[order[:-1][rises]], pairs[order[1:][rises]]
    return near.astype(np.int32), far.astype(np.int32), np.zeros(len(near), np.int32)


def sample(shown: Rows, rating: Rows, sign: float, at_most: int, random_state: Any) -> Edges:
    """Draw up to `at_most` distinct comparisons among each answer's rated pairs; ties give nothing."""
    if at_most < 1:
        raise ValueError(f"expected at least 1 comparison per rater, found {at_most}")
    rng = np.random.default_rng(random_state)
    near, far, owner = [], [], []
    for k in range(len(shown)):
        pairs, value = shown[k].reshape(-1, 2), sign * rating[k]
        first, second = draw_two(np.flatnonzero(np.isfinite(value)), value, at_most, rng)
        near.append(pairs[first])
        far.append(pairs[second])
        owner.append(np.full(len(first), k, np.int32))
    if not near:
        empty = np.empty((0, 2), np.int32)
        return empty, empty, np.empty(0, np.int32)
    return np.concatenate(near).astype(np.int32), np.concatenate(far).astype(np.int32), np.concatenate(owner)


def draw_two(known: Array, value: Array, at_most: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Positions (less, more) of distinct pairs of unequal value, in order."""
    first, second = _unequal_pairs(value[known], at_most, rng)
    if len(first) > at_most:
        chosen = np.sort(rng.choice(len(first), at_most, replace=False))
        first, second = first[chosen], second[chosen]
    first, second = known[first], known[second]
    less = value[first] < value[second]
    return np.where(less, first, second), np.where(less, second, first)


def _unequal_pairs(value: Array, wanted: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """All pairs of unequal value where there are not many; otherwise `wanted` or more at random."""
    count = len(value)
    if count * (count - 1) // 2 <= max(4 * wanted, 100_000):
        first, second = np.triu_indices(count, 1)
        differ = value[first] != value[second]
        return first[differ], second[differ]
    code = np.empty(0, np.int64)
    for _ in range(20):
        drawn = rng.integers(0, count * count, 3 * wanted)
        first, second = drawn // count, drawn % count
        code = np.union1d(code, drawn[(first < second) & (value[first] != value[second])])
        if len(code) >= wanted:
            break
    return code // count, code % count


def draw_below(total: int, wanted: int, rng: np.random.Generator) -> Array:
    """Draw `wanted` different numbers below `total` (all of them where there are fewer), in order."""
    if wanted >= total:
        return np.arange(total)
    if total <= 4 * wanted or total <= 10_000:
        return np.sort(rng.choice(total, wanted, replace=False))
    drawn = np.unique(rng.integers(0, total, 2 * wanted))  # of 4 · wanted and more, at least 1.5 · wanted differ
    return np.sort(rng.choice(drawn, wanted, replace=False))


def link_edges(
    pairs: Array, similar: Array, rows: Array, at_most: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Return rows (near, far) of links: similar with dissimilar ones, those that share an item first."""
    near, far = rows[similar[rows]], rows[~similar[rows]]
    if len(near) * len(far) <= at_most:
        first, second = np.repeat(near, len(far)), np.tile(far, len(near))
        return _keep(pairs, first, second, len(first))
    first, second = _sharing(pairs, near, far, at_most, rng)
    code = draw_below(len(near) * len(far), at_most, rng)
    first = np.concatenate([first, near[code // len(far)]])
    second = np.concatenate([second, far[code % len(far)]])
    return _keep(pairs, first, second, at_most)


def _sharing(pairs: Array, near: Array, far: Array, at_most: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw links that share an item: for every item, each similar link with each dissimilar link."""
    n_items = int(pairs.max()) + 1
    near_at, far_at = (Rows.ragged(*_by_item(pairs, rows, n_items)) for rows in (near, far))
    product = near_at.lengths * far_at.lengths
    end = np.cumsum(product)
    code = draw_below(int(end[-1]), at_most, rng)
    item = np.searchsorted(end, code, side="right")
    inside = code - (end - product)[item]
    start_near, start_far = (np.cumsum(at.lengths) - at.lengths for at in (near_at, far_at))
    width = far_at.lengths[item]
    return near_at.values[start_near[item] + inside // width], far_at.values[start_far[item] + inside % width]


def _by_item(pairs: Array, rows: Array, n_items: int) -> tuple[Array, Array]:
    ends = pairs[rows].ravel()
    order = np.argsort(ends, kind="stable")
    return np.repeat(rows, 2)[order], np.bincount(ends, minlength=n_items)


def _keep(pairs: Array, near: Array, far: Array, at_most: int) -> tuple[Array, Array]:
    """Leave out repeats and pairs compared with themselves; keep the first ones."""
    differ = (np.sort(pairs[near], 1) != np.sort(pairs[far], 1)).any(1) if len(near) else np.empty(0, bool)
    near, far = near[differ], far[differ]
    code = near.astype(np.int64) * len(pairs) + far
    kept = np.sort(np.unique(code, return_index=True)[1])[:at_most]
    return near[kept], far[kept]

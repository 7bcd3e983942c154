"""Comparisons drawn from one rater's labels, as rows (head, near, far) of positions among the labels."""

from __future__ import annotations

import numpy as np

from similitude.types import Array


def same_over_other(label: Array, per_item: int, rng: np.random.Generator) -> Array:
    """Draw for each item one of its class (near) and one of another class (far)."""
    order = np.argsort(label, kind="stable")
    start, size = _blocks(label)
    head = np.repeat(np.flatnonzero((size > 1) & (size < len(label))), per_item)
    near = order[_another(order, start[head], size[head], head, rng)]
    far = rng.integers(0, len(label) - size[head])  # a place outside the block of the head's class
    far = order[far + np.where(far >= start[head], size[head], 0)]
    return _different(head, near, far)


def surer(label: Array, confidence: Array, per_item: int, rng: np.random.Generator) -> Array:
    """Draw for each item two others of its class: the surer is near, the less sure far; ties give nothing."""
    order = np.argsort(label, kind="stable")
    start, size = _blocks(label)
    head = np.repeat(np.flatnonzero(size > 2), per_item)
    first, second = (order[_another(order, start[head], size[head], head, rng)] for _ in range(2))
    swap = confidence[first] < confidence[second]
    near, far = np.where(swap, second, first), np.where(swap, first, second)
    apart = confidence[near] > confidence[far]
    return _different(head[apart], near[apart], far[apart])


def closer(value: Array, per_item: int, rng: np.random.Generator) -> Array:
    """Draw for each item two others: the one whose label is closer is near; ties give nothing."""
    count = len(value)
    if count < 3:
        return np.empty((0, 3), np.int64)
    head = np.repeat(np.arange(count), per_item)
    first = (head + rng.integers(1, count, len(head))) % count
    second = (head + rng.integers(1, count, len(head))) % count
    to_first, to_second = np.abs(value[head] - value[first]), np.abs(value[head] - value[second])
    near = np.where(to_first < to_second, first, second)
    far = np.where(to_first < to_second, second, first)
    apart = to_first != to_second
    return _different(head[apart], near[apart], far[apart])


def _blocks(label: Array) -> tuple[Array, Array]:
    """For each item, where its class starts when items are sorted by class, and how many it holds."""
    _, code, count = np.unique(label, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - count)[code], count[code]


def _another(order: Array, start: Array, size: Array, head: Array, rng: np.random.Generator) -> Array:
    """Draw a place in the head's block other than the head's own."""
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    step = rng.integers(1, size) if len(size) else np.empty(0, np.int64)
    return start + (place[head] - start + step) % np.maximum(size, 1)


def _different(head: Array, near: Array, far: Array) -> Array:
    return np.unique(np.stack([head, near, far], axis=1), axis=0)

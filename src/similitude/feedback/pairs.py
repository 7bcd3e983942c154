"""Comparisons among rated pairs, without forming all of them: a sample, or the chain of neighbours in rank."""

from __future__ import annotations

from typing import Any

import numpy as np

from similitude.feedback.columns import Array, Ints, Rows

Edges = tuple[Ints, Ints, Ints]


def chain(pairs: Array, difference: Array) -> Edges:
    """Compare each pair with the next larger one; neighbours that tie are passed over."""
    order = np.argsort(difference, kind="stable")
    order = order[np.isfinite(difference[order])]
    rises = difference[order][1:] > difference[order][:-1]
    near, far = pairs[order[:-1][rises]], pairs[order[1:][rises]]
    return near.astype(np.int32), far.astype(np.int32), np.zeros(len(near), np.int32)


def sample(shown: Rows, rating: Rows, sign: float, at_most: int, random_state: Any) -> Edges:
    """Draw up to `at_most` distinct comparisons of each answer's rated pairs, ties and missing ratings left out."""
    if at_most < 1:
        raise ValueError(f"expected at least 1 comparison per rater, found {at_most}")
    rng = np.random.default_rng(random_state)
    near, far, owner = [], [], []
    for k in range(len(shown)):
        pairs, value = shown[k].reshape(-1, 2), sign * rating[k]
        first, second = _draw_two(np.flatnonzero(np.isfinite(value)), value, at_most, rng)
        near.append(pairs[first])
        far.append(pairs[second])
        owner.append(np.full(len(first), k, np.int32))
    if not near:
        empty = np.empty((0, 2), np.int32)
        return empty, empty, np.empty(0, np.int32)
    return np.concatenate(near).astype(np.int32), np.concatenate(far).astype(np.int32), np.concatenate(owner)


def _draw_two(known: Array, value: Array, at_most: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Positions (less, more) of distinct pairs of unequal value."""
    count = len(known)
    possible = count * (count - 1) // 2
    if possible <= 4 * at_most:
        first, second = np.triu_indices(count, 1)
    else:
        code = np.unique(rng.integers(0, count * count, 3 * at_most))
        first, second = code // count, code % count
        keep = first < second
        first, second = first[keep], second[keep]
    first, second = known[first], known[second]
    differ = value[first] != value[second]
    first, second = first[differ], second[differ]
    if len(first) > at_most:
        chosen = np.sort(rng.choice(len(first), at_most, replace=False))
        first, second = first[chosen], second[chosen]
    less = value[first] < value[second]
    return np.where(less, first, second), np.where(less, second, first)


def distances_within(shown: Rows, position: Rows, n_coordinates: int) -> tuple[Rows, Rows]:
    """Turn items with coordinates into their pairs with distances, answer by answer."""
    pairs, distance = [], []
    for k in range(len(shown)):
        items, place = shown[k], position[k].reshape(-1, n_coordinates)
        first, second = np.triu_indices(len(items), 1)
        pairs.append(np.stack([items[first], items[second]], 1).ravel())
        distance.append(np.sqrt(((place[first] - place[second]) ** 2).sum(1)))
    return Rows.of(pairs), Rows.of(distance)

"""Where CAMEL starts, and with which items: never at L = 0, and not with all of many items."""

from __future__ import annotations

import numpy as np

from similitude.types import Array, Floats

_MOST_EARLY = 2_000  # items for the starts and the small prices; the price asked for is fitted to all
_SCALES = (1.0, 0.3)  # of the first two starts
_NOISE = 0.3  # of those after them, over the root of the number of features


def first_maps(items: Floats, code: Array, count: int, n_init: int, rng: np.random.RandomState) -> list[Floats]:
    """Return maps to start from: factors of one feature each, those that part the classes most first; then with noise.

    Parameters
    ----------
    items : (n, m) standardised features
    code : (n,) classes
    count : number of factors
    n_init : number of starts
    rng : chance
    """
    m = items.shape[1]
    means = [items[code == own].mean(0) for own in np.unique(code)]
    by_use = np.argsort(-np.var(means, axis=0), kind="stable")
    one_each = np.zeros((count, m))
    one_each[np.arange(count), by_use[np.arange(count) % m]] = 1.0
    starts = [scale * one_each for scale in _SCALES]
    while len(starts) < n_init:
        starts.append(one_each + rng.normal(scale=_NOISE / np.sqrt(m), size=one_each.shape))
    return starts[:n_init]


def early_rows(code: Array, rng: np.random.RandomState) -> Array:
    """Return rows, in order, for the first steps: the same share of every class, two items of it at least."""
    step = len(code) / _MOST_EARLY
    if step <= 1:
        return np.arange(len(code))
    rank = np.empty(len(code))
    for own in np.unique(code):
        rank[code == own] = rng.permutation(int((code == own).sum()))
    return np.flatnonzero(rank < np.maximum(np.bincount(code) / step, 2)[code])

"""The loops over whole answers, compiled by numba: values at drawn positions, bits of an answer, information."""

from __future__ import annotations

import math

import numba
import numpy as np

from similitude.active.compiled import FLAGS, by_first
from similitude.jit import kernel

_kernel = kernel(**FLAGS)
_inlined = numba.njit(forceinline=True, **FLAGS)

_MOST = 300.0  # log of the largest product of weights: so that none is infinite or 0


@_kernel
def drawn_values(drawn, signs, pairs, out):  # type: ignore[no-untyped-def]
    """Squared distance, or signed product, of each pair in each draw; `drawn` is (items, d, draws)."""
    width, count = drawn.shape[1], drawn.shape[2]
    for t in range(len(pairs)):
        x, y, row = drawn[pairs[t, 0]], drawn[pairs[t, 1]], out[t]
        row[:] = 0.0
        for c in range(width):
            if len(signs):
                for s in range(count):
                    row[s] += signs[c] * x[c, s] * y[c, s]
            else:
                for s in range(count):
                    row[s] += (x[c, s] - y[c, s]) ** 2


@_kernel
def answer_gains(value, sets, out):  # type: ignore[no-untyped-def]
    """H(E p) - E H(p) in bits of which of the `sets` (c, k) of alternatives is picked; `value` is (q, m, draws).

    The chance of a set is exp(sum of its values) over the sum of that over all sets.
    """
    draws = value.shape[2]
    number, k = sets.shape
    mixed, chance, log = np.empty(number), np.empty(number), np.empty(number)
    for t in range(len(value)):
        mixed[:] = 0.0
        inside = 0.0
        for s in range(draws):
            most = -np.inf
            for c in range(number):
                log[c] = 0.0
                for r in range(k):
                    log[c] += value[t, sets[c, r], s]
                most = max(most, log[c])
            total, mean = 0.0, 0.0
            for c in range(number):
                chance[c] = math.exp(log[c] - most)
                total += chance[c]
                mean += chance[c] * (log[c] - most)
            inside += math.log(total) - mean / total
            for c in range(number):
                mixed[c] += chance[c] / total
        whole = 0.0
        for c in range(number):
            share = mixed[c] / draws
            if share > 0.0:
                whole -= share * math.log(share)
        out[t] = max(whole - inside / draws, 0.0) / math.log(2.0)


@_inlined
def _symmetric(weight, k, without, also):  # type: ignore[no-untyped-def]
    """The elementary symmetric polynomial of degree k of the weights but for two of them."""
    e = np.zeros(k + 1)
    e[0] = 1.0
    for a in range(len(weight)):
        if a != without and a != also:
            for r in range(k, 0, -1):
                e[r] += weight[a] * e[r - 1]
    return e[k]


@_kernel
def inclusion_covariance(value, k, out):  # type: ignore[no-untyped-def]
    """Covariance of who is among k picked ones: Fisher's information of the answer on the values.

    P(a) = w_a e_(k-1)(others) / e_k and P(a, b) = w_a w_b e_(k-2)(others) / e_k with w = exp(value). Values far from
    the k-th largest, above or below, are as good as certain, and are brought nearer.
    """
    m, far = len(value), _MOST / k
    weight, share, kth = np.empty(m), np.empty(m), np.sort(value)[m - k]
    for a in range(m):
        weight[a] = math.exp(min(max(value[a] - kth, -far), far))
    whole = _symmetric(weight, k, -1, -1)
    for a in range(m):
        share[a] = weight[a] * _symmetric(weight, k - 1, a, -1) / whole
        out[a, a] = share[a] * (1.0 - share[a])
    for a in range(m):
        for b in range(a):
            both = weight[a] * weight[b] * _symmetric(weight, k - 2, a, b) / whole if k > 1 else 0.0
            out[a, b] = out[b, a] = both - share[a] * share[b]


@_kernel
def add_choice_information(X, signs, pairs, slope, value, k, weight, out):  # type: ignore[no-untyped-def]
    """Add the information of choices on each item's position, the others known, to `out` (n, d, d).

    `pairs` (q, m, p, 2) speak for the alternatives, whose values are `value` (q, m); `slope` (q, m, p) is the
    derivative of a value by the squared distance (or product) of each pair.
    """
    m, p, width = pairs.shape[1], pairs.shape[2], X.shape[1]
    items = np.empty(2 * m * p, np.int64)
    gradient = np.empty((2 * m * p, m, width))
    covariance, told = np.empty((m, m)), np.empty((m, width))
    for t in range(len(pairs)):
        count = 0
        for a in range(m):
            for r in range(p):
                for side in range(2):
                    i, j = pairs[t, a, r, side], pairs[t, a, r, 1 - side]
                    place = 0
                    while place < count and items[place] != i:
                        place += 1
                    if place == count:
                        items[place] = i
                        gradient[place] = 0.0
                        count += 1
                    for c in range(width):
                        gradient[place, a, c] += slope[t, a, r] * by_first(X, signs, i, j, c)
        inclusion_covariance(value[t], k, covariance)
        for place in range(count):
            told[:] = 0.0
            for a in range(m):
                for b in range(m):
                    for c in range(width):
                        told[a, c] += covariance[a, b] * gradient[place, b, c]
            for a in range(m):
                for c in range(width):
                    for e in range(width):
                        out[items[place], c, e] += weight[t] * gradient[place, a, c] * told[a, e]

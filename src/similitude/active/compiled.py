"""The loops of question scoring, compiled by numba: variance of logits, best pairs, gains."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

from similitude.jit import kernel

FLAGS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"reassoc", "contract", "nsz", "arcp"}}
_kernel = kernel(**FLAGS)
_inlined = numba.njit(forceinline=True, **FLAGS)

KAPPA = math.pi / 8.0  # a logistic function is a normal one of variance 1/KAPPA
C2 = math.pi * math.log(2.0) / 2.0  # h(Phi(z)) is exp(-z²/(2 C2)), nearly


@_inlined
def _gain(mean, variance):  # type: ignore[no-untyped-def]
    """The closed form of `scores.information_gain` for one question."""
    m2, v = KAPPA * mean * mean, KAPPA * variance
    return math.exp(-m2 / (2.0 * C2 * (1.0 + v))) - math.sqrt(C2 / (v + C2)) * math.exp(-m2 / (2.0 * (v + C2)))


@_inlined
def _form(matrix, vector):  # type: ignore[no-untyped-def]
    """The quadratic form v' M v."""
    total = 0.0
    for r in range(len(vector)):
        row = 0.0
        for c in range(len(vector)):
            row += matrix[r, c] * vector[c]
        total += vector[r] * row
    return total


@_inlined
def by_first(X, signs, i, j, c):  # type: ignore[no-untyped-def]
    """Derivative of the squared distance of i and j by coordinate c of i; with signs, of their signed product."""
    return signs[c] * X[j, c] if len(signs) else 2.0 * (X[i, c] - X[j, c])


@_kernel
def logit_variance(X, signs, covariance, near, far, slope_near, slope_far, out):  # type: ignore[no-untyped-def]
    """Variance of each comparison's margin when every item's position is normal around X, independently."""
    width = X.shape[1]
    a, b = np.empty(width), np.empty(width)
    for t in range(len(near)):
        i, j, k, l = near[t, 0], near[t, 1], far[t, 0], far[t, 1]
        for c in range(width):
            a[c] = slope_near[t] * by_first(X, signs, j, i, c)
            b[c] = slope_far[t] * by_first(X, signs, l, k, c)
        total = _form(covariance[j], a) + _form(covariance[l], b)
        for c in range(width):
            a[c] = -slope_near[t] * by_first(X, signs, i, j, c)
            b[c] = slope_far[t] * by_first(X, signs, k, l, c)
        if i == k:
            for c in range(width):
                a[c] += b[c]
        else:
            total += _form(covariance[k], b)
        out[t] = total + _form(covariance[i], a)


@_kernel
def head_gains(level, F, q, out):  # type: ignore[no-untyped-def]
    """Gain of every pair of a head: mean level_b - level_c, variance |F_b - F_c|² + q_b + q_c; `out` is symmetric."""
    n, width = F.shape
    for b in range(n):
        out[b, b] = 0.0
        for c in range(b):
            variance = q[b] + q[c]
            for k in range(width):
                step = F[b, k] - F[c, k]
                variance += step * step
            gain = _gain(level[b] - level[c], variance)
            out[b, c] = gain
            out[c, b] = gain


@_kernel
def best_pair(items, level, F, q, reach, banned):  # type: ignore[no-untyped-def]
    """The pair of largest gain: exact, though most pairs are passed over.

    `items` are the candidates ordered by falling `reach`, with level, F, q in that order; the variance of a pair is at
    most the sum of their reaches. `banned` holds sorted codes low · (largest item + 1) + high of pairs not to be taken.
    A gain of at least g needs KAPPA · variance > C2 (1/(1-g)² - 1) (the gain falls with |mean|), and
    KAPPA · mean² < 2 C2 (1 + KAPPA · variance) · log(1/g) (the first term alone bounds it).
    """
    n, width = F.shape
    base = banned[-1]
    best, first, second = -1.0, -1, -1
    least, steep = -1.0, np.inf
    for i in range(1, n):
        if KAPPA * (reach[i] + reach[0]) < least:
            break
        for j in range(i):
            if KAPPA * (reach[i] + reach[j]) < least:
                break
            variance = q[i] + q[j]
            for k in range(width):
                step = F[i, k] - F[j, k]
                variance += step * step
            mean = level[i] - level[j]
            if KAPPA * variance < least or KAPPA * mean * mean > steep * (1.0 + KAPPA * variance):
                continue
            gain = _gain(mean, variance)
            if gain <= best:
                continue
            low, high = min(items[i], items[j]), max(items[i], items[j])
            code = low * base + high
            place = np.searchsorted(banned[:-1], code)
            if place < len(banned) - 1 and banned[place] == code:
                continue
            best, first, second = gain, items[i], items[j]
            if 0.0 < best < 1.0:
                least = C2 * (1.0 / ((1.0 - best) * (1.0 - best)) - 1.0)
                steep = -2.0 * C2 * math.log(best)
    return first, second, best


@_kernel
def crowd_gains(levels, samples, tau, b, c, out):  # type: ignore[no-untyped-def]
    """h(sum tau p) - sum tau h(p) in bits for pairs of rows (b, c), the head being one of `samples` with shares tau.

    `levels` is the table (items × samples) of scaled distances; reading its rows b and c keeps to two lines of memory.
    """
    for t in range(len(b)):
        to_b, to_c = levels[b[t]], levels[c[t]]
        mixed, inside = 0.0, 0.0
        for s in range(len(tau)):
            margin = to_c[samples[s]] - to_b[samples[s]]
            size = abs(margin)
            tail = math.exp(-size)
            minor = tail / (1.0 + tail)
            mixed += tau[s] * (1.0 - minor if margin > 0.0 else minor)
            inside += tau[s] * (math.log(1.0 + tail) + size * minor)
        mixed = min(max(mixed, 1e-300), 1.0 - 1e-16)
        whole = -mixed * math.log(mixed) - (1.0 - mixed) * math.log1p(-mixed)
        out[t] = max(whole - inside, 0.0) / math.log(2.0)

"""The likelihood of choices, compiled by numba: values, chances of sets, lapses and slopes in one pass.

The formulas are those of `engine.choice_terms`. As in `engine.compiled`, each kernel works on rows `start` to `stop`
and writes to arrays of its own.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from similitude.engine.compiled import FLAGS
from similitude.jit import kernel

_kernel = kernel(**FLAGS)
_inlined = numba.njit(forceinline=True, **FLAGS)
_function = numba.njit(**FLAGS)
_BLOCK = 256  # choices that are worked on together, so that inner loops are long
_TINY = float(np.finfo(float).tiny)
_ROUNDS = 30  # of the fixed point that gives the covariance of sets


@_inlined
def _log_of_sum(a, b):  # type: ignore[no-untyped-def]
    """log(e^a + e^b)."""
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + math.log1p(math.exp(b - a))


@_inlined
def _softmax(value, slope, lost, count):  # type: ignore[no-untyped-def]
    """Make lost[t] the log of the sum of e^v over column t, of `count`, and `slope` the chance of each alternative."""
    # columns inside: loops over few alternatives would cost more to begin than to run
    for t in range(count):
        lost[t] = value[0, t]
    for a in range(1, len(value)):
        for t in range(count):
            lost[t] = max(lost[t], value[a, t])
    total = np.zeros(count)
    for a in range(len(value)):
        for t in range(count):
            slope[a, t] = math.exp(value[a, t] - lost[t])
            total[t] += slope[a, t]
    for t in range(count):
        lost[t] += math.log(total[t])
        total[t] = 1.0 / total[t]
    for a in range(len(value)):
        for t in range(count):
            slope[a, t] *= total[t]


@_function
def _chances_of_sets(value, picked, slope, before, after):  # type: ignore[no-untyped-def]
    """log e_k(e^v); `slope` becomes the chance that each alternative is among the k that are picked.

    before[j, r] is log e_r of the first j values, after[j, r] of those from j on: of the others that are picked, r
    stand before alternative a and k - 1 - r after it.
    """
    m = len(value)
    before[:], after[:] = -np.inf, -np.inf
    before[:, 0], after[:, 0] = 0.0, 0.0
    for j in range(m):
        for r in range(1, picked + 1):
            before[j + 1, r] = _log_of_sum(before[j, r], before[j, r - 1] + value[j])
            after[m - 1 - j, r] = _log_of_sum(after[m - j, r], after[m - j, r - 1] + value[m - 1 - j])
    total = before[m, picked]
    for a in range(m):
        slope[a] = 0.0
        for r in range(picked):
            slope[a] += math.exp(before[a, r] + after[a + 1, picked - 1 - r] + value[a] - total)
    return total


@_inlined
def _with_ties(value, picked, tied, odds, lost, slope, tie, count):  # type: ignore[no-untyped-def]
    """Add the outcome "can't tell", of odds[t] + (k/m) sum of the values, to the sets; tie[t] becomes its chance."""
    share = picked / len(value)
    for t in range(count):
        tie[t] = odds[t]
    for a in range(len(value)):
        for t in range(count):
            tie[t] += share * value[a, t]
    for t in range(count):
        total, own = _log_of_sum(lost[t], tie[t]), tie[t]
        tie[t] = math.exp(own - total)
        lost[t] = total - own if tied else total
    for a in range(len(value)):
        for t in range(count):
            slope[a, t] += tie[t] * (share - slope[a, t]) - (share if tied else 0.0)


@_inlined
def _losses(value, picked, tied, odds, lost, slope, tie, count):  # type: ignore[no-untyped-def]
    """Make lost[t] -log of the chance of what was said to column t, `slope` its derivative, tie[t] that of a tie.

    It was that the first `picked` are those picked, or "can't tell" where they are `tied`; with minus infinity as
    odds[0] nobody could say so.
    """
    if picked == 1:
        _softmax(value, slope, lost, count)
    else:
        before, after = np.empty((2, len(value) + 1, picked + 1))
        for t in range(count):
            lost[t] = _chances_of_sets(value[:, t], picked, slope[:, t], before, after)
    if odds[0] > -np.inf:
        _with_ties(value, picked, tied, odds, lost, slope, tie, count)
    for a in range(0 if tied else picked):
        for t in range(count):
            lost[t] -= value[a, t]
            slope[a, t] -= 1.0


@_inlined
def _lapsed(lost, share, by_chance):  # type: ignore[no-untyped-def]
    """Loss with a share of answers by chance, its derivative by the loss without, and by the logit of the share."""
    right = math.exp(-lost)
    mixed = max((1.0 - share) * right + share * by_chance, _TINY)
    return -math.log(mixed), (1.0 - share) * right / mixed, share * (1.0 - share) * (right - by_chance) / mixed


@_kernel
def set_losses(value, picked, tied, odds, lost, slope):  # type: ignore[no-untyped-def]
    """lost[t] of each column of values (m, t), and slope[:, t], its derivative by each value."""
    _losses(value, picked, tied, odds, lost, slope, np.empty(value.shape[1]), value.shape[1])


@_kernel
def picks(  # type: ignore[no-untyped-def]
    level, place, picked, tied, log_sets, sign, weight, source, sharp, lapse, unsure, by_chance,
    pull, by_source, start, stop,
):  # fmt: skip
    """Sum of weighted losses of choices.

    Adds to `pull` the derivative by each level, to by_source[0] that by the log of each source's sharpness, to
    by_source[1] that by the logit of its lapse, and to by_source[2] that by `unsure`, the logit of its share of
    "can't tell". `place` (q, m, p) says where the levels stand of the pairs that speak for each alternative;
    `by_chance` is the chance of what was said at random, `log_sets` the log of the number of sets, or minus infinity
    where nobody could say "can't tell".
    """
    width, several = place.shape[1], place.shape[2]
    value, slope = np.empty((width, _BLOCK)), np.empty((width, _BLOCK))
    lost, steep, odds, tie = np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK), np.zeros(_BLOCK)
    ties, said = log_sets > -np.inf, 1.0 if tied else 0.0
    total = 0.0
    for first in range(start, stop, _BLOCK):
        count = min(_BLOCK, stop - first)
        for t in range(count):
            steep[t] = sign * sharp[source[first + t]]
            odds[t] = log_sets + unsure[source[first + t]] if ties else -np.inf
        for a in range(width):
            for t in range(count):
                value[a, t] = steep[t] * level[place[first + t, a, 0]]
            for b in range(1, several):
                for t in range(count):
                    value[a, t] += steep[t] * level[place[first + t, a, b]]
        _losses(value, picked, tied, odds, lost, slope, tie, count)
        for t in range(count):
            who, factor = source[first + t], weight[first + t]
            if lapse[who] > 0.0:
                lost[t], kept, by_share = _lapsed(lost[t], lapse[who], by_chance)
                by_source[1, who] += factor * by_share
                factor *= kept
            if ties:
                by_source[2, who] += factor * (tie[t] - said)
            total += weight[first + t] * lost[t]
            lost[t] = factor  # from here on
        for a in range(width):
            for t in range(count):
                slope[a, t] *= lost[t]
                by_source[0, source[first + t]] += slope[a, t] * value[a, t]
            for b in range(several):
                for t in range(count):
                    pull[place[first + t, a, b]] += steep[t] * slope[a, t]
    return total


@_kernel
def value_information(X, pairs, picked, sign, weight, out):  # type: ignore[no-untyped-def]
    """Add to `out` (n, d) what choices tell about each number of X, where alternatives go by products of vectors.

    With g the derivative of the values by one number (the partners' numbers in the pairs that hold its item) and C the
    covariance of what is picked, that is g' C g. For one of m, C = diag(p) - p p'; for sets of k it is taken to have
    the same form, C = diag(c) - c c' / sum(c), with c such that the variances p (1 - p) are exact (Deville & Tillé
    2005).
    """
    q, width, several = pairs.shape[0], pairs.shape[1], pairs.shape[2]
    d = X.shape[1]
    value, slope, lost = np.empty((width, 1)), np.empty((width, 1)), np.empty(1)
    spread, tie, nobody = np.empty(width), np.empty(1), np.full(1, -np.inf)
    for t in range(q):
        for a in range(width):
            value[a, 0] = 0.0
            for b in range(several):
                i, j = pairs[t, a, b, 0], pairs[t, a, b, 1]
                for k in range(d):
                    value[a, 0] -= sign * X[i, k] * X[j, k]
        _losses(value, picked, False, nobody, lost, slope, tie, 1)
        for a in range(width):
            slope[a, 0] += 1.0 if a < picked else 0.0
            spread[a] = slope[a, 0] if picked == 1 else slope[a, 0] * (1.0 - slope[a, 0])
        total = max(spread.sum(), _TINY)
        for _ in range(_ROUNDS if picked > 1 else 0):
            for a in range(width):
                spread[a] = slope[a, 0] * (1.0 - slope[a, 0]) + spread[a] * spread[a] / total
            total = max(spread.sum(), _TINY)
        for a in range(width):
            for b in range(several):
                for first in range(2):
                    item, partner = pairs[t, a, b, first], pairs[t, a, b, 1 - first]
                    for other in range(width):
                        shared = -spread[a] * spread[other] / total + (spread[a] if other == a else 0.0)
                        for c in range(several):
                            for second in range(2):
                                if pairs[t, other, c, second] == item:
                                    mate = pairs[t, other, c, 1 - second]
                                    for k in range(d):
                                        out[item, k] += weight[t] * shared * X[partner, k] * X[mate, k]

"""Online steps, compiled: a factored step per answer with replay, ERKLE's step on six entries, and its projection.

Chance is splitmix64 on one 64-bit state: a stream of answers draws the same numbers whether it comes at once, one by
one, or in two parts with the state saved in between.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from similitude.engine import terms
from similitude.engine.compiled import FLAGS, FORMULAS, shape_of
from similitude.jit import kernel

_kernel = kernel(**FLAGS)
_inlined = numba.njit(forceinline=True, **FLAGS)

RECENT = 1000
"""How many of the latest margins are kept, to fit the slope of the probabilities."""

_NEWTON = 60  # at most; a handful where the step is short
_HINGE = terms.SHAPES.index(terms.hinge)
_LONGEST = 0.25  # step along the margin: beyond it items are thrown past those that they are drawn to
_SHARP = 1e-12  # width over which a hinge is rounded: not at all


@_kernel
def draw_below(state, count):  # type: ignore[no-untyped-def]
    """Return a whole number from 0 to count - 1 and advance the state: splitmix64 (Steele, Lea & Flood 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.int64((z >> np.uint64(1)) % np.uint64(count))


@_kernel
def remember(rows, weights, seen, row, weight, state):  # type: ignore[no-untyped-def]
    """Keep an answer in a reservoir (Vitter's algorithm R): every answer so far is in it with the same chance."""
    place = seen if seen < len(rows) else draw_below(state, seen + 1)
    if place < len(rows):
        rows[place] = row
        weights[place] = weight


@_kernel
def keep_answers(  # type: ignore[no-untyped-def]
    touched, answered, answers, weights, kept_rows, kept_weights, seen, state, steps
):  # fmt: skip
    """Keep answers that are learned as a batch, as if each had been learned in `steps` steps; returns their number."""
    for t in range(len(answers)):
        row = answers[t]
        for place in range(4):
            if place != 2 or row[0] != row[2]:
                answered[row[place]] += weights[t]
                touched[row[place]] += steps
        remember(kept_rows, kept_weights, seen, row, weights[t], state)
        seen += 1
    return seen


@_inlined
def _distances(X, row):  # type: ignore[no-untyped-def]
    near, far = 0.0, 0.0
    for c in range(X.shape[1]):
        a, b = X[row[0], c] - X[row[1], c], X[row[2], c] - X[row[3], c]
        near += a * a
        far += b * b
    return near, far


@_inlined
def _length(margin, steepness, rate, shape):  # type: ignore[no-untyped-def]
    """How far to go along the gradient of the margin, whose squared length is `steepness`.

    Hinge: min(rate, (1 - margin)/steepness), the passive-aggressive step of Crammer et al. (2006), PA-I. Else the t
    that solves t = -rate · shape'(m) at the margin m = margin + t · steepness *after* the step (an implicit step).
    """
    if shape == _HINGE:
        return min(rate, max(0.0, 1.0 - margin) / max(steepness, 1e-12))
    t, low, high, older, last = 0.0, 0.0, np.inf, np.inf, np.inf
    for _ in range(_NEWTON):  # within a bracket: where a step is steep, Newton's alone jumps from end to end
        _, slope, curvature = shape_of(shape, margin + t * steepness, 0.0)
        beyond = t + rate * slope
        if beyond > 0.0:
            high = t
        else:
            low, high = t, min(high, t - beyond)  # slopes get flatter on the way
        step = beyond / (1.0 + rate * curvature * steepness)
        if not low < t - step < high or abs(step) > 0.75 * older:  # beyond its ends, or to and fro between them
            step = t - 0.5 * (low + high)
        t -= step
        older, last = last, abs(step)
        if last < 1e-9 * rate:
            break
    return min(t, _LONGEST)


@_inlined
def _learn(X, average, touched, answered, row, weight, rate, shape, prior, forget):  # type: ignore[no-untyped-def]
    """One step on one answer: along the margin, towards the centre by the prior, then into the running average."""
    i, j, k, l = row[0], row[1], row[2], row[3]
    near, far = _distances(X, row)
    steepness = 8.0 * (near + far)  # |gradient of the margin|²: 4 d² for each item of a pair
    if i == k:  # a head is pulled by both pairs
        cross = 0.0
        for c in range(X.shape[1]):
            cross += (X[i, c] - X[j, c]) * (X[k, c] - X[l, c])
        steepness -= 8.0 * cross
    step = 2.0 * _length(far - near, steepness, min(rate * weight, _LONGEST), shape)
    for c in range(X.shape[1]):
        a, b = step * (X[i, c] - X[j, c]), step * (X[k, c] - X[l, c])
        X[i, c] -= a
        X[j, c] += a
        X[k, c] += b
        X[l, c] -= b
    for place in range(4):
        item = row[place]
        if place == 2 and i == k:
            continue
        touched[item] += 1
        # The average forgets: early positions were far off, and a plain mean would keep them for as long again.
        share = (1.0 + forget) / (touched[item] + forget)
        kept = 1.0 / (1.0 + 2.0 * rate * weight * prior / max(answered[item], 1.0))
        for c in range(X.shape[1]):
            X[item, c] *= kept
            average[item, c] += share * (X[item, c] - average[item, c])


@_inlined
def _settle(X, average, touched, new, old):  # type: ignore[no-untyped-def]
    """An item met for the first time begins beside the one it was called alike."""
    if touched[new] == 0 and touched[old] > 0:
        for c in range(X.shape[1]):
            X[new, c] += average[old, c]


def _with_formulas(stamp: str) -> tuple[Callable[..., Any], ...]:
    """Make the kernels that use the formulas; why they need a stamp is said in `engine.compiled`."""

    @_kernel
    def embedding_steps(  # type: ignore[no-untyped-def]
        X, average, touched, answered, answers, weights, kept_rows, kept_weights, seen, state, recent,
        rate, shape, prior, forget, replay,
    ):  # fmt: skip
        """Learn answers in order, each with `replay` drawn from those kept; returns how many answers there are now.

        `touched` counts the steps of each item, `answered` the weight of its answers. The margin of each answer in the
        averaged positions, *before* it is learned, goes to `recent`. A replay begins after 2 · replay answers, as in
        Algorithm 7 of Heim (2015).
        """
        stamp  # noqa: B018
        for t in range(len(answers)):
            row = answers[t]
            near, far = _distances(average, row)
            recent[seen % len(recent)] = far - near  # before it is learned: a margin that nothing was fitted to
            for place in range(4):
                if place != 2 or row[0] != row[2]:
                    answered[row[place]] += weights[t]
            _settle(X, average, touched, row[0], row[1])
            _settle(X, average, touched, row[1], row[0])
            _learn(X, average, touched, answered, row, weights[t], rate, shape, prior, forget)
            remember(kept_rows, kept_weights, seen, row, weights[t], state)
            seen += 1
            if seen > 2 * replay:
                for _ in range(replay):
                    drawn = draw_below(state, min(seen, len(kept_rows)))
                    _learn(
                        X, average, touched, answered, kept_rows[drawn], kept_weights[drawn],
                        rate, shape, prior, forget,
                    )  # fmt: skip
        return seen

    @_kernel
    def kernel_step(K, row, weight, off, size, aggressive, shape, target, rate):  # type: ignore[no-untyped-def]
        """K - gamma · G for one answer, in its few entries; returns the margin before it, and gamma.

        G = (e_i - e_j)(e_i - e_j)' - (e_k - e_l)(e_k - e_l)' with its off-diagonal entries times `off`; the margin
        d2_far - d2_near moves by `size` per unit of gamma. Aggressive: gamma = max(0, target - margin)/size, at most
        the whole of it whatever the weight. Else gamma = -rate · weight · shape'(margin).
        """
        stamp  # noqa: B018
        i, j, k, l = row[0], row[1], row[2], row[3]
        near = K[i, i] + K[j, j] - 2.0 * K[i, j]
        far = K[k, k] + K[l, l] - 2.0 * K[k, l]
        margin = far - near
        if aggressive:
            gamma = min(weight, 1.0) * max(0.0, target - margin) / size
        else:
            gamma = -rate * weight * shape_of(shape, margin, _SHARP)[1]
        if gamma > 0.0:
            K[i, j] += off * gamma
            K[j, i] = K[i, j]
            K[k, l] -= off * gamma
            K[l, k] = K[k, l]
            K[j, j] -= gamma
            K[l, l] += gamma
            if i != k:  # at a head the two cancel
                K[i, i] -= gamma
                K[k, k] += gamma
        return margin, gamma

    return embedding_steps, kernel_step


embedding_steps, kernel_step = _with_formulas(FORMULAS)


@kernel()
def subtract_outer(K, value, vector):  # type: ignore[no-untyped-def]
    """K - value · vector vector', in place; without reordered products, so that K stays exactly symmetric."""
    for i in range(len(vector)):
        for j in range(len(vector)):
            K[i, j] -= value * (vector[i] * vector[j])

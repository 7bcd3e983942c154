"""The kernels, compiled by numba: distances of pairs, losses with slopes, Laplacian products, and all in one pass.

Each works on rows `start` to `stop` and writes to arrays of its own, so that chunks run on threads without races.
The formulas are those of `engine.terms`, lowered; `scale` and `shape` are chosen by their position in `SCALES` and
`SHAPES`, so that one compilation serves every loss.
"""

from __future__ import annotations

import hashlib
import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np

from similitude.engine import terms
from similitude.jit import kernel

# Sums of squares may be reordered and fused (the same way every time), but NaN and infinity keep their meaning.
FLAGS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"reassoc", "contract", "nsz", "arcp"}}
_kernel = kernel(**FLAGS)
_inlined = numba.njit(forceinline=True, **FLAGS)
_LONG = 300  # bytes of Python's code


@numba.njit(error_model="numpy")
def _log1p(x: float) -> float:
    """log(1 + x) for x >= -1/2, exact to rounding (Kahan's correction), in half the time of the library's."""
    whole = 1.0 + x
    return math.log(whole) - ((whole - 1.0) - x) / whole


_OPERATIONS = {
    "absolute": abs,
    "exp": math.exp,
    "log": math.log,
    "log1p": _log1p,
    "maximum": max,
    "minimum": min,
    "sqrt": math.sqrt,
}


def _switch(expressions: Sequence[terms.Expression]) -> Callable[..., Any]:
    """Compile `f(code, argument, parameter)`, which evaluates the expression of that number."""
    # Nested ifs and no table of functions: numba compiles a branch into the loop, but calls through a pointer.
    compiled = [_compiled(expression) for expression in expressions]
    choose = _last(compiled[-1])
    for code in reversed(range(len(compiled) - 1)):
        choose = _either(code, compiled[code], choose)
    return choose


def _compiled(expression: terms.Expression) -> Callable[..., Any]:
    """Compile an expression into its callers, but for a long one, which would take registers from every loop."""
    long = len(expression.__code__.co_code) > _LONG
    return (numba.njit(**FLAGS) if long else _inlined)(terms.lower(expression, _OPERATIONS))


def _last(expression: Callable[..., Any]) -> Callable[..., Any]:
    @numba.njit
    def choose(code: int, argument: float, parameter: float) -> Any:  # noqa: ARG001
        return expression(argument, parameter)

    return choose


def _either(number: int, expression: Callable[..., Any], other: Callable[..., Any]) -> Callable[..., Any]:
    @numba.njit
    def choose(code: int, argument: float, parameter: float) -> Any:
        if code == number:
            return expression(argument, parameter)
        return other(code, argument, parameter)

    return choose


scale_of = _switch(terms.SCALES)
shape_of = _switch(terms.SHAPES)
_N_SHORT = sum(len(shape.__code__.co_code) <= _LONG for shape in terms.SHAPES)  # these come first
_LOGARITHM, _LOGISTIC = terms.SCALES.index(terms.logarithm), terms.SHAPES.index(terms.logistic)
_short_shape_of = _switch(terms.SHAPES[:_N_SHORT])
FORMULAS = hashlib.sha256(inspect.getsource(terms).encode()).hexdigest()


@_kernel
def sqdist(X, pairs, out, start, stop):  # type: ignore[no-untyped-def]
    """out[p] = |x_i - x_j|² for the pairs p = (i, j) from `start` to `stop`."""
    for p in range(start, stop):
        i, j = pairs[p, 0], pairs[p, 1]
        total = 0.0
        for c in range(X.shape[1]):
            step = X[i, c] - X[j, c]
            total += step * step
        out[p] = total


@_kernel
def laplacian(X, pairs, w, out, start, stop):  # type: ignore[no-untyped-def]
    """Add to `out` the product L X of L = sum_p w_p (e_i - e_j)(e_i - e_j)' over some pairs."""
    for p in range(start, stop):
        if w[p] != 0.0:  # a hinge leaves most slopes at 0, and the rows are what costs
            i, j = pairs[p, 0], pairs[p, 1]
            for c in range(X.shape[1]):
                step = w[p] * (X[i, c] - X[j, c])
                out[i, c] += step
                out[j, c] -= step


@_kernel
def products(X, pairs, out, start, stop):  # type: ignore[no-untyped-def]
    """out[p] = x_i · x_j for the pairs p = (i, j) from `start` to `stop`."""
    for p in range(start, stop):
        i, j = pairs[p, 0], pairs[p, 1]
        total = 0.0
        for c in range(X.shape[1]):
            total += X[i, c] * X[j, c]
        out[p] = total


@_kernel
def adjacency(X, pairs, w, out, start, stop):  # type: ignore[no-untyped-def]
    """Add to `out` the product A X of A = sum_p w_p (e_i e_j' + e_j e_i') over some pairs."""
    for p in range(start, stop):
        if w[p] != 0.0:
            i, j = pairs[p, 0], pairs[p, 1]
            for c in range(X.shape[1]):
                out[i, c] += w[p] * X[j, c]
                out[j, c] += w[p] * X[i, c]


@_inlined
def _compare(X, i, j, k, l, scale, scale_parameter, shape, shape_parameter):  # type: ignore[no-untyped-def]
    """Loss of "i, j are closer than k, l", and its derivatives by the two squared distances."""
    d2_near, d2_far = 0.0, 0.0
    for c in range(X.shape[1]):
        a, b = X[i, c] - X[j, c], X[k, c] - X[l, c]
        d2_near += a * a
        d2_far += b * b
    level_near, slope_near, _ = scale_of(scale, d2_near, scale_parameter)
    level_far, slope_far, _ = scale_of(scale, d2_far, scale_parameter)
    value, steep, _ = shape_of(shape, level_far - level_near, shape_parameter)
    return value, -steep * slope_near, steep * slope_far


@_inlined
def _add_losses(shape_at, shape, parameter, level, near, far, weight, pull, start, stop):  # type: ignore[no-untyped-def]
    """Sum of weighted losses; adds to `pull` the derivative by each level."""
    total = 0.0
    for t in range(start, stop):
        value, steep, _ = shape_at(shape, level[far[t]] - level[near[t]], parameter)
        total += weight[t] * value
        if steep != 0.0:  # a write that is spared: most comparisons meet a hinge
            pull[far[t]] += weight[t] * steep
            pull[near[t]] -= weight[t] * steep
    return total


@_inlined
def _pull(X, i, j, k, l, w_near, w_far, out):  # type: ignore[no-untyped-def]
    """Add to `out` the rows of L X that two pairs of slopes w_near and w_far make."""
    if i == k:  # a triplet: its head is written once
        for c in range(X.shape[1]):
            a, b = w_near * (X[i, c] - X[j, c]), w_far * (X[i, c] - X[l, c])
            out[j, c] -= a
            out[l, c] -= b
            out[i, c] += a + b
        return
    for c in range(X.shape[1]):
        a, b = w_near * (X[i, c] - X[j, c]), w_far * (X[k, c] - X[l, c])
        out[j, c] -= a
        out[l, c] -= b
        out[i, c] += a
        out[k, c] += b


@_inlined
def _ratios(X, near, far, weight, mu, out, start, stop):  # type: ignore[no-untyped-def]
    """`embedding` for the logistic loss of scale log(mu + d2), CKL's: without an exponential, and nearly without logs.

    With a = mu + d2_near and b = mu + d2_far the loss is log(1 + a/b) = log((a + b)/b), its derivatives 1/(a + b) and
    -a/(b (a + b)). The log of a product is the sum of the logs: it is taken once for as many comparisons of one weight
    as leave the product far from overflow.
    """
    total, product, own = 0.0, 1.0, 0.0
    for t in range(start, stop):
        i, j, k, l = near[t, 0], near[t, 1], far[t, 0], far[t, 1]
        a, b = mu, mu
        for c in range(X.shape[1]):
            step_near, step_far = X[i, c] - X[j, c], X[k, c] - X[l, c]
            a += step_near * step_near
            b += step_far * step_far
        by_sum, by_far = 1.0 / (a + b), 1.0 / b
        if weight[t] != own or product > 1e100:
            total += own * math.log(product)
            product, own = 1.0, weight[t]
        product *= (a + b) * by_far
        _pull(X, i, j, k, l, own * by_sum, -own * (a * by_far) * by_sum, out)
    return total + own * math.log(product)


@_inlined
def _outer(matrix, factor, vector):  # type: ignore[no-untyped-def]
    """Add factor · v v' to a matrix."""
    for r in range(len(vector)):
        for c in range(len(vector)):
            matrix[r, c] += factor * vector[r] * vector[c]


@_kernel
def add_information(X, near, far, slope_near, slope_far, weight, out):  # type: ignore[no-untyped-def]
    """Add to out[i] the sum of weight_t g_ti g_ti', g_ti the derivative of t's margin by item i's position."""
    width = X.shape[1]
    a, b = np.empty(width), np.empty(width)
    for t in range(len(near)):
        i, j, k, l = near[t, 0], near[t, 1], far[t, 0], far[t, 1]
        for c in range(width):
            a[c] = -2.0 * slope_near[t] * (X[i, c] - X[j, c])
            b[c] = 2.0 * slope_far[t] * (X[k, c] - X[l, c])
        _outer(out[j], weight[t], a)
        _outer(out[l], weight[t], b)
        if i == k:  # a head's two derivatives are one: they add up before they are squared
            for c in range(width):
                a[c] += b[c]
        else:
            _outer(out[k], weight[t], b)
        _outer(out[i], weight[t], a)


@_kernel
def coordinate_sweep(gram, near, far, caps, scale, order, a, values):  # type: ignore[no-untyped-def]
    """One pass of coordinate ascent over sum(a) - scale/2 · a' D' G D a, 0 <= a <= caps, in `order`.

    D has a column e_far - e_near per comparison, and `values` = scale · G D a is kept: one number per pair.
    """
    for t in order:
        p, q = near[t], far[t]
        slope = 1.0 - (values[q] - values[p])
        if (slope <= 0.0 and a[t] == 0.0) or (slope >= 0.0 and a[t] == caps[t]):
            continue  # where most of them end: so a sweep costs little more than a look at each
        curvature = scale * (gram[p, p] + gram[q, q] - 2.0 * gram[p, q])
        # pairs that the kernel cannot tell apart have no curvature: the objective rises up to the cap
        new = caps[t] if curvature <= 0.0 else min(max(a[t] + slope / curvature, 0.0), caps[t])
        step = scale * (new - a[t])
        a[t] = new
        for r in range(len(values)):
            values[r] += step * (gram[q, r] - gram[p, r])


def _with_formulas(stamp: str) -> tuple[Callable[..., Any], ...]:
    """Make the kernels that use the formulas.

    Numba's cache knows a kernel by its own file and by the variables of its closure: `stamp`, a digest of the formulas,
    is in the closure so that an edited formula is compiled anew.
    """

    @_kernel
    def levels(scale, parameter, d2, level, slope, start, stop):  # type: ignore[no-untyped-def]
        """Scale of each squared distance, with its slope."""
        stamp  # noqa: B018
        for p in range(start, stop):
            level[p], slope[p], _ = scale_of(scale, d2[p], parameter)

    @_kernel
    def losses(shape, parameter, level, near, far, weight, pull, start, stop):  # type: ignore[no-untyped-def]
        """Sum of weighted losses; adds to `pull` the derivative by each level."""
        stamp  # noqa: B018
        if shape < _N_SHORT:  # the loop without a long formula is faster
            return _add_losses(_short_shape_of, shape, parameter, level, near, far, weight, pull, start, stop)
        return _add_losses(shape_of, shape, parameter, level, near, far, weight, pull, start, stop)

    @_kernel
    def embedding(X, near, far, weight, scale, scale_parameter, shape, shape_parameter, out, start, stop):  # type: ignore[no-untyped-def]
        """Sum of weighted losses over comparisons; adds L X to `out`: distances, losses and pullback in one pass."""
        stamp  # noqa: B018
        if scale == _LOGARITHM and shape == _LOGISTIC:
            return _ratios(X, near, far, weight, scale_parameter, out, start, stop)
        total = 0.0
        for t in range(start, stop):
            i, j, k, l = near[t, 0], near[t, 1], far[t, 0], far[t, 1]
            value, w_near, w_far = _compare(X, i, j, k, l, scale, scale_parameter, shape, shape_parameter)
            total += weight[t] * value
            if w_far != 0.0:  # else w_near is 0, too: the shape's slope is a factor of both
                _pull(X, i, j, k, l, weight[t] * w_near, weight[t] * w_far, out)
        return total

    @_kernel
    def minibatches(  # type: ignore[no-untyped-def]
        X, first, second, order, near, far, weight, ridge, scale, scale_parameter, shape, shape_parameter,
        batch, rate, done, planned, gradient, touched,
    ):  # fmt: skip
        """One pass of Adam over comparisons in `order`, `batch` at a time, updating only the rows that a batch touches.

        `first` and `second` are Adam's moments, `ridge[i]` the penalty of item i per occurrence, `rate` the largest
        step, which falls as a half cosine from step `done` to step `planned`. `touched` has a flag per item and then
        room for a list of the touched ones. Returns the sum of weighted losses and the number of steps done.
        """
        stamp  # noqa: B018
        total = 0.0
        n_items, width = X.shape
        items = np.empty(4, np.int64)
        # A batch touches few of many items. Clearing all of `gradient`, or letting Adam's moments fade in every row,
        # would cost more than the batch: rows are cleared when they are first touched, and listed for the step.
        for begin in range(0, len(order), batch):
            end = min(begin + batch, len(order))
            n_touched = 0
            twice = 2.0 / (end - begin)
            for position in range(begin, end):
                t = order[position]
                i, j, k, l = near[t, 0], near[t, 1], far[t, 0], far[t, 1]
                items[0], items[1], items[2], items[3] = i, j, k, l
                for item in items:
                    if touched[item] == 0:
                        touched[item] = 1
                        touched[n_items + n_touched] = item
                        n_touched += 1
                        gradient[item] = 0.0
                    for c in range(width):
                        gradient[item, c] += twice * ridge[item] * X[item, c]
                value, w_near, w_far = _compare(X, i, j, k, l, scale, scale_parameter, shape, shape_parameter)
                total += weight[t] * value
                _pull(X, i, j, k, l, twice * weight[t] * w_near, twice * weight[t] * w_far, gradient)
            done += 1
            step = rate * (0.5 + 0.5 * math.cos(math.pi * min(done / planned, 1.0)))
            step *= math.sqrt(1.0 - 0.999**done) / (1.0 - 0.9**done)
            for q in range(n_touched):
                item = touched[n_items + q]
                touched[item] = 0
                for c in range(width):
                    g = gradient[item, c]
                    first[item, c] = 0.9 * first[item, c] + 0.1 * g
                    second[item, c] = 0.999 * second[item, c] + 0.001 * g * g
                    X[item, c] -= step * first[item, c] / (math.sqrt(second[item, c]) + 1e-12)
        return total, done

    return levels, losses, embedding, minibatches


levels, losses, embedding, minibatches = _with_formulas(FORMULAS)

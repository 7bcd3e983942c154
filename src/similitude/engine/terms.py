"""Terms: what turns squared distances into a value. The comparison loss is `shape(scale(d2_far) - scale(d2_near))`.

Scales and shapes are scalar formulas, each defined once, here. A formula is a branch-free expression in the bare
names `absolute exp log log1p maximum minimum sqrt`, so that it can be lowered: numpy evaluates it on arrays as it
stands, numba compiles it (`engine.compiled`), and another device brings its own versions of those names.

Every formula returns value, slope and curvature, is finite for every real argument (steps of an accelerated solver
leave the cone, so squared distances below 0 happen: scales go on along their tangent at 0), and passes the
finite-difference tests of `tests/contracts`, which run over `SCALES` and `SHAPES`: a new formula cannot escape them.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy import absolute, exp, log, log1p, maximum, minimum, sqrt

from similitude.types import Array, Floats

Expression = Callable[[Any, float], tuple[Any, Any, Any]]


def squared(t: Any, _: float = 0.0) -> tuple[Any, Any, Any]:
    """scale(t) = t: the squared distance itself."""
    return t + 0.0, 1.0 + 0.0 * t, 0.0 * t


def student(t: Any, alpha: float = 1.0) -> tuple[Any, Any, Any]:
    """scale(t) = (alpha + 1)/2 · log(1 + t/alpha): the log of a Student kernel with alpha degrees of freedom."""
    inside = maximum(t, 0.0)
    half = 0.5 * (alpha + 1.0)
    slope = half / (alpha + inside)
    return (
        half * log1p(inside / alpha) + slope * minimum(t, 0.0),
        slope,
        -slope / (alpha + inside) * (t >= 0.0),
    )


def logarithm(t: Any, mu: float = 0.05) -> tuple[Any, Any, Any]:
    """scale(t) = log(mu + t): answers depend on the ratio of squared distances."""
    inside = mu + maximum(t, 0.0)
    slope = 1.0 / inside
    return log(inside) + slope * minimum(t, 0.0), slope, -slope * slope * (t >= 0.0)


def distance(t: Any, eps: float = 1e-6) -> tuple[Any, Any, Any]:
    """scale(t) = sqrt(t + eps) - sqrt(eps): the distance, smoothed at 0."""
    root = sqrt(maximum(t, 0.0) + eps)
    slope = 0.5 / root
    return root - sqrt(eps) + slope * minimum(t, 0.0), slope, -0.5 * slope / (root * root) * (t >= 0.0)


def logistic(m: Any, _: float = 0.0) -> tuple[Any, Any, Any]:
    """shape(m) = log(1 + e^-m), minus the log of the probability 1/(1 + e^-m) of the answer."""
    small = exp(-absolute(m))
    wrong = (small + (m < 0.0) * (1.0 - small)) / (1.0 + small)  # 1/(1 + e^m) without overflow
    return maximum(-m, 0.0) + log1p(small), -wrong, small / ((1.0 + small) * (1.0 + small))


def probit(m: Any, _: float = 0.0) -> tuple[Any, Any, Any]:
    """shape(m) = -log Phi(m): answers with normal noise (Thurstone's case V, 1927), Phi the normal distribution.

    The tail beyond a = |m| is the density there times Mills' ratio, which is p(t)/(a + sqrt(2/pi)) with a polynomial p
    in t = (a - 4)/(a + 4): exact to rounding for every a (interpolated at 23 Chebyshev points, in the way of Shepherd
    & Laframboise 1981 for erfc). Below -10^4 the shape goes on along its tangent.
    """
    a = minimum(absolute(m), 1e4)
    t = (a - 4.0) / (a + 4.0)
    p = ((-3.9553283439450885e-09 * t + 4.426908574358248e-09) * t + 4.4532193755682743e-08) * t - 2.510378667867927e-08
    p = (((p * t - 2.829696807592836e-07) * t - 1.335597273211668e-08) * t + 1.4307303310382731e-06) * t
    p = (((p + 9.483811203558635e-07) * t - 6.883995046761835e-06) * t - 8.205481672504903e-06) * t
    p = (((p + 3.633740321984812e-05) * t + 5.092798870265492e-05) * t - 0.00023472921615033638) * t
    p = (((p - 0.00021362421340092127) * t + 0.001836681553827696) * t - 0.0010395917850309214) * t
    p = (((p - 0.012796248913407705) * t + 0.049261464735673714) * t - 0.09634499213046996) * t
    p = (((p + 0.10801948126012981) * t - 0.02792216729766913) * t - 0.15607136685267098) * t + 1.1354308142581806
    ratio = p / (a + 0.7978845608028654)
    density = 0.3989422804014327 * exp(-0.5 * a * a)
    wrong, right = m < 0.0, m >= 0.0
    slope = -(wrong * (1.0 / ratio) + right * (density / (1.0 - density * ratio)))
    value = wrong * (0.5 * a * a + 0.9189385332046727 - log(ratio)) - right * log1p(-density * ratio)
    return value + slope * minimum(m + 1e4, 0.0), slope, slope * minimum(slope - m, 0.0) * (m >= -1e4)


def hinge(m: Any, gamma: float = 0.3) -> tuple[Any, Any, Any]:
    """shape(m) = max(0, 1 - m), rounded over a width gamma (Huber): z²/(2 gamma) for z = 1 - m in [0, gamma]."""
    short = maximum(1.0 - m, 0.0)
    inner = minimum(short, gamma)
    return inner * (short - 0.5 * inner) / gamma, -inner / gamma, (short > 0.0) * (short < gamma) / gamma


def squared_hinge(m: Any, delta: float = 1.0) -> tuple[Any, Any, Any]:
    """shape(m) = max(0, delta - m)²."""
    short = maximum(delta - m, 0.0)
    return short * short, -2.0 * short, 2.0 * (short > 0.0)


SCALES: tuple[Expression, ...] = (squared, student, logarithm, distance)
SHAPES: tuple[Expression, ...] = (logistic, hinge, squared_hinge, probit)  # a long one last
_HEAVY_TAILED = (student, logarithm)
_PROBES = np.array([0.0, 0.25, 1.0, 3.0])


_OPERATIONS = ("absolute", "exp", "log", "log1p", "maximum", "minimum", "sqrt")


def named(known: tuple[Expression, ...], name: str) -> Expression:
    """Return the scale or shape of a name, from `SCALES` or `SHAPES`."""
    by_name = {expression.__name__: expression for expression in known}
    if name not in by_name:
        raise ValueError(f"{name!r} is not among {', '.join(by_name)}")
    return by_name[name]


def lower(expression: Expression, operations: Mapping[str, Any]) -> Expression:
    """Return the same expression over other versions of `exp`, `maximum`, ... (another device's, say)."""
    used = expression.__code__.co_names + expression.__code__.co_freevars
    unknown = [name for name in used if name not in operations]
    if unknown:
        raise ValueError(
            f"loss: {expression.__name__} uses {', '.join(unknown)}, which this device does not have; "
            f"write it with {', '.join(_OPERATIONS)} from numpy alone, or use device='cpu'"
        )
    return types.FunctionType(expression.__code__, dict(operations), expression.__name__)


@dataclass(frozen=True, repr=False)
class Formula:
    """A scale or shape with its parameter."""

    expression: Expression
    parameter: float = 0.0

    def __repr__(self) -> str:
        return f"{self.name}({self.parameter:g})"

    @property
    def name(self) -> str:
        """Name of the expression."""
        return self.expression.__name__

    def __call__(self, argument: Array) -> tuple[Floats, Floats, Floats]:
        """Return value, slope and curvature, element by element."""
        return self.expression(argument, self.parameter)

    @cached_property
    def has_probability(self) -> bool:
        """Whether a shape is minus the log of a probability: those of "near" and "far" must then add up to 1.

        So no shape says by itself that it has one, and none can claim one wrongly.
        """
        both = self.probability(_PROBES) + self.probability(-_PROBES)
        return bool(np.allclose(both, 1.0, rtol=0.0, atol=1e-9))

    def probability(self, margin: Array) -> Floats:
        """e^-shape(m): the probability of an answer of that margin."""
        return exp(-self(margin)[0])

    def information(self, margin: Array) -> Floats:
        """Expected information of an answer on its margin (Fisher's): p'²/(p (1 - p)), which is shape'(m) · shape'(-m).

        For the logistic shape p (1 - p). It does not depend on what is answered. Where there is no probability it is
        the curvature, as Gauss and Newton have it.
        """
        if not self.has_probability:
            return self(margin)[2]
        slope = self(np.concatenate([margin, -margin]))[1]
        return slope[: len(margin)] * slope[len(margin) :]

    @cached_property
    def log_odds(self) -> float:
        """What a margin is multiplied by to be the log-odds of the answer, near 0: 1, or sqrt(8/pi) for `probit`.

        4 P'(0) = -2 shape'(0), since P(0) = 1/2.
        """
        return -2.0 * float(self(np.zeros(1))[1][0])


@dataclass(frozen=True)
class ComparisonLoss:
    """value = shape(scale(d2_far) - scale(d2_near)), averaged over comparisons by weight.

    Attributes
    ----------
    scale : how squared distances count
    shape : what a margin costs

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> loss = sm.Embedding(loss=("squared", "probit")).comparison_loss()
    >>> loss, loss.has_probability
    (ComparisonLoss(scale=squared(0), shape=probit(0)), True)
    >>> near, far = np.array([1.0, 2.0]), np.array([2.0, 2.0])  # squared distances
    >>> loss.probability(near, far).round(3).tolist()
    [0.841, 0.5]
    """

    scale: Formula
    shape: Formula

    @property
    def has_probability(self) -> bool:
        """Whether the loss is minus the log of a probability of the answer."""
        return self.shape.has_probability

    @property
    def named(self) -> bool:
        """Whether scale and shape are formulas of this module: these are compiled, and can be saved by name."""
        return self.scale.expression in SCALES and self.shape.expression in SHAPES

    @property
    def heavy_tailed(self) -> bool:
        """Whether the scale is a logarithm, to which far pairs are hardly farther than others."""
        return self.scale.expression in _HEAVY_TAILED

    def margin(self, d2_near: Array, d2_far: Array) -> Floats:
        """How clearly the near pair is nearer: scale(d2_far) - scale(d2_near)."""
        return self.scale(d2_far)[0] - self.scale(d2_near)[0]

    def probability(self, d2_near: Array, d2_far: Array) -> Floats:
        """The probability that a person calls the near pair more alike: 1/(1 + e^-margin) for the logistic shape."""
        if not self.has_probability:
            raise ValueError(
                f"a loss of shape {self.shape.name!r} gives no probability of an answer; STE, TSTE, CKL, "
                "Embedding(loss='probit') and methods with loss='logistic' do"
            )
        return self.shape.probability(self.margin(d2_near, d2_far))

    def smoothed(self, gamma: float) -> ComparisonLoss:
        """Return the loss with a hinge rounded over another width; other shapes are smooth already."""
        if self.shape.expression is not hinge:
            return self
        return replace(self, shape=replace(self.shape, parameter=gamma))

    def evaluate(self, d2: Floats, near: Array, far: Array, weight: Array) -> tuple[float, Floats]:
        """Weighted mean loss and its derivative by every squared distance: the reference for every device."""
        level, slope, _ = self.scale(d2)
        value, steep, _ = self.shape(level[far] - level[near])
        total = float(np.sum(weight))
        pull = np.bincount(far, weight * steep, len(d2)) - np.bincount(near, weight * steep, len(d2))
        return float(weight @ value) / total, pull * slope / total

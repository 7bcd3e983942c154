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
from typing import Any

import numpy as np
from numpy import absolute, exp, log, log1p, maximum, minimum, sqrt

from similitude.feedback.columns import Array, Floats

Expression = Callable[[Any, float], tuple[Any, Any, Any]]


def squared(t: Any, _: float) -> tuple[Any, Any, Any]:
    """scale(t) = t: the squared distance itself."""
    return t + 0.0, 1.0 + 0.0 * t, 0.0 * t


def student(t: Any, alpha: float) -> tuple[Any, Any, Any]:
    """scale(t) = (alpha + 1)/2 · log(1 + t/alpha): the log of a Student kernel with alpha degrees of freedom."""
    inside = maximum(t, 0.0)
    half = 0.5 * (alpha + 1.0)
    slope = half / (alpha + inside)
    return (
        half * log1p(inside / alpha) + slope * minimum(t, 0.0),
        slope,
        -slope / (alpha + inside) * (t >= 0.0),
    )


def logarithm(t: Any, mu: float) -> tuple[Any, Any, Any]:
    """scale(t) = log(mu + t): answers depend on the ratio of squared distances."""
    inside = mu + maximum(t, 0.0)
    slope = 1.0 / inside
    return log(inside) + slope * minimum(t, 0.0), slope, -slope * slope * (t >= 0.0)


def distance(t: Any, eps: float) -> tuple[Any, Any, Any]:
    """scale(t) = sqrt(t + eps) - sqrt(eps): the distance, smoothed at 0."""
    root = sqrt(maximum(t, 0.0) + eps)
    slope = 0.5 / root
    return root - sqrt(eps) + slope * minimum(t, 0.0), slope, -0.5 * slope / (root * root) * (t >= 0.0)


def logistic(m: Any, _: float) -> tuple[Any, Any, Any]:
    """shape(m) = log(1 + e^-m), minus the log of the probability 1/(1 + e^-m) of the answer."""
    small = exp(-absolute(m))
    wrong = (small + (m < 0.0) * (1.0 - small)) / (1.0 + small)  # 1/(1 + e^m) without overflow
    return maximum(-m, 0.0) + log1p(small), -wrong, small / ((1.0 + small) * (1.0 + small))


def hinge(m: Any, gamma: float) -> tuple[Any, Any, Any]:
    """shape(m) = max(0, 1 - m), rounded over a width gamma (Huber): z²/(2 gamma) for z = 1 - m in [0, gamma]."""
    short = maximum(1.0 - m, 0.0)
    inner = minimum(short, gamma)
    return inner * (short - 0.5 * inner) / gamma, -inner / gamma, (short > 0.0) * (short < gamma) / gamma


def squared_hinge(m: Any, delta: float) -> tuple[Any, Any, Any]:
    """shape(m) = max(0, delta - m)²."""
    short = maximum(delta - m, 0.0)
    return short * short, -2.0 * short, 2.0 * (short > 0.0)


SCALES: tuple[Expression, ...] = (squared, student, logarithm, distance)
SHAPES: tuple[Expression, ...] = (logistic, hinge, squared_hinge)


def lower(expression: Expression, operations: Mapping[str, Any]) -> Expression:
    """Return the same expression over other versions of `exp`, `maximum`, ... (another device's, say)."""
    return types.FunctionType(expression.__code__, dict(operations), expression.__name__)


@dataclass(frozen=True)
class Formula:
    """A scale or shape with its parameter."""

    expression: Expression
    parameter: float = 0.0

    @property
    def name(self) -> str:
        """Name of the expression."""
        return self.expression.__name__

    def __call__(self, argument: Array) -> tuple[Floats, Floats, Floats]:
        """Return value, slope and curvature, element by element."""
        return self.expression(argument, self.parameter)


@dataclass(frozen=True)
class ComparisonLoss:
    """value = shape(scale(d2_far) - scale(d2_near)), averaged over comparisons by weight."""

    scale: Formula
    shape: Formula

    @property
    def has_probability(self) -> bool:
        """Whether the loss is minus the log of a probability of the answer."""
        return self.shape.expression is logistic

    def margin(self, d2_near: Array, d2_far: Array) -> Floats:
        """How clearly the near pair is nearer: scale(d2_far) - scale(d2_near)."""
        return self.scale(d2_far)[0] - self.scale(d2_near)[0]

    def probability(self, d2_near: Array, d2_far: Array) -> Floats:
        """1/(1 + e^-margin): the probability that a person calls the near pair more alike."""
        if not self.has_probability:
            raise ValueError(
                f"a loss of shape {self.shape.name!r} gives no probability; "
                "use one of the logistic family (STE, TSTE, CKL)"
            )
        return 1.0 + self.shape(self.margin(d2_near, d2_far))[1]

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

"""Losses by name, and of a user's own: what `loss=` may be.

| name | scale(t) | shape(m) |
|---|---|---|
| "ste" ("logistic") | t | log(1 + e^-m) |
| "tste" | (alpha+1)/2 · log(1 + t/alpha), alpha = max(n_components - 1, 1) | log(1 + e^-m) |
| "ckl" | log(0.05 + t) | log(1 + e^-m) |
| "soe" | sqrt(t + 1e-6) - sqrt(1e-6) | max(0, 1 - m)² |
| "gnmds" ("hinge") | t | max(0, 1 - m), rounded over a width of 0.3 |
| "probit" | t | -log Phi(m) |
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from numbers import Real
from typing import Any, Literal

import numpy as np

from similitude.engine.terms import (
    SCALES,
    SHAPES,
    ComparisonLoss,
    Expression,
    Formula,
    distance,
    hinge,
    logarithm,
    logistic,
    named,
    probit,
    squared,
    squared_hinge,
    student,
)

LossName = Literal["ste", "tste", "ckl", "soe", "gnmds", "probit", "logistic", "hinge"]
ScaleName = Literal["squared", "student", "logarithm", "distance"]
ShapeName = Literal["logistic", "probit", "hinge", "squared_hinge"]
Scale = ScaleName | Expression | Formula | tuple[ScaleName | Expression, float]
Shape = ShapeName | Expression | Formula | tuple[ShapeName | Expression, float]
LossLike = LossName | ComparisonLoss | Expression | tuple[Scale, Shape]

_PLAIN = Formula(squared)
_NAMED: dict[str, Callable[[int], ComparisonLoss]] = {
    "ste": lambda _: ComparisonLoss(_PLAIN, Formula(logistic)),
    "tste": lambda d: ComparisonLoss(Formula(student, float(max(d - 1, 1))), Formula(logistic)),
    "ckl": lambda _: ComparisonLoss(Formula(logarithm, 0.05), Formula(logistic)),
    "soe": lambda _: ComparisonLoss(Formula(distance, 1e-6), Formula(squared_hinge, 1.0)),
    "gnmds": lambda _: ComparisonLoss(_PLAIN, Formula(hinge, 0.3)),
    "probit": lambda _: ComparisonLoss(_PLAIN, Formula(probit)),
}
_ALSO = {"logistic": "ste", "hinge": "gnmds"}  # as the losses are called where the scale is always t
NAMES = (*_NAMED, *_ALSO)

_PROBES = np.array([0.137, 0.611, 1.73, 4.19])
_SIZES = np.array([0.05, 0.2, 0.6, 1.0, 1.7, 3.0, 4.5, 8.0])  # of margins, and squared distances
_SAME = 1e-12
_STEP = 1e-5
_CLOSE = 1e-3  # of slope and curvature to those of small steps: a wrong formula is farther off


def as_loss(loss: LossLike | str, n_components: int = 2) -> ComparisonLoss:
    """Return a loss given by name, by its scale and shape, or by a shape alone; formulas of one's own are tried out."""
    if isinstance(loss, str):
        name = _ALSO.get(loss, loss)
        if name not in _NAMED:
            raise ValueError(f"loss: expected {', '.join(map(repr, NAMES))}, or a loss of your own, found {loss!r}")
        return _NAMED[name](n_components)
    if callable(loss):
        loss = ("squared", loss)
    if isinstance(loss, (tuple, list)) and len(loss) == 2:
        loss = ComparisonLoss(_formula(SCALES, loss[0], "scale"), _formula(SHAPES, loss[1], "shape"))
    if not isinstance(loss, ComparisonLoss):
        raise ValueError(f"loss: expected a name, a shape, or a pair of scale and shape, found {loss!r}")
    if loss.scale.expression not in SCALES:
        _try_out(loss.scale, _PROBES)
        _refuse_scale_that_falls(loss.scale)
    if loss.shape.expression not in SHAPES:
        _try_out(loss.shape, np.concatenate([-_PROBES, _PROBES]))
        _refuse_shape_that_rewards_wrong(loss.shape)
    return loss


def _formula(known: tuple[Expression, ...], given: Any, part: str) -> Formula:
    """A scale or shape from its name or function, alone or with its parameter."""
    if isinstance(given, Formula):
        return given
    expression, *parameter = given if isinstance(given, (tuple, list)) else (given,)
    if isinstance(expression, str):
        try:
            expression = named(known, expression)
        except ValueError as error:
            raise ValueError(f"loss: its {part} {error}") from None
    if not callable(expression) or len(parameter) > 1:
        raise ValueError(f"loss: expected its {part} as a name or a function, or with its parameter, found {given!r}")
    return Formula(expression, _parameter(expression, parameter[0]) if parameter else _usual_parameter(expression))


def _parameter(expression: Expression, given: Any) -> float:
    """The parameter that is given; our own formulas have positive ones, or none (an argument that is called `_`)."""
    name = expression.__name__
    value = float(given) if isinstance(given, Real) else math.nan
    ours = expression in (*SCALES, *SHAPES)
    if ours and "_" in inspect.signature(expression).parameters:
        raise ValueError(f"loss: {name!r} has no parameter, found {given!r}")
    if not math.isfinite(value) or (ours and value <= 0):
        expected = "a positive finite number" if ours else "a finite number"
        raise ValueError(f"loss: the parameter of {name!r} must be {expected}, found {given!r}")
    return value


def _usual_parameter(expression: Expression) -> float:
    """The default of the second argument of a formula; 0 where it has none."""
    second = list(inspect.signature(expression).parameters.values())[1:2]
    return next((float(own.default) for own in second if own.default is not own.empty), 0.0)


def _try_out(formula: Formula, at: Any) -> None:
    """Refuse a formula that does not take arrays, or whose slope or curvature is not that of its value."""
    try:
        value, slope, curvature = _of_each(formula, at)
        ahead, behind = _of_each(formula, at + _STEP), _of_each(formula, at - _STEP)
    except Exception as error:
        raise ValueError(
            f"loss: {formula.name}(array, {formula.parameter:g}) must give value, slope and curvature of each element, "
            f"but raised {type(error).__name__}: {error}; a formula takes an array and a parameter, and has np.where "
            "and np.maximum in place of if"
        ) from error
    for told, name, order in ((value, "value", None), (slope, "slope", 0), (curvature, "curvature", 1)):
        if not np.isfinite(told).all():
            raise ValueError(f"loss: the {name} of {formula.name} is not finite at {at[~np.isfinite(told)][0]:g}")
        if order is None:
            continue
        found = (ahead[order] - behind[order]) / (2.0 * _STEP)
        wrong = np.flatnonzero(np.abs(found - told) > _CLOSE * (1.0 + np.abs(found)))
        if len(wrong):
            k = wrong[0]
            raise ValueError(
                f"loss: the {name} of {formula.name} at {at[k]:g} is {told[k]:g}, but small steps say {found[k]:g}; "
                "a formula returns its value, the first and the second derivative"
            )


def _refuse_shape_that_rewards_wrong(shape: Formula) -> None:
    """Refuse a shape by which a right answer may cost more than a wrong one of the same size, or all cost the same.

    A shape need not fall everywhere: (1 - m)² rises beyond 1, and still tells right from wrong.
    """
    right, wrong = _of_each(shape, _SIZES)[0], _of_each(shape, -_SIZES)[0]
    rewarded = np.flatnonzero(right > wrong + _SAME * (1.0 + np.abs(wrong)))
    k = rewarded[0] if len(rewarded) else int(np.argmax(wrong - right))
    if len(rewarded) or wrong[k] - right[k] <= _SAME * (1.0 + np.abs(wrong[k])):
        raise ValueError(
            f"loss: {shape.name} does not tell right from wrong: a margin of {_SIZES[k]:g} costs {right[k]:.4g}, one "
            f"of {-_SIZES[k]:g} costs {wrong[k]:.4g}; a shape falls with the margin, as log(1 + e^-m) does"
        )


def _refuse_scale_that_falls(scale: Formula) -> None:
    """Refuse a scale by which farther pairs count as nearer, or all as equally far."""
    rise = np.diff(_of_each(scale, _SIZES)[0])
    if (rise < -_SAME).any() or (rise <= _SAME).all():
        k = int(np.argmin(rise))
        raise ValueError(
            f"loss: {scale.name} does not grow with the squared distance: from {_SIZES[k]:g} to {_SIZES[k + 1]:g} it "
            f"changes by {rise[k]:.4g}; a scale grows, as log(mu + t) does"
        )


def _of_each(formula: Formula, at: Any) -> list[Any]:
    """What a formula gives, for each element: a constant may be one number. It gets a copy, and must leave it alone."""
    given = at.copy()
    value, slope, curvature = formula(given)
    if not np.array_equal(given, at):
        raise ValueError("the formula changes the array that it is given, which others need (-=, out=)")
    return [np.broadcast_to(np.asarray(part, float), at.shape) for part in (value, slope, curvature)]

"""The formulas of `engine.terms` as functions that autograd can go through.

Each formula brings its slope and curvature, and these are the derivatives here. Going through the operations of the
value instead is wrong where these have a kink that the formula has not (|m| at 0), and not a number where a branch
that is multiplied by 0 overflows.
"""

from __future__ import annotations

from typing import Any

import torch

from similitude.engine.gpu.formulas import in_torch
from similitude.engine.terms import Formula


def value_of(formula: Formula, argument: torch.Tensor) -> torch.Tensor:
    """Value of a scale or shape, element by element, twice differentiable."""
    return _Value.apply(argument, formula)


class _Value(torch.autograd.Function):
    """The value, whose derivative is the slope."""

    @staticmethod
    def forward(ctx: Any, argument: torch.Tensor, formula: Formula) -> torch.Tensor:
        """Keep the argument: the slope is made again where it is asked for, so that it can be differentiated, too."""
        ctx.save_for_backward(argument)
        ctx.formula = formula
        return _lowered(formula, argument)[0]

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        """By the slope."""
        (argument,) = ctx.saved_tensors
        return gradient * _Slope.apply(argument, ctx.formula), None


class _Slope(torch.autograd.Function):
    """The slope, whose derivative is the curvature."""

    @staticmethod
    def forward(ctx: Any, argument: torch.Tensor, formula: Formula) -> torch.Tensor:
        """Keep the curvature."""
        _, slope, curvature = _lowered(formula, argument)
        ctx.save_for_backward(curvature)
        return slope

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        """By the curvature."""
        (curvature,) = ctx.saved_tensors
        return gradient * curvature, None


def _lowered(formula: Formula, argument: torch.Tensor) -> tuple[Any, Any, Any]:
    return in_torch(formula.expression)(argument, formula.parameter)

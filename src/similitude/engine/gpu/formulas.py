"""The formulas of `engine.terms`, lowered to torch (any device, element by element) and to Triton (inside a kernel)."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from similitude.engine.terms import Expression, Formula, lower


def _either(of_tensor: Callable[[Any], Any], of_number: Callable[[float], float]) -> Callable[[Any], Any]:
    """One name for tensors and for the plain numbers that are parameters."""
    return lambda x: of_tensor(x) if isinstance(x, torch.Tensor) else of_number(x)


def _larger(x: Any, y: float) -> Any:
    return torch.clamp(x, min=y)


def _smaller(x: Any, y: float) -> Any:
    return torch.clamp(x, max=y)


_TORCH: dict[str, Any] = {
    "__builtins__": builtins,  # torch looks for them in the globals of whoever calls it
    "absolute": torch.abs,
    "exp": torch.exp,
    "log": _either(torch.log, math.log),
    "log1p": torch.log1p,
    "maximum": _larger,
    "minimum": _smaller,
    "sqrt": _either(torch.sqrt, math.sqrt),
}


@cache
def in_torch(expression: Expression) -> Expression:
    """The expression over tensors."""
    return lower(expression, _TORCH)


def evaluate(formula: Formula, argument: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Value and slope, element by element."""
    value, slope, _ = in_torch(formula.expression)(argument, formula.parameter)
    return value, slope

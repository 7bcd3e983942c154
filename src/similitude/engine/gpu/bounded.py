"""L-BFGS within lower bounds, on tensors: what scipy's L-BFGS-B is on the CPU.

A projected quasi-Newton method (Bertsekas 1982; Schmidt, Kim & Sra 2011): parameters that stand at their bound and
would leave the set are held; along the others the steps of L-BFGS are taken, with products over these alone, back onto
the set, and halved until the value has fallen enough (Armijo).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import torch

from similitude.engine.solvers.result import Callback

_ENOUGH = 1e-4  # of the fall that the gradient promises
_LEAST_STEP = 1e-8
_FIRST = 0.1  # the largest move of a parameter in the first step
_KNOWN = 3  # steps before which small gains are those of a first look at the curvature
_IN_A_ROW = 3  # small gains that are an end
ValueAndGradient = Callable[[torch.Tensor], tuple[float, torch.Tensor]]
Steps = deque[tuple[torch.Tensor, torch.Tensor]]


def descend(
    evaluate: ValueAndGradient,
    x: torch.Tensor,
    lower: torch.Tensor,
    *,
    max_iter: int,
    tol: float,
    memory: int,
    callback: Callback | None,
) -> tuple[torch.Tensor, str, int, int]:
    """Return the parameters, how it ended, and how many iterations and evaluations there were."""
    x = torch.maximum(x, lower)
    value, gradient = evaluate(x)
    past: Steps = deque(maxlen=memory)
    seen, evaluations, small = 0, 1, 0
    while seen < max_iter and small < _IN_A_ROW:
        free = (x > lower) | (gradient < 0)
        step = _direction(gradient * free, free, past)
        other, lost, slope, tries = _along(evaluate, x, value, gradient, step, lower)
        seen, evaluations = seen + 1, evaluations + tries
        if lost > value:
            return x, "converged" if small else "stalled", seen, evaluations
        if float((other - x) @ (slope - gradient)) > 0.0:
            past.append((other - x, slope - gradient))
        little = len(past) >= _KNOWN and value - lost <= tol * max(abs(value), abs(lost), 1.0)
        small = small + 1 if little else 0
        x, value, gradient = other, lost, slope
        if callback is not None:
            callback(seen, value)
    return x, "converged" if small >= _IN_A_ROW else "max_iter", seen, evaluations


def _direction(gradient: torch.Tensor, free: torch.Tensor, past: Steps) -> torch.Tensor:
    """Return minus the gradient times the inverse curvature that past steps show, over what is free."""
    known = [(s * free, y * free) for s, y in past]
    curved = [(s, y, float(s @ y)) for s, y in known]
    curved = [(s, y, sy) for s, y, sy in curved if sy > 1e-12 * float(y @ y)]
    if not curved:
        return -gradient * (_FIRST / max(float(gradient.abs().max()), 1e-30))
    step, shares = gradient, []
    for s, y, sy in reversed(curved):
        shares.append(float(s @ step) / sy)
        step = step - shares[-1] * y
    step = step * (curved[-1][2] / float(curved[-1][1] @ curved[-1][1]))
    for (s, y, sy), share in zip(curved, reversed(shares), strict=True):
        step = step + (share - float(y @ step) / sy) * s
    return -step * free


def _along(
    evaluate: ValueAndGradient,
    x: torch.Tensor,
    value: float,
    gradient: torch.Tensor,
    step: torch.Tensor,
    lower: torch.Tensor,
) -> tuple[torch.Tensor, float, torch.Tensor, int]:
    """Return where a step ends, back inside the set and halved until it gains enough, with value and gradient there."""
    size, tries = 1.0, 0
    while True:
        other = torch.maximum(x + size * step, lower)
        lost, slope = evaluate(other)
        tries += 1
        if lost <= value + _ENOUGH * float(gradient @ (other - x)) or size < _LEAST_STEP:
            return other, lost, slope, tries
        size *= 0.5

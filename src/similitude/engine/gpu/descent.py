"""L-BFGS on tensors, free or within lower bounds: what scipy's L-BFGS-B is on the CPU.

A projected quasi-Newton method (Bertsekas 1982; Schmidt, Kim & Sra 2011): parameters that stand at their bound and
would leave the set are held; along the others the steps of L-BFGS are taken, with products over these alone, back onto
the set, of a length at which the value has fallen enough (Armijo) and the slope has become less (Wolfe).

torch.optim.LBFGS has no bounds, and the first of torch's optimizers imports its compiler, which takes as long as torch.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from similitude.engine.solvers.result import Callback
from similitude.types import Floats

_ENOUGH = 1e-4  # of the fall that the gradient promises
_STEEP = 0.9  # of the slope at the start: a step that ends steeper was too short
_LEAST_STEP, _LONGER = 1e-6, 8  # of a direction; evaluations up to which a step is lengthened
_FIRST = 0.1  # the largest move of a parameter in the first step
_KNOWN = 3  # steps before which small gains are those of a first look at the curvature
_IN_A_ROW = 3  # small gains that are an end
ValueAndGradient = Callable[[torch.Tensor], tuple[float, torch.Tensor]]


def descend(
    evaluate: ValueAndGradient,
    x: torch.Tensor,
    lower: torch.Tensor | None,
    *,
    max_iter: int,
    tol: float,
    memory: int,
    callback: Callback | None,
) -> tuple[torch.Tensor, str, int, int]:
    """Return the parameters, how it ended, and how many iterations and evaluations there were."""
    x = _inside(x, lower)
    value, gradient = evaluate(x)
    past = _Past(x, memory)
    seen, evaluations, small = 0, 1, 0
    while seen < max_iter and small < _IN_A_ROW:
        free = None if lower is None else (x > lower) | (gradient < 0)
        step = past.direction(gradient, free)
        scale = max(abs(value), 1.0)
        other, lost, slope, tries = _along(evaluate, x, value, gradient, step, lower, 1e-3 * tol * scale)
        seen, evaluations = seen + 1, evaluations + tries
        if not lost <= value:
            if small or not past.known:  # where even the gradient promises nothing that can be told, all is done
                ended = small or -float(gradient @ (other - x)) <= tol * scale
                return x, "converged" if ended else "stalled", seen, evaluations
            past.known = 0  # what past steps show is no longer so: as at the start
            continue
        past.add(other - x, slope - gradient)
        little = past.known >= _KNOWN and value - lost <= tol * max(abs(value), abs(lost), 1.0)
        small = small + 1 if little else 0
        x, value, gradient = other, lost, slope
        if callback is not None:
            callback(seen, value)
    return x, "converged" if small >= _IN_A_ROW else "max_iter", seen, evaluations


class _Past:
    """The last steps and what they did to the gradient, as rows: steps, then changes, then the gradient of now.

    Of a direction the device is asked once: all products of rows with rows, from which the two loops of L-BFGS follow
    on the host, as coefficients of the rows (Chen, Wang & Zhou 2014).
    """

    def __init__(self, like: torch.Tensor, memory: int) -> None:
        self._rows = like.new_zeros(2 * memory + 1, len(like))
        self._memory, self.known = memory, 0

    def add(self, step: torch.Tensor, change: torch.Tensor) -> None:
        """Remember a step, in the place of the oldest where there is no other."""
        place = self.known % self._memory
        self._rows[place], self._rows[self._memory + place] = step, change
        self.known += 1

    def direction(self, gradient: torch.Tensor, free: torch.Tensor | None) -> torch.Tensor:
        """Return minus the gradient times the inverse curvature that past steps show, over what is free."""
        self._rows[-1] = gradient
        rows = self._rows if free is None else self._rows * free
        products = (rows @ rows.T).double().cpu().numpy()
        weights = self._weights(products)
        if weights is None:
            return -rows[-1] * (_FIRST / max(float(rows[-1].abs().max()), 1e-30))
        return torch.as_tensor(-weights, dtype=rows.dtype, device=rows.device) @ rows

    def _weights(self, products: Floats) -> Floats | None:
        """The two loops over coefficients of the rows; None where no step shows a curvature."""
        m, known = self._memory, min(self.known, self._memory)
        newest_first = [(self.known - 1 - age) % m for age in range(known)]
        curved = [s for s in newest_first if products[s, m + s] > 1e-12 * products[m + s, m + s]]
        if not curved:
            return None
        weights, shares = np.zeros(2 * m + 1), {}
        weights[-1] = 1.0
        for s in curved:
            shares[s] = products[s] @ weights / products[s, m + s]
            weights[m + s] -= shares[s]
        newest = curved[0]
        weights *= products[newest, m + newest] / products[m + newest, m + newest]
        for s in reversed(curved):
            weights[s] += shares[s] - products[m + s] @ weights / products[s, m + s]
        return weights


def _inside(x: torch.Tensor, lower: torch.Tensor | None) -> torch.Tensor:
    return x if lower is None else torch.maximum(x, lower)


def _along(
    evaluate: ValueAndGradient,
    x: torch.Tensor,
    value: float,
    gradient: torch.Tensor,
    step: torch.Tensor,
    lower: torch.Tensor | None,
    least: float,
) -> tuple[torch.Tensor, float, torch.Tensor, int]:
    """Return where a step ends, back inside the set, with value and gradient there.

    It is shortened until it gains enough (Armijo), each time to the least value of the parabola through what is known,
    and given up where it promises less than `least`; lengthened while the way goes on down as steeply (Wolfe).
    """
    size, tries = 1.0, 0
    while True:
        other = _inside(x + size * step, lower)
        lost, slope = evaluate(other)
        tries, promised = tries + 1, -float(gradient @ (other - x))
        if lost <= value - _ENOUGH * promised or promised <= least or size < _LEAST_STEP:
            break
        size *= min(max(0.5 * promised / (lost - value + promised), 0.1), 0.5) if np.isfinite(lost) else 0.1
    while tries < _LONGER and lost <= value and float(slope @ (other - x)) < -_STEEP * promised:
        size *= 2.0
        further = _inside(x + size * step, lower)
        less, its = evaluate(further)
        tries, promised = tries + 1, -float(gradient @ (further - x))
        if not less < lost:
            break
        other, lost, slope = further, less, its
    return other, lost, slope, tries

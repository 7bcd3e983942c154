"""L-BFGS on the whole batch, for problems smooth inside simple bounds: scipy's, with this engine's result.

When it has converged is told here, without a scale of its own: scipy's word for it is one iteration of little gain, and
near a saddle, where fits of very many items start, there is such an iteration before the fit has begun.

Its first step has length 1, and after twenty looks for a better one its search gives up, with the best of them
forgotten: beside a steep wall (a hinge that is hardly rounded) that is no end. It begins anew at the best, with a step
of the length that led there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import optimize

from similitude.engine.penalties import Penalty
from similitude.engine.problem import Objective
from similitude.engine.solvers.needs import Needs
from similitude.engine.solvers.result import Callback, Result
from similitude.engine.threads import one_blas_thread
from similitude.types import Floats

NEEDS = Needs("lbfgs", smooth=True)
_FALLEN = 0.1  # of the steepest gradient on the way: where a small gain is an end, and no pause
_LOST = 1e-3  # of a small gain: what a step along the gradient, by its own length, may promise where none is left
_GIVEN_UP = 2  # scipy's status where its search along a line found no end
_IN_A_ROW = 3  # small gains that are an end anyhow: a start near the optimum has no steep gradient to fall from


def lbfgs(
    problem: Objective,
    start: Floats,
    *,
    max_iter: int = 500,
    tol: float = 1e-6,
    memory: int = 12,
    units: Floats | float = 1.0,
    callback: Callback | None = None,
) -> Result:
    """Minimise a problem smooth inside its penalty's bounds, until an iteration gains less than tol of the objective.

    Such an iteration counts where the gradient has fallen to a tenth of its steepest, or where it is the third in a
    row. Beside bounds past steps may point along where little is gained: it begins anew from there, without them, until
    that gains as little. `memory` is the number of past steps from which it knows the curvature. `units` are what
    parameters are counted in, one each or one for all: in good ones the objective curves alike along each. A
    thousandth of `tol` bounds the gradient, so that a start at a stationary point stops at once.
    """
    NEEDS.check(problem)
    watch, bounds = _Watch(tol, callback), _bounds(problem.penalty, start.size, units)

    def steepness(counted: Floats, gradient: Floats) -> float:
        moving = gradient if bounds is None else gradient[(counted > bounds.lb) | (gradient < 0)]
        return float(np.linalg.norm(moving))

    def value_and_gradient(counted: Floats) -> tuple[float, Floats]:
        value, gradient = problem.value_and_gradient(units * counted)
        gradient = units * gradient
        watch.evaluated(counted, float(value), steepness(counted, gradient))
        return value, gradient

    def stride(counted: Floats, length: float = 1.0) -> optimize.OptimizeResult:
        """Go on with a first step of a length."""
        left = max_iter - watch.seen

        def scaled(x: Floats) -> tuple[float, Floats]:
            value, gradient = value_and_gradient(length * x)
            return value, length * gradient

        found = optimize.minimize(
            scaled,
            counted / length,
            jac=True,
            method="L-BFGS-B",
            bounds=None if bounds is None else optimize.Bounds(bounds.lb / length, np.inf),
            callback=watch,
            options={
                "maxiter": left, "maxfun": 20 * left + 100, "ftol": 0.0, "gtol": tol * 1e-3 * length, "maxcor": memory,
            },
        )  # fmt: skip
        found.x, found.jac = length * found.x, found.jac / length
        found.fun = watch.value  # where it gave up, scipy's is that of its last look
        return found

    def run(counted: Floats) -> optimize.OptimizeResult:
        found = stride(counted)
        while int(found.status) == _GIVEN_UP and watch.seen < max_iter and watch.evaluations < 20 * max_iter:
            if watch.little(watch.value, watch.best):
                break
            watch.value, length = watch.best, float(np.linalg.norm(watch.best_at - found.x))
            found = stride(watch.best_at, length)
        return found

    with one_blas_thread():
        found = run(np.ascontiguousarray(start, float).ravel() / units)
        nothing_new = False
        while bounds is not None and watch.small and watch.seen < max_iter and not nothing_new:
            before, watch.small = float(found.fun), 0
            found = run(found.x)
            nothing_new = watch.little(before, float(found.fun))
    ended = {0: "converged", 1: "max_iter"}.get(int(found.status), "stalled")
    # Without a step left it is an end where the last gain was small, or where a gain would be lost in rounding: a start
    # at the optimum has no gain to tell of.
    at_rest = steepness(found.x, found.jac) ** 2 <= _LOST * tol * max(abs(float(found.fun)), 1.0)
    status = "converged" if nothing_new or (ended == "stalled" and (watch.small or at_rest)) else ended
    return Result(units * found.x, float(found.fun), status, watch.seen, watch.evaluations, str(found.message))


@dataclass
class _Watch:
    """Follows a run of scipy's, and stops it where it has converged."""

    tol: float
    callback: Callback | None
    seen: int = 0
    evaluations: int = 0
    small: int = 0  # gains in a row
    value: float = np.inf
    steepness: float = 0.0
    steepest: float = 0.0
    best: float = np.inf
    best_at: Floats = field(default_factory=lambda: np.empty(0))

    def evaluated(self, at: Floats, value: float, steepness: float) -> None:
        """Note an evaluation, with the slope along what may move; an iteration ends at the last one before it."""
        self.evaluations += 1
        self.steepness = steepness
        if value < self.best:
            self.best, self.best_at = value, at.copy()
        if self.value == np.inf:
            self.value, self.steepest = value, self.steepness

    def __call__(self, intermediate_result: Any) -> None:
        """Note an iteration."""
        self.seen += 1
        before, self.value = self.value, float(intermediate_result.fun)
        if self.callback is not None:
            self.callback(self.seen, self.value)
        self.small = self.small + 1 if self.little(before, self.value) else 0
        self.steepest = max(self.steepest, self.steepness)
        if self.small >= _IN_A_ROW or (self.small and self.steepness <= _FALLEN * self.steepest):
            raise StopIteration

    def little(self, before: float, after: float) -> bool:
        """Whether a gain is so small that it may be an end."""
        return before - after <= self.tol * max(abs(before), abs(after), 1.0)


def _bounds(penalty: Penalty, size: int, units: Floats | float) -> optimize.Bounds | None:
    if not np.isfinite(penalty.lower).any():
        return None
    return optimize.Bounds(np.broadcast_to(penalty.lower / units, size), np.inf)

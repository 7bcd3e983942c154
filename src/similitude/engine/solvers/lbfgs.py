"""L-BFGS on the whole batch, for problems smooth inside simple bounds: scipy's, with this engine's result.

When it has converged is told here, without a scale of its own: scipy's word for it is one iteration of little gain, and
near a saddle, where fits of very many items start, there is such an iteration before the fit has begun.

Its first step has length 1, and after twenty looks for a better one its search gives up, with the best of them
forgotten: beside a steep wall (a hinge that is hardly rounded) that is no end. It begins anew at the best, with a step
of the length that led there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, optimize

from similitude.engine.penalties import Penalty
from similitude.engine.problem import Objective
from similitude.engine.solvers.needs import Needs
from similitude.engine.solvers.result import Callback, Result
from similitude.engine.threads import one_blas_thread
from similitude.types import Floats

NEEDS = Needs("lbfgs", smooth=True)
_FALLEN = 0.1  # of the steepest gradient on the way: where a small gain is an end, and no pause
_LOST = 1e-3  # of a small gain: what a step along the gradient, by its own length, may promise where none is left
_USED_UP, _GIVEN_UP = 1, 2  # scipy's status where iterations ran out, and where its search along a line found no end
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
        return float(linalg.norm(moving, check_finite=False))  # its squares may be too large for numpy's

    def value_and_gradient(counted: Floats) -> tuple[float, Floats]:
        value, gradient = problem.value_and_gradient(units * counted)
        gradient = units * gradient
        watch.evaluated(_Look(counted, float(value), steepness(counted, gradient)))
        return value, gradient

    def stride(counted: Floats, length: float) -> int:
        """Go on with a first step of a length; scipy's status."""
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
        return int(found.status)

    def run(counted: Floats) -> int:
        status = stride(counted, 1.0)
        while status == _GIVEN_UP and watch.saw_better():
            if watch.seen >= max_iter or watch.evaluations >= 20 * max_iter:
                return _USED_UP
            status = stride(*watch.begin_anew())
        return status

    with one_blas_thread():
        status = run(np.ascontiguousarray(start, float).ravel() / units)
        nothing_new = False
        while bounds is not None and watch.small and watch.seen < max_iter and not nothing_new:
            before, watch.small = watch.rest.value, 0
            status = run(watch.rest.at)
            nothing_new = watch.little(before, watch.rest.value)
    end, ended = watch.rest, {0: "converged", _USED_UP: "max_iter"}.get(status, "stalled")
    # Without a step left it is an end where the last gain was small, or where a gain would be lost in rounding: a start
    # at the optimum has no gain to tell of.
    at_rest = end.steepness * end.steepness <= _LOST * tol * max(abs(end.value), 1.0)
    ended = "converged" if nothing_new or (ended == "stalled" and (watch.small or at_rest)) else ended
    return Result(units * end.at, end.value, ended, watch.seen, watch.evaluations)


@dataclass(frozen=True)
class _Look:
    """A point that was evaluated: its objective, and the slope along what may move."""

    at: Floats
    value: float
    steepness: float


_NOWHERE = _Look(np.empty(0), np.inf, 0.0)


@dataclass
class _Watch:
    """Follows runs of scipy's, and stops one where it has converged.

    `rest` is where the last iteration ended: where a search along a line gave up, scipy's own word for that is another.
    """

    tol: float
    callback: Callback | None
    seen: int = 0
    evaluations: int = 0
    small: int = 0  # gains in a row
    steepest: float = 0.0
    look: _Look = _NOWHERE
    rest: _Look = _NOWHERE
    best: _Look = _NOWHERE

    def evaluated(self, look: _Look) -> None:
        """Note an evaluation; an iteration ends at the last one before it."""
        self.evaluations += 1
        self.look = look
        if self.rest is _NOWHERE:
            self.rest, self.steepest = look, look.steepness
        if look.value < self.best.value:
            self.best = look

    def __call__(self, intermediate_result: Any) -> None:
        """Note an iteration."""
        self.seen += 1
        before, self.rest = self.rest.value, self.look
        if self.callback is not None:
            self.callback(self.seen, self.rest.value)
        self.small = self.small + 1 if self.little(before, self.rest.value) else 0
        self.steepest = max(self.steepest, self.rest.steepness)
        if self.small >= _IN_A_ROW or (self.small and self.rest.steepness <= _FALLEN * self.steepest):
            raise StopIteration

    def saw_better(self) -> bool:
        """Whether some point is better than where the last iteration ended, by more than little."""
        return bool(np.isfinite(self.best.value)) and not self.little(self.rest.value, self.best.value)

    def begin_anew(self) -> tuple[Floats, float]:
        """Rest at the best point; return it and its distance from the last, how steep it was there forgotten."""
        length = float(np.linalg.norm(self.best.at - self.rest.at))
        self.rest, self.steepest, self.small = self.best, self.best.steepness, 0
        return self.best.at, length

    def little(self, before: float, after: float) -> bool:
        """Whether a gain is so small that it may be an end."""
        return before - after <= self.tol * max(abs(before), abs(after), 1.0)


def _bounds(penalty: Penalty, size: int, units: Floats | float) -> optimize.Bounds | None:
    if not np.isfinite(penalty.lower).any():
        return None
    return optimize.Bounds(np.broadcast_to(penalty.lower / units, size), np.inf)

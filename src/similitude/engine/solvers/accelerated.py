"""Accelerated projected (proximal) gradient with backtracking and restart: for every penalty, smooth or not."""

from __future__ import annotations

import numpy as np

from similitude.engine.problem import Objective
from similitude.engine.solvers.result import Callback, Result
from similitude.engine.threads import one_blas_thread
from similitude.types import Floats

_GROW, _SHRINK = 1.1, 0.5
_QUIET = 3
_LEAST_STEP = 1e-15


def accelerated(
    problem: Objective,
    start: Floats,
    *,
    max_iter: int = 1000,
    tol: float = 1e-6,
    callback: Callback | None = None,
) -> Result:
    """Minimise mean loss + penalty by FISTA (Beck & Teboulle 2009) with function restart (O'Donoghue & Candes 2015).

    From the extrapolated point y: p⁺ = prox(y - s · gradient(y), s), the step s halved until the quadratic bound
    f(p⁺) <= f(y) + <gradient, p⁺ - y> + |p⁺ - y|²/(2 s) holds, and let grow between iterations. Momentum starts
    afresh when the objective rises. Stops when the objective gained less than tol of itself three times in a row.
    """
    with one_blas_thread():
        return _run(problem, np.ascontiguousarray(start, float).ravel(), max_iter, tol, callback)


def _run(problem: Objective, start: Floats, max_iter: int, tol: float, callback: Callback | None) -> Result:
    params = problem.penalty.prox(start, 0.0)
    value = problem.value(params)
    ahead, momentum, step, evaluations, quiet = params, 1.0, 1.0, 1, 0
    for iteration in range(1, max_iter + 1):
        new, new_value, step, tries = _descend(problem, ahead, step)
        evaluations += tries
        if new_value > value and momentum > 1.0:
            ahead, momentum = params, 1.0
            continue
        gain = (value - new_value) / max(abs(value), abs(new_value), 1e-12)
        quiet = quiet + 1 if gain <= tol else 0
        next_momentum = 0.5 + np.sqrt(0.25 + momentum**2)
        if new_value <= value:
            ahead = new + (momentum - 1.0) / next_momentum * (new - params)
            params, value = new, new_value
        momentum, step = next_momentum, step * _GROW
        if callback is not None:
            callback(iteration, value)
        if quiet >= _QUIET:
            return Result(params, value, "converged", iteration, evaluations)
    return Result(params, value, "max_iter", max_iter, evaluations, f"stopped after {max_iter} iterations")


def _descend(problem: Objective, ahead: Floats, step: float) -> tuple[Floats, float, float, int]:
    """One proximal step with backtracking: the new point, its objective, the step that held, evaluations used."""
    data, gradient = problem.data(ahead)
    evaluations = 1
    while True:
        new = problem.penalty.prox(ahead - step * gradient, step)
        move = new - ahead
        new_data = problem.data(new)[0]
        evaluations += 1
        bound = data + gradient @ move + move @ move / (2.0 * step)
        if new_data <= bound + 1e-12 * abs(bound) or step < _LEAST_STEP:
            return new, new_data + problem.penalty.value(new), step, evaluations
        step *= _SHRINK

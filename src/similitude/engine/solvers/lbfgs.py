"""L-BFGS on the whole batch, for problems smooth inside simple bounds: scipy's, with this engine's result."""

from __future__ import annotations

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


def lbfgs(
    problem: Objective,
    start: Floats,
    *,
    max_iter: int = 500,
    tol: float = 1e-6,
    memory: int = 12,
    callback: Callback | None = None,
) -> Result:
    """Minimise a problem smooth inside its penalty's bounds, until an iteration gains less than tol of the objective.

    `memory` is the number of past steps from which it knows the curvature. A thousandth of `tol` bounds the gradient,
    so that a start at a stationary point stops at once.
    """
    NEEDS.check(problem)
    seen = 0

    def after(intermediate_result: Any) -> None:
        nonlocal seen
        seen += 1
        if callback is not None:
            callback(seen, float(intermediate_result.fun))

    with one_blas_thread():
        found = optimize.minimize(
            problem.value_and_gradient,
            np.ascontiguousarray(start, float).ravel(),
            jac=True,
            method="L-BFGS-B",
            bounds=_bounds(problem.penalty, start.size),
            callback=after,
            options={
                "maxiter": max_iter,
                "maxfun": 20 * max_iter + 100,
                "ftol": tol,
                "gtol": tol * 1e-3,
                "maxcor": memory,
            },
        )
    status = {0: "converged", 1: "max_iter"}.get(int(found.status), "stalled")
    return Result(found.x, float(found.fun), status, int(found.nit), int(found.nfev), str(found.message))


def _bounds(penalty: Penalty, size: int) -> optimize.Bounds | None:
    if not np.isfinite(penalty.lower).any():
        return None
    return optimize.Bounds(np.broadcast_to(penalty.lower, size), np.inf)

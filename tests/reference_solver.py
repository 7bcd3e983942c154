"""The optimum of a convex problem by an independent program: cvxpy with CLARABEL."""

from __future__ import annotations

import warnings
from typing import Any

import cvxpy
import pytest

DRAWS = [
    0,
    *(pytest.param(draw, marks=pytest.mark.slow) for draw in (1, 2)),
    *(pytest.param(draw, marks=pytest.mark.whole) for draw in range(3, 10)),
]
"""Problems on which solvers are compared with it: two in the fast tier, ten in all."""


def optimum(problem: cvxpy.Problem, **options: Any) -> float:
    """The least value. The solver may doubt its last digits (how many depends on the processor), nothing more."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate", UserWarning)
        problem.solve(solver="CLARABEL", **options)
    assert problem.status in ("optimal", "optimal_inaccurate")
    return float(problem.value)

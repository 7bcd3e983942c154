"""What a solver returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from similitude.types import Floats

Callback = Callable[[int, float], None]
"""Called after each iteration with its number and the objective: for progress bars; may raise to interrupt."""


@dataclass(frozen=True)
class Result:
    """Parameters, how good they are, and why the solver stopped.

    `status` is "converged" (the wanted tolerance was reached), "max_iter", "planned" (a run of a fixed length, as
    minibatches are) or "stalled" (no step improves, short of the tolerance).
    """

    params: Floats
    value: float
    status: str
    n_iter: int
    n_evaluations: int
    message: str = ""

    @property
    def ok(self) -> bool:
        """Whether the solver did what was asked."""
        return self.status in ("converged", "planned")

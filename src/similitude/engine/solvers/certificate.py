"""The bookkeeping of solvers that prove how good their solution is: the best point, the best bound, and the gap.

A solver offers points with their value, and lower bounds of the optimum as it proves them; it ends when the gap between
the best of either is small. What improves in between, precision or width, is the solver's affair.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from similitude.engine.solvers.result import Callback

P = TypeVar("P")


@dataclass(frozen=True)
class Certified(Generic[P]):
    """A point with a proof of how good it is: the optimum lies between `lower` and `value`.

    `status` is "converged" (the gap is as small as asked for), "max_iter", "stalled", or "infeasible": what a hard
    margin asks for is met by nothing shorter than the bound.
    """

    point: P
    value: float = np.inf
    lower: float = -np.inf
    status: str = "max_iter"
    n_iter: int = 0

    @property
    def gap(self) -> float:
        """How far above the optimum the value is at most."""
        return max(self.value - self.lower, 0.0)


class Certificate(Generic[P]):
    """A `Certified` in the making.

    Parameters
    ----------
    start : the point to return where none is offered
    tol : the gap to reach, as a share of the value
    callback : called after each bound with the number of iterations so far and the value
    lower : a bound that is known beforehand
    status : what to return when the solver gives up
    """

    def __init__(
        self,
        start: P,
        tol: float,
        callback: Callback | None = None,
        *,
        lower: float = -np.inf,
        status: str = "max_iter",
    ) -> None:
        self.best = Certified(start, lower=lower, status=status)
        self._tol, self._callback = tol, callback
        self._gap = self._before = np.inf

    def count(self, n_iter: int, status: str | None = None) -> None:
        """Note iterations, and how they ended."""
        self.best = replace(self.best, n_iter=self.best.n_iter + n_iter, status=status or self.best.status)

    def offer(self, point: P, value: float) -> None:
        """Keep a point that is better than the best so far."""
        if value < self.best.value:
            self.best = replace(self.best, point=point, value=value)

    def proven(self, lower: float) -> bool:
        """Note a lower bound; return whether the gap is as small as asked for."""
        self.best = replace(self.best, lower=max(self.best.lower, lower))
        self._before, self._gap = self._gap, self.best.gap
        if self._callback is not None:
            self._callback(self.best.n_iter, self.best.value)
        done = bool(np.isfinite(self._gap)) and self._gap <= self._tol * abs(self.best.value)
        if done:
            self.best = replace(self.best, status="converged")
        return done

    def slow(self, share: float) -> bool:
        """Whether the last bound left more than a share of the gap before it."""
        return self._gap > share * self._before or not np.isfinite(self._gap)

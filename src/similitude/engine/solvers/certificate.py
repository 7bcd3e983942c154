"""The one loop of solvers that prove how good their solution is: the best point, the best bound, and the gap.

A solver is a generator: in each of its rounds it offers points with their value and yields a lower bound of the
optimum, until the gap between the best of either is small. What it improves in between is its own affair: the width of
factors, the precision of L-BFGS, the rounding of a hinge, the coordinates of the dual.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from similitude.engine.solvers.result import Callback

P = TypeVar("P")


@dataclass(frozen=True)
class Certified(Generic[P]):
    """A point with a proof of how good it is: the optimum lies between `lower` and `value`.

    `status` is "converged" (the gap is as small as asked for), "max_iter", "stalled", or "infeasible": what a hard
    margin asks for is met by nothing that costs less than the bound.
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
    most : give up where a point that costs less than this is proven not to exist
    """

    def __init__(
        self,
        start: P,
        tol: float,
        callback: Callback | None = None,
        *,
        lower: float = -np.inf,
        most: float = np.inf,
    ) -> None:
        self.best = Certified(start, lower=lower)
        self._tol, self._callback, self._most = tol, callback, most
        self._gap = self._before = np.inf

    def over(self, rounds: Iterable[float]) -> Certified[P]:
        """Go through the rounds of a solver, a lower bound each, until one is enough; return the best."""
        for lower in rounds:
            if self.proven(lower):
                break
        return self.best

    def count(self, n_iter: int, status: str | None = None) -> None:
        """Note iterations, and what is to be said if these were the last."""
        self.best = replace(self.best, n_iter=self.best.n_iter + n_iter, status=status or self.best.status)

    def offer(self, point: P, value: float) -> None:
        """Keep a point that is better than the best so far."""
        if value < self.best.value:
            self.best = replace(self.best, point=point, value=value)

    def proven(self, lower: float) -> bool:
        """Note a lower bound; return whether to stop: the gap is as small as asked for, or there is no hope."""
        self.best = best = replace(self.best, lower=max(self.best.lower, lower))
        self._before, self._gap = self._gap, best.gap
        if self._callback is not None:
            self._callback(best.n_iter, best.value)
        if not np.isfinite(best.value) and best.lower > self._most:
            self.best = replace(best, status="infeasible")
        elif np.isfinite(self._gap) and self._gap <= self._tol * abs(best.value):
            self.best = replace(best, status="converged")
        return self.best.status in ("converged", "infeasible")

    def slow(self, share: float) -> bool:
        """Whether the last bound left more than a share of the gap before it."""
        return self._gap > share * self._before or not np.isfinite(self._gap)

"""Fits of vectors that are never negative, at several prices and from several starts.

With l1_ratio 0 and many columns the problem is convex in X X' (its price is a trace, its set the completely positive
matrices), and copies of a column cost nothing. A little of the price on the sum of the values makes one of each copy,
at the cost of optima that depend on the start: there, dimensions are kept that come from every start, from which the
fit goes on. That also ends lower: on THINGS 15 dimensions have a better objective than the 19 to 21 of a single start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from similitude.engine.backend import Backend
from similitude.engine.choice_terms import Picked
from similitude.engine.devices import solvers_of
from similitude.engine.models import DotProducts, Positions
from similitude.engine.penalties import BesideFeatures, NonNegative
from similitude.engine.problem import Problem
from similitude.engine.solvers.result import Callback, Result
from similitude.engine.terms import Formula, squared
from similitude.feedback.forms.alternatives import Alternatives
from similitude.methods.dimension_columns import agreed, living
from similitude.types import Floats

LEVEL = Formula(squared)  # what is made of minus a product
Found = tuple[Floats, Result]
"""Vectors (n, d), dimensions from the heaviest to the lightest, and how the solver ended."""

_WORSE = 0.01  # of the objective: more than what dimensions cost that come from one start alone
_ROUND = 60  # iterations, after which dimensions that died are left out
_ROUGHER = 1e-5  # of those that only tell whether a lower price helps
_ROUGH = 1e-6  # gain of an iteration at which the fits end that only tell where to go on


@dataclass(frozen=True, eq=False)
class Fits:
    """Fits to some choices.

    Attributes
    ----------
    term : the choices, where a backend has them
    prices : of the values, from the highest down
    max_iter, tol, callback : of the solver
    """

    term: Picked
    prices: Sequence[NonNegative]
    max_iter: int
    tol: float
    callback: Callback | None

    @classmethod
    def on(
        cls, backend: Backend, choices: Sequence[Alternatives], prices: Sequence[NonNegative], **settings: Any
    ) -> Fits:
        """Fits where a backend works."""
        there = [price.on(backend) if isinstance(price, BesideFeatures) else price for price in prices]
        return cls(Picked(LEVEL, choices, backend=backend), there, **settings)

    def rough(self, start: Floats, price: int) -> Floats:
        """Vectors at one of the prices, near enough."""
        return self._fit(start, price, _ROUGH if price == 0 else _ROUGHER)[0]

    def whole(self, starts: Sequence[Floats], price: int, count: int) -> Found:
        """Vectors at one of the prices: what comes from every start, at most so many, at one price after the other."""
        several = [self._fit(start, 0, _ROUGH if len(starts) > 1 else self.tol) for start in starts]
        alone, *others = sorted(several, key=lambda found: found[1].value)
        X, best = agreed(alone[0], [other for other, _ in others])[:, :count], alone
        if X.shape[1] < alone[0].shape[1] or len(starts) > 1:
            best = self._fit(X, 0, self.tol)
            if count and best[1].value > alone[1].value + _WORSE * abs(alone[1].value):  # what was needed did not agree
                best = self._fit(alone[0][:, :count], 0, self.tol)
        cut_short = any(found.status == "max_iter" for _, found in several)
        for k in range(1, price + 1):
            best = self._fit(best[0], k, self.tol)
        X = best[0]
        if cut_short and not X.size:  # nothing is left of what was never finished
            return X, replace(best[1], status="max_iter", n_iter=max(found.n_iter for _, found in several))
        return best

    def _fit(self, start: Floats, price: int, tol: float) -> Found:
        """Fit in rounds, after which copies are put together and what has died is left out: the next is quicker."""
        backend, X, done = self.term.backend, start, 0
        best = Result(X.ravel(), self._nothing(), "converged", 0, 0)
        while X.size:
            problem = Problem(DotProducts(Positions(*X.shape)), self.term, self.prices[price], backend=backend)
            most = min(_ROUND, self.max_iter - done)
            best = solvers_of(backend)[0](problem, X.ravel(), max_iter=most, tol=tol, callback=self.callback)
            found, done = living(best.params.reshape(X.shape)), done + best.n_iter
            narrower, X = found.shape[1] < X.shape[1], found
            if done >= self.max_iter or (best.status != "max_iter" and not narrower):
                break
        if not X.size and done < self.max_iter:  # all have died: there is no more to find
            best = replace(best, status="converged")
        return X, replace(best, n_iter=done, value=best.value if X.size else self._nothing())

    def _nothing(self) -> float:
        """The objective where all vectors are 0."""
        none = self.term.backend.tensor(np.zeros(len(self.term.pairs)))
        return self.term.evaluate(none, np.zeros(0))[0] / self.term.total

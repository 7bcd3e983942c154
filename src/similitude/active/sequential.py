"""Active sequential selection (Jamieson & Nowak 2011; Algorithm 2 of Heim 2015): ask only what is not implied."""

from __future__ import annotations

import numpy as np

from similitude.active.asked import Asked
from similitude.engine.comparison_terms import Compared
from similitude.engine.distances import pair_sqdist
from similitude.engine.models import Positions
from similitude.engine.penalties import Ridge
from similitude.engine.problem import Problem
from similitude.engine.solvers.lbfgs import lbfgs
from similitude.engine.terms import ComparisonLoss, Formula, hinge, squared
from similitude.feedback.comparisons import Comparisons
from similitude.graph.build import SimilarityGraph
from similitude.types import Array, Floats, Ints

_LOSS = ComparisonLoss(Formula(squared), Formula(hinge, 0.3))
_RESTARTS = 5


class SequentialQuestions:
    """Items in random order; (a; b, c), b and c before a, is asked if both answers are possible.

    An answer is possible if some positions in d dimensions meet it and all answers so far; they are looked for by
    descent on a hinge loss from where the last ones were, and from random starts, so a question may be taken for
    settled by mistake (as the authors say of theirs). Algorithm 2 prints b, c = 1, ..., a; meant are pairs b < c of
    earlier items. Where one call ended, the next one goes on: the order of the items is read from the answers. Only
    for answers without noise, and for tens of items.
    """

    def __init__(self, start: Floats, comparisons: Comparisons | None, asked: Asked, rng: np.random.Generator) -> None:
        self.asked, self.rng = asked, rng
        self.n_items, self.d = start.shape
        rows = np.empty((0, 3), np.int32) if comparisons is None else comparisons.triplets
        self.near, self.far = rows[:, :2], rows[:, [0, 2]]
        self.order = self._order(rows)
        found = self._meeting(self.near, self.far, start)
        if found is None:
            raise ValueError(
                f"asked: no positions in {self.d} dimensions meet all answers, and strategy 'sequential' is for "
                "answers without noise; take strategy='information_gain'"
            )
        self.positions = found

    def _order(self, rows: Ints) -> list[int]:
        """The two items first asked about, then the heads as they came, then the others at random."""
        known = [*rows[0, 1:].tolist(), *rows[:, 0].tolist()] if len(rows) else []
        known = list(dict.fromkeys(known))
        return known + [item for item in self.rng.permutation(self.n_items).tolist() if item not in set(known)]

    def question(self, head: int) -> tuple[list[int], float] | None:
        """Return the next question that is open, whichever head was wanted."""
        last = int(self.near[-1, 0]) if len(self.near) else self.order[2]
        for k in range(max(2, self.order.index(last)), self.n_items):
            for c in range(1, k):
                for b in range(c):
                    shown = [self.order[k], self.order[b], self.order[c]]
                    if shown not in self.asked and self._is_open(*shown):
                        return shown, np.nan
        return None

    def learn(self, shown: Ints) -> None:
        """Nothing: only the answer tells."""

    def inferred(self) -> Ints:
        """(m, 3) rows (head, near, far) of the questions up to the last head that were not asked: they follow.

        Every question (a; b, c) of an item and two earlier ones is either asked or inferred (Algorithm 2, line 8).
        """
        heads = range(2, 1 + max((self.order.index(int(head)) for head in self.near[:, 0]), default=1))
        shown = [[self.order[k], self.order[b], self.order[c]] for k in heads for c in range(1, k) for b in range(c)]
        rows = np.array([row for row in shown if row not in self.asked], np.int32).reshape(-1, 3)
        first, second = (pair_sqdist(self.positions, rows[:, [0, k]]) for k in (1, 2))
        return np.where((first < second)[:, None], rows, rows[:, [0, 2, 1]])

    def _is_open(self, head: int, b: int, c: int) -> bool:
        """Whether the answer that the present positions contradict can be met, too."""
        square = pair_sqdist(self.positions, np.array([(head, b), (head, c)]))
        other = (c, b) if square[0] < square[1] else (b, c)
        near = np.concatenate([self.near, [[head, other[0]]]]).astype(np.int32)
        far = np.concatenate([self.far, [[head, other[1]]]]).astype(np.int32)
        return self._meeting(near, far, self.positions) is not None

    def _meeting(self, near: Array, far: Array, start: Floats) -> Floats | None:
        """Positions that meet all comparisons, or None where none were found."""
        if not len(near) or _met(start, near, far):
            return start
        graph = SimilarityGraph(self.n_items, near, far, np.ones(len(near)), merged=False)
        problem = Problem(Positions(self.n_items, self.d), Compared(graph, _LOSS), Ridge(0.0, self.n_items))
        for k in range(1 + _RESTARTS):
            begin = start if k == 0 else self.rng.normal(size=start.shape)
            found = lbfgs(problem, np.array(begin), max_iter=300, tol=1e-12).params.reshape(start.shape)
            if _met(found, near, far):
                return found
        return None


def _met(X: Floats, near: Array, far: Array) -> bool:
    return bool((pair_sqdist(X, near) < pair_sqdist(X, far)).all())

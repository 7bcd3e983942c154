"""Folds that do not leak: comparisons of one answer (or rater) are never on both sides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from similitude.feedback.comparisons import By
from similitude.feedback.convert import as_comparisons
from similitude.methods.settings import check_count
from similitude.renaming import renamed
from similitude.types import Array


class AnswerFold:
    """A `cv=` for scikit-learn's tools and for `cross_validate`.

    An answer may give several comparisons that follow from each other: of an odd-one-out, one comparison tells half
    of the other. A plain K-fold puts them on both sides, and pure noise then seems predictable.

    Parameters
    ----------
    n_folds : number of folds
    by : "answer" keeps answers whole; "rater" holds raters out; "item" holds items out: training is on comparisons
        among the other items, testing on comparisons whose head is new and whose other items are not
    random_state : seed or generator of the shuffle

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 100, "odd_one_out", random_state=0)
    >>> folds = list(sm.AnswerFold(5, random_state=0).split(answers))
    >>> len(answers), [len(test) for _, test in folds]  # an answer's two comparisons stay together
    (200, [40, 40, 40, 40, 40])
    """

    @renamed(n_splits="n_folds")
    def __init__(
        self, n_folds: int = 5, by: By = "answer", random_state: int | np.random.Generator | None = None
    ) -> None:
        check_count("n_folds", n_folds, 2)
        if by not in ("answer", "rater", "item"):
            raise ValueError(f"by: expected 'answer', 'rater' or 'item', found {by!r}")
        self.n_folds = n_folds
        self.by = by
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds."""
        return self.n_folds

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Array, Array]]:
        """Give training and test rows of each fold."""
        c = as_comparisons(X)
        rng = np.random.default_rng(self.random_state)
        if self.by == "item":
            for held_out in np.array_split(rng.permutation(c.items_compared), self._enough(len(c.items_compared))):
                yield c.hold_out_items(held_out)
            return
        group = c.groups(self.by)[c.answer]
        kinds = np.unique(group)
        fold = np.empty(int(group.max(initial=-1)) + 1, int)
        fold[rng.permutation(kinds)] = np.arange(len(kinds)) * self._enough(len(kinds)) // max(len(kinds), 1)
        for k in range(self.n_folds):
            test = fold[group] == k
            yield np.flatnonzero(~test), np.flatnonzero(test)

    def _enough(self, count: int) -> int:
        if count < self.n_folds:
            raise ValueError(f"n_folds: {self.n_folds} folds by {self.by} need as many, found {count}")
        return self.n_folds

    def __repr__(self) -> str:
        return f"AnswerFold(n_folds={self.n_folds}, by={self.by!r}, random_state={self.random_state!r})"

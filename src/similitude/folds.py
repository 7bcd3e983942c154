"""Cross-validation: folds that do not leak, and what is said of each comparison by a model that has not seen it.

Comparisons of one answer (or rater) are never on both sides. Everything that holds answers out goes through here, from
the choice of a method's own settings to the scores of `cross_validate`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from similitude.engine.jobs import over_jobs
from similitude.feedback.comparisons import By, Comparisons, PartialAnswerWarning
from similitude.feedback.convert import as_comparisons
from similitude.renaming import renamed
from similitude.settings import check_count
from similitude.types import Array, Floats

Fold = tuple[Array, Array]
"""Training and test rows."""


@renamed(n_splits="n_folds")
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

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Fold]:
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
        yield from folds_of(fold[group])

    def _enough(self, count: int) -> int:
        if count < self.n_folds:
            raise ValueError(f"n_folds: {self.n_folds} folds by {self.by} need as many, found {count}")
        return self.n_folds

    def __repr__(self) -> str:
        return f"AnswerFold(n_folds={self.n_folds}, by={self.by!r}, random_state={self.random_state!r})"


def folds_of(fold: Array) -> list[Fold]:
    """Return training and test rows of each fold, from the number of the fold that tests each row; -1 is none."""
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(int(fold.max()) + 1)]


def parted(c: Comparisons, train: Array, test: Array) -> tuple[Comparisons, Comparisons]:
    """Return the comparisons to learn from and those to be tested on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PartialAnswerWarning)  # folds by item cut answers on purpose
        return c[train], c[test]


def held_out(
    c: Comparisons,
    folds: Sequence[Fold],
    predict: Callable[..., Floats],
    *,
    shared: tuple[Any, ...] = (),
    n_jobs: int | None = 1,
) -> Floats:
    """Return for each comparison what `predict` says of it when its fold is held out; nan where it is in no fold.

    Parameters
    ----------
    c : the comparisons
    folds : training and test rows, each row tested at most once
    predict : called as `predict(*shared, training, test)`; gives a value (or a row of values) per test comparison
    shared : its first arguments, the same in all folds
    n_jobs : processes, through joblib, for which `predict` must be importable
    """
    one_by_one = (_of_fold(predict, shared, c, *fold) for fold in folds)
    found = one_by_one if n_jobs == 1 else over_jobs(_of_fold, folds, n_jobs, shared=(predict, shared, c))
    said = np.empty(0)
    for (_, test), values in zip(folds, found, strict=True):
        if not said.size:
            said = np.full((len(c), *np.shape(values)[1:]), np.nan)
        said[test] = values
    return said


def _of_fold(
    predict: Callable[..., Floats], shared: tuple[Any, ...], c: Comparisons, train: Array, test: Array
) -> Floats:
    return predict(*shared, *parted(c, train, test))

"""Settings chosen by held-out links: which of them tells similar pairs best from others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from sklearn.metrics import roc_auc_score

from similitude.methods.linked_spread import HeldOutLinks, LinkedItems
from similitude.types import Array, Floats

STRENGTHS = (0.0, 0.25, 0.5, 1.0, 2.0)
ITERATIONS = (1, 2, 3)
_FOLDS = 5
Option = TypeVar("Option")


def best_by_links(
    linked: LinkedItems,
    options: Sequence[Option],
    place: Callable[[LinkedItems, Option, Array], Floats],
    rng: np.random.RandomState,
) -> Option:
    """Return the option whose distances rank held-out similar pairs nearest (area under the curve, mean of folds).

    `place(part, option, rows)` learns from a part of the links and returns the places of these rows of X. Of equal
    options the first is taken.
    """
    folds = list(linked.folds(_FOLDS, rng))
    if not folds:
        raise ValueError(
            "links: found too few to hold some out, expected two similar links or two labelled rows of a class in "
            "different parts; give numbers for strength and n_iter"
        )
    scores = [np.mean([_score(fold, option, place) for fold in folds]) for option in options]
    return options[int(np.argmax(np.round(scores, 9)))]


def _score(fold: HeldOutLinks, option: Option, place: Callable[[LinkedItems, Option, Array], Floats]) -> float:
    rows, where = np.unique(fold.pairs, return_inverse=True)
    places = place(fold.rest, option, rows)
    first, second = where.reshape(fold.pairs.shape).T
    apart = ((places[first] - places[second]) ** 2).sum(1)
    return float(roc_auc_score(fold.similar, -apart)) if 0 < fold.similar.sum() < len(fold.similar) else 0.5

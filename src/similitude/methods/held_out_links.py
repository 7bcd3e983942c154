"""Settings chosen by held-out links, with the first as the one to stay at: another must gain beyond its error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from similitude.methods.linked_spread import HeldOutLinks, LinkedItems
from similitude.types import Array, Floats

STRENGTHS = (0.0, 0.25, 0.5, 1.0)
ITERATIONS = (1, 2, 3)
FOLDS = 5
CROWD = 1_000  # random items among which the other end of a link is looked for
_BEYOND = 2.0  # standard errors
Option = TypeVar("Option")
Place = Callable[[LinkedItems, Option, Array], Floats]


def best_by_links(folds: Iterable[HeldOutLinks], options: Sequence[Option], place: Place[Option]) -> Option:
    """Return the first option, unless others gain more than twice the standard error; then the one that gains most.

    `place(part, option, rows)` learns from a part of the links and returns the places of these rows of X. Gains are of
    `nearness`, paired link by link (or item by item).
    """
    parts = list(folds)
    scores = [_joined([nearness(part, _placed(part, option, place)) for part in parts]) for option in options]
    gains = [_gain_beyond_error(own - scores[0]) for own in scores]
    return options[int(np.argmax(gains))]


def nearness(held_out: HeldOutLinks, places: Callable[[Array], Floats]) -> Floats:
    """-log(1 + number of rivals nearer than the nearest right row), a mean for each thing held out.

    The logarithm asks about the nearest: that 2 rivals stand before the right row instead of 1 counts as much as 200
    instead of 100. An area under the curve asks about all distances alike, and gains where neighbours and clusters
    lose.
    """
    apart = euclidean_distances(places(held_out.asked), places(held_out.others), squared=True)
    nearest = np.where(held_out.right, apart, np.inf).min(1, keepdims=True)
    before = ((apart < nearest) & held_out.rival).sum(1)
    return np.asarray(-np.log1p(before).reshape(-1, held_out.each).mean(1), np.float64)


def _placed(part: HeldOutLinks, option: Option, place: Place[Option]) -> Callable[[Array], Floats]:
    rows = np.union1d(part.asked, part.others)
    places = place(part.rest, option, rows)
    return lambda wanted: places[np.searchsorted(rows, wanted)]


def _joined(scores: list[Floats]) -> Floats:
    return np.concatenate(scores) if scores else np.empty(0)


def _gain_beyond_error(gains: Floats) -> float:
    """The mean gain where it is beyond twice its standard error, else 0."""
    if len(gains) < 2:
        return 0.0
    mean, error = gains.mean(), gains.std(ddof=1) / np.sqrt(len(gains))
    return float(mean) if mean > _BEYOND * error else 0.0

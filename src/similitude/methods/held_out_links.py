"""Settings chosen by held-out links: the first stays unless another gains beyond its error, and then the gentlest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from similitude.methods.linked_spread import HeldOutLinks, LinkedItems
from similitude.types import Array, Floats

STRENGTHS = (0.25, 0.5, 1.0)
ITERATIONS = (1, 2, 3)
FOLDS = 5
CROWD = 1_000  # random items among which the other end of a link is looked for
_BEYOND = 2.0  # standard errors
Option = TypeVar("Option")
Place = Callable[[LinkedItems, Option, Array], Floats]


def best_by_links(folds: Iterable[HeldOutLinks], options: Sequence[Option], place: Place[Option]) -> Option:
    """Return the first option, or the next one that gains more than twice the standard error of its gain.

    Options come in the order of how far they go, so that no more is changed than was proven to help. `place(part,
    option, rows)` learns from a part of the links and returns the places of these rows of X. Gains are of `nearness`
    over the first option's, paired link by link (or item by item).
    """
    parts = list(folds)

    def score(option: Option) -> Floats:
        found = [nearness(part, _placed(part, option, place)) for part in parts]
        return np.concatenate(found) if found else np.empty(0)

    first = score(options[0])
    return next((option for option in options[1:] if _beyond_error(score(option) - first)), options[0])


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


def _beyond_error(gains: Floats) -> bool:
    """Whether a mean gain is beyond twice its standard error."""
    return len(gains) > 1 and bool(gains.mean() > _BEYOND * gains.std(ddof=1) / np.sqrt(len(gains)))

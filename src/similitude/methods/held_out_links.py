"""Settings chosen by held-out links: the first stays unless another gains beyond its error, and then the gentlest.

What has to gain is what links, or labels, are used for: neighbours, and for links clusters, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TypeVar

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics.pairwise import euclidean_distances

from similitude.methods.linked_spread import HeldOutLinks, LinkedItems
from similitude.types import Array, Floats

STRENGTHS = (0.25, 0.5, 1.0)
ITERATIONS = (1, 2, 3)
FOLDS = 5
CROWD = 1_000  # random items among which the other end of a link is looked for
CLUSTERS = (2, 3, 5, 8, 12)  # how many there may be
_CLUSTERED = 500  # random items that are clustered with the linked ones
_BEYOND = 2.0  # standard errors
Option = TypeVar("Option")
Place = Callable[[LinkedItems, Option, Array], Floats]
Proof = Callable[[HeldOutLinks, Callable[[Array], Floats]], Floats]  # of places of rows, (things held out, columns)


def best_by_links(
    folds: Iterable[HeldOutLinks], options: Sequence[Option], place: Place[Option], proofs: Sequence[Proof]
) -> Option:
    """Return the first option, or the next one that by every proof gains more than twice the gain's standard error.

    Options come in the order of how far they go, so that no more is changed than was proven to help. `place(part,
    option, rows)` learns from a part of the links and returns the places of these rows of X. Gains are of the proofs
    (`nearness`, `togetherness`) over the first option's, paired link by link (or item by item).
    """
    parts = list(folds)

    @cache
    def score(number: int, proof: Proof) -> Floats:
        found = [proof(part, _placed(part, options[number], place)) for part in parts]
        table = np.concatenate(found) if found else np.empty((0, 1))
        return table[:, table.mean(0).argmax()] if len(table) else table[:, 0]

    def gains(number: int) -> bool:
        return all(_beyond_error(score(number, proof) - score(0, proof)) for proof in proofs)

    return options[next(filter(gains, range(1, len(options))), 0)]


def nearness(held_out: HeldOutLinks, places: Callable[[Array], Floats]) -> Floats:
    """-log(1 + number of rivals nearer than the nearest right row), a mean for each thing held out; one column.

    The logarithm asks about the nearest: that 2 rivals stand before the right row instead of 1 counts as much as 200
    instead of 100. An area under the curve asks about all distances alike, and gains where neighbours and clusters
    lose.
    """
    apart = euclidean_distances(places(held_out.asked), places(held_out.others), squared=True)
    nearest = np.where(held_out.right, apart, np.inf).min(1, keepdims=True)
    before = ((apart < nearest) & held_out.rival).sum(1)
    return np.asarray(-np.log1p(before).reshape(-1, held_out.each).mean(1, keepdims=True), np.float64)


def togetherness(held_out: HeldOutLinks, places: Callable[[Array], Floats]) -> Floats:
    """Whether k-means leaves both ends of a held-out link together, less how often any two rows are.

    A column for each number of clusters, since nobody knows it. Neighbours can gain where clusters lose: a bend that
    draws the ends of links nearer to each other may move the border between clusters the wrong way.
    """
    ends = held_out.asked.reshape(-1, 2)
    some = held_out.others[:: max(1, len(held_out.others) // _CLUSTERED)]
    rows = np.union1d(held_out.asked, some)
    where, columns = np.ascontiguousarray(places(rows)), []
    first, second = np.searchsorted(rows, ends).T
    for count in CLUSTERS:
        if count >= len(rows):
            break
        label = KMeans(count, n_init=2, random_state=0).fit_predict(where)
        columns.append((label[first] == label[second]) - ((np.bincount(label) / len(rows)) ** 2).sum())
    return np.stack(columns, axis=1)


def _placed(part: HeldOutLinks, option: Option, place: Place[Option]) -> Callable[[Array], Floats]:
    rows = np.union1d(part.asked, part.others)
    places = place(part.rest, option, rows)
    return lambda wanted: places[np.searchsorted(rows, wanted)]


def _beyond_error(gains: Floats) -> bool:
    """Whether a mean gain is beyond twice its standard error."""
    return len(gains) > 1 and bool(gains.mean() > _BEYOND * gains.std(ddof=1) / np.sqrt(len(gains)))

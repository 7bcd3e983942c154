"""What links, or classes of which most are unknown, say about directions: how far each spreads linked items apart."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from similitude.feedback.links import Links
from similitude.methods.base import FeedbackWarning
from similitude.types import Array, Floats

UNKNOWN = -1  # scikit-learn's mark of an item without a label
_MOST_ASKED = 1_000  # held-out links or items, so that many cost no more


class LinkedItems(ABC):
    """Linked items; `items` are their rows of X, ascending, and spreads go by coordinates of these.

    `for_clusters` says whether what is known is mostly used to cluster, as links are; labels are used for neighbours.
    """

    items: Array
    for_clusters: bool

    @abstractmethod
    def similar(self, coordinates: Floats) -> Floats:
        """D_r: mean over similar links (i, j) of (u_ri - u_rj)², for each column r."""

    @abstractmethod
    def dissimilar(self, coordinates: Floats) -> Floats | None:
        """Return the same over dissimilar links; None where there is none."""

    @abstractmethod
    def differences(self, similar: bool) -> int:
        """How many independent differences links of a kind tell: their items less the groups that these form."""

    @abstractmethod
    def folds(self, count: int, crowd: Array, rng: np.random.RandomState) -> Iterator[HeldOutLinks]:
        """Part after part held out; `crowd` are random rows of X, for links that say nothing of what is unlike."""


@dataclass(frozen=True)
class HeldOutLinks:
    """What is left to learn from, and questions about what was held out: which rows of X are nearest.

    Attributes
    ----------
    rest : what is left
    asked : (k,) rows of X, `each` of them in succession for one thing held out
    others : (c,) rows of X
    right : (k, c) which of the others are like the one asked about
    rival : (k, c) which of them are unlike it, or drawn at random
    """

    rest: LinkedItems
    asked: Array
    others: Array
    right: Array
    rival: Array
    each: int = 1


@dataclass(frozen=True)
class ByLinks(LinkedItems):
    """Links as they were given, each with its weight."""

    links: Links
    for_clusters = True

    @property
    def items(self) -> Array:  # type: ignore[override]
        """The items that have a link."""
        return np.unique(self.links.pairs)

    def similar(self, coordinates: Floats) -> Floats:
        """D_r = sum of weight · (u_ri - u_rj)² over similar links / sum of weight."""
        return self._mean(coordinates, self.links.similar)

    def dissimilar(self, coordinates: Floats) -> Floats | None:
        """Return the same over dissimilar links."""
        return None if self.links.similar.all() else self._mean(coordinates, ~self.links.similar)

    def differences(self, similar: bool) -> int:
        """Items of these links less their connected components."""
        pairs = np.searchsorted(self.items, self.links.pairs[self.links.similar == similar])
        size = (len(self.items), len(self.items))
        groups = connected_components(coo_array((np.ones(len(pairs)), tuple(pairs.T)), size), directed=False)[0]
        return int(len(self.items) - groups)

    def folds(self, count: int, crowd: Array, rng: np.random.RandomState) -> Iterator[HeldOutLinks]:
        """Hold out links: seen from either end, the other should stand before a crowd."""
        links = self.links
        part = rng.permutation(np.arange(len(links)) % count)
        for fold in range(count):
            out, rest = links[(part == fold) & links.similar][:_MOST_ASKED], links[part != fold]
            if not len(out) or not rest.similar.any():
                continue
            asked, partner = out.pairs.ravel(), out.pairs[:, ::-1].ravel()
            others = np.union1d(crowd, partner)
            right = others == partner[:, None]
            rival = ~right & (others != asked[:, None]) & np.isin(others, crowd)
            yield HeldOutLinks(ByLinks(rest), asked, others, right, rival, each=2)

    def _mean(self, coordinates: Floats, rows: Array) -> Floats:
        first, second = np.searchsorted(self.items, self.links.pairs[rows]).T
        return np.average((coordinates[first] - coordinates[second]) ** 2, axis=0, weights=self.links.weight[rows])


@dataclass(frozen=True)
class ByClasses(LinkedItems):
    """Items with a class: all pairs of one class are similar. The pairs are never listed.

    Over all pairs among n items, sum (u_i - u_j)² = n · sum (u_i - mean)².
    """

    items: Array
    code: Array
    for_clusters = False

    def similar(self, coordinates: Floats) -> Floats:
        """D_r: the mean over all pairs of one class."""
        return self._within(coordinates) / self._pairs_within()

    def dissimilar(self, coordinates: Floats) -> Floats | None:
        """Return the mean over all pairs of two classes; None where there is one class."""
        count = len(self.items) * (len(self.items) - 1) // 2 - self._pairs_within()
        if count == 0:
            return None
        rest = len(self.items) * ((coordinates - coordinates.mean(0)) ** 2).sum(0) - self._within(coordinates)
        return np.maximum(rest, 0.0) / count

    def differences(self, similar: bool) -> int:
        """Items less classes within them; between them all but one."""
        return len(self.items) - (len(np.unique(self.code)) if similar else 1)

    def folds(self, count: int, crowd: Array, rng: np.random.RandomState) -> Iterator[HeldOutLinks]:
        """Hold out items: one of their class should stand before the other labelled ones, as a neighbour would."""
        part = rng.permutation(np.arange(len(self.items)) % count)
        for fold in range(count):
            out, rest = np.flatnonzero(part == fold)[:_MOST_ASKED], np.flatnonzero(part != fold)
            code = np.unique(self.code[rest], return_inverse=True)[1]
            others = np.sort(rng.permutation(rest)[:_MOST_ASKED])
            right = self.code[out][:, None] == self.code[others]
            told = right.any(1) & ~right.all(1)
            if told.any() and np.bincount(code).max() > 1:
                left = ByClasses(self.items[rest], code)
                yield HeldOutLinks(left, self.items[out[told]], self.items[others], right[told], ~right[told])

    def _pairs_within(self) -> int:
        size = np.bincount(self.code)
        return int((size * (size - 1) // 2).sum())

    def _within(self, coordinates: Floats) -> Floats:
        total = np.zeros(coordinates.shape[1])
        for code in range(int(self.code.max()) + 1):
            own = coordinates[self.code == code]
            total += len(own) * ((own - own.mean(0)) ** 2).sum(0)
        return total


def as_linked(y: Any, n_items: int) -> LinkedItems:
    """Return what `fit` was given as links: a `Links`, or a label per row of X, -1 where it is unknown."""
    if y is None:
        raise ValueError(
            "links: requires y to be passed, but the target y is None; expected a Links, or a label for each row of X, "
            "-1 where it is unknown"
        )
    return _from_links(y, n_items) if isinstance(y, Links) else _from_labels(y, n_items)


def _from_links(links: Links, n_items: int) -> ByLinks:
    if links.n_items > n_items:
        raise ValueError(f"links: found links among {links.n_items} items, expected at most {n_items}, the rows of X")
    used = links[links.weight > 0]
    if not used.similar.any():
        raise ValueError(
            f"links: found {len(used)} dissimilar links and no similar one, expected a similar link at least"
        )
    found = links.conflicts()
    if found:
        warnings.warn(
            f"links: {found[0]}; {len(found)} such in all. Links are wishes, not rules, so all count: leave out "
            "the rows of conflicts() that you do not believe",
            FeedbackWarning,
            stacklevel=4,
        )
    return ByLinks(used)


def _from_labels(y: Any, n_items: int) -> ByClasses:
    labels = column_or_1d(y, warn=True)
    check_consistent_length(labels, np.empty(n_items))
    known = labels != UNKNOWN if labels.dtype.kind in "iufO" else np.ones(len(labels), bool)
    if known.any():
        check_classification_targets(labels[known])
    code = np.unique(labels[known], return_inverse=True)[1]
    if not len(code) or np.bincount(code).max() < 2:
        raise ValueError(
            f"links: found {len(code)} labelled rows of X, no two of one class, expected two of one class at least, "
            "since only these are similar"
        )
    return ByClasses(np.flatnonzero(known), code)

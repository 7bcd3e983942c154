"""Colours on the map: a class of each item that is given, or clusters of the model, as many as one likes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from similitude.display.words import counted
from similitude.methods.kernel_clustering import kernel_linkage
from similitude.methods.similarity import Similarity

CLASSES = 7
"""How many classes have a colour of their own that colour-blind people can tell apart; the rest share a grey."""

_CLUSTERS = range(2, 8)
_LARGEST_TREE = 1_000  # items


@dataclass(frozen=True)
class Shade:
    """A way to colour items.

    Attributes
    ----------
    name : of the way
    labels : what each colour means
    codes : which label each item has
    rest : whether the last label is of all that have no colour of their own
    first : whether the map is shown so at first
    """

    name: str
    labels: list[str]
    codes: list[int]
    rest: bool = False
    first: bool = False

    @property
    def hues(self) -> list[str]:
        """The page's name of each label's colour."""
        own = [f"--class-{k}" for k in range(len(self.labels))]
        return [*own[:-1], "--class-rest"] if self.rest else own


def shades(similarity: Similarity, names: Sequence[str], classes: Mapping[str, str] | None) -> list[Shade]:
    """Return the ways to colour these items."""
    given = [] if not classes else [_of_classes([str(classes.get(name, "")) for name in names])]
    return [*given, *_clusters(similarity)]


def _of_classes(own: Sequence[str]) -> Shade:
    """A colour for each of the most frequent classes, and grey for the others."""
    common = [name for name, _ in Counter(name for name in own if name).most_common()]
    alone = common if len(common) <= CLASSES else common[: CLASSES - 1]
    rest = len(common) - len(alone)
    grey = [] if len(alone) == len(set(own)) else [counted(rest, "other class", "other classes") if rest else "unknown"]
    code = {name: k for k, name in enumerate(alone)}
    return Shade("class", [*alone, *grey], [code.get(name, len(alone)) for name in own], bool(grey), first=True)


def _clusters(similarity: Similarity) -> list[Shade]:
    """Items in two, three, ... clusters of average linkage, as the report's tree has them."""
    from scipy.cluster.hierarchy import fcluster

    n = similarity.n_items
    if not 4 <= n <= _LARGEST_TREE:
        return []
    X = similarity.embedding
    tree = kernel_linkage(X @ X.T, "average")
    made = []
    for count in (count for count in _CLUSTERS if count < n):
        codes = fcluster(tree, count, "maxclust") - 1
        sizes = np.bincount(codes)
        labels = [f"cluster {k + 1} ({counted(int(size), 'item')})" for k, size in enumerate(sizes)]
        made.append(Shade(f"{count} clusters", labels, codes.tolist()))
    return made

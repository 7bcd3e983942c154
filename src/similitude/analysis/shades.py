"""Colours and shapes on the map: a class of each item that is given, or clusters of the model, as many as one likes."""

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

_HALF, _ARM = 0.89, 0.4  # of a square, and of a cross' arm, in radii of a dot of about the same area
_CROSS = [(1.15, _ARM), (_ARM, _ARM), (_ARM, 1.15), (-_ARM, 1.15), (-_ARM, _ARM), (-1.15, _ARM)]
_CORNERS: list[list[tuple[float, float]]] = [
    [(-_HALF, -_HALF), (_HALF, -_HALF), (_HALF, _HALF), (-_HALF, _HALF)],
    [(0, -1.3), (1.25, 0.9), (-1.25, 0.9)],
    [(0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)],
    [(0, 1.3), (1.25, -0.9), (-1.25, -0.9)],
    [*_CROSS, *((-x, -y) for x, y in _CROSS)],
    [(0.71 * (x - y), 0.71 * (x + y)) for x, y in [*_CROSS, *((-x, -y) for x, y in _CROSS)]],
]  # square, triangle, diamond, triangle on its tip, plus, and cross: the order of print's markers
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

    @property
    def shapes(self) -> list[int]:
        """Which of the outlines each label's items have; what has no colour of its own is a dot."""
        own = list(range(len(self.labels)))
        return [*own[:-1], 0] if self.rest else own


def outlines(radius: float) -> list[str]:
    """Return the shapes of items as paths of SVG, for readers who cannot go by colour: a dot first, one per class."""
    dot = f"M{-radius} 0a{radius} {radius} 0 1 0 {2 * radius} 0a{radius} {radius} 0 1 0 {-2 * radius} 0z"
    return [dot, *(f"M{'L'.join(f'{radius * x:.2f} {radius * y:.2f}' for x, y in corners)}z" for corners in _CORNERS)]


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

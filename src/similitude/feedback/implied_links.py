"""What links imply when "similar" is an equivalence: groups, what follows, and where they conflict."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from similitude.feedback.items import Names
from similitude.feedback.pairs import draw_below
from similitude.types import Array, Bools, Floats, Ints


@dataclass(frozen=True)
class Conflict:
    """A dissimilar link between items that similar links join.

    Attributes
    ----------
    link : row of the dissimilar link
    chain : the items from one end to the other, each called similar to the next (indices)
    names : how to call those items
    """

    link: int
    chain: tuple[int, ...]
    names: tuple[str, ...]

    def __str__(self) -> str:
        ends = f"{self.names[0]} and {self.names[-1]} are called dissimilar (link {self.link})"
        return f"{ends}, but similar links join them: {' ~ '.join(self.names)}"


def groups(pairs: Ints, similar: Bools, n_items: int) -> tuple[int, Array]:
    """Return the number of groups that similar links join, and the group of each item."""
    count, group = connected_components(_graph(pairs, similar, n_items), directed=False)
    return int(count), np.asarray(group)


def _graph(pairs: Ints, similar: Bools, n_items: int) -> csr_array:
    first, second = pairs[similar].T
    return csr_array((np.ones(len(first)), (first, second)), shape=(n_items, n_items))


def conflicts(pairs: Ints, similar: Bools, n_items: int, names: Names | None) -> tuple[Conflict, ...]:
    """Return each dissimilar link inside a group, with a shortest chain of similar links between its ends."""
    group = groups(pairs, similar, n_items)[1]
    inside = np.flatnonzero(~similar & (group[pairs[:, 0]] == group[pairs[:, 1]]))
    graph = _graph(pairs, similar, n_items)
    found = []
    for link in inside.tolist():
        start, end = pairs[link].tolist()
        before = breadth_first_order(graph, start, directed=False)[1]
        chain = [end]
        while chain[-1] != start:
            chain.append(int(before[chain[-1]]))
        chain.reverse()
        called = tuple(f"item {item}" if names is None else repr(names[item]) for item in chain)
        found.append(Conflict(link, tuple(chain), called))
    return tuple(found)


def closed(pairs: Ints, similar: Bools, n_items: int) -> tuple[Ints, Bools]:
    """Return all pairs that follow (first index smaller, in order), and whether each is similar."""
    count, group = groups(pairs, similar, n_items)
    members = np.split(np.argsort(group, kind="stable"), np.cumsum(np.bincount(group, minlength=count))[:-1])
    within = [np.stack(np.triu_indices(len(items), 1), 1) for items in members]
    alike = [items[index] for items, index in zip(members, within, strict=True) if len(index)]
    apart = np.unique(np.sort(group[pairs[~similar]], axis=1), axis=0)
    different = [_product(members[a], members[b]) for a, b in apart.tolist()]
    kind = np.repeat([True, False], [sum(map(len, alike)), sum(map(len, different))])
    every = np.concatenate([np.empty((0, 2), np.int64), *alike, *different])
    every = np.sort(every, axis=1)
    order = np.lexsort(every.T[::-1])
    return every[order].astype(np.int32), kind[order]


def _product(first: Array, second: Array) -> Array:
    return np.stack([np.repeat(first, len(second)), np.tile(second, len(first))], axis=1)


def stated_weight(pairs: Ints, stated: Ints, weight: Floats, n_items: int) -> Floats:
    """Return for each pair the largest weight with which it was stated, 1 where it was not."""
    largest = np.full(len(pairs), -1.0)
    code = pairs[:, 0].astype(np.int64) * n_items + pairs[:, 1]
    low, high = np.sort(stated, axis=1).astype(np.int64).T
    np.maximum.at(largest, np.searchsorted(code, low * n_items + high), weight)
    return np.where(largest < 0, 1.0, largest)


def some_pairs(count: int, wanted: int | None, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return all pairs of `count` things, or `wanted` of them at random."""
    total = count * (count - 1) // 2
    if wanted is None or wanted >= total:
        return np.triu_indices(count, 1)
    rank = draw_below(total, wanted, rng)
    second = ((1 + np.sqrt(1 + 8 * rank.astype(float))) // 2).astype(np.int64)
    second -= second * (second - 1) // 2 > rank  # the square root may round up
    return rank - second * (second - 1) // 2, second

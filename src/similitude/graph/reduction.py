"""Transitive reduction: the judgments that the others do not already imply."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from similitude.graph import compiled
from similitude.graph.acyclic import BITS_BELOW, row_starts, rows
from similitude.types import Bools

Indices = npt.NDArray[np.integer]


def transitive_reduction(n_vertices: int, tail: Indices, head: Indices) -> Bools:
    """Return which edges of an acyclic graph remain when every edge that a longer path implies is dropped.

    Of equal edges the first remains. The result has the same transitive closure, and none of it can be spared.
    """
    used = np.zeros(n_vertices, bool)
    used[tail] = used[head] = True
    number = np.cumsum(used) - 1
    tail, head = number[tail], number[head]
    level, order = topological(int(used.sum()), tail, head)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    edge = np.lexsort((np.arange(len(tail)), place[head], tail))
    start, end = row_starts(len(level), tail), head[edge]
    few = len(level) <= BITS_BELOW
    needed = compiled.closure(order, start, end)[1] if few else compiled.reduce_by_search(start, end)
    kept = np.zeros(len(tail), bool)
    kept[edge] = needed
    return kept


def topological(n_vertices: int, tail: Indices, head: Indices) -> tuple[Indices, Indices]:
    """Return the level of each vertex (length of the longest path into it) and a topological order."""
    start, end, _, _ = rows(n_vertices, tail, head, np.ones(len(tail)))
    level, order = compiled.levels(start, end, np.bincount(head, minlength=n_vertices))
    if len(order) < n_vertices:
        raise ValueError("the comparisons contradict each other: they contain a cycle; make them acyclic first (clean)")
    return level, order

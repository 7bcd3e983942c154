"""Circles on the similarity graph, and what transitivity implies, as figures of the report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from similitude.display.estimate import Estimate
from similitude.feedback.comparisons import Comparisons
from similitude.graph.acyclic import strong_components, transitive_reduction
from similitude.graph.repeats import Indices
from similitude.graph.votes import Votes, count_votes, directed
from similitude.types import Bools, Floats

Directed = tuple[Indices, Indices, Floats]


@dataclass(frozen=True)
class Cycles:
    """Judgments that go round in a circle: pair A more alike than pair B, B than C, and C than A.

    Attributes
    ----------
    groups : number of groups of pairs each of which is, by way of others, called more alike than itself
    pairs : number of pairs of items in such groups
    judgments : number of judgments among them
    """

    groups: int
    pairs: int
    judgments: int


def judgments(votes: Votes) -> Directed:
    """Each side of an edge that has weight, as a directed edge from the nearer pair to the farther."""
    tail, head, weight, _ = directed(votes)
    said = weight > 0
    return tail[said], head[said], weight[said]


def majorities(votes: Votes) -> Directed:
    """Each edge in the direction of its majority, with the surplus as weight; ties give none."""
    net = votes.forward - votes.backward
    rows = np.flatnonzero(np.abs(net) > 1e-9 * (votes.forward + votes.backward))
    forward, low, high = net[rows] > 0, votes.low[rows], votes.high[rows]
    return np.where(forward, low, high), np.where(forward, high, low), np.abs(net[rows])


def count_cycles(n_vertices: int, edges: Directed) -> Cycles:
    """Count the groups of pairs that lie on circles: strongly connected components of more than one vertex."""
    tail, head, _ = edges
    component = strong_components(n_vertices, tail, head)
    size = np.bincount(component)
    inside = component[tail] == component[head]
    return Cycles(int((size > 1).sum()), int(size[size > 1].sum()), int(inside.sum()))


def find_circle(comparisons: Comparisons) -> list[tuple[int, int]]:
    """Return the pairs of items along a short circle, each called more alike than the next; none where all agrees."""
    votes = count_votes(comparisons)
    tail, head, _ = judgments(votes)
    n = len(votes.pairs)
    component = strong_components(n, tail, head)
    inside = np.flatnonzero(component[tail] == component[head])
    if not len(inside):
        return []
    tail, head = tail[inside], head[inside]
    edges = sparse.csr_matrix((np.ones(len(tail)), (tail, head)), shape=(n, n))
    first, back_to = int(head[0]), int(tail[0])
    before = sparse.csgraph.breadth_first_order(edges, first, return_predecessors=True)[1]
    path = [back_to]
    while path[-1] != first:
        path.append(int(before[path[-1]]))
    return [(int(i), int(j)) for i, j in votes.pairs[path[::-1]]]


def redundancy(n_vertices: int, majority: Directed, kept: Bools) -> Estimate:
    """Share of the majority judgments, made free of circles (`kept`), that the others imply."""
    tail, head, _ = majority
    if not len(tail):
        return Estimate(None, note="every question is tied: no judgment is left to follow from others")
    needed = transitive_reduction(n_vertices, tail[kept], head[kept])
    return Estimate(1 - float(needed.mean()), note="of the majority judgments follow from others")

"""Acyclic subsets: which judgments can hold together.

A set of judgments fits some distances only if its graph has no cycle. Which set of largest weight that is, is
NP-hard to say. `ordered_edges` (the default) breaks each strongly connected component by the order of Eades, Lin &
Smyth (1993), sifted; `greedy_edges` is Algorithm 1 of McFee & Lanckriet (2011), which takes edges in random order as
long as they close no cycle. In print that is called a 1/2-approximation, which a fixed order is not: the edges that
greedy rejects all point backwards in its final order, so they are acyclic too, and the heavier of the two sets has at
least half the weight. Both results are made maximal: every edge left out closes a cycle with those kept.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from similitude.graph import compiled
from similitude.types import Bools, Floats, Seed

Indices = npt.NDArray[np.integer]

_PASSES = 20
_BITS = 36  # of the heaviest edge, as weights are compared: sums of 100,000 such are exact
# A table of bits for so many vertices takes 450 MB.
BITS_BELOW = 60_000
_SEARCHED_EDGES = 4_000


def ordered_edges(n_vertices: int, tail: Indices, head: Indices, weight: Floats) -> Bools:
    """Return which directed edges to keep so that no cycle is left: much weight, and maximal."""
    kept = np.ones(len(tail), bool)
    inside, tail, head, weight, component = _in_components(n_vertices, tail, head, weight)
    if not len(inside):
        return kept
    weight = _whole(weight)[0]
    out, into = rows(len(component), tail, head, weight), rows(len(component), head, tail, weight)
    order = compiled.eades_order(out[0], out[1], out[2], into[0], into[1], into[2])
    order = order[np.argsort(component[order], kind="stable")]  # a component's vertices side by side: short moves
    order = compiled.sift(order, out[0], out[1], out[2], into[0], into[1], into[2], _PASSES)
    kept[inside] = _maximal(order, tail, head, weight)
    return kept


def greedy_edges(n_vertices: int, tail: Indices, head: Indices, weight: Floats, random_state: Seed = None) -> Bools:
    """Return which directed edges greedy insertion in random order keeps, with the repair for the 1/2 guarantee."""
    rng = np.random.default_rng(random_state)
    place, kept = np.arange(n_vertices), np.zeros(len(tail), bool)
    candidates = rng.permutation(len(tail))
    tail, head = tail.astype(np.int64), head.astype(np.int64)
    compiled.insert_edges(place, tail, head, kept, kept.copy(), candidates)
    if weight[~kept].sum() > weight[kept].sum():
        kept = ~kept
        rest = candidates[~kept[candidates]]
        compiled.insert_edges(n_vertices - 1 - place, tail, head, kept, kept.copy(), rest)
    return kept


def cycle_loss(
    n_vertices: int, tail: Indices, head: Indices, weight: Floats, kept: Bools | None = None
) -> tuple[float, float]:
    """Return bounds on the weight that must be lost to break all cycles.

    Below: cycles found that share no weight, of each of which some edge must go. Above: what `kept`, the result of
    `ordered_edges` (computed here when not given), loses.
    """
    if kept is None:
        kept = ordered_edges(n_vertices, tail, head, weight)
    rejected = np.flatnonzero(~kept)
    if not len(rejected):
        return 0.0, 0.0
    whole, unit = _whole(weight)
    start, end, _, edge = rows(n_vertices, tail, head, whole)
    heaviest = rejected[np.argsort(-whole[rejected], kind="stable")]
    tail, head = tail.astype(np.int64), head.astype(np.int64)
    packed = compiled.pack_cycles(start, end, edge, tail, head, whole, heaviest, _SEARCHED_EDGES)
    upper = float(weight[rejected].sum())
    return min(float(packed) * unit, upper), upper


def _whole(weight: Floats) -> tuple[Floats, float]:
    """Return weights as multiples of a small unit, and that: sums of them are the same in whatever order.

    Weights such as 0.1 + 0.7 and 0.7 + 0.1 differ in their last bit, by which the order of rows would break ties. The
    unit is a power of two, so that counts stay what they are, and does not hang on the last bit of the heaviest.
    """
    exponent = int(np.rint(np.log2(max(weight.max(), np.finfo(float).tiny)))) - _BITS
    return np.rint(np.ldexp(weight, -exponent)), float(np.ldexp(1.0, exponent))


def strong_components(n_vertices: int, tail: Indices, head: Indices) -> Indices:
    """Return the strongly connected component of each vertex."""
    graph = sparse.coo_matrix((np.ones(len(tail), np.int8), (tail, head)), shape=(n_vertices, n_vertices))
    return sparse.csgraph.connected_components(graph, directed=True, connection="strong")[1]


def rows(n_vertices: int, tail: Indices, head: Indices, weight: Floats) -> tuple[Indices, Indices, Floats, Indices]:
    """Return edges as rows by their tail: start of each row, the heads, the weights, and the edge behind each."""
    edge = np.argsort(tail, kind="stable")
    return row_starts(n_vertices, tail), head[edge].astype(np.int64), weight[edge], edge


def row_starts(n_vertices: int, tail: Indices) -> Indices:
    """Return where the row of each vertex starts when edges are sorted by their tail."""
    return np.concatenate([[0], np.cumsum(np.bincount(tail, minlength=n_vertices))])


def _in_components(
    n_vertices: int, tail: Indices, head: Indices, weight: Floats
) -> tuple[Indices, Indices, Indices, Floats, Indices]:
    """Return the edges that lie on a cycle, over the vertices that do, numbered anew, with each vertex's component."""
    label = strong_components(n_vertices, tail, head)
    inside = np.flatnonzero(label[tail] == label[head])
    used = np.zeros(n_vertices, bool)
    used[tail[inside]] = used[head[inside]] = True
    number = np.cumsum(used) - 1
    return inside, number[tail[inside]], number[head[inside]], weight[inside], label[used]


def _maximal(order: Indices, tail: Indices, head: Indices, weight: Floats) -> Bools:
    """Keep the edges that agree with an order, then add others, heaviest first, where they close no cycle."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    kept = place[tail] < place[head]
    linked, rest = kept.copy(), np.flatnonzero(~kept)
    if len(order) <= BITS_BELOW:  # most of the rest closes a cycle at once, and few edges carry all paths
        edge = np.flatnonzero(kept)
        edge = edge[np.lexsort((place[head[edge]], tail[edge]))]
        bits, needed = compiled.closure(order, row_starts(len(order), tail[edge]), head[edge])
        linked[edge] = needed
        rest = rest[~compiled.closes_cycle(bits, tail[rest], head[rest])]
    span = place[tail[rest]] - place[head[rest]]
    compiled.insert_edges(place, tail, head, kept, linked, rest[np.lexsort((span, -weight[rest]))])
    return kept


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

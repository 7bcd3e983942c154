"""Cleaning as one writes it with networkx: the same algorithm on dictionaries.

Majority, strongly connected components, Eades-Lin-Smyth order, sifting, and every edge left out added where it closes
no cycle.
"""

from __future__ import annotations

from collections import defaultdict

import networkx as nx
import numpy as np

PASSES = 5


def kept_weight(quadruplets: np.ndarray) -> float:
    """Return the weight that is left of comparisons (rows i, j, k, l) of weight 1."""
    graph = _majority(quadruplets)
    for component in list(nx.strongly_connected_components(graph)):
        if len(component) > 1:
            part = graph.subgraph(component).copy()
            place = _sifted(part, _eades(part))
            _make_maximal(graph, [edge for edge in part.edges(data="weight") if place[edge[0]] > place[edge[1]]])
    return graph.size("weight")


def _make_maximal(graph: nx.DiGraph, rejected: list) -> None:
    graph.remove_edges_from([(u, v) for u, v, _ in rejected])
    for u, v, weight in sorted(rejected, key=lambda edge: -edge[2]):
        if not nx.has_path(graph, v, u):
            graph.add_edge(u, v, weight=weight)


def _majority(quadruplets: np.ndarray) -> nx.DiGraph:
    votes: dict = defaultdict(float)
    for i, j, k, l in quadruplets.tolist():
        near, far = (min(i, j), max(i, j)), (min(k, l), max(k, l))
        votes[near, far] += 1
    graph = nx.DiGraph()
    for (near, far), weight in votes.items():
        net = weight - votes.get((far, near), 0.0)
        if net > 0:
            graph.add_edge(near, far, weight=net)
    return graph


def _eades(graph: nx.DiGraph) -> list:
    left = nx.DiGraph(graph)
    front, back = [], []
    delta = {v: left.out_degree(v, "weight") - left.in_degree(v, "weight") for v in left}
    ends = [v for v in left if left.out_degree(v) == 0 or left.in_degree(v) == 0]
    while left:
        v = ends.pop() if ends else max(delta, key=delta.__getitem__)
        if v not in left:
            continue
        (back if left.out_degree(v) == 0 and left.in_degree(v) > 0 else front).append(v)
        for x, data in left[v].items():
            delta[x] += data["weight"]
            if left.in_degree(x) == 1:
                ends.append(x)
        for x, _, weight in left.in_edges(v, data="weight"):
            delta[x] -= weight
            if left.out_degree(x) == 1:
                ends.append(x)
        left.remove_node(v)
        del delta[v]
    return front + back[::-1]


def _sifted(graph: nx.DiGraph, order: list) -> dict:
    for _ in range(PASSES):
        place = {v: k for k, v in enumerate(order)}
        for v in list(order):
            passing = [(place[x], weight) for _, x, weight in graph.out_edges(v, data="weight")]
            passing += [(place[x], -weight) for x, _, weight in graph.in_edges(v, data="weight")]
            loss = now = best = graph.in_degree(v, "weight")
            slot = -1
            for where, weight in sorted(passing):
                loss += weight
                if where < place[v]:
                    now = loss
                if loss < best:
                    best, slot = loss, where
            if best < now:
                start = place[v]
                order.pop(start)
                order.insert(slot if slot > start else slot + 1, v)
                low, high = min(start, slot + 1), max(start, slot) + 1
                for k in range(low, high):
                    place[order[k]] = k
    return {v: k for k, v in enumerate(order)}

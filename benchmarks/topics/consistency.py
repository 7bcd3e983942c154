"""Cleaning feedback: time beside networkx, cost by size, and how much of the weight is kept.

`consistency_speed`: majority and acyclic; memory is the peak above the data. `consistency_kept`: weight kept of the
majority's edges by greedy insertion (Algorithm 1, one random order) and by the ordered heuristic, and what no method
can exceed (cycles packed). `consistency_exact`: on strong components of at most 25 vertices, igraph's integer program
as the judge.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import similitude as sm
from benchmarks import networkx_clean, real_data
from benchmarks.report import Row, Table
from benchmarks.settings import Settings
from benchmarks.workers.serve import peak, reset_peak
from similitude.graph.acyclic import cycle_loss, greedy_edges, ordered_edges, strong_components
from similitude.graph.votes import count_votes, directed

LONG = True
SPEED = {
    "comparisons": "",
    "n": "d",
    "m": ",d",
    "ours s": ".2f",
    "peak MB": ".0f",
    "networkx s": ".1f",
    "speedup": ".0f",
}
KEPT = {"data": "", "votes": ",.0f", "greedy": ",.0f", "ordered": ",.0f", "at most": ",.0f"}
EXACT = {"data": "", "components": "d", "weight": ",.0f", "ordered loses": ",.0f", "least loss": ",.0f"}
LARGEST_EXACT = 25


def run(settings: Settings) -> Iterator[Table]:
    yield speed(settings)
    human = {name: real_data.answers(name) for name in real_data.DATA}
    yield Table("consistency_kept", "Weight kept, majority of the votes", KEPT, [kept(*item) for item in human.items()])
    rows = [exact(*item) for item in human.items()]
    note = f"strongly connected components of at most {LARGEST_EXACT} vertices; judge: igraph's integer program"
    yield Table("consistency_exact", "Loss on small components", EXACT, rows, note)


def speed(settings: Settings) -> Table:
    table = Table(
        "consistency_speed", "Cleaning: majority and acyclic", SPEED, note="networkx: on food100 and the smallest"
    )
    cases: list[tuple[str, Callable[[], sm.Comparisons], bool]] = [
        ("food100, unique triplets", food_unique, True),
        ("300 items, 10% wrong", lambda: simulated(300, 10_000), True),
        ("300 items, 10% wrong", lambda: simulated(300, 100_000), False),
        ("300 items, 10% wrong", lambda: simulated(300, 1_000_000), False),
        ("10,000 items, 10% wrong", lambda: simulated(10_000, 1_000_000), False),
    ]
    sm.clean(simulated(20, 500))  # compile
    for name, make, beside in cases[:2] if settings.quick else cases:
        c = make()
        before = reset_peak()
        ours = min(timed(sm.clean, c) for _ in range(settings.repeats))
        above = peak() - before
        theirs = timed(networkx_clean.kept_weight, c.quadruplets) if beside else None
        table.rows.append(
            {"comparisons": name, "n": c.n_items, "m": len(c), "ours s": ours, "peak MB": above, "networkx s": theirs}
            | ({"speedup": theirs / ours} if theirs else {})
        )
    return table


def simulated(n: int, m: int) -> sm.Comparisons:
    truth = np.random.default_rng(90_002).normal(size=(n, 3))
    return sm.simulate(truth, m, flip=0.1, random_state=90_003)


def food_unique() -> sm.Comparisons:
    return sm.read_comparisons(real_data.folder() / "food100" / "triplets_unique.csv.gz")


def timed(function: Callable[..., Any], *arguments: Any) -> float:
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def majority_edges(c: sm.Comparisons) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    votes = count_votes(sm.majority(c))
    return len(votes.pairs), *directed(votes)[:3]


def kept(name: str, c: sm.Comparisons) -> Row:
    edges = majority_edges(c)
    weight = edges[3]
    lower, _ = cycle_loss(*edges)
    return {
        "data": name,
        "votes": weight.sum(),
        "greedy": weight[greedy_edges(*edges, random_state=1)].sum(),
        "ordered": weight[ordered_edges(*edges)].sum(),
        "at most": weight.sum() - lower,
    }


def exact(name: str, c: sm.Comparisons) -> Row:
    import igraph

    n, tail, head, weight = majority_edges(c)
    label = strong_components(n, tail, head)
    size = np.bincount(label)
    lost = ~ordered_edges(n, tail, head, weight)
    found = {"data": name, "components": 0, "weight": 0.0, "ordered loses": 0.0, "least loss": 0.0}
    for component in np.flatnonzero((size > 1) & (size <= LARGEST_EXACT)):
        inside = np.flatnonzero((label[tail] == component) & (label[head] == component))
        vertices, ends = np.unique(np.stack([tail[inside], head[inside]], 1), return_inverse=True)
        graph = igraph.Graph(len(vertices), ends.reshape(-1, 2).tolist(), directed=True)
        least = weight[inside[graph.feedback_arc_set(weights=weight[inside].tolist(), method="ip")]].sum()
        found["components"] += 1
        found["weight"] += weight[inside].sum()
        found["ordered loses"] += weight[inside][lost[inside]].sum()
        found["least loss"] += least
    return found

"""Online learning: time of an answer (ERKLE, OnlineEmbedding, a full eigendecomposition), and error beside batch fits.

`online_speed`: seconds per answer at n=1,000. ERKLE goes on from a kernel that 5,000 answers made, where nearly every
update needs an eigenpair; beside it the same updates with a full eigendecomposition each (scipy.linalg.eigh).
OnlineEmbedding learns 10,000 answers at rank 50 in one call. `online_single`: one answer per call, as a live study
sends them, the checks included; p50 and p99. `online_error`: the thesis' small synthetic data (100 points in 50
dimensions, 10,000 noise-free answers), error on 100,000 unseen answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg

import similitude as sm
from benchmarks.report import Row, Table
from benchmarks.settings import Settings
from similitude.engine.threads import one_blas_thread

LONG = False
SPEED = {"method": "", "n": "d", "answers": ",d", "microseconds an answer": ",.2f", "times faster than ERKLE": ",.2f"}
SINGLE = {"call": "", "p50 microseconds": ",.1f", "p99 microseconds": ",.1f"}
ERROR = {"method": "", "error": ".4f", "seconds": ".3f"}
Rows = npt.NDArray[np.int32]


def run(settings: Settings) -> Iterator[Table]:
    with sm.limit_threads(settings.threads), one_blas_thread():
        yield speed(settings)
        yield single(settings)
        yield errors(settings)


def answers(n: int, count: int, seed: int) -> Rows:
    points = np.random.default_rng(90_007).normal(size=(n, 50))
    return sm.simulate(points, count, random_state=90_008 + seed).triplets


def timed(function: Callable[..., Any], *arguments: Any) -> float:
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def speed(settings: Settings) -> Table:
    n, before, count, some = (200, 500, 1000, 20) if settings.quick else (1000, 5000, 10_000, 100)
    stream = answers(n, before + count, 0)
    K = sm.ERKLE(n_items=n, project_every=500).partial_fit(stream[:before]).kernel_
    update = stream[before : before + some]
    erkle = min(timed(erkle_from(K, update[:1]).partial_fit, update) for _ in range(settings.repeats)) / some
    full = min(timed(full_eigendecompositions, K, update[:5]) for _ in range(settings.repeats)) / 5
    times = [("full eigendecomposition per update", full, 5), ("ERKLE", erkle, some)]
    for replay in (0, 10, 50):
        seconds = min(timed(live(n, replay, stream).partial_fit, stream[before:]) for _ in range(settings.repeats))
        times.append((f"OnlineEmbedding, rank 50, replay {replay}", seconds / count, count))
    table = Table("online_speed", "Online: time of an answer", SPEED, note="one thread; best of the repeats")
    for name, seconds, number in times:
        row: Row = {"method": name, "n": n, "answers": number, "microseconds an answer": 1e6 * seconds}
        table.rows.append(row | {"times faster than ERKLE": erkle / seconds})
    return table


def erkle_from(K: npt.NDArray[np.float64], first: Rows) -> sm.ERKLE:
    """A model that goes on from a kernel, begun so that only updates are timed."""
    return sm.ERKLE(init_kernel=K, n_items=len(K)).partial_fit(first)


def live(n: int, replay: int, first: Rows) -> sm.OnlineEmbedding:
    return sm.OnlineEmbedding(50, n_items=n, replay=replay, random_state=0).partial_fit(first[: 2 * replay + 1])


def full_eigendecompositions(K: npt.NDArray[np.float64], rows: Rows) -> None:
    """The same passive-aggressive updates, projected as a textbook does."""
    K = K.copy()
    for a, b, c in rows:
        gamma = max(0.0, 1.0 + K[b, b] - 2 * K[a, b] - K[c, c] + 2 * K[a, c]) / 10
        for i, j, entry in ((a, b, 2), (b, a, 2), (a, c, -2), (c, a, -2), (b, b, -1), (c, c, 1)):
            K[i, j] += gamma * entry
        values, vectors = linalg.eigh(K)
        K = (vectors * np.maximum(values, 0.0)) @ vectors.T


def single(settings: Settings) -> Table:
    count = 300 if settings.quick else 5000
    stream = answers(1000, count, 1)
    names = [f"item {k}" for k in range(1000)]
    cases: dict[str, tuple[sm.OnlineEmbedding, Callable[[Any], Any]]] = {
        f"positions, rank {rank}, replay {replay}": (
            sm.OnlineEmbedding(rank, n_items=1000, replay=replay),
            np.atleast_2d,
        )
        for rank, replay in ((2, 0), (2, 50), (50, 0), (50, 50))
    }
    cases["names, rank 2, replay 50"] = sm.OnlineEmbedding(2), lambda row: [tuple(names[k] for k in row)]
    table = Table("online_single", "Online: one answer per call", SINGLE, note="n=1,000; checks included")
    everything = sm.Comparisons.from_triplets(stream, names=names)
    for name, (model, form) in cases.items():
        model.partial_fit(everything[:0] if name.startswith("names") else np.empty((0, 3), int))
        times = [timed(model.partial_fit, form(row)) for row in stream]
        p50, p99 = 1e6 * np.percentile(times, [50, 99])
        table.rows.append({"call": name, "p50 microseconds": p50, "p99 microseconds": p99})
    return table


def errors(settings: Settings) -> Table:
    count = 1000 if settings.quick else 10_000
    everything = answers(100, count + 100_000, 2)
    train, test = everything[:count], everything[count:]
    known = {"n_items": 100, "random_state": settings.seed}
    penalty = 100 / count
    methods: dict[str, Any] = {
        "ERKLE, 1 pass": sm.ERKLE(**known),
        "ERKLE, 10 passes": sm.ERKLE(passes=10, **known),
        "OnlineEmbedding, no replay": sm.OnlineEmbedding(50, replay=0, **known),
        "OnlineEmbedding, replay 10": sm.OnlineEmbedding(50, replay=10, **known),
        "OnlineEmbedding, replay 50": sm.OnlineEmbedding(50, **known),
        "OnlineEmbedding, replay 50, hinge": sm.OnlineEmbedding(50, loss="hinge", **known),
        "STE, batch": sm.STE(50, penalty=penalty, **known),
        "RCKL logistic, certified": sm.RCKL(loss="logistic", penalty=penalty, n_items=100),
    }
    table = Table("online_error", "Online: error on the thesis' small synthetic data", ERROR, note="RCKL: gap proven")
    for name, model in methods.items():
        seconds = timed(model.fit, train)
        table.rows.append({"method": name, "error": 1 - model.score(test), "seconds": seconds})
        if name == "OnlineEmbedding, replay 50":
            seconds = timed(model.refit)
            row = {"method": "OnlineEmbedding, replay 50, then refit", "error": 1 - model.score(test)}
            table.rows.append(row | {"seconds": seconds})
    return table

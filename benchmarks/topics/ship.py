"""A shipped map of 512 numbers to 8: time of one row and of a million, beside numpy's product and scikit-learn's NCA.

`ship_latency`: the three in turn, each round beginning with another. One row: the median over 2,000 calls. A million
rows: the best of some rounds; CPU seconds stand beside, since other work on the machine changes them less, and the
ratio is of these. What is asked for is an array of floats that is placed, with rows that lack features found out; NCA's
`transform` checks its input, too, and takes the product. `ship_files`: what is shipped of a fit of 5,000 items, beside
a pickle of the estimator; the fit is cut short, which changes neither size nor speed.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from threadpoolctl import threadpool_limits

import similitude as sm
from benchmarks.report import Row, Table
from benchmarks.settings import Settings

LONG = False
ITEMS, NUMBERS, DIMENSIONS, ANSWERS = 5_000, 512, 8, 20_000
CALLS = 2_000
LATENCY = {
    "what": "",
    "bits": "d",
    "one row us": ".1f",
    "a million rows s": ".2f",
    "CPU s": ".2f",
    "times the product": ".2f",
}
FILES = {"what": "", "kB": ",.0f", "load ms": ".1f"}


def run(settings: Settings) -> Iterator[Table]:
    model, vectors = shipped(settings.quick)
    loaded = sm.Similarity.from_bytes(model.similarity_.to_bytes())
    with threadpool_limits(settings.threads):
        yield latency(loaded, vectors, settings)
    yield files(model, settings)


def shipped(quick: bool) -> tuple[sm.FeatureEmbedding, np.ndarray]:
    """A model to ship, and the vectors of its items."""
    vectors = np.random.default_rng(0).normal(size=(200 if quick else ITEMS, NUMBERS))
    answers = sm.simulate(vectors[:, :DIMENSIONS], 1_000 if quick else ANSWERS, random_state=0)
    model = sm.FeatureEmbedding(DIMENSIONS, max_iter=20, tol=1e-2, random_state=0)
    return model.fit(answers, features=vectors), vectors


def latency(loaded: sm.Similarity, vectors: np.ndarray, settings: Settings) -> Table:
    assert loaded.feature_map is not None
    assert loaded.feature_map.affine is not None
    matrix, _ = loaded.feature_map.affine
    nca = NeighborhoodComponentsAnalysis(DIMENSIONS, max_iter=1, random_state=0)
    nca.fit(vectors[:100], np.arange(100) % 2)
    table = Table(
        "ship_latency",
        f"Vectors of {NUMBERS} numbers to {DIMENSIONS} dimensions",
        LATENCY,
        note=f"{settings.threads} thread(s); in turn; a million rows: best of {settings.repeats}",
    )
    for bits in (64, 32):
        kind = np.dtype(f"f{bits // 8}")
        own = matrix.astype(kind)
        sides = {"numpy: X @ matrix": lambda X, own=own: X @ own, "Similarity.transform": loaded.transform}
        if bits == 64:  # of 32 bits it makes 64 first
            sides["NeighborhoodComponentsAnalysis.transform"] = nca.transform
        table.rows += measured(sides, bits, many_rows(kind, settings.quick), settings.repeats)
    return table


def many_rows(kind: np.dtype[Any], quick: bool) -> np.ndarray:
    rng = np.random.default_rng(1)
    return rng.standard_normal((2_000 if quick else 1_000_000, NUMBERS), dtype=kind)


def measured(sides: dict[str, Callable[[Any], Any]], bits: int, rows: np.ndarray, repeats: int) -> list[Row]:
    """Time all sides in turn, so that other work on the machine strikes them alike."""
    one: dict[str, list[float]] = {what: [] for what in sides}
    for _ in range(CALLS):
        for what, transform in sides.items():
            one[what].append(seconds(transform, rows[:1]))
    order = list(sides)
    rounds = [in_turn(sides, order[k % len(order) :] + order[: k % len(order)], rows) for k in range(repeats)]
    wall, cpu = ({what: min(found[what][k] for found in rounds) for what in sides} for k in (0, 1))
    return [
        {
            "what": what,
            "bits": bits,
            "one row us": 1e6 * float(np.median(one[what])),
            "a million rows s": wall[what],
            "CPU s": cpu[what],
            "times the product": cpu[what] / cpu[order[0]],
        }
        for what in sides
    ]


def in_turn(
    sides: dict[str, Callable[[Any], Any]], order: list[str], rows: np.ndarray
) -> dict[str, tuple[float, float]]:
    """Wall and CPU seconds of each side, in this order."""
    found = {}
    for what in order:
        cpu = time.process_time()
        wall = seconds(sides[what], rows)
        found[what] = wall, time.process_time() - cpu
    return found


def files(model: Any, settings: Settings) -> Table:
    whole, pickled = model.similarity_.to_bytes(), pickle.dumps(model)
    table = Table(
        "ship_files", f"What is shipped of {ITEMS:,} items with {NUMBERS} numbers, {DIMENSIONS} dimensions", FILES
    )
    table.note = f"load: best of {settings.repeats}"
    for what, data, load in (
        ("Similarity.save: everything that was learned", whole, sm.Similarity.from_bytes),
        ("pickle of the estimator, with its training items", pickled, pickle.loads),
    ):
        best = min(seconds(load, data) for _ in range(settings.repeats))
        table.rows.append({"what": what, "kB": len(data) / 1000, "load ms": 1e3 * best})
    return table


def seconds(function: Callable[[Any], Any], argument: Any) -> float:
    start = time.perf_counter()
    function(argument)
    return time.perf_counter() - start

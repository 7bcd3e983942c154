"""Comparing two models: `compare` by the number of items, its defaults, beside the definition in plain scipy.

`definition s` draws items with replacement and ranks all their pairs anew, as Spearman's correlation of a bootstrap is
defined; ten draws are timed, and reckoned for as many as `compare` makes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from scipy import stats
from scipy.spatial import distance

import similitude as sm
from benchmarks.report import Row, Table
from benchmarks.settings import Settings

LONG = False
DRAWS, TIMED = 500, 10
COLUMNS = {
    "items": ",d",
    "s": ".2f",
    "CPU s": ".2f",
    "definition s": ".0f",
    "pairs": ",d",
    "error": ".5f",
    "off by": ".5f",
}


def run(settings: Settings) -> Iterator[Table]:
    note = "500 draws and 500 matchings; error: as stated; off by: the correlation of all pairs less ours"
    table = Table("agreement", "Comparing two models", COLUMNS, note=note)
    loss = sm.STE(2).comparison_loss()
    for n in (50,) if settings.quick else (200, 500, 1_000, 5_000, 100_000):
        rng = np.random.default_rng(90_003)
        X = rng.normal(size=(n, 5))
        maps = X, X + 0.5 * rng.normal(size=X.shape)
        table.rows.append(one_size(n, [sm.Similarity(one, loss) for one in maps], maps))
    yield table


def one_size(n: int, models: list[sm.Similarity], maps: tuple[np.ndarray, np.ndarray]) -> Row:
    sm.compare(models[0], models[0], n_resamples=1)  # what is compiled, is compiled
    spent, start = time.process_time(), time.perf_counter()
    found = sm.compare(*models, random_state=0)
    row: Row = {"items": n, "s": time.perf_counter() - start, "CPU s": time.process_time() - spent}
    row |= {"pairs": found.distances.shape[1], "error": found.error}
    if n > 5_000:
        return row
    true = stats.spearmanr(*(distance.pdist(X) for X in maps)).statistic
    return row | {"off by": true - found.correlation, "definition s": by_definition(maps) if n <= 1_000 else None}


def by_definition(maps: tuple[np.ndarray, np.ndarray]) -> float:
    rng, count = np.random.default_rng(0), len(maps[0])
    start = time.perf_counter()
    for _ in range(TIMED):
        items = rng.integers(0, count, count)
        a, b = items[np.stack(np.triu_indices(count, 1))]
        kept = a != b
        stats.spearmanr(*(np.linalg.norm(X[a[kept]] - X[b[kept]], axis=1) for X in maps))
    return (time.perf_counter() - start) * DRAWS / TIMED

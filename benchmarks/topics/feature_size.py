"""Features of many items: a map of 512 features plus what is free for each item, up to a million items.

On the CPU, and on a GPU where torch has one. Answers are drawn from a known linear map of the features with the
logistic noise of STE; accuracy is that on a hundred thousand further questions, beside the truth's own.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator

import numpy as np

import similitude as sm
from benchmarks.report import Row, Table
from benchmarks.settings import Settings
from benchmarks.topics.gpu import has_gpu
from similitude.types import Floats

LONG = True
SIZES = ((20_000, 512, 200_000), (200_000, 512, 2_000_000), (1_000_000, 512, 10_000_000))
DIMENSIONS = 10
COLUMNS = {
    "items": "d", "features": "d", "comparisons": "d", "device": "", "seconds": ".0f", "iterations": "d",
    "accuracy": ".4f", "new items": ".4f", "truth": ".4f", "peak GB": ".1f",
}  # fmt: skip


def run(settings: Settings) -> Iterator[Table]:
    table = Table("feature_size", f"FeatureEmbedding of many items ({DIMENSIONS} dimensions)", COLUMNS)
    for n, q, m in [(1000, 32, 10_000)] if settings.quick else SIZES:
        for device in ("cuda", "cpu") if has_gpu() else ("cpu",):
            table.rows.append(fitted(n, q, m, device, settings.seed))
            print(table.rows[-1], flush=True)
    yield table


def fitted(n: int, q: int, m: int, device: str, seed: int) -> Row:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, q)).astype(np.float32)
    W = (rng.normal(size=(q, DIMENSIONS)) * np.sqrt(2.0 / (q * DIMENSIONS))).astype(np.float32)
    truth, known = (X @ W).astype(float), n - n // 10
    learned = drawn(truth[:known], m, rng)
    began = time.perf_counter()
    model = sm.FeatureEmbedding(DIMENSIONS, device=device, random_state=0).fit(learned, features=X[:known])
    seconds = time.perf_counter() - began
    seen, new = drawn(truth[:known], 100_000, rng), drawn(truth[known:], 100_000, rng)
    placed = sm.Similarity(model.transform(X[known:]), model.similarity_.loss)
    return {
        "items": n, "features": q, "comparisons": m, "device": device, "seconds": seconds, "iterations": model.n_iter_,
        "accuracy": model.score(seen), "new items": placed.score(new),
        "truth": sm.Similarity(truth[:known], model.similarity_.loss).score(seen),
        "peak GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }  # fmt: skip


def drawn(truth: Floats, m: int, rng: np.random.Generator) -> sm.Comparisons:
    """m triplets at random, answered with logistic noise."""
    rows = rng.integers(0, len(truth), (m, 3))
    rows = rows[(rows[:, 0] != rows[:, 1]) & (rows[:, 0] != rows[:, 2]) & (rows[:, 1] != rows[:, 2])]
    gap = sum(sign * ((truth[rows[:, 0]] - truth[rows[:, k]]) ** 2).sum(1) for k, sign in ((1, -1.0), (2, 1.0)))
    agrees = rng.random(len(rows)) < 1.0 / (1.0 + np.exp(-gap))
    rows[~agrees, 1:] = rows[~agrees, 1:][:, ::-1]
    return sm.Comparisons.from_triplets(rows, n_items=len(truth))

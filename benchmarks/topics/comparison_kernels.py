"""Kernels straight from comparisons: time and memory beside dense features, cost by size, digits beside embeddings.

`kernels_dense`: features and kernel of human answers (food100) and of a tenth of all triplets about 400 items, beside
the formula on dense arrays (counts for and against each entry, then one matrix product). `kernels_size`: 30 landmarks
and 150 triplets per item, 15 % wrong: features, kernel k-means (10 clusters, 5 starts) and kernel PCA without the
kernel matrix, and the matrix itself in single precision where it fits. `kernels_digits`: clusters of handwritten digits
from the same landmark triplets: k1 with k-means, also after kernel PCA to ten dimensions, and k-means on embeddings in
5 dimensions (the paper's choice) and in 10, by us; by cblearn, whose fits take minutes, one method in 5 dimensions, not
at the largest error. Each case of the first two runs in a process of its own, after a small one that compiles; memory
is the peak above libraries and triplets.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

import similitude as sm
from benchmarks import real_data
from benchmarks.peers import Worker
from benchmarks.report import Row, Table
from benchmarks.settings import Settings
from benchmarks.workers.serve import peak, reset_peak

LONG = True
LANDMARKS, PER_ITEM, CLUSTERS = 30, 150, 10
LARGEST_KERNEL = 20_000
CBLEARN, CBLEARN_WRONG = ("CKL",), (0.0, 0.15)
DENSE = {
    "triplets": "", "kind": "", "n": "d", "m": ",d", "features s": ".3f", "kernel s": ".3f", "MB": ".0f",
    "dense s": ".3f", "dense MB": ".0f", "speedup": ".1f", "memory share": ".3f", "largest difference": ".0e",
}  # fmt: skip
SIZE = {
    "n": ",d", "m": ",d", "kind": "", "features s": ".2f", "features MB": ".0f", "k-means s": ".2f", "PCA s": ".2f",
    "MB without kernel": ".0f", "kernel s": ".1f", "kernel MB": ".0f",
}  # fmt: skip
DIGITS = {"wrong": ".2f", "method": "", "library": "", "d": "", "seconds": ".2f", "purity": ".3f", "to k1": "+.3f"}


def run(settings: Settings) -> Iterator[Table]:
    yield beside_dense(settings)
    yield by_size(settings)
    yield digits(settings)


def alone(function: Callable[..., Row], *arguments: Any) -> Row:
    """Return what a function returns in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def baseline() -> float:
    """Give back memory that was freed, forget the peak so far, and return what is in use now."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    return reset_peak()


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def beside_dense(settings: Settings) -> Table:
    table = Table(
        "kernels_dense",
        "Features and kernel, beside dense features",
        DENSE,
        note="times: best of the repeats; goal on food100 0.05 s",
    )
    sources = ["simulated"] if settings.quick else ["food100", "simulated"]
    for source in sources:
        for kind in ("k1", "k2"):
            table.rows.append(alone(compare_dense, source, kind, 60 if settings.quick else 400, settings.repeats))
    return table


def compare_dense(source: str, kind: str, n: int, repeats: int) -> Row:
    c = food() if source == "food100" else simulated(n)
    warm_up(kind)
    before = baseline()
    features_s, kernel_s, K = measure(c, kind)
    ours_mb = peak() - before
    before = baseline()
    dense_s, expected = timed(lambda: dense_kernel(c, kind))
    dense_mb = peak() - before
    for _ in range(repeats - 1):
        again = measure(c, kind)
        features_s, kernel_s = min(features_s, again[0]), min(kernel_s, again[1])
        dense_s = min(dense_s, timed(lambda: dense_kernel(c, kind))[0])
    return {
        "triplets": source if source == "food100" else "a tenth of all",
        "kind": kind,
        "n": c.n_items,
        "m": len(c),
        "features s": features_s,
        "kernel s": kernel_s,
        "MB": ours_mb,
        "dense s": dense_s,
        "dense MB": dense_mb,
        "speedup": dense_s / (features_s + kernel_s),
        "memory share": ours_mb / dense_mb,
        "largest difference": np.abs(K - expected).max(),
    }


def measure(c: sm.Comparisons, kind: str) -> tuple[float, float, np.ndarray]:
    features_s, model = timed(lambda: sm.ComparisonKernel(kind).fit(c))
    kernel_s, K = timed(model.kernel)
    return features_s, kernel_s, K


def dense_kernel(c: sm.Comparisons, kind: str) -> np.ndarray:
    """The formula on dense arrays, as the paper's program: all n(n-1)/2 or n² entries of every item."""
    n = c.n_items
    head, near, far = c.near[:, 0], c.near[:, 1], c.far[:, 1]
    if kind == "k1":
        low, high = np.minimum(near, far).astype(np.int64), np.maximum(near, far)
        width = n * (n - 1) // 2
        cell = head * np.int64(width) + low * (2 * n - low - 1) // 2 + high - low - 1
        won = near < far
    else:
        width = n * n
        here, there = head * np.int64(n) + far, head * np.int64(n) + near
        cell = np.concatenate([near * np.int64(width) + here, far * np.int64(width) + there])
        won = np.repeat([True, False], len(near))
    features = np.bincount(cell, np.where(won, 1.0, -1.0), n * width).reshape(n, width)
    features /= np.maximum(np.bincount(cell, minlength=n * width), 1).reshape(n, width)
    features /= np.maximum(np.sqrt(np.einsum("ij,ij->i", features, features)), 1e-300)[:, None]
    return features @ features.T


def food() -> sm.Comparisons:
    return sm.read_comparisons(real_data.folder() / "food100" / "triplets_unique.csv.gz")


def simulated(n: int) -> sm.Comparisons:
    """A tenth of all triplets about n items in the plane, drawn with replacement."""
    positions = np.random.default_rng(90_001).normal(size=(n, 2))
    return sm.simulate(positions, n * (n - 1) * (n - 2) // 20, random_state=90_002)


def warm_up(kind: str) -> None:
    rows = sm.random_questions(12, 400, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sm.FeedbackWarning)  # so few answers leave items without any
        sm.ComparisonKernel(kind).fit(sm.random_questions(100, 200, random_state=0)).kernel()
    sm.ComparisonKernel(kind).fit(rows).kernel()
    everything = sm.ComparisonKernel(kind, landmarks=np.arange(12)).fit(rows)
    sm.KernelKMeans(2, kernel="linear", random_state=0).fit(everything.features_)


def by_size(settings: Settings) -> Table:
    note = (
        f"{LANDMARKS} landmarks, {PER_ITEM} triplets per item; goals at 20,000: 1 s, 5 s, 20 s, 4,000 MB; one run each"
    )
    table = Table("kernels_size", "Landmark design by number of items", SIZE, note=note)
    sizes = (500,) if settings.quick else (1_000, 5_000, 20_000, 100_000)
    table.rows.extend(alone(one_size, n, kind) for kind in ("k1", "k2") for n in sizes)
    return table


def one_size(n: int, kind: str) -> Row:
    landmarks = sm.choose_landmarks(n, LANDMARKS, random_state=90_001)
    questions = sm.landmark_questions(n, landmarks, kind, PER_ITEM * n, random_state=90_002)
    centres = 4.0 * np.random.default_rng(90_003).normal(size=(CLUSTERS, 5))
    positions = np.random.default_rng(90_004).normal(size=(n, 5)) + centres[np.arange(n) % CLUSTERS]
    c = sm.simulate(positions, questions=questions, flip=0.15, random_state=90_005)
    warm_up(kind)
    before = baseline()
    features_s, model = timed(lambda: sm.ComparisonKernel(kind, landmarks=landmarks).fit(c))
    features = model.features_
    cluster = sm.KernelKMeans(CLUSTERS, kernel="linear", random_state=0)
    row = {
        "n": n,
        "m": len(c),
        "kind": kind,
        "features s": features_s,
        "features MB": peak() - before,
        "k-means s": timed(lambda: cluster.fit(features))[0],
        "PCA s": timed(lambda: sm.kernel_map(features, kernel="linear"))[0],
        "MB without kernel": peak() - before,
        "purity": sm.purity(np.arange(n) % CLUSTERS, cluster.labels_),
    }
    if n <= LARGEST_KERNEL:
        row["kernel s"] = timed(lambda: model.kernel(dtype=np.float32))[0]
        row["kernel MB"] = peak() - before
    return row


def digits(settings: Settings) -> Table:
    note = (
        f"1,797 digits, {LANDMARKS} landmarks, {PER_ITEM} triplets per item, one draw; seconds: features, or the "
        f"embedding; {settings.threads} thread(s)"
    )
    table = Table("kernels_digits", "Clusters of digits from landmark triplets", DIGITS, note=note)
    X, classes = load_digits(return_X_y=True)
    X, classes = (X[:200], classes[:200]) if settings.quick else (X, classes)
    for wrong in (0.0, 0.15, 0.3):
        table.rows += one_error(X, classes, wrong, settings)
    return table


def one_error(X: np.ndarray, classes: np.ndarray, wrong: float, settings: Settings) -> list[Row]:
    n, seed = len(X), settings.seed
    landmarks = sm.choose_landmarks(n, LANDMARKS, random_state=seed)
    questions = sm.landmark_questions(n, landmarks, "k1", PER_ITEM * n, random_state=seed)
    c = sm.simulate(X, questions=questions, flip=wrong, random_state=90_001)
    warm_up("k1")
    seconds, model = timed(lambda: sm.ComparisonKernel("k1", landmarks=landmarks).fit(c))
    reducing, reduced = timed(lambda: sm.kernel_map(model.features_, 10, kernel="linear"))
    own = purity(classes, model.features_, seed)
    chance = np.random.default_rng(seed).integers(0, CLUSTERS, n)
    rows = [
        {"method": "k1", "library": "similitude", "seconds": seconds, "purity": own},
        {
            "method": "k1, kernel PCA",
            "library": "similitude",
            "d": 10,
            "seconds": seconds + reducing,
            "purity": purity(classes, reduced, seed),
        },
        *embedded(c.triplets, classes, wrong, settings),
        {"method": "k-means on the pixels", "library": "-", "purity": purity(classes, X, seed)},
        {"method": "random clusters", "library": "-", "purity": sm.purity(classes, chance)},
    ]
    return [{"wrong": wrong} | row | {"to k1": row["purity"] - own} for row in rows]


def embedded(triplets: np.ndarray, classes: np.ndarray, wrong: float, settings: Settings) -> Iterator[Row]:
    """Purity by embeddings of the same triplets: ours in 5 and in 10 dimensions, cblearn's in 5."""
    theirs = CBLEARN if wrong in CBLEARN_WRONG else ()
    with tempfile.TemporaryDirectory() as folder:
        for library, d, methods in (
            ("similitude", 5, settings.methods),
            ("similitude", 10, settings.methods),
            ("cblearn", 5, theirs),
        ):
            problem, positions = Path(folder) / "digits.npz", str(Path(folder) / "positions.npy")
            np.savez(problem, train=triplets, test=triplets[:1000], n=len(classes), d=d)
            with Worker(library, settings.threads) as worker:
                worker("load", path=str(problem))
                for method in methods:
                    worker("warm_up", method=method)
                    fit = worker("fit", method=method, seed=settings.seed, save=positions)
                    found = purity(classes, np.load(positions), settings.seed)
                    yield {"method": method, "library": library, "d": d, "purity": found, "seconds": fit["seconds"]}


def purity(classes: np.ndarray, X: np.ndarray, seed: int) -> float:
    return sm.purity(classes, KMeans(CLUSTERS, n_init=5, random_state=seed).fit_predict(X))

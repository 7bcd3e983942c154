"""Learning from features and links or labels: the spectral kernel by size and beside its exact version, CAMEL by size.

`spectral_size`: XOR, 50 links, 100 landmarks, both landmark maps: fit (which places all items) against the number of
items. `spectral_exact`: the same fit over all items, side by side in one run (the kernel has few directions, so that it
costs O(n² q), not O(n³)). `camel_size`: 50 features of which 3 count; fit with and without confidences.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from sklearn.metrics import roc_auc_score

import similitude as sm
from benchmarks.report import Row, Table
from benchmarks.settings import Settings

LONG = True
LANDMARKS, LINKS = 100, 50
STRENGTH = 0.25  # given, so that the fit alone is timed
SIZE = {"n": ",d", "landmark map": "", "fit s": ".2f", "ms per 1,000 items": ".2f", "transform s": ".2f"}
EXACT = {"n": ",d", "exact s": ".1f", "landmarks s": ".3f", "speedup": ".0f", "J exact": ".2f", "J landmarks": ".2f"}
CAMEL = {
    "n": ",d",
    "confidence": "",
    "fit s": ".1f",
    "CPU s": ".1f",
    "iterations": "d",
    "sparsity": ".3f",
    "rank": "d",
    "AUROC": ".3f",
}


def run(settings: Settings) -> Iterator[Table]:
    yield spectral_size(settings)
    yield spectral_exact(settings)
    yield camel_size(settings)


def timed(function: Callable[[], object], repeats: int = 1) -> float:
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


def xor(n: int) -> tuple[np.ndarray, np.ndarray, sm.Links]:
    rng = np.random.default_rng(90_001)
    corner = rng.integers(0, 4, n)
    X = np.array([[1, 1], [-1, -1], [1, -1], [-1, 1]])[corner] + 0.2 * rng.normal(size=(n, 2))
    pairs = rng.integers(0, n, (20 * LINKS, 2))
    same = (corner[pairs[:, 0]] // 2 == corner[pairs[:, 1]] // 2) & (pairs[:, 0] != pairs[:, 1])
    return X, corner // 2, sm.Links.from_pairs(pairs[same][:LINKS], n_items=n)


def spectral_size(settings: Settings) -> Table:
    note = f"{LANDMARKS} landmarks, {LINKS} links, one iteration; best of the repeats; linear: the fourth column stays"
    table = Table("spectral_size", "Spectral kernel by number of items", SIZE, note=note)
    for how in ("nystroem", "lle"):
        for n in (1_000,) if settings.quick else (4_000, 20_000, 100_000, 200_000):
            X, _, links = xor(n)
            model = sm.SpectralKernel(
                n_landmarks=LANDMARKS, landmark_map=how, strength=STRENGTH, random_state=settings.seed
            )
            fit = timed(lambda model=model, X=X, links=links: model.fit(X, links), settings.repeats)
            place = timed(lambda model=model, X=X: model.transform(X), settings.repeats)
            row = {"n": n, "landmark map": how, "fit s": fit, "transform s": place}
            table.rows.append(row | {"ms per 1,000 items": 1e6 * fit / n})
    return table


def spectral_exact(settings: Settings) -> Table:
    note = f"XOR, {LANDMARKS} landmarks; goal: 50 times faster at 8,000; J on 1,000 items; the exact version once"
    table = Table("spectral_exact", "Spectral kernel: landmarks beside the exact version", EXACT, note=note)
    for n in (500,) if settings.quick else (2_000, 8_000):
        X, classes, links = xor(n)
        exact = sm.SpectralKernel(n_landmarks=None, strength=STRENGTH)
        some = sm.SpectralKernel(n_landmarks=LANDMARKS, strength=STRENGTH, random_state=settings.seed)
        slow = timed(lambda exact=exact, X=X, links=links: exact.fit(X, links))
        fast = timed(lambda some=some, X=X, links=links: some.fit(X, links), settings.repeats)
        J = [sm.separation(model.distance(X[:1000]), classes[:1000]) for model in (exact, some)]
        row = {"n": n, "exact s": slow, "landmarks s": fast, "speedup": slow / fast}
        table.rows.append(row | {"J exact": J[0], "J landmarks": J[1]})
    return table


def camel_size(settings: Settings) -> Table:
    note = "50 features of which 3 count, two classes, defaults; CPU s of all threads; AUROC on 5,000 other rows; once"
    table = Table("camel_size", "CAMEL by number of rows", CAMEL, note=note)
    for n in (200,) if settings.quick else (1_000, 10_000):
        table.rows.extend(one_camel(n, with_confidence, settings.seed) for with_confidence in (False, True))
    return table


def one_camel(n: int, with_confidence: bool, seed: int) -> Row:
    rng = np.random.default_rng(90_002)
    X = rng.normal(size=(n + 5_000, 50))
    margin = X[:, 0] + 0.7 * X[:, 1] - 0.5 * X[:, 2] + 0.3 * rng.normal(size=len(X))
    sure = np.clip(1 / (1 + np.exp(-2 * np.abs(margin))) + 0.1 * rng.normal(size=len(X)), 0, 1)
    y = margin > 0
    model = sm.CAMEL(random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit cut short by max_iter is timed as it is
        spent = time.process_time()
        seconds = timed(lambda: model.fit(X[:n], y[:n], sure[:n] if with_confidence else None))
        spent = time.process_time() - spent
    return {
        "n": n,
        "confidence": "yes" if with_confidence else "no",
        "fit s": seconds,
        "CPU s": spent,
        "iterations": model.n_iter_,
        "sparsity": model.sparsity_,
        "rank": model.rank_,
        "AUROC": roc_auc_score(y[n:], model.decision_function(X[n:])),
    }

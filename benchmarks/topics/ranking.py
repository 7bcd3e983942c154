"""Ranking dissimilarities: cost against the number of ranks, beside liblinear on the same problem.

n=1,000 items with 10 features, of which people weigh some more than others; quadruplets of which 10 % are wrong.
`linear` is the metric pair kernel on the features themselves (a Mahalanobis matrix of 10 × 10), `rbf` on the 50 leading
directions of an RBF kernel. liblinear (scikit-learn's LinearSVC) gets the same soft-margin problem as rows vec(δδ') of
differences, which `rbf` would make 2 GB at 100,000 comparisons: there it stands only beside the smaller ones.
`objective ratio`: liblinear's objective over ours, both computed by one formula. `ranking_solvers`: dual beside primal,
on fewer items.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

import similitude as sm
from benchmarks.report import Row, Table
from benchmarks.settings import Settings

LONG = False
N_ITEMS, N_NEW, WIDTH, RANK = 1000, 300, 10, 50
COUNTS = (1_000, 10_000, 100_000)
LARGEST_TABLE = 30_000_000  # numbers that liblinear may be given
COLUMNS = {
    "kernel": "",
    "m": ",d",
    "ours s": ".2f",
    "gap": ".1e",
    "new items": ".4f",
    "liblinear s": ".2f",
    "speedup": ".1f",
    "objective ratio": ".4f",
}

SOLVER_COLUMNS = {
    "kernel": "",
    "slack": "",
    "n": "d",
    "m": ",d",
    "pairs": ",d",
    "dual s": ".3f",
    "dual gap": ".1e",
    "primal s": ".3f",
    "primal gap": ".1e",
    "dual / primal": ".2f",
}
SOLVED = [
    ("linear", "soft", 40, 500),
    ("rbf", "soft", 40, 500),
    ("rbf", "hard", 40, 500),
    ("rbf", "soft", 60, 2_000),
    ("rbf", "soft", 100, 5_000),
]


def run(settings: Settings) -> Iterator[Table]:
    note = f"n={N_ITEMS:,}, {settings.threads} thread(s); new items: accuracy on clean ranks among {N_NEW} unseen items"
    table = Table("ranking", "DRankingVM: cost against the number of ranks", COLUMNS, note=note)
    rng = np.random.default_rng(90_004)
    X, weigh = rng.normal(size=(N_ITEMS + N_NEW, WIDTH)), np.linspace(0.2, 2.0, WIDTH)
    unseen = sm.simulate(X[N_ITEMS:] * weigh, 20_000, form="quadruplet", random_state=90_005)
    with sm.limit_threads(settings.threads):
        measure("linear", X, simulated(X, weigh, 500), unseen, 1)  # compile
        for kernel in ("linear", "rbf"):
            for count in COUNTS[:1] if settings.quick else COUNTS:
                c = simulated(X, weigh, count)
                table.rows.append(measure(kernel, X, c, unseen, settings.repeats))
        yield table
        yield solvers(settings)


def solvers(settings: Settings) -> Table:
    """Time the two solvers on the same problems; both stop at a gap of a thousandth."""
    note = f"{settings.threads} thread(s); both to a proven gap of 1e-3"
    table = Table("ranking_solvers", "DRankingVM: dual beside primal", SOLVER_COLUMNS, note=note)
    rng = np.random.default_rng(90_007)
    for kernel, slack, n, m in SOLVED[:1] if settings.quick else SOLVED:
        X = rng.normal(size=(n, WIDTH))
        flip = 0.1 if slack == "soft" else 0.0
        truth = X * np.linspace(0.2, 2.0, WIDTH)
        c = sm.simulate(truth, m, form="quadruplet", flip=flip, random_state=90_008)
        pairs = len(np.unique(np.sort(np.concatenate([c.near, c.far]), 1), axis=0))
        row: Row = {"kernel": kernel, "slack": slack, "n": n, "m": m, "pairs": pairs}
        for solver in ("dual", "primal"):
            model = sm.DRankingVM(kernel=kernel, slack=slack, solver=solver)
            model.fit(c, features=X)  # compile
            seconds = [timed(model, c, X) for _ in range(settings.repeats)]
            row |= {f"{solver} s": min(seconds), f"{solver} gap": model.gap_ / model.objective_}
        table.rows.append(row | {"dual / primal": row["dual s"] / row["primal s"]})
    return table


def timed(model: sm.DRankingVM, c: sm.Comparisons, X: np.ndarray) -> float:
    start = time.perf_counter()
    model.fit(c, features=X)
    return time.perf_counter() - start


def simulated(X: np.ndarray, weigh: np.ndarray, count: int) -> sm.Comparisons:
    return sm.simulate(X[:N_ITEMS] * weigh, count, form="quadruplet", flip=0.1, random_state=90_006)


def measure(kernel: str, X: np.ndarray, c: sm.Comparisons, unseen: sm.Comparisons, repeats: int) -> Row:
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        model = sm.DRankingVM(kernel=kernel, rank=RANK, solver="primal").fit(c, features=X[:N_ITEMS])
        seconds.append(time.perf_counter() - start)
    row = {
        "kernel": kernel,
        "m": len(c),
        "ours s": min(seconds),
        "gap": model.gap_ / model.objective_,
        "new items": model.score(unseen, features=X[N_ITEMS:]),
    }
    return row | beside_liblinear(model, c, min(seconds))


def beside_liblinear(model: sm.DRankingVM, c: sm.Comparisons, ours: float) -> Row:
    features = model.modality_.features[:, :RANK]
    if len(c) * features.shape[1] ** 2 > LARGEST_TABLE:
        return {}
    start = time.perf_counter()
    rows = squares(features, c.far) - squares(features, c.near)
    sign = np.where(np.arange(len(rows)) % 2 == 0, 1.0, -1.0)  # it wants two classes
    machine = LinearSVC(
        loss="hinge", C=0.5 / (model.penalty_ * len(c)), fit_intercept=False, tol=1e-3, max_iter=1000, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(rows * sign[:, None], sign)
    seconds = time.perf_counter() - start
    weights = machine.coef_[0]
    value = np.maximum(0.0, 1.0 - rows @ weights).mean() + model.penalty_ * weights @ weights
    return {"liblinear s": seconds, "speedup": seconds / ours, "objective ratio": value / model.objective_}


def squares(features: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    step = features[pairs[:, 0]] - features[pairs[:, 1]]
    return (step[:, :, None] * step[:, None]).reshape(len(step), -1)

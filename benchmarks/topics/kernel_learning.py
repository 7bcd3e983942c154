"""Convex kernel learning: time beside projected gradient with an eigendecomposition a step, proofs, a linear program.

- `kernel_speed`: RCKL (n=412, m=10,000) and MKPOE (n=400, five kernels) beside the naive projected (sub)gradient of
  `naive_kernels.py`: seconds until the objective is within 1e-3 of the optimum, for both sides; the naive one at the
  best of several step sizes, each given up after 25 times our time; and ours until that is proven, too;
- `kernel_proofs`: larger problems to a proven relative gap of 1e-3, each in a process of its own: time, peak memory;
- `kernel_diagonal`: diagonal MKPOE with the hinge, a linear program, beside HiGHS (scipy's linprog).
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import optimize
from sklearn.base import clone
from threadpoolctl import threadpool_limits

import similitude as sm
from benchmarks.naive_kernels import seconds_to_reach
from benchmarks.peers import environment
from benchmarks.problems import DATA_SEED, Problem
from benchmarks.report import Row, Table
from benchmarks.settings import HERE, Settings

LONG = True
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
SAME = 1e-3
PATIENCE = 25
PRECISE = 2e-4  # gap of the fit that stands for the optimum
STEPS = {"logistic": (3.0, 10.0, 30.0), "hinge": (0.3, 1.0, 3.0)}  # times n; around the best at these sizes
PROOFS = [(500, 40_000, "logistic"), (500, 40_000, "hinge"), (5_000, 200_000, "logistic")]
SPEED = {
    "problem": "", "loss": "", "naive s": ".2f", "naive": ".5f", "ours s": ".3f", "optimum": ".5f", "speedup": ".0f",
    "goal": "d", "reached": "", "proven s": ".2f", "proven gap": ".1e",
}  # fmt: skip
PROVEN = {
    "n": ",d", "m": ",d", "loss": "", "threads": "d", "seconds": ".1f", "objective": ".5f", "proven gap": ".1e",
    "rank": "d", "iterations": "d", "status": "", "fit MB": ".0f", "process MB": ".0f",
}  # fmt: skip
DIAGONAL = {"comparisons": ",d", "variables": ",d", "HiGHS s": ".3f", "its objective": ".6f", "ours s": ".3f",
            "ours": ".6f", "proven gap": ".1e", "speedup": ".1f"}  # fmt: skip

SCRIPT = """
import json, sys, time
sys.path[:0] = [{workers!r}, {root!r}]
import numpy as np
import similitude as sm
from benchmarks.problems import Problem
from serve import peak, reset_peak
n, m, loss = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
train, _ = Problem(n, m, 5, m_test=1000).triplets()
sm.RCKL(loss=loss).fit(sm.simulate(np.eye(10), 200, random_state=0))
before = reset_peak()
start = time.perf_counter()
model = sm.RCKL(loss=loss, n_items=n).fit(train)
found = {{"seconds": time.perf_counter() - start, "fit MB": peak() - before, "process MB": peak()}}
found |= {{"objective": model.objective_, "proven gap": model.gap_ / model.objective_, "status": model.status_}}
print(json.dumps(found | {{"rank": model.embedding_.shape[1], "iterations": model.n_iter_}}))
"""


def run(settings: Settings) -> Iterator[Table]:
    yield speed_table(settings)
    yield diagonal_table(settings)
    yield proofs_table(settings)


def speed_table(settings: Settings) -> Table:
    note = f"{settings.threads} thread(s); seconds until within {SAME:g} of the optimum; '>': given up before"
    n, m = (40, 500) if settings.quick else (412, 10_000)
    few, some = (20, 200) if settings.quick else (400, 5_000)
    patience = 2 if settings.quick else PATIENCE
    with sm.limit_threads(settings.threads), threadpool_limits(settings.threads):
        for loss in ("logistic", "hinge"):  # compiles what is compiled
            sm.RCKL(loss=loss).fit(sm.simulate(np.eye(10), 200, random_state=0))
        rows = [free_kernel(n, m, loss, patience) for loss in ("logistic", "hinge")]
        rows.append(five_kernels(few, some, patience))
    return Table("kernel_speed", "Kernel learning beside projected gradient", SPEED, rows, note)


def free_kernel(n: int, m: int, loss: str, patience: float) -> Row:
    """RCKL beside the same over an n × n matrix."""
    train, _ = Problem(n, m, 5, m_test=1).triplets()
    row = {"problem": f"RCKL n={n} m={m:,}", "loss": loss}
    return row | beside(sm.RCKL(loss=loss, n_items=n), sm.Comparisons.from_triplets(train, n_items=n), {}, patience)


def five_kernels(n: int, m: int, patience: float) -> Row:
    """MKPOE over five RBF kernels, of which two matter, beside the same over five matrices."""
    train, features = modalities(n, m)
    kernels = {name: sm.kernels.RBF(table) for name, table in features.items()}
    row = {"problem": f"MKPOE n={n} m={m:,} kernels=5", "loss": "hinge"}
    return row | beside(sm.MKPOE(loss="hinge"), train, {"features": kernels}, patience)


def modalities(n: int, m: int) -> tuple[sm.Comparisons, dict[str, Floats]]:
    """Return answers about items of which the first two of five modalities decide."""
    rng = np.random.default_rng(DATA_SEED)
    features = {f"modality {k}": rng.normal(size=(n, 4)) for k in range(5)}
    truth = np.hstack([features["modality 0"], 0.5 * features["modality 1"]])
    return sm.simulate(truth, m, sharpness=1.0, random_state=DATA_SEED), features


def beside(model: Any, train: sm.Comparisons, given: Row, patience: float) -> Row:
    """Return the times of both sides until they are as near to the optimum, and of ours until it is proven."""
    start = time.perf_counter()
    model.fit(train, **given)
    proven = time.perf_counter() - start
    optimum = clone(model).set_params(tol=PRECISE).fit(train, start=model.point_, **given).objective_
    target = optimum * (1.0 + SAME)
    ours = our_seconds(target, clone(model), train, given)
    tables = [own.features for own in model.modalities_.values()] if given else [None]
    naive, value, step = naive_seconds(target, model, train.triplets, tables, patience * ours)
    reached = np.isfinite(naive)
    return {
        "naive s": naive if reached else patience * ours, "naive": value, "step": step, "ours s": ours,
        "optimum": optimum, "speedup": naive / ours if reached else patience, "goal": 20,
        "reached": "yes" if reached else ">", "proven s": proven, "proven gap": model.gap_ / model.objective_,
    }  # fmt: skip


class Reached(Exception):
    """The objective is where it was to be."""


def our_seconds(target: float, model: Any, train: sm.Comparisons, given: Row) -> float:
    """Return the seconds until a fit reports an objective of at most the target, all its preparations included."""

    def stop(_: int, value: float) -> None:
        if value <= target:
            raise Reached

    start = time.perf_counter()
    with contextlib.suppress(Reached):
        model.fit(train, callback=stop, **given)
    return time.perf_counter() - start


def naive_seconds(
    target: float, model: Any, triplets: Ints, tables: list[Any], limit: float
) -> tuple[float, float, float]:
    """Return the least time of several step sizes, with the objective reached and the step."""
    tried = []
    for step in STEPS[model.loss]:
        rate, length = model.penalty_ / model.similarity_.n_items, step * model.similarity_.n_items
        took, value = seconds_to_reach(target, model.loss, triplets, tables, rate, length, limit)
        tried.append((took, value, length))
        limit = min(limit, took)
    return min(tried)


def diagonal_table(settings: Settings) -> Table:
    n, m = (10, 100) if settings.quick else (100, 1_000)
    train, features = modalities(n, m)
    kernels = {name: sm.kernels.RBF(table) for name, table in features.items()}
    with sm.limit_threads(settings.threads), threadpool_limits(settings.threads):
        model, seconds = best_of(
            settings.repeats, lambda: sm.MKPOE(loss="hinge", diagonal=True).fit(train, features=kernels)
        )
        found, took = best_of(settings.repeats, lambda: linear_program(train.triplets, model))
    row = {
        "comparisons": m, "variables": 5 * n, "HiGHS s": took, "its objective": found.fun, "ours s": seconds,
        "ours": model.objective_, "proven gap": model.gap_ / model.objective_, "speedup": took / seconds,
    }  # fmt: skip
    note = f"{settings.threads} thread(s)"
    return Table("kernel_diagonal", "Diagonal MKPOE, a linear program, beside HiGHS", DIAGONAL, [row], note)


def linear_program(triplets: Ints, model: Any) -> Any:
    """min mean(slack) + prices · u  with  A u + slack >= 1,  A the difference of squared kernel columns."""
    F = np.hstack([own.features for own in model.modalities_.values()])
    each = np.concatenate([own.prices for own in model.modalities_.values()])
    head, near, far = F[triplets.T]
    A = (head - far) ** 2 - (head - near) ** 2
    m = len(A)
    cost = np.concatenate([model.penalty_ / len(F) * each, np.full(m, 1.0 / m)])
    return optimize.linprog(cost, A_ub=-np.hstack([A, np.eye(m)]), b_ub=-np.ones(m), method="highs")


def proofs_table(settings: Settings) -> Table:
    cases = [(50, 1_000, "logistic")] if settings.quick else PROOFS
    note = "each in a process of its own; fit MB: peak above libraries and data"
    rows = [proof(*case) for case in cases]
    return Table("kernel_proofs", "RCKL to a proven relative gap of 1e-3", PROVEN, rows, note)


def proof(n: int, m: int, loss: str, threads: int = 2) -> Row:
    script = SCRIPT.format(workers=str(HERE / "workers"), root=str(HERE.parent))
    ran = subprocess.run(
        [sys.executable, "-c", script, str(n), str(m), loss],
        env=environment(threads), stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    return {"n": n, "m": m, "loss": loss, "threads": threads} | json.loads(ran.stdout.splitlines()[-1])


def best_of(repeats: int, work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what some work gives and its least time, after one turn that does not count."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        found = work()
        times.append(time.perf_counter() - start)
    return found, min(times)

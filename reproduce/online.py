"""Heim (2015), chapter 5: does online kernel learning beat batch learning, and does it skip projections?

Claims: (Fig. 17) steps that do not shrink with the number of answers do far better; one pass of ERKLE slightly
outperforms batch methods, ten passes by a large margin; with few passes over the data ERKLE is better than as many
batch gradient steps. (Fig. 18) PA-ERKLE takes less time than one batch gradient step per mini-batch, skips 93 % of
the projections, and is better from 2,500 answers on. (Fig. 19, aset400) STE-ERKLE is considerably worse than the
others and fits the training answers worse; PA-ERKLE is as good as batch methods, better with passes; batch ranks grow
with answers.

Data. Fig. 17: as in the thesis, 100 points in 50 dimensions, 10,000 of the 485,100 noise-free answers learned, error
on the others. Fig. 18: 1,000 points in place of 5,000 and 3,000 answers in place of 10,000, again in 20 mini-batches:
at 5,000 points one eigenpair takes seconds. Fig. 19: the 9,090 published answers about 400 artists (contradictory ones
were taken out by those who published them; the thesis had 16,385), split as in the thesis; STE-ERKLE with one pass
alone. Ten, five and ten trials as in the thesis (`TRIALS`; the page says how many were run). They are kept as they
come, and a run that was stopped goes on. The outdoor scenes of Fig. 20 are not at hand.

Batch methods get the penalty that does best on the test answers, as in the thesis (Fig. 19: on validation answers).
They are fits to the end: `RCKL` (the certified optimum over kernels), `STE`, `GNMDS`, `CKL` in 50 dimensions. A batch
method trained on each mini-batch of answers so far has their curve.

Run: python -m reproduce.online [17] [18] [19] [--page], --page to write the page from the trials that are stored.
REPRODUCE_JOBS says how many trials run at once (two).
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from itertools import chain
from pathlib import Path

import joblib
import numpy as np
from scipy import linalg

import similitude as sm
from reproduce.graph_processing import data_folder
from reproduce.online_page import LEDGER, page
from similitude.engine.comparison_terms import Compared
from similitude.engine.models import Matrix
from similitude.engine.penalties import Trace
from similitude.engine.problem import Problem
from similitude.engine.terms import ComparisonLoss, Formula, hinge, logistic, squared
from similitude.graph.build import build_graph

HERE = Path(__file__).parent
STORED = HERE / "results" / "online.json"
TRIALS = {"17": 10, "18": 5, "19": 10}
SMALL_AT = (500, 1000, 2000, 3000, 5000, 7500, 10_000)
BATCH_AT = (1000, 3000, 10_000)
PRIORS = (0.1, 0.3, 1.0, 3.0, 10.0)
LOSSES = {name: ComparisonLoss(Formula(squared), Formula(*shape)) for name, shape in
          {"hinge": (hinge, 1e-4), "logistic": (logistic,)}.items()}  # fmt: skip


def all_answers(points: np.ndarray) -> np.ndarray:
    """Every triplet (head, near, far) of the points, answered without noise."""
    n = len(points)
    D = linalg.norm(points[:, None] - points, axis=2)
    low, high = np.triu_indices(n, 1)
    heads = np.repeat(np.arange(n), len(low))
    first, second = np.tile(low, n), np.tile(high, n)
    apart = (heads != first) & (heads != second)
    heads, first, second = heads[apart], first[apart], second[apart]
    right = D[heads, first] < D[heads, second]
    return np.stack([heads, np.where(right, first, second), np.where(right, second, first)], 1)


def wrong(distances: np.ndarray, triplets: np.ndarray) -> float:
    """Share of answers that a model gets wrong (TQPE as meant: 4.14 prints the share that it gets right)."""
    near, far = (distances[triplets[:, 0], triplets[:, k]] for k in (1, 2))
    return float(np.mean((near > far) + 0.5 * (near == far)))


def follow(name: str, model, train: np.ndarray, test: np.ndarray, at, **about) -> list[dict]:
    """Learn a stream; error and time at some numbers of answers."""
    rows, spent, before = [], 0.0, 0
    for count in at:
        start = time.perf_counter()
        model.partial_fit(train[before:count])
        spent, before = spent + time.perf_counter() - start, count
        distances = model.distances()
        row = {"method": name, "answers": count, "error": wrong(distances, test), "seconds": spent}
        row["train error"] = wrong(distances, train[:count])
        if isinstance(model, sm.ERKLE):
            row |= {"updates": model.n_updates_, "projections": model.n_projections_, "skipped": model.n_skipped_}
        rows.append(row | about)
    return rows


def best_batch(name: str, make, train: np.ndarray, judge: np.ndarray, test: np.ndarray, n: int, **about) -> dict:
    """A batch fit at the penalty that does best on `judge`, its time that of this fit alone."""
    found = []
    for prior in PRIORS:
        start = time.perf_counter()
        model = make(prior * n / len(train)).fit(train)
        seconds = time.perf_counter() - start
        distances = model.distances()
        found.append((wrong(distances, judge), prior, seconds, distances, model.embedding_.shape[1]))
    _, prior, seconds, distances, rank = min(found, key=lambda one: one[0])
    return {
        "method": name, "answers": len(train), "error": wrong(distances, test), "seconds": seconds, "prior": prior,
        "train error": wrong(distances, train), "rank": rank,
    } | about  # fmt: skip


def gradient_steps(loss: str, graph, K: np.ndarray, rate: float, steps: int) -> np.ndarray:
    """Full projected gradient steps on the kernel, as the batch methods of the thesis make them."""
    problem = Problem(Matrix(len(K)), Compared(graph, LOSSES[loss]), Trace(0.0))
    for _ in range(steps):
        _, slope = problem.data(K.ravel())
        values, vectors = linalg.eigh(K - rate * slope.reshape(K.shape))
        K = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return K


def kernel_distances(K: np.ndarray) -> np.ndarray:
    return np.sqrt(np.maximum(np.diag(K)[:, None] + np.diag(K) - 2 * K, 0.0))


def small(trial: int) -> list[dict]:
    """Fig. 17."""
    rng = np.random.default_rng(trial)
    answers = rng.permutation(all_answers(rng.normal(size=(100, 50))))
    train, test, rows = answers[:10_000], answers[10_000:], []
    known = {"n_items": 100, "random_state": trial}
    online = {
        "STE-ERKLE, 1/j": sm.ERKLE(loss="logistic", step="inverse", **known),
        "STE-ERKLE, 1/sqrt j": sm.ERKLE(loss="logistic", step="sqrt", **known),
        "STE-ERKLE": sm.ERKLE(loss="logistic", step="constant", **known),
        "PA-ERKLE": sm.ERKLE(**known),
        "PA-ERKLE, symmetric gradient": sm.ERKLE(gradient="symmetric", **known),
        "PA-ERKLE, projected every 100": sm.ERKLE(project_every=100, **known),
        "OnlineEmbedding, no replay": sm.OnlineEmbedding(50, replay=0, **known),
        "OnlineEmbedding": sm.OnlineEmbedding(50, **known),
        "OnlineEmbedding, hinge": sm.OnlineEmbedding(50, loss="hinge", **known),
        "STE-ERKLE, 10 passes": sm.ERKLE(loss="logistic", step="constant", passes=10, **known),
        "PA-ERKLE, 10 passes": sm.ERKLE(passes=10, **known),
    }
    for name, model in online.items():
        rows += follow(name, model, train, test, SMALL_AT, trial=trial)
    for passes in (2, 5):
        model = sm.ERKLE(passes=passes, **known)
        rows += follow(f"PA-ERKLE, {passes} passes", model, train, test, SMALL_AT[-1:], trial=trial)
    rows += refitted(online["OnlineEmbedding"], test, trial)
    batch = {
        "RCKL (certified)": lambda penalty: sm.RCKL(loss="logistic", penalty=penalty, n_items=100),
        "STE": lambda penalty: sm.STE(50, penalty=penalty, n_items=100, random_state=0),
        "GNMDS": lambda penalty: sm.GNMDS(50, penalty=penalty, n_items=100, random_state=0),
        "CKL": lambda penalty: sm.CKL(50, penalty=penalty, n_items=100, random_state=0),
    }
    for count in BATCH_AT:
        rows += [best_batch(name, make, train[:count], test, test, 100, trial=trial) for name, make in batch.items()]
    return rows + few_steps(train, test, trial)


def refitted(model: sm.OnlineEmbedding, test: np.ndarray, trial: int) -> list[dict]:
    start = time.perf_counter()
    model.refit()
    seconds = time.perf_counter() - start
    about = {"method": "OnlineEmbedding, refit at the end", "answers": model.n_answers_, "trial": trial}
    return [about | {"error": wrong(model.distances(), test), "seconds": seconds}]


def few_steps(train: np.ndarray, test: np.ndarray, trial: int) -> list[dict]:
    graph, rows = build_graph(sm.Comparisons.from_triplets(train, n_items=100)), []
    for loss, name in (("hinge", "GNMDS"), ("logistic", "STE")):
        for steps in (1, 2, 5, 10):
            kernels = (gradient_steps(loss, graph, np.eye(100), rate, steps) for rate in 10.0 ** np.arange(0, 4, 0.5))
            error = min(wrong(kernel_distances(K), test) for K in kernels)
            rows.append({"method": f"{name}, batch steps", "passes": steps, "error": error, "trial": trial})
    return rows


def large(trial: int) -> list[dict]:
    """Fig. 18, at a fifth of its size."""
    n, count = 1000, 3000
    points = np.random.default_rng(100 + trial).normal(size=(n, 50))
    answers = sm.simulate(points, count + 20_000, random_state=trial).triplets
    train, test, at = answers[:count], answers[count:], range(count // 20, count + 1, count // 20)
    rows = follow("PA-ERKLE", sm.ERKLE(n_items=n), train, test, at, trial=trial)
    rows += follow("OnlineEmbedding", sm.OnlineEmbedding(50, n_items=n, random_state=0), train, test, at, trial=trial)
    for steps in (1, 2):
        curves = [mini_batches(train, test, at, n, steps, rate) for rate in (30.0, 100.0, 300.0)]
        best = min(curves, key=lambda curve: curve[-1]["error"])
        rows += [row | {"method": f"GNMDS, batch steps: {steps}", "trial": trial} for row in best]
    return rows


def mini_batches(train, test, at, n: int, steps: int, rate: float) -> list[dict]:
    K, spent, rows = np.eye(n), 0.0, []
    for count in at:
        start = time.perf_counter()
        K = gradient_steps("hinge", build_graph(sm.Comparisons.from_triplets(train[:count], n_items=n)), K, rate, steps)
        spent += time.perf_counter() - start
        rows.append({"answers": count, "error": wrong(kernel_distances(K), test), "seconds": spent})
    return rows


def music(trial: int) -> list[dict]:
    """Fig. 19, with the answers that are published."""
    table = np.loadtxt(data_folder() / "music_aset400" / "triplets.csv", int, delimiter=",", skiprows=1)
    apart = (table[:, 0] != table[:, 1]) & (table[:, 0] != table[:, 2]) & (table[:, 1] != table[:, 2])
    answers = np.random.default_rng(trial).permutation(table[apart])
    cut, n = int(0.61 * len(answers)), 1 + int(answers.max())
    train, judge, test = np.split(answers, [cut, cut + int(0.06 * len(answers))])
    at = (1000, 2500, cut)
    known = {"n_items": n, "random_state": trial}
    online = {
        "STE-ERKLE": sm.ERKLE(loss="logistic", step="constant", **known),
        "PA-ERKLE": sm.ERKLE(**known),
        "PA-ERKLE, 10 passes": sm.ERKLE(passes=10, **known),
        "OnlineEmbedding": sm.OnlineEmbedding(50, **known),
    }
    rows = list(chain.from_iterable(follow(*one, train, test, at, trial=trial) for one in online.items()))
    batch = {
        "RCKL (certified)": lambda penalty: sm.RCKL(loss="logistic", penalty=penalty, n_items=n),
        "STE": lambda penalty: sm.STE(50, penalty=penalty, n_items=n, random_state=0),
        "GNMDS": lambda penalty: sm.GNMDS(50, penalty=penalty, n_items=n, random_state=0),
    }
    for count in at:
        rows += [best_batch(*one, train[:count], judge, test, n, trial=trial) for one in batch.items()]
    return rows


def one(figure: str, trial: int) -> tuple[str, list[dict]]:
    warnings.simplefilter("ignore")
    sm.OnlineEmbedding(2).fit([(0, 1, 2)])  # compiled before anything is timed
    sm.ERKLE(n_items=120, passes=4).fit(np.tile([(0, 1, 2), (0, 2, 1)], (20, 1)))
    experiment = {"17": small, "18": large, "19": music}[figure]
    with sm.limit_threads(1):
        return figure, experiment(trial)


def main(figures: list[str]) -> None:
    stored = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
    figures = [] if "--page" in figures else figures or list(TRIALS)
    done = {(figure, row["trial"]) for figure, rows in stored.items() for row in rows}
    jobs = [(figure, trial) for figure in figures for trial in range(TRIALS[figure]) if (figure, trial) not in done]
    run = joblib.Parallel(n_jobs=int(os.environ.get("REPRODUCE_JOBS", "2")), return_as="generator_unordered")
    for figure, rows in run(joblib.delayed(one)(*job) for job in jobs):
        stored[figure] = sorted(stored.get(figure, []) + rows, key=lambda row: row["trial"])
        STORED.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    counts = {f"Fig. {figure}": {"trials": len({row["trial"] for row in rows})} for figure, rows in stored.items()}
    LEDGER.others |= counts
    LEDGER.write("online", page(stored))


if __name__ == "__main__":
    main(sys.argv[1:])

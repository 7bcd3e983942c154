"""cblearn's five methods at d = 2, 5, 10 on human answers, and the best of them picked with hindsight.

The fits know nothing of similitude: what was measured once stays when only our side changes (see `resume.py`).
"""

from __future__ import annotations

import tempfile
from functools import cache

import numpy as np
import pandas as pd

import similitude as sm
from benchmarks import peers, real_data
from benchmarks.report import Row
from benchmarks.settings import METHODS

DIMENSIONS = (2, 5, 10)


def cblearn_case(data: str, m: int, seed: int) -> Row:
    """Return what the fifteen fits to one split gave."""
    train, test = split(data, m, seed)
    return {"fits": fits(train, test, seed)}


def split(data: str, m: int, seed: int) -> tuple[sm.Comparisons, real_data.Ints]:
    """Return training comparisons and test triplets; a palette's answers are split as the other sets' are."""
    if data in real_data.DATA:
        return real_data.split(data, m, seed)
    triplets = palette(data)
    train, test = real_data.rows(np.arange(len(triplets)), m, seed)
    return sm.Comparisons.from_triplets(triplets[train], n_items=int(triplets.max()) + 1), triplets[test]


@cache
def palette(name: str) -> real_data.Ints:
    """Return the triplets of a palette of perceptual_kernels."""
    table = pd.read_csv(real_data.folder() / "perceptual_kernels" / "triplet_matching.csv.gz")
    return table[table.palette == name][["head", "winner", "loser"]].to_numpy(np.int64)


def fits(train: sm.Comparisons, test: real_data.Ints, seed: int) -> list[Row]:
    """Return accuracy and seconds of processor time of cblearn's five methods at each d."""
    found, worker = [], cblearn()
    with tempfile.TemporaryDirectory() as folder:
        for d in DIMENSIONS:
            path = f"{folder}/problem.npz"
            np.savez(path, train=train.triplets, test=test, n=train.n_items, d=d)
            worker("load", path=path)
            for method in METHODS:
                fit = worker("fit", method=method, seed=1_000 + seed)
                measured = {"accuracy": fit["accuracy"], "seconds": fit["processor_seconds"]}
                found.append({"method": method, "d": d, **measured})
    return found


@cache
def cblearn() -> peers.Worker:
    """Return a process for all cases, warmed up; it ends when this one does."""
    worker = peers.Worker("cblearn", 1)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/problem.npz"
        np.savez(path, train=np.array([[0, 1, 2]]), test=np.array([[0, 1, 2]]), n=3, d=2)
        worker("load", path=path)
        for method in METHODS:
            worker("warm_up", method=method)
    return worker


def best_of(several: list[list[Row]]) -> Row:
    """Pick from the fits of several splits with hindsight, in both readings.

    Returns the accuracies on the splits of the one setting best on their mean (`one`, named in `setting`), and those
    of the setting best on each split's own test answers (`anew`).
    """
    table = pd.DataFrame([{**fit, "split": k} for k, fits in enumerate(several) for fit in fits])
    wide = table.pivot_table(index="split", columns=["method", "d"], values="accuracy", sort=False)
    method, d = wide.mean().idxmax()
    return {"setting": f"{method} {d}", "one": wide[method, d].to_numpy(), "anew": wide.max(axis=1).to_numpy()}

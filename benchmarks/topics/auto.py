"""AutoSimilarity beside the best of cblearn's five methods at d = 2, 5, 10, picked with hindsight, on human answers.

Per set, size and split: the fifteen fits of cblearn with its defaults, the best of them *on the test answers*, then
AutoSimilarity with its defaults, which sees training answers only. Both on one thread, one after the other, compiled
beforehand; cblearn's time is that of its fifteen fits. The splits' seeds are 0 to 4; the design was settled on others.

- `auto`: means over five splits, the paired difference with its 95% interval (t over splits), and seconds;
  "one setting" is cblearn's best single method and d for all five splits, picked with hindsight too: what it is below
  "cblearn" is the luck of picking anew on each test set, which small sets have much of;
- `auto_claims`: what was aimed at, and what came out.

The run can be stopped and taken up again, small sets first.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Iterator
from functools import cache

import numpy as np
import pandas as pd
from scipy import stats

import similitude as sm
from benchmarks import peers, real_data
from benchmarks.report import Row, Table
from benchmarks.resume import run_cases
from benchmarks.settings import METHODS, Settings

LONG = True
PROCESSES = 1  # times are compared
SPLITS = 5
DIMENSIONS = (2, 5, 10)
TEN, SIXTEEN = (200, 600, 1900), (500, 2000, 8000)
SIZES = {
    "color": TEN, "shape": TEN, "size": TEN, "shapecolor": SIXTEEN, "shapesize": SIXTEEN, "sizecolor": SIXTEEN,
    "car60": (2000, 10_000), "strangefruit30": (2000, 10_000), "zappos85": (2000, 10_000, 50_000),
    "food100": (2000, 10_000, 50_000), "music_aset400": (2000, 7272),
}  # fmt: skip
COLUMNS = {
    "data": "", "m": "d", "splits": "d", "cblearn": ".4f", "its best": "", "ours": ".4f", "difference": "+.4f",
    "low": "+.4f", "high": "+.4f", "one setting": ".4f", "cblearn s": ".1f", "ours s": ".1f",
}  # fmt: skip


def run(settings: Settings) -> Iterator[Table]:
    sizes = {"color": (200,), "car60": (2000,)} if settings.quick else SIZES
    cases = [
        {"data": data, "m": m, "seed": seed}
        for data, several in sizes.items()
        for m in several
        for seed in range(1 if settings.quick else SPLITS)
    ]
    cases.sort(key=lambda case: (case["data"] == "music_aset400", case["m"]))
    found = pd.DataFrame(run_cases("auto", fit_case, cases, PROCESSES))
    points = compared(found)
    yield Table("auto", "AutoSimilarity beside cblearn with hindsight", COLUMNS, points, "1 thread; means over splits")
    yield claims_table(points)


def fit_case(data: str, m: int, seed: int) -> Row:
    """Fit both sides to one split."""
    train, test = split(data, m, seed)
    theirs = cblearn_fits(train, test, seed)
    best = max(theirs, key=lambda fit: fit["accuracy"])
    warm_up()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few answers leave items never compared
        start = time.perf_counter()
        model = sm.AutoSimilarity(random_state=1_000 + seed).fit(train)
        seconds = time.perf_counter() - start
    return {
        "cblearn": best["accuracy"],
        "its best": f"{best['method']} {best['d']}",
        "cblearn s": sum(fit["seconds"] for fit in theirs),
        "ours": real_data.splits().accuracy(model.embedding_, test),
        "ours s": seconds,
        "chosen": model.chosen_.head(3).to_dict("records"),
        "fits": theirs,
    }


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


def cblearn_fits(train: sm.Comparisons, test: real_data.Ints, seed: int) -> list[Row]:
    """Return accuracy and seconds of cblearn's five methods at each d."""
    found, worker = [], cblearn()
    with tempfile.TemporaryDirectory() as folder:
        for d in DIMENSIONS:
            path = f"{folder}/problem.npz"
            np.savez(path, train=train.triplets, test=test, n=train.n_items, d=d)
            worker("load", path=path)
            for method in METHODS:
                fit = worker("fit", method=method, seed=1_000 + seed)
                found.append({"method": method, "d": d, "accuracy": fit["accuracy"], "seconds": fit["seconds"]})
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


@cache
def warm_up() -> None:
    """Compile what is compiled, as the worker does for cblearn."""
    answers = sm.simulate(np.random.default_rng(0).normal(size=(8, 2)), 100, sharpness=1.0, random_state=1)
    sm.AutoSimilarity(random_state=0).fit(answers)


def compared(found: pd.DataFrame) -> list[Row]:
    """Return a row per set and size: means over splits, and the paired difference with its interval."""
    points = []
    for (data, m), part in found.groupby(["data", "m"], sort=False):
        gap = (part.ours - part.cblearn).to_numpy()
        half = float("nan")
        if len(gap) > 1:
            half = float(stats.t.ppf(0.975, len(gap) - 1) * gap.std(ddof=1) / np.sqrt(len(gap)))
        fits = pd.DataFrame([fit for fits in part.fits for fit in fits])
        one = {"one setting": fits.groupby(["method", "d"]).accuracy.mean().max()}
        means = part[["cblearn", "ours", "cblearn s", "ours s"]].mean().to_dict()
        about = {"data": data, "m": m, "splits": len(gap), "its best": ", ".join(sorted(set(part["its best"])))}
        paired = {"difference": gap.mean(), "low": gap.mean() - half, "high": gap.mean() + half}
        points.append(about | means | one | paired)
    return points


def claims_table(points: list[Row]) -> Table:
    """Say what was aimed at and what came out."""
    table = pd.DataFrame(points)
    below = table[table.high < 0]
    slower = table[table["ours s"] >= table["cblearn s"]]
    faster = (table["cblearn s"] / table["ours s"]).median()
    mean, error = table.difference.mean(), table.difference.std() / np.sqrt(len(table))
    beyond = table.ours - table["one setting"]
    rows = [
        claim("mean difference over all points above 0", f"{mean:+.4f} (± {error:.4f})", mean > 0),
        {
            "aim": "(beside one setting of cblearn per set and size)",
            "found": f"{beyond.mean():+.4f} (± {beyond.std() / np.sqrt(len(table)):.4f})",
            "held": "-",
        },
        claim("no point below by more than its interval", f"{len(below)} of {len(table)} below", not len(below)),
        claim(
            "less time than cblearn's fifteen fits",
            f"{len(slower)} of {len(table)} slower; {faster:.1f} times faster in the median",
            not len(slower),
        ),
    ]
    columns = {"aim": "", "found": "", "held": ""}
    return Table("auto_claims", "AutoSimilarity: aims", columns, rows, f"{len(table)} points")


def claim(aim: str, found: str, held: bool) -> Row:
    return {"aim": aim, "found": found, "held": "yes" if held else "no"}

"""AutoSimilarity beside the best of cblearn's five methods at d = 2, 5, 10, picked with hindsight, on human answers.

A point is a set and a size, over five splits (seeds 0 to 4; the design was settled on others). cblearn makes its
fifteen fits with its defaults, AutoSimilarity, with its own, sees training answers only. "With hindsight" can be read
in two ways, and both are shown:

- **one setting**: the one method and d whose mean accuracy over the five test sets is best. This is what somebody who
  knows the outcome would have used for the set, and the comparison that the aims are told of first;
- **anew**: for each split, whatever is best on that split's test answers. This is harsher: part of it is the luck of
  fifteen draws, of which small test sets have much (480 answers for a palette of ten items).

- `auto`: means over splits, for both readings the paired difference with its 95% interval (t over splits), seconds;
- `auto_claims`: what was aimed at, and what came out, for both;
- `auto_before`: our side beside that of an earlier version (`--before FOLDER`) on the same splits; it comes first.

Each side runs on one thread, compiled beforehand, and in a pass of its own, so that cblearn's fits are kept when only
our side changes. Seconds are of processor time, which other work on the machine does not stretch; cblearn's are those
of its fifteen fits. The run can be stopped and taken up again, small sets first.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from threadpoolctl import threadpool_limits

import similitude as sm
from benchmarks import earlier, hindsight, real_data
from benchmarks.report import Row, Table
from benchmarks.resume import run_cases
from benchmarks.settings import Settings
from similitude.engine.threads import limit_threads

LONG = True
PROCESSES = 1  # times are compared
SPLITS = 5
TEN, SIXTEEN = (200, 600, 1900), (500, 2000, 8000)
SIZES = {
    "color": TEN, "shape": TEN, "size": TEN, "shapecolor": SIXTEEN, "shapesize": SIXTEEN, "sizecolor": SIXTEEN,
    "car60": (2000, 10_000), "strangefruit30": (2000, 10_000), "zappos85": (2000, 10_000, 50_000),
    "food100": (2000, 10_000, 50_000), "music_aset400": (2000, 7272),
}  # fmt: skip
COLUMNS = {
    "data": "", "m": "d", "splits": "d", "ours": ".4f", "one setting": ".4f", "which": "", "difference": "+.4f",
    "low": "+.4f", "high": "+.4f", "anew": ".4f", "difference (anew)": "+.4f", "low (anew)": "+.4f",
    "high (anew)": "+.4f", "cblearn s": ".1f", "ours s": ".1f",
}  # fmt: skip
BEFORE = {
    "data": "", "m": "d", "splits": "d", "ours before": ".4f", "ours": ".4f", "difference": "+.4f", "low": "+.4f",
    "high": "+.4f", "ours s before": ".1f", "ours s": ".1f",
}  # fmt: skip


def run(settings: Settings) -> Iterator[Table]:
    sizes = {"color": (200,), "car60": (2000,)} if settings.quick else SIZES
    cases = _cases(sizes, 1 if settings.quick else SPLITS)
    if settings.before is not None:
        yield before_table(cases, settings.before)
    theirs = run_cases("auto_cblearn", hindsight.cblearn_case, cases, PROCESSES, ours=False)
    found = pd.DataFrame(run_cases("auto", our_case, cases, PROCESSES)).assign(fits=[row["fits"] for row in theirs])
    points = compared(found)
    cut = f"{int(found['cut short'].sum())} of {len(found)} searches cut short by the time limit"
    note = f"1 thread, processor time; means over splits; {cut}"
    yield Table("auto", "AutoSimilarity beside cblearn with hindsight", COLUMNS, points, note)
    yield claims_table(points)


def _cases(sizes: dict[str, tuple[int, ...]], splits: int) -> list[Row]:
    """Return a case per set, size and split, small ones first."""
    named = [(data, m, seed) for data, several in sizes.items() for m in several for seed in range(splits)]
    cases = [{"data": data, "m": m, "seed": seed} for data, m, seed in named]
    return sorted(cases, key=lambda case: (case["data"] == "music_aset400", case["m"]))


def our_case(data: str, m: int, seed: int) -> Row:
    """Fit AutoSimilarity to one split."""
    train, test = hindsight.split(data, m, seed)
    warm_up()
    with warnings.catch_warnings(), limit_threads(1), threadpool_limits(1):
        warnings.simplefilter("ignore")  # few answers leave items never compared
        start = time.process_time()
        model = sm.AutoSimilarity(random_state=1_000 + seed).fit(train)
        seconds = time.process_time() - start
    accuracy = real_data.splits().accuracy(model.embedding_, test)
    about = {"chosen": model.chosen_.head(3).to_dict("records"), "cut short": "time limit" in model.reason_}
    return {"ours": accuracy, "ours s": seconds, **about}


def before_case(folder: str, **case: Any) -> Row:
    """The same with the similitude of another checkout."""
    return earlier.measure(folder, our_case, case)


def before_table(cases: list[Row], folder: str) -> Table:
    """A row per set and size: both versions, and the paired difference; then the means over all of them."""
    in_folder = [case | {"folder": folder} for case in cases]
    before = pd.DataFrame(run_cases("auto_before", before_case, in_folder, PROCESSES, ours=False))
    now = pd.DataFrame(run_cases("auto", our_case, cases, PROCESSES))
    both = now.merge(before, on=["data", "m", "seed"], suffixes=("", " before"))
    rows = [_before_row(data, int(m), part) for (data, m), part in both.groupby(["data", "m"], sort=False)]
    rows.append(_before_row("mean over points", None, both.groupby("seed").mean(numeric_only=True)))
    note = "1 thread, processor time; means over splits, 95% intervals of paired differences over splits"
    return Table("auto_before", "AutoSimilarity on comparisons, before and now", BEFORE, rows, note)


def _before_row(data: str, m: int | None, part: pd.DataFrame) -> Row:
    means = {name: part[name].mean() for name in ("ours before", "ours", "ours s before", "ours s")}
    about = {"data": data, "m": m, "splits": len(part)}
    return about | means | paired((part["ours"] - part["ours before"]).to_numpy())


def _seconds(fits: list[Row]) -> float:
    return float(sum(fit["seconds"] for fit in fits))


@cache
def warm_up() -> None:
    """Compile what is compiled, as the worker does for cblearn."""
    answers = sm.simulate(np.random.default_rng(0).normal(size=(8, 2)), 100, sharpness=1.0, random_state=1)
    sm.AutoSimilarity(random_state=0).fit(answers)


def compared(found: pd.DataFrame) -> list[Row]:
    """Return a row per set and size: means over splits, and paired differences with their intervals."""
    points = []
    for (data, m), part in found.groupby(["data", "m"], sort=False):
        ours, theirs = part.ours.to_numpy(), hindsight.best_of(list(part.fits))
        seconds = {"cblearn s": np.mean([_seconds(fits) for fits in part.fits]), "ours s": part["ours s"].mean()}
        about = {"data": data, "m": m, "splits": len(part), "ours": ours.mean(), "which": theirs["setting"]}
        means = {"one setting": theirs["one"].mean(), "anew": theirs["anew"].mean()}
        one, anew = paired(ours - theirs["one"]), paired(ours - theirs["anew"])
        points.append(about | means | seconds | one | {f"{name} (anew)": value for name, value in anew.items()})
    return points


def paired(gap: np.ndarray) -> Row:
    """Return the mean difference over splits and its 95% interval."""
    half = float("nan")
    if len(gap) > 1:
        half = float(stats.t.ppf(0.975, len(gap) - 1) * gap.std(ddof=1) / np.sqrt(len(gap)))
    return {"difference": gap.mean(), "low": gap.mean() - half, "high": gap.mean() + half}


def claims_table(points: list[Row]) -> Table:
    """Say what was aimed at and what came out, for both readings of hindsight."""
    table = pd.DataFrame(points)
    slower = table[table["ours s"] >= table["cblearn s"]]
    faster = (table["cblearn s"] / table["ours s"]).median()
    rows = [
        *beside(table, "", "one setting of cblearn per set and size"),
        *beside(table, " (anew)", "cblearn's best anew on each split"),
        claim(
            "less time than cblearn's fifteen fits",
            f"{len(slower)} of {len(table)} slower; {faster:.1f} times faster in the median",
            not len(slower),
        ),
    ]
    columns = {"aim": "", "found": "", "held": ""}
    return Table("auto_claims", "AutoSimilarity: aims", columns, rows, f"{len(table)} points")


def beside(table: pd.DataFrame, reading: str, named: str) -> list[Row]:
    """Return the two claims about the differences in one reading of hindsight."""
    gap = table[f"difference{reading}"]
    below = table[table[f"high{reading}"] < 0]
    where = f" ({', '.join(f'{point.data} {point.m}' for point in below.itertuples())})" if len(below) else ""
    error = gap.std() / np.sqrt(len(gap))
    return [
        claim(f"beside {named}: mean difference over all points above 0", f"{gap.mean():+.4f} (± {error:.4f})",
              gap.mean() > 0),
        claim(f"beside {named}: no point below by more than its interval", f"{len(below)} of {len(table)} below{where}",
              not len(below)),
    ]  # fmt: skip


def claim(aim: str, found: str, held: bool) -> Row:
    return {"aim": aim, "found": found, "held": "yes" if held else "no"}

"""Human answers: held-out accuracy beside the recorded one of cblearn, on the same splits.

Four tables, with means over seeds:

- `real_default`: each method at its default penalty, flagged where it is more than 0.01 below cblearn's;
- `real_methods`: each method with its penalty chosen on a fifth of the training answers, then refitted on all of
  them; of cblearn and of ours the best d, picked with hindsight on the test answers ("ours"), and ours with d
  chosen on that fifth of the training answers, too ("by validation");
- `real_best`: the same for the best of all methods and d;
- `real_penalties`: accuracy on that fifth of the training answers by penalty, to choose defaults from.

Our choices never see a test answer: `validate` is given the training comparisons alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pandas as pd
from joblib import Parallel, delayed, parallel_config

import similitude as sm
from benchmarks import real_data
from benchmarks.report import Row, Table
from benchmarks.settings import Settings

LONG = True
PENALTIES = [10.0**k for k in range(-5, 2)]
INNER_SPLITS = 1  # more than one makes the choice less a matter of luck, and takes as many times longer
PROCESSES = 2
CASE = ["data", "m", "seed"]
SIDES = {"cblearn": ".4f", "ours": ".4f", "difference": "+.4f"}
CHOSEN = {"by validation": ".4f", "chosen": ""}


def run(settings: Settings) -> Iterator[Table]:
    recorded = real_data.baselines()
    recorded = recorded[recorded.data.isin(real_data.DATA) & recorded.method.isin(settings.methods)]
    if settings.quick:
        recorded = recorded.query("data == 'car60' and m == 2000 and d == 2")
    cases = recorded[["data", "m", "seed", "d", "method"]].sort_values("m", ascending=False)  # longest first
    with parallel_config("loky", n_jobs=PROCESSES, inner_max_num_threads=1):
        fitted = Parallel()(delayed(fit_case)(**case) for case in cases.to_dict("records"))
    joined = recorded.merge(pd.DataFrame(fitted))
    yield default_table(joined)
    yield methods_table(joined)
    yield best_table(joined)
    yield penalties_table(joined)


def fit_case(data: str, m: int, seed: int, d: int, method: str) -> Row:
    """Fit one method at its default penalty and at a chosen one; test both."""
    train, test = real_data.split(data, m, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        default = fit(train, method, d, seed)
        scores = validate(train, method, d, seed)
        penalty = max(scores, key=scores.__getitem__)
        chosen = fit(train, method, d, seed, penalty=penalty)
    accuracy = real_data.splits().accuracy
    return {
        "data": data,
        "m": m,
        "seed": seed,
        "d": d,
        "method": method,
        "default": accuracy(default.embedding_, test),
        "penalty": penalty,
        "validation": scores[penalty],
        "chosen": accuracy(chosen.embedding_, test),
        "scores": scores,
    }


def fit(train: sm.Comparisons, method: str, d: int, seed: int, **parameters: Any) -> Any:
    start = 1_000 + seed  # the split was drawn with `seed`
    return getattr(sm, method)(n_components=d, random_state=start, **parameters).fit(train)


def validate(train: sm.Comparisons, method: str, d: int, seed: int) -> dict[float, float]:
    """Return the accuracy of each penalty on a fifth of the training answers, fitted to the others."""
    scores = dict.fromkeys(PENALTIES, 0.0)
    for part in range(INNER_SPLITS):
        inner, validation = train.split(0.2, by="answer", random_state=2_000 + 100 * part + seed)
        for value in PENALTIES:
            scores[value] += fit(inner, method, d, seed, penalty=value).score(validation) / INNER_SPLITS
    return scores


def default_table(joined: pd.DataFrame) -> Table:
    """Compare default penalties, method by method."""
    means = joined.groupby(["data", "m", "d", "method"], as_index=False)[["accuracy", "default"]].mean()
    means["difference"] = means.default - means.accuracy
    means["flag"] = means.difference.map(lambda value: "WORSE" if value < -0.01 else "")
    columns = {"data": "", "m": "d", "d": "d", "method": "", **SIDES, "flag": ""}
    found = means.rename(columns={"accuracy": "cblearn", "default": "ours"}).to_dict("records")
    flagged = sum(row["flag"] != "" for row in found)
    note = f"mean over seeds; {flagged} of {len(found)} more than 0.01 below cblearn"
    return Table("real_default", "Human answers, default penalty", columns, found, note)


def methods_table(joined: pd.DataFrame) -> Table:
    """Compare each method at its best d, our penalty chosen by validation."""
    columns = {"data": "", "m": "d", "method": "", **SIDES, **CHOSEN}
    found = side_by_side(joined, ["method"])
    return Table("real_methods", "Human answers, penalty by validation", columns, found, mean_note(found))


def best_table(joined: pd.DataFrame) -> Table:
    """Compare the best of all methods and d, our penalties chosen by validation."""
    columns = {"data": "", "m": "d", **SIDES, **CHOSEN}
    found = side_by_side(joined, [])
    return Table(
        "real_best", "Human answers, best method and d, penalty by validation", columns, found, mean_note(found)
    )


def mean_note(found: list[Row]) -> str:
    table = pd.DataFrame(found)
    validated = (table["by validation"] - table.cblearn).mean()
    return f"mean difference {table.difference.mean():+.4f}; of what validation chose alone {validated:+.4f}"


def penalties_table(joined: pd.DataFrame) -> Table:
    """Show what each penalty does on the inner validation answers."""
    scores = pd.DataFrame([{f"{value:g}": row[value] for value in row} for row in joined.scores])
    both = pd.concat([joined[["method", "d"]], scores], axis=1)
    rows = both.groupby(["method", "d"], as_index=False).mean().to_dict("records")
    columns = {"method": "", "d": "d", **dict.fromkeys(scores, ".4f")}
    title = "Human answers, validation accuracy by penalty"
    return Table("real_penalties", title, columns, rows, "mean over data, sizes and seeds")


def side_by_side(joined: pd.DataFrame, by: list[str]) -> list[Row]:
    """Both sides' best for each seed; then means over seeds."""
    groups = joined.groupby(CASE + by)
    seeds = [dict(zip(CASE + by, key, strict=True)) | compare(group) for key, group in groups]
    keys = [name for name in CASE + by if name != "seed"]
    summary = {"cblearn": "mean", "ours": "mean", "by validation": "mean", "chosen": "; ".join}
    means = pd.DataFrame(seeds).groupby(keys, as_index=False).agg(summary)
    means["difference"] = means.ours - means.cblearn
    return means.to_dict("records")


def compare(group: pd.DataFrame) -> Row:
    choice = group.loc[group.validation.idxmax()]
    chosen = f"{choice.method} d={choice.d} penalty={choice.penalty:g}"
    return {
        "cblearn": group.accuracy.max(),
        "ours": group.chosen.max(),
        "by validation": choice.chosen,
        "chosen": chosen,
    }

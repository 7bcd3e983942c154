"""Does choosing questions pay? Heim (2015), Fig. 12, 13, 15 without auxiliary features, and Jamieson et al. (2015).

Every strategy has the same model, fitted the same way: the best of a warm, a spectral and a random start after each
round. Parts: `low` and `human` (simulated raters), `thesis` (250 items in six dimensions, no noise; the set-up of
Fig. 12), `zappos` and `food` (recorded answers, Fig. 15 and 13), `fruit` (the record of four samplers). Ten seeds each,
with a truth, a test and a first round of its own for every seed. `odd` (whole answers: odd ones out) has eight seeds,
on which no setting was chosen.

Run: python -m reproduce.active [PART ...]
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import joblib
import numpy as np
import pandas as pd

import similitude as sm
from reproduce.active_page import LEDGER, page
from reproduce.graph_processing import data_folder
from similitude.active.plan import sharpness_of
from similitude.methods.refit import best_fit

HERE = Path(__file__).parent
SEEDS = 10
OURS, ALL = {"strategy": "information_gain"}, {"candidates": "all"}
STRATEGIES = {
    "random": {"strategy": "random"},
    "information gain": OURS,
    "information gain, 10% random": OURS | {"random_share": 0.1},
    "information gain, all pairs": OURS | ALL,
    "uncertainty, all pairs": {"strategy": "uncertainty"} | ALL,
    "A-CKL, all pairs": {"strategy": "ackl"} | ALL,
}
PAIR = ("random", "information gain")
MAIN = ("random", "information gain", "uncertainty, all pairs", "A-CKL, all pairs")


def normal(n: int, d: int, seed: int) -> np.ndarray:
    return np.random.default_rng([90_010, seed]).normal(size=(n, d))


def thesis_items(seed: int) -> np.ndarray:
    """250 items: three dimensions uniform, three mixtures of normal distributions, each of unit variance."""
    rng = np.random.default_rng([90_011, seed])
    uniform = rng.uniform(-1, 1, size=(250, 3))
    mixed = rng.choice([-1.5, 0.0, 1.5], size=(250, 3)) + 0.4 * rng.normal(size=(250, 3))
    items = np.column_stack([uniform, mixed])
    return items / items.std(0)


def simulated(truth: np.ndarray, model: object, seed: int, rounds: int, wrong: float, label: str) -> pd.DataFrame:
    return one(label, model, truth, seed, rounds, sharpness=sharpness_of(truth, wrong))


def one(label: str, model: object, source: object, seed: int, rounds: int, **rater: object) -> pd.DataFrame:
    warnings.simplefilter("ignore")
    table = sm.active_curve(
        model, source, strategies={label: STRATEGIES[label]}, rounds=rounds, n_repeats=1, random_state=seed,
        per_repeat=True, **rater,
    )  # fmt: skip
    return table.assign(repeat=seed)


def both(jobs: list) -> pd.DataFrame:
    return pd.concat(joblib.Parallel(n_jobs=-1)(jobs), ignore_index=True)


def low() -> pd.DataFrame:
    return both([joblib.delayed(simulated)(normal(60, 2, seed), sm.STE(2), seed, 45, 0.05, label)
                 for seed in range(SEEDS) for label in STRATEGIES])  # fmt: skip


def human() -> pd.DataFrame:
    return both([joblib.delayed(simulated)(normal(60, 3, seed), sm.STE(3), seed, 70, 0.18, label)
                 for seed in range(SEEDS) for label in MAIN])  # fmt: skip


def thesis() -> pd.DataFrame:
    return both([joblib.delayed(simulated)(thesis_items(seed), sm.STE(6), seed, 50, 0.0, label)
                 for seed in range(SEEDS) for label in PAIR])  # fmt: skip


def half_clustered(seed: int) -> np.ndarray:
    """80 items in three dimensions: half of them normal, half in five clusters."""
    rng = np.random.default_rng([555, seed])
    centres = rng.normal(size=(5, 3))
    return np.concatenate([rng.normal(size=(40, 3)), centres[rng.integers(0, 5, 40)] + 0.25 * rng.normal(size=(40, 3))])


def odd() -> pd.DataFrame:
    seeds = (*range(4), *range(100, 104))
    return both([joblib.delayed(odd_one_out)(seed, label) for seed in seeds for label in PAIR])


def odd_one_out(seed: int, label: str) -> pd.DataFrame:
    truth = half_clustered(seed)
    return one(label, sm.STE(3), truth, seed, 20, form="odd_one_out", sharpness=sharpness_of(truth, 0.15))


def recorded(name: str, seed: int, label: str) -> pd.DataFrame:
    path = {"zappos": "zappos85/triplets.csv.gz", "food": "food100/screens.csv"}[name]
    answers = sm.read_comparisons(data_folder() / path)
    return one(label, sm.CKL(5), answers, seed, 30)


def replay(name: str, labels: tuple[str, ...]) -> pd.DataFrame:
    return both([joblib.delayed(recorded)(name, seed, label) for seed in range(SEEDS) for label in labels])


def fruit() -> pd.DataFrame:
    """The first answers of each recorded sampler, fitted our way; the hold-out is resampled for the spread."""
    warnings.simplefilter("ignore")
    answers = sm.read_comparisons(data_folder() / "strangefruit30" / "triplets.csv.gz")
    sampler = answers.answers.strategy.values
    test = answers.select(sampler == "Test")
    rows = []
    for name in ("RandomSampling", "UncertaintySampling", "CrowdKernel", "STE"):
        mine = np.flatnonzero(sampler == name)
        for size in (125, 250, 500, 1000, 2000, 3900):
            model = best_fit(sm.CKL(2, random_state=0), answers.select(mine[:size]))
            wrong = 1.0 - (model.pair_distance(test.near) < model.pair_distance(test.far))
            for seed in range(SEEDS):
                drawn = np.random.default_rng(seed).integers(0, len(wrong), len(wrong))
                rows.append({"strategy": name, "answers": size, "error": wrong[drawn].mean(), "repeat": seed})
    pool = answers.select(sampler != "Test")
    for label in ("random", "information gain"):
        rows += [row for seed in range(SEEDS) for row in one(label, sm.CKL(2), pool, seed, 30).to_dict("records")]
    return pd.DataFrame(rows)


PARTS = {
    "low": low,
    "human": human,
    "thesis": thesis,
    "zappos": lambda: replay("zappos", (*PAIR, "A-CKL, all pairs")),
    "food": lambda: replay("food", PAIR),
    "fruit": fruit,
    "odd": odd,
}


def main(parts: list[str]) -> None:
    store = HERE / "results" / "active.json"
    results = json.loads(store.read_text(encoding="utf-8")) if store.exists() else {}
    for part in [] if parts == ["--page"] else parts or PARTS:
        table = PARTS[part]().round(5)
        results[part] = {
            strategy: {
                "answers": sorted(set(rows.answers.tolist())),
                "error": rows.pivot(index="repeat", columns="answers", values="error").to_numpy().round(4).tolist(),
            }
            for strategy, rows in table.groupby("strategy", sort=False)
        }
        store.write_text(json.dumps(results) + "\n", encoding="utf-8")
    LEDGER.write("active", page(results))


if __name__ == "__main__":
    main(sys.argv[1:])

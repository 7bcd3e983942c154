"""Do features help, and do they help to choose questions? Heim (2015), 4.2: Fig. 12, 13 and 15.

TACKL against CKL, each with random questions, with the thesis' own choice of them (A-TACKL, A-CKL: the best of some
random pairs of a head) and with information gain, our default. Same first round and same test for all. Parts:
`synthetic` (Fig. 12: 250 items in six dimensions, answers without noise, three true and three noise features), `food`
(Fig. 13: the 73 dishes with tastes), `zappos` (Fig. 15: AlexNet features on their first three principal axes), `few`
(Fig. 15 again, the thesis' choice among 10 pairs of a head instead of 100), and `joint` (the joint fit and the features
alone, random answers). The thesis does not say how many pairs it chose among; 10 and the ten seeds from 200 on were
fixed before `few` was run, after a look at 10 beside 100 with other seeds.

Run: python -m reproduce.tackl [PART ...] [--page], --page to write the page from the curves that are stored
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import joblib
import numpy as np
import pandas as pd

import similitude as sm
from reproduce.active import thesis_items
from reproduce.graph_processing import data_folder
from reproduce.tackl_page import LEDGER, page

HERE = Path(__file__).parent
SEEDS = {"synthetic": range(10), "food": range(5), "zappos": range(5), "few": range(200, 210)}
ROUNDS = {"synthetic": 12, "food": 16, "zappos": 16, "few": 16}
CANDIDATES = {"synthetic": 20, "food": 100, "zappos": 100, "few": 10}  # pairs of a head, for the published choices
TASTES = ["salty", "savory", "sour", "bitter", "sweet", "spicy"]
RANDOM, OURS = {"strategy": "random"}, {"strategy": "information_gain"}
LINES = {
    "CKL, random": ("CKL", RANDOM),
    "CKL, A-CKL": ("CKL", {"strategy": "ackl"}),
    "CKL, information gain": ("CKL", OURS),
    "TACKL, random": ("TACKL", RANDOM),
    "TACKL, A-TACKL": ("TACKL", {"strategy": "atackl"}),
    "TACKL, information gain": ("TACKL", OURS),
}
PUBLISHED = ("CKL, random", "CKL, A-CKL", "TACKL, random", "TACKL, A-TACKL")
DIMENSIONS = {"synthetic": (6, 6), "food": (5, 6), "zappos": (5, 3), "few": (5, 3)}  # of CKL, free ones of TACKL


def synthetic(seed: int) -> tuple[np.ndarray, np.ndarray]:
    truth = thesis_items(seed)
    noise = np.random.default_rng([90_012, seed]).normal(size=(len(truth), 3))
    return truth, np.column_stack([truth[:, [0, 1, 3]], noise])


def food(_: int) -> tuple[sm.Comparisons, np.ndarray]:
    """The answers about the dishes with tastes, a dish without them left out of its screens."""
    tastes = pd.read_csv(data_folder() / "food100" / "objects.csv")[TASTES]
    has = np.flatnonzero(tastes.notna().all(axis=1))
    place = np.full(len(tastes), -1)
    place[has] = np.arange(len(has))
    rows = pd.read_csv(data_folder() / "food100" / "triplets_all.csv.gz")
    codes = place[rows[["head", "winner", "loser"]].to_numpy()]
    kept = (codes >= 0).all(1)
    answers = sm.Comparisons.from_triplets(codes[kept], answer=rows.screen[kept].to_numpy(), n_items=len(has))
    return answers, tastes.to_numpy()[has]


def zappos(_: int) -> tuple[sm.Comparisons, np.ndarray]:
    answers = sm.read_comparisons(data_folder() / "zappos85" / "triplets.csv.gz")
    axes = pd.read_csv(data_folder() / "zappos85" / "features_alexnet_pca30.csv")[["pc0", "pc1", "pc2"]]
    return answers, axes.to_numpy()


DATA = {"synthetic": synthetic, "food": food, "zappos": zappos, "few": zappos}
JOINT = ("synthetic", "food", "zappos")


def model(name: str, method: str) -> object:
    plain, free = DIMENSIONS[name]
    return sm.CKL(plain) if method == "CKL" else sm.TACKL(free)


def curve(name: str, label: str, seed: int) -> pd.DataFrame:
    warnings.simplefilter("ignore")
    source, features = DATA[name](seed)
    method, options = LINES[label]
    if options["strategy"] in ("ackl", "atackl"):
        options = options | {"candidates": CANDIDATES[name]}
    return sm.active_curve(
        model(name, method), source, strategies={label: options}, features=features, rounds=ROUNDS[name], n_repeats=1,
        random_state=seed, per_repeat=True,
    )  # fmt: skip


def tests(name: str, seed: int) -> Iterator[tuple[int, sm.Comparisons, sm.Comparisons, np.ndarray]]:
    """Random answers, 2, 6 and 20 for each item, and a test."""
    source, features = DATA[name](seed)
    rng = np.random.default_rng([90_013, seed])
    if isinstance(source, np.ndarray):
        source = sm.simulate(source, 12_000, random_state=rng)
    train, test = source.split(0.2, by="answer", random_state=rng)
    rows = rng.permutation(train.triplets)
    for each in (2, 6, 20):
        count = each * len(features)
        yield count, sm.Comparisons.from_triplets(rows[:count], n_items=len(features)), test, features


def joint() -> dict:
    """Errors of CKL, of both fits of TACKL and of the features alone, and the weights that were found."""
    warnings.simplefilter("ignore")
    out: dict = {}
    for name in JOINT:
        rows = []
        for seed in range(3):
            for count, answers, test, features in tests(name, seed):
                plain, free = DIMENSIONS[name]
                n = len(features)
                fits = {"CKL": sm.CKL(plain, n_items=n, random_state=0).fit(answers)}
                for label, settings in {"two steps": {}, "joint": {"joint": True}}.items():
                    fits[label] = sm.TACKL(free, random_state=0, **settings).fit(answers, features=features)
                alone = sm.Similarity((features - features.mean(0)) / features.std(0), fits["CKL"].similarity_.loss)
                raw = sm.Similarity(features.astype(float), alone.loss)
                errors = {label: round(1 - fit.score(test), 4) for label, fit in fits.items()}
                errors |= {"features, unit variance": 1 - alone.score(test), "features as given": 1 - raw.score(test)}
                weights = {
                    label: fits[label].weights_["features"].round(3).tolist() for label in ("two steps", "joint")
                }
                value = {label: round(fits[label].objective_, 5) for label in ("two steps", "joint")}
                rows.append({"seed": seed, "answers": count, "error": errors, "weights": weights, "objective": value})
        out[name] = rows
    return out


def replays(part: str, results: dict, save: Callable[[], object]) -> None:
    """All lines of a part, seed by seed; saved after each, and not run again where they are stored."""
    lines = PUBLISHED if part == "few" else tuple(LINES)
    stored = results.setdefault(part, {label: {} for label in lines})
    jobs = [(label, seed) for seed in SEEDS[part] for label in lines if str(seed) not in stored[label]]
    work = (joblib.delayed(curve)(part, *job) for job in jobs)
    found = joblib.Parallel(n_jobs=int(os.environ.get("REPRODUCE_JOBS", "2")), return_as="generator")(work)
    for (label, seed), table in zip(jobs, found, strict=True):
        columns = {name: table[name].round(4).tolist() for name in ("answers", "error", "likelihood")}
        stored[label][str(seed)] = columns
        save()


def main(parts: list[str]) -> None:
    store = HERE / "results" / "tackl.json"
    results = json.loads(store.read_text(encoding="utf-8")) if store.exists() else {}
    for part in [] if "--page" in parts else parts or ["joint", *DATA]:
        if part == "joint":
            results["joint"] = joint()
        else:
            replays(part, results, lambda: store.write_text(json.dumps(results) + "\n", encoding="utf-8"))
        store.write_text(json.dumps(results) + "\n", encoding="utf-8")
    LEDGER.write("tackl", page(results))


if __name__ == "__main__":
    main(sys.argv[1:])

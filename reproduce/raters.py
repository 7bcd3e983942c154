"""Does it pay to tell raters apart? Sharpness and groups against pooling, on held-out answers.

No paper's claim, but ours: `RaterEmbedding` and `GroupEmbedding` beat pooling where raters differ, and do not lose
where they do not. Parts: `sharpness` and `groups` (planted: simulated raters, some of them alike), `fruit`
(strangefruit30, 416 raters), `kernels` (the triplets of perceptual_kernels, 20 raters for each palette).

Run: python -m reproduce.raters
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

import similitude as sm
from reproduce.claims import Ledger
from reproduce.raters_page import page
from reproduce.trials import data_folder, kept_trials

SEEDS = 24
SHARPNESS, GROUPS, FRUIT, KERNELS = range(4)
SPREADS = {"alike": 0.0, "differ": 0.7, "differ much": 1.4, "half click": None}
VIEWS = ("alike", "other maps", "other weights")
SIZES = (2000, 8000, 16000)
PALETTES = ("color", "shape", "size", "shapecolor", "shapesize", "sizecolor")


def people(kind: str, rng: np.random.Generator) -> sm.Raters:
    """Twenty raters of mean sharpness 2."""
    spread = SPREADS[kind]
    sharp = np.repeat([4.0, 0.0], 10) if spread is None else np.exp(spread * rng.standard_normal(20))
    return sm.Raters.of(2.0 * sharp / sharp.mean())


def scores(models: dict[str, object], train: sm.Comparisons, test: sm.Comparisons) -> dict[str, dict[str, float]]:
    out = {}
    for name, model in models.items():
        model.fit(train)
        out[name] = {"accuracy": model.score(test), "log_loss": sm.log_loss(model, test)}
    return out


def sharpness(kind_number: int, seed: int) -> list[dict]:
    """Planted sharpness: 20 raters, 75 answers each; tested on later answers of the same raters, and on the truth."""
    kind = list(SPREADS)[kind_number]
    rng = np.random.default_rng([7, kind_number, seed])
    truth = rng.normal(size=(20, 2))
    crowd = people(kind, rng)
    train, test = (sm.simulate(truth, size, raters=crowd, random_state=rng) for size in (1500, 4000))
    clean = sm.simulate(truth, 5000, random_state=rng)
    models = {"pooled": sm.STE(2, random_state=0), "by rater": sm.RaterEmbedding(2, random_state=0)}
    models["by rater, with lapses"] = sm.RaterEmbedding(2, lapse=True, random_state=0)
    found = scores(models, train, test)
    table = models["by rater"].raters_
    true = pd.Series(crowd.sharpness, crowd.names)[table.rater].to_numpy()
    if true.min() > 0:  # up to the scale of all of them, which the map has
        true = true * np.exp(np.mean(np.log(table.sharpness / true)))
    facts = {"spread": models["by rater"].spread_, "flagged": int(table.less_sharp.sum())}
    facts |= {"covered": float(((table.low < true) & (true < table.high)).mean())} if true.min() > 0 else {}
    return [
        {"part": "sharpness", "kind": kind, "seed": seed, "model": name, **row, "truth": models[name].score(clean)}
        | (facts if name == "by rater" else {})
        for name, row in found.items()
    ]


def groups(kind_number: int, seed: int) -> list[dict]:
    """Planted groups: twelve raters see one map and eight another, 60 answers each."""
    kind = VIEWS[kind_number]
    rng = np.random.default_rng([8, kind_number, seed])
    first = rng.normal(size=(20, 2))
    second = {"alike": first, "other maps": rng.normal(size=(20, 2)), "other weights": first * [0.3, 1.7]}[kind]
    first = first * [1.7, 0.3] if kind == "other weights" else first
    parts = {"train": [], "test": []}
    for letter, seen, size in (("a", first, 12), ("b", second, 8)):
        crowd = sm.Raters.of(np.full(size, 1.5), names=[f"{letter}{k}" for k in range(size)])
        for name, each in (("train", 60), ("test", 100)):
            parts[name].append(sm.simulate(seen, size * each, raters=crowd, random_state=rng))
    train, test = (sm.Comparisons.concatenate(part) for part in parts.values())
    models = {"pooled": sm.STE(2, random_state=0), "maps": sm.GroupEmbedding(2, random_state=0)}
    models["weights"] = sm.GroupEmbedding(2, differ="weights", random_state=0)
    rows = []
    for name, row in scores(models, train, test).items():
        fact = {"part": "groups", "kind": kind, "seed": seed, "model": name, **row}
        if name != "pooled":
            found = models[name]
            letters = [rater[0] for rater in found.groups_.rater]
            fact |= {"groups": found.n_groups_, "purity": sm.purity(letters, found.groups_.group)}
        rows.append(fact)
    return rows


def fruit(size_number: int, seed: int) -> list[dict]:
    """A fifth of the answers of strangefruit30 held out, so many others to learn from."""
    table = pd.read_csv(data_folder() / "strangefruit30" / "triplets.csv.gz")
    rows, who = table[["head", "winner", "loser"]].to_numpy(), table.participant.to_numpy()
    c = sm.Comparisons.from_triplets(rows, rater=who, n_items=30)
    train, test = c.split(0.2, random_state=seed)
    chosen = np.random.default_rng(seed).permutation(train.n_answers)[: SIZES[size_number]]
    train = train.select(chosen)
    out = []
    for method in ("STE", "CKL"):
        models = {"pooled": getattr(sm, method)(2, random_state=0)}
        models["by rater"] = sm.RaterEmbedding(2, method=method, random_state=0)
        if size_number == len(SIZES) - 1 and seed < 2:
            models["by group"] = sm.GroupEmbedding(2, method=method, max_groups=2, n_init=2, random_state=0)
        for name, row in scores(models, train, test).items():
            fact = {"part": "fruit", "method": method, "size": len(train), "seed": seed, "model": name, **row}
            if name == "by rater":
                fact |= {"spread": models[name].spread_, "flagged": int(models[name].raters_.less_sharp.sum())}
            if name == "by group":
                fact |= {"groups": models[name].n_groups_}
            out.append(fact)
    return out


def kernels(palette_number: int, seed: int) -> list[dict]:
    """A fifth of the triplets of a palette held out; 20 raters."""
    table = pd.read_csv(data_folder() / "perceptual_kernels" / "triplet_matching.csv.gz")
    table = table[table.palette == PALETTES[palette_number]]
    c = sm.Comparisons.from_triplets(table[["head", "winner", "loser"]].to_numpy(), rater=table.subject.to_numpy())
    train, test = c.split(0.2, random_state=seed)
    models = {"pooled": sm.STE(2, random_state=0), "by rater": sm.RaterEmbedding(2, random_state=0)}
    models["by group"] = sm.GroupEmbedding(2, random_state=0)
    rows = []
    for name, row in scores(models, train, test).items():
        fact = {"part": "kernels", "palette": PALETTES[palette_number], "seed": seed, "model": name, **row}
        if name == "by rater":
            fact |= {"spread": models[name].spread_, "flagged": int(models[name].raters_.less_sharp.sum())}
        if name == "by group":
            fact |= {"groups": models[name].n_groups_}
        rows.append(fact)
    return rows


PARTS = {SHARPNESS: sharpness, GROUPS: groups, FRUIT: fruit, KERNELS: kernels}


def run(part: int, number: int, seed: int) -> list[dict]:
    return PARTS[part](number, seed)


def main() -> None:
    warnings.simplefilter("ignore")
    jobs = [(SHARPNESS, kind, seed) for kind in range(len(SPREADS)) for seed in range(SEEDS)]
    jobs += [(GROUPS, kind, seed) for kind in range(len(VIEWS)) for seed in range(5)]
    jobs += [(FRUIT, size, seed) for size in range(len(SIZES)) for seed in range(5)]
    jobs += [(KERNELS, palette, seed) for palette in range(len(PALETTES)) for seed in range(3)]
    table = kept_trials("raters", run, jobs)
    others = {"Planted sharpness": {"trials": SEEDS}, "perceptual_kernels": {"trials": 3}}
    Ledger(5, "95%, paired by seed", False, whose="ours", others=others).write("raters", page(table))


if __name__ == "__main__":
    main()

"""Do other forms of feedback help to predict answers of one form? Mixed fits against that form alone.

The papers name it as future work. Parts: `kernels` (perceptual_kernels: triplets, odd-one-out, ratings of five and of
nine steps, placements of the same palettes; a fifth of the triplets, or of the odd-one-out answers, held out) and
`rocks` (30 rocks: triplets drawn from the ratings of 30 raters, beside the ratings of five others and the classes).

Run: python -m reproduce.mixed_feedback
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

import similitude as sm
from reproduce.claims import Ledger
from reproduce.mixed_feedback_page import page
from reproduce.trials import data_folder, kept_trials

KERNELS, ROCKS = range(2)
PALETTES = ("color", "shape", "size", "shapecolor", "shapesize", "sizecolor")
TARGETS = ("triplet", "odd_one_out")
SIZES = (30, 100, 300, 1000)
SEEDS = 2


def forms(palette: str) -> tuple[dict[str, sm.Comparisons], list[sm.Ratings]]:
    """The comparisons of a palette by form, and its ratings by scale; 0 is no rating."""
    folder = data_folder() / "perceptual_kernels"
    names = ("triplet_matching", "odd_one_out", "pair_ratings", "spatial_arrangement")
    tables = [pd.read_csv(folder / f"{name}.csv.gz") for name in names]
    triplets, odd, rated, placed = (table[table.palette == palette] for table in tables)
    n = 1 + int(triplets[["head", "winner", "loser"]].max().max())
    c = {
        "triplet": sm.Comparisons.from_triplets(triplets[["head", "winner", "loser"]].to_numpy(), n_items=n),
        "odd_one_out": sm.Comparisons.from_odd_one_out(odd[["a", "b", "odd"]].to_numpy(), n_items=n),
        "placement": sm.Comparisons.from_placements(
            placed.object.to_numpy(), placed[["x", "y"]].to_numpy(), placed.subject.to_numpy(), max_per_rater=200,
            random_state=0, n_items=n,
        ),
    }  # fmt: skip
    ratings = [
        sm.Ratings.of(
            part[["i", "j"]].to_numpy(), part.rating.to_numpy(), larger="different", missing=0,
            rater=part.subject.to_numpy(), n_items=n,
        )
        for _, part in rated.groupby("task")
    ]  # fmt: skip
    return c, ratings


def kernels(palette_number: int, target_number: int, seed: int) -> list[dict]:
    """So many answers of one form, alone and with all other forms; tested on held-out answers of that form."""
    target = TARGETS[target_number]
    comparisons, ratings = forms(PALETTES[palette_number])
    train, test = comparisons.pop(target).split(0.2, random_state=seed)
    others = list(comparisons.values())
    order = np.random.default_rng(seed).permutation(train.n_answers)
    settings = {"n_items": train.n_items, "random_state": 0}
    rows = []
    for size in SIZES:
        own = train.select(order[:size])
        every = sm.Comparisons.concatenate([own, *others])
        drawn = [one.to_comparisons(200, 0) for one in ratings]
        fits = {
            "alone": sm.STE(2, **settings).fit(own),
            "as comparisons": sm.STE(2, **settings).fit(sm.Comparisons.concatenate([every, *drawn])),
            "mixed, weights 1": sm.MixedEmbedding(2, weights={}, target=target, **settings).fit(every, ratings=ratings),
            "mixed": sm.MixedEmbedding(2, target=target, **settings).fit(every, ratings=ratings),
        }
        common = {"part": "kernels", "palette": PALETTES[palette_number], "target": target, "size": size, "seed": seed}
        rows += [common | {"model": name, **scored(fit, test)} for name, fit in fits.items()]
    return rows


def rocks(_: int, __: int, seed: int) -> list[dict]:
    """Triplets drawn from some raters' ratings, beside other raters' ratings and the rocks' classes."""
    folder = data_folder() / "rocks"
    table = pd.read_csv(folder / "rocks30_pair_ratings.csv.gz").query("excluded_by_authors == 0")
    objects = pd.read_csv(folder / "rocks30_objects.csv")
    classes = pd.read_csv(folder / "rocks360_objects_features.csv").superclass[objects.index360].to_numpy()
    rng = np.random.default_rng([9, seed])
    raters = rng.permutation(table.subject.unique())
    first, second = (table[table.subject.isin(some)] for some in (raters[:30], raters[30:60]))
    ratings = _ratings(table[table.subject.isin(raters[60:65])])
    answers = _triplets(first, rng)
    test = _triplets(second, rng).select(np.arange(4000))
    labels = sm.Labels.of(np.arange(30), classes, n_items=30)
    settings = {"n_items": 30, "random_state": 0}
    rows = []
    for size in SIZES:
        own = answers.select(np.arange(size))
        plain = {"weights": {}, **settings}
        fits = {
            "alone": sm.STE(4, **settings).fit(own),
            "with ratings": sm.MixedEmbedding(4, **settings).fit(own, ratings=ratings),
            "with classes": sm.MixedEmbedding(4, **settings).fit(own, labels=labels),
            "with both": sm.MixedEmbedding(4, **settings).fit(own, ratings=ratings, labels=labels),
            "with both, weights 1": sm.MixedEmbedding(4, **plain).fit(own, ratings=ratings, labels=labels),
        }
        common = {"part": "rocks", "size": size, "seed": seed}
        rows += [common | {"model": name, **scored(fit, test)} for name, fit in fits.items()]
    return rows


def _ratings(table: pd.DataFrame) -> sm.Ratings:
    pairs = table[["i", "j"]].to_numpy()
    return sm.Ratings.of(pairs, table.rating.to_numpy(), larger="similar", rater=table.subject.to_numpy(), n_items=30)


def _triplets(table: pd.DataFrame, rng: np.random.Generator) -> sm.Comparisons:
    """Draw triplets, each from two ratings of one rater that share a rock; an answer each, in random order."""
    every = _ratings(table).to_comparisons(3000, rng)
    rows = every.triplets if every.is_triplet.all() else every.quadruplets[every.is_triplet][:, [0, 1, 3]]
    return sm.Comparisons.from_triplets(rng.permutation(rows), n_items=30)


def scored(fit: object, test: sm.Comparisons) -> dict[str, float]:
    weights = getattr(fit, "weights_", {})
    return {"accuracy": fit.score(test), "log_loss": sm.log_loss(fit, test)} | ({"weights": weights} if weights else {})


def run(part: int, first: int, second: int, seed: int) -> list[dict]:
    return (kernels, rocks)[part](first, second, seed)


def main() -> None:
    warnings.simplefilter("ignore")
    jobs = [(ROCKS, 0, 0, seed) for seed in range(5)]
    jobs += [(KERNELS, p, t, seed) for seed in range(SEEDS) for p in range(len(PALETTES)) for t in range(len(TARGETS))]
    ledger = Ledger(len(PALETTES), "95%, paired by palette", False, whose="ours", others={"rocks": {"trials": 5}})
    ledger.write("mixed_feedback", page(kept_trials("mixed_feedback", run, jobs)))


if __name__ == "__main__":
    main()

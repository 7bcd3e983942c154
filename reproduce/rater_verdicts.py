"""A different mind is not a random one: how often `check` names raters rightly, on simulations and on people.

The claims are ours. Part `planted`: studies of 20 raters of unequal sharpness (two dimensions, sides recorded), among
them two who click at random, two who see the same items by another map, or the same map with other weights, or nobody.
Part `people`: palettes of perceptual_kernels (odd-one-out and triplets, 20 people each, 100 or 150 answers drawn for
each), as they are and with two clickers planted; and strangefruit30. Thresholds were set on simulations with other
seeds.

Run: python -m reproduce.rater_verdicts
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd

import similitude as sm
from reproduce.claims import Ledger
from reproduce.rater_verdicts_page import page
from reproduce.trials import data_folder, kept_trials

PLANTED, PEOPLE, FRUIT = range(3)
SEEDS, DRAWS = 50, 10
KINDS = ("nobody", "clickers", "other map", "other weights")
DESIGNS = (  # form, items, answers of each rater, mean sharpness
    ("triplet", 20, 200, 3.0),
    ("triplet", 20, 80, 3.0),
    ("triplet", 20, 80, 1.0),
    ("triplet", 60, 200, 3.0),
    ("odd_one_out", 16, 100, 3.0),
    ("odd_one_out", 30, 100, 2.0),
    ("choice", 16, 15, 3.0),
)
RATERS, ODD = 20, 2
FORMS = ("odd_one_out", "triplet_matching")
PALETTES = ("shapecolor", "shapesize", "sizecolor", "color", "shape", "size")
SIZES = (100, 150)
COLOUR_MINDED = "12"  # goes by colour in 99 % of the conflicts of shapecolor, where most go by shape


def study(kind: str, design: int, rng: np.random.Generator) -> sm.Comparisons:
    """Twenty raters, the first two of them odd."""
    form, n_items, each, sharpness = DESIGNS[design]
    sharp = sharpness * np.exp(0.5 * rng.standard_normal(RATERS))
    names = [f"rater {k:02d}" for k in range(RATERS)]
    usual = rng.standard_normal((n_items, 2))
    other = rng.standard_normal((n_items, 2))
    if kind == "other weights":
        usual, other = usual * [1.7, 0.3], usual * [0.3, 1.7]
    lapse = (np.arange(RATERS) < ODD) * float(kind == "clickers")
    many = [sm.Raters.of(sharp[part], lapse=lapse[part], names=names[part]) for part in (slice(ODD), slice(ODD, None))]
    seen = (other if kind.startswith("other") else usual, usual)
    parts = [
        sm.simulate(places, each * len(group.names), form, raters=group, record=True, random_state=rng)
        for places, group in zip(seen, many, strict=True)
    ]
    return sm.Comparisons.concatenate(parts)


def planted(kind: int, design: int, seed: int) -> list[dict]:
    raters = sm.check(study(KINDS[kind], design, np.random.default_rng([21, kind, design, seed]))).raters
    what = {"part": "planted", "kind": KINDS[kind], "design": design, "seed": seed}
    return [{**what, "odd": counts(raters.verdict[:ODD]), "rest": counts(raters.verdict[ODD:])}]


def counts(verdicts: tuple[str, ...]) -> dict[str, int]:
    return {verdict: verdicts.count(verdict) for verdict in sorted(set(verdicts))}


def people(form: int, palette: int, size: int, draw: int) -> list[dict]:
    """So many answers of every person, and of two more who click."""
    table = pd.read_csv(data_folder() / "perceptual_kernels" / f"{FORMS[form]}.csv.gz")
    table = table[table.palette == PALETTES[palette]]
    rng = np.random.default_rng([22, form, palette, size, draw])
    table = pd.concat([own.iloc[rng.permutation(len(own))[: SIZES[size]]] for _, own in table.groupby("subject")])
    clicked = [clicker(table, SIZES[size], f"clicker {k}", rng) for k in range(2)]
    what = {"part": "people", "form": FORMS[form], "palette": PALETTES[palette], "answers": SIZES[size], "draw": draw}
    alone = sm.check(sm.read_comparisons(table)).raters
    found = sm.check(sm.read_comparisons(pd.concat([table, *clicked]))).raters
    planted_ones = np.array([name.startswith("clicker") for name in found.names])
    row = {
        "honest": named(alone),
        "clickers": counts(tuple(np.array(found.verdict)[planted_ones].tolist())),
        "clickers_own": float(np.nanmean(found.self_consistency[planted_ones])),
    }
    if PALETTES[palette] == "shapecolor" and FORMS[form] == "odd_one_out":
        place = alone.names.index(COLOUR_MINDED)
        row |= {"colour": alone.verdict[place], "agreement": float(alone.agreement[place])}
        row |= {"own": float(alone.self_consistency[place])}
    return [what | row]


def named(raters: sm.RaterTable) -> dict[str, list[str]]:
    """The names of those who are not like the others."""
    said = list(zip(raters.names, raters.verdict, strict=True))
    kinds = sorted(set(raters.verdict) - {"like the others"})
    return {kind: [name for name, verdict in said if verdict == kind] for kind in kinds}


def clicker(table: pd.DataFrame, size: int, name: str, rng: np.random.Generator) -> pd.DataFrame:
    """Somebody's questions, answered at random: the items of each row in a random order."""
    some = table.iloc[rng.permutation(len(table))[:size]].copy()
    columns = ["a", "b", "odd"] if "odd" in some else ["winner", "loser"]
    some[columns] = rng.permuted(some[columns].to_numpy(), axis=1)
    return some.assign(subject=name)


def fruit() -> list[dict]:
    """Every rater of strangefruit30: are those who answer at random those who answer fast?"""
    raters = sm.check(sm.read_comparisons(data_folder() / "strangefruit30" / "triplets.csv.gz")).raters
    rows = []
    for kind in sorted(set(raters.verdict)):
        seconds = raters.seconds[[verdict == kind for verdict in raters.verdict]]
        rows.append({"part": "fruit", "verdict": kind, "raters": len(seconds), "seconds": float(np.nanmedian(seconds))})
    return [{**row, "typical": float(np.nanmedian(raters.seconds))} for row in rows]


def run(part: int, *job: int) -> list[dict]:
    return (planted, people, fruit)[part](*job)


def jobs() -> list[tuple[int, ...]]:
    made = [(PLANTED, *job) for job in itertools.product(range(len(KINDS)), range(len(DESIGNS)), range(SEEDS))]
    made += [
        (PEOPLE, form, palette, size, draw)
        for form in range(len(FORMS))
        for palette in range(len(PALETTES))
        for size in range(len(SIZES))
        if palette < 3 or size == 0  # ten objects have 120 triples
        for draw in range(DRAWS)
    ]
    return [*made, (FRUIT,)]


if __name__ == "__main__":
    others: dict[str, dict[str, Any]] = {
        "Planted": {"fixed": True},  # thresholds were set with other seeds
        "People: perceptual_kernels": {"trials": DRAWS},
        "People: strangefruit30": {"trials": 1},
    }
    ledger = Ledger(SEEDS, "none: rates of many raters", False, whose="ours", others=others)
    ledger.write("rater_verdicts", page(kept_trials("rater_verdicts", run, jobs())))

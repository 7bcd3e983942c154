"""Human answers kept whole: odd ones out, most central ones and picks from grids, as they were given.

`real_data` has some of the same sets as triplets, the way cblearn's recorded figures need them.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

import similitude as sm
from benchmarks import real_data

PALETTES = ("color", "shape", "size", "shapecolor", "shapesize", "sizecolor")
FORMS = dict.fromkeys(PALETTES, "odd one out") | {
    "car60": "most central",
    "food100": "picks from a grid",
    "things1854": "odd one out",
}


@cache
def load(name: str) -> sm.Comparisons:
    """Return the answers of a set, each of them whole."""
    if name in PALETTES:
        return _palette(name)
    return {"car60": _cars, "food100": _food, "things1854": _things}[name]()


def split(name: str, answers: int, seed: int) -> tuple[sm.Comparisons, sm.Comparisons]:
    """Return so many answers to learn from, and a fifth of all answers, which are held out."""
    c = load(name)
    order = np.random.default_rng(seed).permutation(c.n_answers)
    held_out, rest = np.split(order, [c.n_answers // 5])
    return tuple(c.select(np.isin(np.arange(c.n_answers), rows)) for rows in (rest[:answers], held_out))


def _palette(name: str) -> sm.Comparisons:
    table = pd.read_csv(real_data.folder() / "perceptual_kernels" / "odd_one_out.csv.gz")
    table = table[table.palette == name]
    shown = table[["a", "b", "odd"]].to_numpy()
    return sm.Comparisons.from_odd_one_out(shown, np.full(len(shown), 2), rater=table.subject.to_numpy())


def _cars() -> sm.Comparisons:
    table = pd.read_csv(real_data.folder() / "car60" / "most_central.csv")
    return sm.Comparisons.from_most_central(table[["central", "other1", "other2"]].to_numpy())


def _food() -> sm.Comparisons:
    table = pd.read_csv(real_data.folder() / "food100" / "screens.csv").query("is_catchtrial == 0")
    chosen, others = (
        [[int(float(item)) for item in cell.split()] for cell in table[column].astype(str)]
        for column in ("chosen_near", "not_chosen")
    )
    shown = [[head, *near, *far] for head, near, far in zip(table.probe.tolist(), chosen, others, strict=True)]
    return sm.Comparisons.from_choices(shown, chosen, rater=table.worker.to_numpy())


def _things() -> sm.Comparisons:
    table = pd.read_csv(real_data.folder() / "things1854" / "answers_training.csv.gz")
    shown = table[["a", "b", "odd"]].to_numpy()
    return sm.Comparisons.from_odd_one_out(shown, np.full(len(shown), 2), n_items=1854)

"""People's answers as they were given: most central cars, picks from grids of foods, odd ones out.

Files lie in the folder of `real_data`. Of THINGS `load` reads the first 234,000 answers and no others: what comes
after them, and the repeated triples, are for final reports, once everything is chosen.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
import pandas as pd

import similitude as sm
from benchmarks.real_data import folder

THINGS = 234_000
PALETTES = ("color", "shape", "size", "shapecolor", "shapesize", "sizecolor")  # of perceptual_kernels


@cache
def load(name: str) -> sm.Comparisons:
    """Return all answers of car60, food100, strangefruit30, things1854 or a palette."""
    if name in PALETTES:
        return _palette(name)
    return {"car60": _cars, "food100": _foods, "strangefruit30": _fruit, "things1854": _things}[name]()


def split(name: str, size: int, held_out: int, seed: int) -> tuple[sm.Comparisons, sm.Comparisons]:
    """Return so many answers to learn from, and others to score on."""
    c = load(name)
    order = np.random.default_rng(seed).permutation(c.n_answers)
    return _of(c, order[held_out : held_out + size]), _of(c, order[:held_out])


def things_features() -> dict[str, npt.NDArray[np.float64]]:
    """Return the vectors of CLIP (512) and word2vec (300) of each of the 1,854 things."""
    files = {name: folder() / "things1854" / f"features_{name}.npz" for name in ("clip", "word2vec")}
    return {name: np.load(path)["X"].astype(float) for name, path in files.items()}


def things_aside() -> sm.Comparisons:
    """Return the answers after the first 234,000: for a final report."""
    path = folder() / "things1854" / "answers_training.csv.gz"
    return _odd_ones(pd.read_csv(path, skiprows=range(1, THINGS + 1)))


def things_repeated() -> sm.Comparisons:
    """Return the answers to 2,000 triples, each asked often: for a final report."""
    return _odd_ones(pd.read_csv(folder() / "things1854" / "odd_one_out.csv.gz").query("set != 'du2171'"))


def _odd_ones(table: pd.DataFrame) -> sm.Comparisons:
    rater = table.rater.to_numpy() if "rater" in table else None
    return sm.Comparisons.from_odd_one_out(table[["a", "b", "odd"]].to_numpy(), rater=rater, n_items=1854)


def _of(c: sm.Comparisons, answers: npt.NDArray[np.int64]) -> sm.Comparisons:
    return c[np.flatnonzero(np.isin(c.answer, answers))]


def _cars() -> sm.Comparisons:
    table = pd.read_csv(folder() / "car60" / "most_central.csv")
    return sm.Comparisons.from_most_central(table[["central", "other1", "other2"]].to_numpy(), n_items=60)


def _foods() -> sm.Comparisons:
    table = pd.read_csv(folder() / "food100" / "screens.csv", dtype={"chosen_near": str, "not_chosen": str})
    table = table[(table.is_catchtrial == 0) & table.chosen_near.notna() & table.not_chosen.notna()]
    chosen = [[int(float(one)) for one in row.split()] for row in table.chosen_near]
    left = [[int(float(one)) for one in row.split()] for row in table.not_chosen]
    shown = [[*near, *far] for near, far in zip(chosen, left, strict=True)]
    kept = [k for k, row in enumerate(shown) if len({*row, table.probe.iloc[k]}) == len(row) + 1]
    head = table.probe.to_numpy()[kept]
    return sm.Comparisons.from_choices([shown[k] for k in kept], [chosen[k] for k in kept], head=head, n_items=100)


def _palette(name: str) -> sm.Comparisons:
    table = pd.read_csv(folder() / "perceptual_kernels" / "odd_one_out.csv.gz")
    table = table[table.palette == name]
    return sm.Comparisons.from_odd_one_out(table[["a", "b", "odd"]].to_numpy(), rater=table.subject.to_numpy())


def _fruit() -> sm.Comparisons:
    table = pd.read_csv(folder() / "strangefruit30" / "triplets.csv.gz")
    rater = table.participant.to_numpy()
    return sm.Comparisons.from_triplets(table[["head", "winner", "loser"]].to_numpy(), rater=rater, n_items=30)


def _things() -> sm.Comparisons:
    return _odd_ones(pd.read_csv(folder() / "things1854" / "answers_training.csv.gz", nrows=THINGS))

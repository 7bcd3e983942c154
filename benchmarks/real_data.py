"""Human answers: the data folder beside the checkout, its splits, and the recorded accuracy of cblearn.

The folder is `../shared/data`, or the one that SIMILITUDE_DATA names.
"""

from __future__ import annotations

import importlib.util
import json
import os
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import numpy.typing as npt
import pandas as pd

import similitude as sm

DATA = ("food100", "zappos85", "music_aset400", "car60", "strangefruit30")
Ints = npt.NDArray[np.int64]


def folder() -> Path:
    """Return the folder of human answers."""
    beside = Path(__file__).resolve().parents[1].parent / "shared" / "data"
    found = Path(os.environ.get("SIMILITUDE_DATA", beside))
    if not (found / "splits.py").exists():
        raise FileNotFoundError("no folder of human answers beside the checkout; name it in SIMILITUDE_DATA")
    return found


@cache
def splits() -> ModuleType:
    """Import `splits.py` from the data folder."""
    spec = importlib.util.spec_from_file_location("splits", folder() / "splits.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def baselines() -> pd.DataFrame:
    """Return the recorded accuracy of cblearn: data, n, m, seed, d, method, accuracy, seconds."""
    return pd.DataFrame(json.loads((folder() / "cblearn_baselines.json").read_text(encoding="utf-8")))


@cache
def load(name: str) -> tuple[Ints, Ints]:
    """Return triplets and the answer that each comes from."""
    return splits().load(name, folder())


def answers(name: str) -> sm.Comparisons:
    """Return all comparisons of a set, with their answers."""
    triplets, answer = load(name)
    return sm.Comparisons.from_triplets(triplets, answer=answer)


def split(name: str, m: int, seed: int) -> tuple[sm.Comparisons, Ints]:
    """Return training comparisons that know their answers, and test triplets, as the baselines were split.

    `splits.split` gives triplets alone, so its rows are drawn here once more, and checked against it.
    """
    triplets, answer = load(name)
    train, test = rows(answer, m, seed)
    theirs_train, theirs_test = splits().split(triplets, answer, m, seed)
    if not (np.array_equal(triplets[train], theirs_train) and np.array_equal(triplets[test], theirs_test)):
        raise RuntimeError(f"the split of {name} differs from that of splits.py: the two files have parted")
    known = {"answer": answer[train], "n_items": int(triplets.max()) + 1}
    return sm.Comparisons.from_triplets(triplets[train], **known), triplets[test]


def rows(answer: Ints, m: int, seed: int) -> tuple[Ints, Ints]:
    """Return the training and test rows: a fifth of the answers held out, the first m rows of the others."""
    order = np.random.default_rng(seed).permutation(np.unique(answer))
    rank = np.empty(answer.max() + 1, int)
    rank[order] = np.arange(len(order))
    held_out = rank[answer] < len(order) // 5
    train = np.flatnonzero(~held_out)
    return train[np.argsort(rank[answer[train]], kind="stable")][:m], np.flatnonzero(held_out)

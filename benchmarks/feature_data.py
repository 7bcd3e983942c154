"""Human answers about items with features: shoes with a network's activations, dishes, rocks."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

import similitude as sm
from benchmarks import real_data

Floats = npt.NDArray[np.float64]
Features = dict[str, Floats]
LOOKS = ["lightness", "coarse_grain", "roughness", "shininess", "organization", "color_variation"]
PARTS = ["p_grain", "p_fragments", "p_stripes", "p_holes", "p_layers", "p_special"]
COLOUR = ["munsell_value", "munsell_chroma", "hue_a", "hue_b"]
TASTES = ["salty", "savory", "sour", "bitter", "sweet", "spicy"]


def features(data: str) -> Features:
    """Return the features of a set by modality; rows of NaN where an item lacks one."""
    return {"zappos85": _zappos, "food100": _food, "rocks": _rocks}[data]()


def split(data: str, m: int, seed: int) -> tuple[sm.Comparisons, sm.Comparisons]:
    """Return (about) m training comparisons and the held-out ones: a fifth of the answers, of the raters for rocks."""
    if data == "rocks":
        few, many = (rock_ratings(count).split(0.2, by="rater", random_state=seed) for count in (m // 200, 100))
        return few[0], many[1]  # the same raters are held out, whatever the number drawn of each
    train, held_out = real_data.split(data, m, seed)
    return train, sm.Comparisons.from_triplets(held_out, n_items=train.n_items)


def everything(data: str) -> sm.Comparisons:
    """Return all comparisons of a set (40 a rater for rocks)."""
    return rock_ratings(40) if data == "rocks" else real_data.answers(data)


@cache
def rock_ratings(per_rater: int) -> sm.Comparisons:
    """Return so many comparisons of each of the 253 raters that the authors kept: ratings of pairs, larger is alike."""
    table = pd.read_csv(real_data.folder() / "rocks" / "rocks360_pair_ratings.csv.gz").query("excluded_by_authors == 0")
    asked: dict[str, Any] = {"larger": "similar", "max_per_rater": per_rater, "random_state": 0, "n_items": 360}
    return sm.Comparisons.from_ratings(table[["i", "j"]].to_numpy(), table.rating, table.subject, **asked)


def plain_distances(tables: Features) -> Floats:
    """Return all features side by side as positions, each modality with a mean squared distance of 2; NaN is 0."""
    centred = [table - np.nanmean(table, 0) for table in tables.values()]
    return np.hstack([np.nan_to_num(own / np.sqrt(np.nansum(np.nanvar(own, 0)))) for own in centred])


def _zappos() -> Features:
    return {"alexnet": pd.read_csv(real_data.folder() / "zappos85" / "features_alexnet_pca30.csv").to_numpy()}


def _food() -> Features:
    folder = real_data.folder() / "food100"
    words = pd.read_csv(folder / "features_ingredients.csv", index_col="image").to_numpy(float)
    words[words.sum(1) == 0] = np.nan
    colour = pd.read_csv(folder / "features_colour.csv", index_col="image").to_numpy(float)
    tastes = pd.read_csv(folder / "objects.csv")[TASTES].to_numpy(float)
    return {"ingredients": words, "colour": _standard(colour), "tastes": _standard(tastes)}


def _rocks() -> Features:
    table = pd.read_csv(real_data.folder() / "rocks" / "rocks360_objects_features.csv")
    groups = {"looks": LOOKS, "parts": PARTS, "colour": COLOUR}
    return {name: _standard(table[columns].to_numpy(float)) for name, columns in groups.items()}


def _standard(table: Floats) -> Floats:
    spread = np.nanstd(table, 0)
    return (table[:, spread > 0] - np.nanmean(table[:, spread > 0], 0)) / spread[spread > 0]

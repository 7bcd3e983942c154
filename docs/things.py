"""The pictures and figures of the tutorial on THINGS: `python docs/things.py [MODEL]`, from the data of the tests.

The folder of data is `../shared/data`, or what SIMILITUDE_DATA names. A fit takes minutes; a MODEL that is there is
read instead, and written otherwise.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import similitude as sm

PICTURES = Path(__file__).parent / "images" / "things"
DATA = Path(os.environ.get("SIMILITUDE_DATA", Path(__file__).parents[2] / "shared" / "data")) / "things1854"


def main(model: Path | None) -> None:
    """Fit or read the model, draw, and print what the tutorial says."""
    objects = pd.read_csv(DATA / "objects.csv")
    names, judged = list(objects.uniqueID), pd.read_csv(DATA / "rdm48_human.csv", index_col=0)
    answers = training(names, set(judged.index))
    similarity = learned(answers, model)
    kinds = objects.categories53.fillna("").str.get_dummies("|").set_axis(names)
    found = sm.describe_dimensions(similarity, answers, attributes=kinds.drop(columns="", errors="ignore"))
    print(*found.sentences(), sep="\n")
    print(found.table[["dimension", "name", "share", "share_low", "share_high"]].head(12).round(3).to_string())
    best = found.attributes.drop_duplicates("dimension").sort_values("correlation", ascending=False)
    print(best.head(10).round(2).to_string())
    drawn(found)
    others(similarity, judged, names)


def training(names: list[str], asked: set[str]) -> sm.Comparisons:
    """The answers, without those about three of the 48 objects that are predicted below."""
    rows = pd.read_csv(DATA / "answers_training.csv.gz")
    known = np.isin(np.array(names)[rows[["a", "b", "odd"]]], list(asked)).all(1)
    kept = rows[~known]
    print(f"{len(kept):,} answers, {known.sum()} of the 48 objects left out")
    return sm.Comparisons.from_odd_one_out(kept[["a", "b", "odd"]].to_numpy(), names=names, rater=kept.rater)


def learned(answers: sm.Comparisons, model: Path | None) -> sm.Similarity:
    """The model of a file, or a new one."""
    if model is not None and model.exists():
        return sm.Similarity.load(model)
    fitted = sm.NonNegativeEmbedding(random_state=0).fit(answers).similarity_
    if model is not None:
        fitted.save(model)
    return fitted


def drawn(found: sm.DescribedDimensions) -> None:
    """Six dimensions as tiles, how much each decides, a profile, and why an answer was given."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    sm.plot.save(sm.plot.dimension_tiles(found), PICTURES / "six.png", dpi=130)
    sm.plot.save(sm.plot.deciding(found, most=15), PICTURES / "deciding.png", dpi=110)
    sm.plot.save(sm.plot.profile(found, "crab", kind="rose"), PICTURES / "crab.png", dpi=110)
    why = found.why("crab", "pizza", "hammer")
    print(why, {why.features[k]: round(float(why.shares[k]), 2) for k in np.argsort(-why.shares)[:4]})
    sm.plot.save(sm.plot.explanation(why, most=6), PICTURES / "why.png", dpi=110)


def others(similarity: sm.Similarity, judged: pd.DataFrame, names: list[str]) -> None:
    """The table of 48 objects by the model, and by what does not know the answers."""
    rows = {
        "NonNegativeEmbedding": similarity,
        "SPoSE (66 dimensions, published)": pd.DataFrame(_product(pd.read_csv(DATA / "spose66.csv.gz")), names, names),
        "CLIP": _vectors("features_clip.npz", names),
        "word2vec": _vectors("features_word2vec.npz", names),
    }
    for name, one in rows.items():
        agreed = sm.compare(judged, one, random_state=0)
        print(f"| {name} | {agreed.correlation:.3f} ({agreed.low:.3f} to {agreed.high:.3f}) |")


def _product(table: pd.DataFrame) -> np.ndarray:
    return -(table.to_numpy() @ table.to_numpy().T)


def _vectors(file: str, names: list[str]) -> pd.DataFrame:
    """Vectors by name, without objects that have none, whose directions are then compared."""
    held = np.load(DATA / file)
    values = np.asarray(held[held.files[0]], float)
    known = np.isfinite(values).all(1) & (np.linalg.norm(np.nan_to_num(values), axis=1) > 0)
    unit = values[known] / np.linalg.norm(values[known], axis=1, keepdims=True)
    return pd.DataFrame(unit @ unit.T * -1.0, *[list(np.array(names)[known])] * 2)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)

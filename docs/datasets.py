"""The simulated sets that come with the package, made once: `python docs/datasets.py`.

They are kept as files (`src/similitude/datasets/shipped`), so that every reader of the documentation sees the same
figures, whatever version of numpy draws differently.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import similitude as sm
from similitude.demo import to_lab

FOLDER = Path(sm.__file__).parent / "datasets" / "shipped"
COLOURS = {
    "crimson": "#dc143c", "tomato": "#ff6347", "coral": "#ff7f50", "orange": "#ffa500", "gold": "#ffd700",
    "khaki": "#f0e68c", "yellow": "#ffff00", "olive": "#808000", "lime": "#00ff00", "green": "#008000",
    "seagreen": "#2e8b57", "teal": "#008080", "turquoise": "#40e0d0", "cyan": "#00ffff", "skyblue": "#87ceeb",
    "steelblue": "#4682b4", "blue": "#0000ff", "navy": "#000080", "indigo": "#4b0082", "purple": "#800080",
    "violet": "#ee82ee", "orchid": "#da70d6", "pink": "#ffc0cb", "maroon": "#800000",
}  # fmt: skip
CLICKERS = {"student 05", "student 09"}
KINDS = ("lamp", "chair", "table", "shelf")


def colours() -> None:
    """Answers of students and designers about colours."""
    names = list(COLOURS)
    rgb = np.array([[int(code[k : k + 2], 16) / 255 for k in (1, 3, 5)] for code in COLOURS.values()])
    lab = to_lab(rgb)
    parts = []
    for group, count, look in (("students", 12, (0.8, 1, 1)), ("designers", 8, (1.8, 0.8, 0.8))):
        for k in range(1, count + 1):
            name = f"{group[:-1]} {k:02d}"
            rater = sm.Raters.of(1.0, 1.0 if name in CLICKERS else 0.05, [name])
            seed = k + 100 * count
            made = sm.simulate(lab * look / 25, 90, "odd_one_out", raters=rater, names=names, random_state=seed)
            shown, odd = made.answers.shown.values.reshape(-1, 3), made.answers.response.values
            for row, last in zip(shown, odd, strict=True):
                a, b = (names[item] for k, item in enumerate(row) if k != last)
                parts.append((a, b, names[row[last]], name, group))
    pd.DataFrame(parts, columns=["a", "b", "odd", "rater", "group"]).to_csv(FOLDER / "colours.csv", index=False)
    table = pd.DataFrame({"hex": COLOURS.values()}, index=pd.Index(names, name="name"))
    table[["L", "a", "b"]] = lab.round(2)
    table.to_csv(FOLDER / "colours_items.csv")


def products() -> None:
    """Clicks of customers on products, and vectors."""
    rng = np.random.default_rng(5)
    kind = np.repeat(KINDS, 15)
    vectors = rng.normal(size=(60, 8))
    vectors[:, :2] += np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])[np.repeat(range(4), 15)]
    names = [f"{one}-{k % 15 + 1:02d}" for k, one in enumerate(kind)]
    clicks = sm.simulate(
        vectors[:, :3], 1500, "choice", grid_size=5, n_chosen=1, sharpness=0.8, raters=100, names=names, random_state=6
    )
    sm.write_comparisons(clicks, FOLDER / "products.csv")
    table = pd.DataFrame(vectors.round(3), columns=[f"v{k}" for k in range(8)], index=pd.Index(names, name="name"))
    table.insert(0, "kind", kind)
    table.to_csv(FOLDER / "products_items.csv")


if __name__ == "__main__":
    colours()
    products()

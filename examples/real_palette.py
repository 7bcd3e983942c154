"""
Real data: a palette of colours, asked in four ways
===================================================

The same ten colours, judged by twenty people each in four forms: triplets, odd one out, pair ratings, and laid out on a
table. How far do the forms tell the same, and what is the map from all of them together?

Source: C. Demiralp, M. Bernstein, J. Heer (2014), *Learning perceptual kernels for visualization design*, IEEE TVCG;
from the repository uwdata/perceptual-kernels. Licence: none stated ("use them for your own purposes").
"""

import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import similitude as sm

folder = (
    Path(os.environ.get("SIMILITUDE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    / "perceptual_kernels"
)
if not folder.is_dir():
    print(f"skipped: no human judgments at {folder}; set SIMILITUDE_DATA to the folder that holds {folder.name}")
    sys.exit()


def of_colours(name):
    """Return the rows about the colours."""
    table = pd.read_csv(folder / name)
    return table[table.palette == "color"].drop(columns="palette")


palette = of_colours("objects.csv")
ratings = of_colours("pair_ratings.csv.gz").query("task == 'l9'")
forms = {
    "triplets": sm.read_comparisons(of_colours("triplet_matching.csv.gz")),
    "odd one out": sm.read_comparisons(of_colours("odd_one_out.csv.gz")),
    "ratings, 1 to 9": sm.read_comparisons(ratings, larger="different", missing=0),
    "laid on a table": sm.read_comparisons(of_colours("spatial_arrangement.csv.gz")),
}

# %%
# One model for each form, in three dimensions, and how its distances rank beside those of the others. Three forms tell
# much the same; what was laid on a table stands apart.

upper = np.triu_indices(len(palette), 1)
distances = {}
for name, answers in forms.items():
    print(f"{name}: {answers}")
    distances[name] = sm.STE(3, random_state=0).fit(answers).distances()[upper]
agreement = pd.DataFrame(distances).corr("spearman")
print(agreement.round(2))

# %%
# All of them in one fit, every form with the same weight in all.

even = [answers.reweight(1000.0 / len(answers)) for answers in forms.values()]
together = sm.STE(2, random_state=0).fit(sm.Comparisons.concatenate(even))

_, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.2), layout="constrained")
sm.plot.embedding(together, colors=palette.hex.to_numpy(), size=320, ax=left)
left.set_title("ten colours, from four forms together")
right.imshow(agreement, cmap="Blues", vmin=0, vmax=1)
right.set_xticks(range(4), list(forms), rotation=30, ha="right")
right.set_yticks(range(4), list(forms))
for i in range(4):
    for j in range(4):
        shade = "white" if agreement.iloc[i, j] > 0.6 else "black"
        right.text(j, i, f"{agreement.iloc[i, j]:.2f}", ha="center", va="center", color=shade)
right.set_title("rank correlation of the distances")
plt.show()

# %%
# What it draws:
#
# .. image:: /images/gallery/real_palette.png
#    :alt: the map of ten colours, and the rank correlations of four forms

# sphinx_gallery_thumbnail_path = 'images/gallery/real_palette.png'

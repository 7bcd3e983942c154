"""
Real data: things, the odd one out
==================================

Which of three objects does not belong? THINGS asked it about 1,854 objects. The 127,026 answers read here cover about
2,000 distinct triples, most of them asked many times: too few triples for a map of all objects, but they show how far
raters agree. A table of 48 objects, from complete triplets, gives a map.

Source: M. Hebart and others (2020), Nature Human Behaviour 4:1173, and (2023), eLife 12:e82580; the judgments are on
osf.io/f5rn6 and osf.io/z2784. Licence: CC-BY 4.0 according to cblearn; the repositories that the files were read from
state MIT or none.
"""

import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import similitude as sm

beside = Path(__file__).resolve().parents[2] / "shared" / "data"
folder = Path(os.environ.get("SIMILITUDE_DATA", beside)) / "things1854"
if not folder.is_dir():
    print(f"skipped: no human judgments at {folder}; set SIMILITUDE_DATA to the folder that holds {folder.name}")
    sys.exit()

answers = sm.read_comparisons(folder / "odd_one_out.csv.gz", n_items=1854)
print(answers)

# %%
# How far do people agree? The share of the commonest answer to each triple bounds what any model can get.

kept = pd.read_csv(folder / "odd_one_out.csv.gz")
triple = pd.Series(map(tuple, np.sort(kept[["a", "b", "odd"]], axis=1)))
votes = pd.DataFrame({"triple": triple, "odd": kept.odd}).value_counts().groupby("triple")
often = votes.sum() >= 10
majority = (votes.max() / votes.sum())[often]
print(f"{often.sum()} triples asked at least ten times; the commonest answer has {majority.mean():.3f} of the votes")

# %%
# The table of 48 objects, from complete triplets, as a map.

table = pd.read_csv(folder / "rdm48_human.csv", index_col=0)
square = 0.5 * (table.to_numpy() + table.to_numpy().T)
c = sm.Comparisons.from_distances(square, names=[name.rstrip("123") for name in table], random_state=0)
model = sm.SOE(2, random_state=0).fit(c)

_, (left, right) = plt.subplots(1, 2, figsize=(12, 5.5), layout="constrained", width_ratios=[1.6, 1])
sm.plot.embedding(model, ax=left).set_title("48 things")
right.hist(majority, bins=20, color="#0072B2")
right.set(xlabel="share of the commonest answer", ylabel="triples")
plt.show()

# %%
# What it draws:
#
# .. image:: /images/gallery/real_things.png
#    :alt: the map of 48 things, and how far people agree

# sphinx_gallery_thumbnail_path = 'images/gallery/real_things.png'

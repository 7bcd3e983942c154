"""
Real data: strange fruit, and who can be relied on
==================================================

Thirty drawings between spiky and smooth; 416 raters said which of two is more like a third. The drawings truly lie on a
line, so a good map is one.

Source: K. Jamieson and others (2015), *NEXT: a system for real-world development, evaluation, and application of active
learning*, NeurIPS; from the repository stsievert/salmon. Licence: BSD-3-Clause.
"""

import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import similitude as sm

folder = (
    Path(os.environ.get("SIMILITUDE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")) / "strangefruit30"
)
if not folder.is_dir():
    print(f"skipped: no human judgments at {folder}; set SIMILITUDE_DATA to the folder that holds {folder.name}")
    sys.exit()

answers = sm.read_comparisons(folder / "triplets.csv.gz")
smoothness = pd.read_csv(folder / "objects.csv").smoothness
print(answers)

# %%
# Four samplers chose questions; the fifth asked at random, as a hold-out.

asked = answers.answers.strategy.values
test = asked == "Test"
model = sm.CKL(2, random_state=0).fit(answers.select(~test))
print(f"accuracy on the random hold-out: {model.score(answers.select(test)):.3f}")

# %%
# How often does the map agree with each rater? Those at one half clicked at random.

rater = answers.answers.rater.values
held_out = answers.select(test)
who = held_out.answers.rater.values[held_out.answer]
share = pd.Series(model.predict(held_out)).groupby(who).agg(["mean", "size"])
share = share[share["size"] >= 8]

_, (left, right) = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
sm.plot.embedding(model, colors=smoothness.to_numpy(float), ax=left, size=120)
left.set_title("30 fruit; colour is the true smoothness")
right.hist(share["mean"], bins=np.linspace(0, 1, 15), color="#0072B2")
right.axvline(0.5, color="0.4", linestyle="--")
right.set(xlabel="agreement with the map", ylabel="raters")
plt.show()

# %%
# What it draws:
#
# .. image:: /images/gallery/real_fruit.png
#    :alt: the map of thirty fruit, and how far raters agree with it

# sphinx_gallery_thumbnail_path = 'images/gallery/real_fruit.png'

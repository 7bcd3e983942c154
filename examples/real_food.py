"""
Real data: how dishes taste
===========================

People saw a dish and a grid of twelve others and chose those that taste most like it: 19,150 screens about 100 dishes
by 243 raters.

Source: M. Wilber, I. Kwak, S. Belongie (2014), *Cost-effective HITs for relative similarity comparisons*, HCOMP;
from the repository mperrot/AddS-Clustering. Licence: MIT for the code there; none is stated for the judgments.
"""

import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

import similitude as sm

beside = Path(__file__).resolve().parents[2] / "shared" / "data"
folder = Path(os.environ.get("SIMILITUDE_DATA", beside)) / "food100"
if not folder.is_dir():
    print(f"skipped: no human judgments at {folder}; set SIMILITUDE_DATA to the folder that holds {folder.name}")
    sys.exit()

# %%
# The screens are read as they are: one screen is one answer, catch trials are left out, milliseconds are seconds.

table = pd.read_csv(folder / "objects.csv")
called = table.name.str.strip().fillna("a dish without a name")
twice = called.duplicated(keep=False)
dishes = [f"{name} {k}" if twice[k] else name for k, name in enumerate(called)]
answers = sm.read_comparisons(folder / "screens.csv", names=dishes)
print(answers)
train, held_out = answers.split(0.2, random_state=0)

# %%
# The map with the names of some dishes. The method did not know the colour: how sweet a recipe site calls the dish.

model = sm.CKL(2, random_state=0).fit(train)
alike = ", ".join(model.neighbors(dishes[0], 3))
print(f"held-out accuracy {model.score(held_out):.3f}; most like {dishes[0]}: {alike}")
labels = [name[:24] if k % 5 == 0 and not twice[k] else "" for k, name in enumerate(dishes)]
sweetness = table.sweet.fillna(table.sweet.median()).to_numpy()
_, ax = plt.subplots(figsize=(8.0, 6.5), layout="constrained")
sm.plot.embedding(model, colors=sweetness, labels=labels, size=40, ax=ax)
ax.set_title("100 dishes by taste; yellow is sweet")
plt.show()

# %%
# What it draws:
#
# .. image:: /images/gallery/real_food.png
#    :alt: the map of a hundred dishes, coloured by sweetness

# sphinx_gallery_thumbnail_path = 'images/gallery/real_food.png'

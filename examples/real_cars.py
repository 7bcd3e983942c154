"""
Real data: cars, the most central of three
==========================================

Which of three cars is the most central? 7,097 answers about 60 cars of four classes.

Source: M. Kleindessner, U. von Luxburg (2017), *Lens depth function and k-relative neighborhood graph*, JMLR 18(58);
from the repository mperrot/ComparisonHC. Licence: MIT for the code there; "please cite" for the data.
"""

import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

import similitude as sm

beside = Path(__file__).resolve().parents[2] / "shared" / "data"
folder = Path(os.environ.get("SIMILITUDE_DATA", beside)) / "car60"
if not folder.is_dir():
    print(f"skipped: no human judgments at {folder}; set SIMILITUDE_DATA to the folder that holds {folder.name}")
    sys.exit()

answers = sm.read_comparisons(folder / "most_central.csv")
classes = pd.read_csv(folder / "objects.csv")["class"].str.replace("_", " ")
print(answers)

# %%
# Both comparisons of an answer are held out together.

methods = [sm.CKL(2, random_state=0), sm.TSTE(2, random_state=0), sm.SOE(2, random_state=0)]
table = sm.cross_validate(methods, answers, n_folds=3, random_state=0)
print(table[["estimator", "accuracy", "low", "high", "answer_accuracy"]].round(3))

# %%
# The classes were never given to the method.

model = sm.CKL(2, random_state=0).fit(answers)
axes = sm.plot.embedding(model, classes=classes, labels=False)
axes.set_title(f"60 cars; separation of the classes {sm.separation(model.distances(), classes):.1f}")
plt.show()

# %%
# What it draws:
#
# .. image:: /images/gallery/real_cars.png
#    :alt: the map of sixty cars, coloured by class

# sphinx_gallery_thumbnail_path = 'images/gallery/real_cars.png'

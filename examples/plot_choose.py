"""
Choose dimension and penalty by cross-validation
================================================

The items truly have two dimensions. Held-out answers can find that out, and a penalty with it.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import similitude as sm

truth = np.random.default_rng(1).normal(size=(25, 2))
answers = sm.simulate(truth, 700, sharpness=1.0, raters=8, random_state=1)

# %%
# A grid of both. ``AnswerFold`` inside ``cross_validate`` keeps answers whole.

rows = [
    sm.cross_validate(sm.STE(d, penalty=penalty, random_state=0), answers, n_folds=4, random_state=0).assign(
        estimator=f"{d} dimension{'s' * (d > 1)}", penalty=penalty
    )
    for d in (1, 2, 5)
    for penalty in (0.001, 0.01, 0.03, 0.1, 0.3)
]
table = pd.concat(rows, ignore_index=True)
print(table.sort_values("accuracy", ascending=False)[["estimator", "penalty", "accuracy", "low", "high"]].head())

# %%
# With enough penalty, too many dimensions do little harm; too few cannot be mended. The bands overlap: with 700 answers
# the choice is a good guess, not a proof.

axes = sm.plot.penalty_path(table)
axes.set_title("700 answers about 25 items")
plt.show()

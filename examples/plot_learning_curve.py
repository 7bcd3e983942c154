"""
Methods on noisy answers, and when to stop
==========================================

The same raters, five methods, more and more answers. Where the curve flattens, more answers would not help; where it
still rises, they would.
"""

import numpy as np

import similitude as sm

truth = np.random.default_rng(3).normal(size=(30, 2))
answers = sm.simulate(truth, 2000, sharpness=1.0, raters=10, random_state=1)
methods = {name: getattr(sm, name)(2, random_state=0) for name in ("STE", "TSTE", "CKL", "SOE", "GNMDS")}

# %%
# Each repeat holds out another fifth of the answers. The band is a 95 % interval over held-out answers.

table = sm.learning_curve(methods, answers, sizes=[100, 200, 400, 800, 1600], n_repeats=2, random_state=0)
print(table.pivot(index="answers", columns="estimator", values="accuracy").round(3))

# %%
# The ceiling is what the truth itself would score: here we know it, because the raters are simulated.


def sqdist(pairs):
    """Squared distance of each pair in the truth."""
    return ((truth[pairs[:, 0]] - truth[pairs[:, 1]]) ** 2).sum(1)


ceiling = (sqdist(answers.near) < sqdist(answers.far)).mean()
axes = sm.plot.learning_curve(table, ceiling=ceiling)
axes.set_title("30 items, noisy raters")

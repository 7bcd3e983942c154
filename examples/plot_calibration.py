"""
Can its probabilities be believed?
==================================

STE says how likely a person is to agree with a comparison. If it says 80 %, people should agree in 80 % of the cases.
"""

import matplotlib.pyplot as plt
import numpy as np

import similitude as sm

truth = np.random.default_rng(0).normal(size=(30, 2))
answers = sm.simulate(truth, 6000, sharpness=1.0, raters=15, random_state=1)
train, held_out = answers.split(0.9, random_state=2)
print(train)

# %%
# Six hundred answers to learn from, at three penalties: too little makes the model too sure, too much too timid.

_, axes = plt.subplots(1, 3, figsize=(11, 3.9), layout="constrained", sharey=True)
for ax, penalty in zip(axes, (0.0001, "auto", 0.5), strict=True):
    model = sm.STE(2, penalty=penalty, random_state=0).fit(train)
    sm.plot.calibration(sm.calibration(model, held_out), ax=ax)
    error = sm.calibration_error(model, held_out)
    ax.set_title(f"penalty {penalty}: off by {error:.3f} on average")
    print(f"penalty {penalty}: log-loss {sm.log_loss(model, held_out):.3f}, accuracy {model.score(held_out):.3f}")

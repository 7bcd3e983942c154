"""
Pure noise that seems predictable
=================================

Raters who click at random say nothing. A model that is scored properly gets one half. A plain K-fold gives it more,
because the two comparisons of an odd-one-out fall on both sides of the split.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import KFold, cross_val_score

import similitude as sm

# %%
# Sixty items, random clicks: sharpness 0.

truth = np.random.default_rng(0).normal(size=(60, 2))
noise = sm.simulate(truth, 1200, form="odd_one_out", sharpness=0.0, random_state=1)
model = sm.STE(5, random_state=0)

# %%
# similitude warns when a slice cuts an answer; here we do it on purpose.

with warnings.catch_warnings():
    warnings.simplefilter("ignore", sm.PartialAnswerWarning)
    leaking = cross_val_score(model, noise, cv=KFold(5, shuffle=True, random_state=0))
whole = cross_val_score(model, noise, cv=sm.AnswerFold(5, random_state=0))
print(f"plain K-fold {leaking.mean():.3f}, folds of whole answers {whole.mean():.3f}")

# %%

_, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for row, (label, scores) in enumerate({"whole answers": whole, "plain K-fold": leaking}.items()):
    ax.plot(scores, np.full(len(scores), row), "o", alpha=0.6)
    ax.plot(scores.mean(), row, "|", color="black", markersize=24)
    ax.text(scores.max() + 0.004, row, label, va="center")
ax.axvline(0.5, color="0.4", linestyle="--", linewidth=1)
ax.set(xlabel="accuracy on pure noise", yticks=[], ylim=(-0.6, 1.6), xlim=(0.44, None))
ax.margins(x=0.15)

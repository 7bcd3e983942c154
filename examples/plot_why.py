"""
Why was this patient called ill?
================================

CAMEL learns from labels and how sure people were of them. What comes out can be read: few features, a confidence for
every prediction, and an account of what moved it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score

import similitude as sm

data = load_breast_cancer(as_frame=True)
X, y = data.data, np.where(data.target == 0, "malignant", "benign")
order = np.random.default_rng(0).permutation(len(X))
few, rest = order[:80], order[80:]

# %%
# Nobody asked the doctors how sure they were, so a stand-in is: surer the further a tumour is from the middle, with
# some noise.

size = (X["worst area"] - X["worst area"].median()) / X["worst area"].std()
sure = np.clip(1 / (1 + np.exp(-2 * size.abs())) + 0.05 * np.random.default_rng(1).normal(size=len(X)), 0, 1)
model = sm.CAMEL(random_state=0).fit(X.iloc[few], y[few], confidence=sure.iloc[few])
scores = model.confidence_score(X.iloc[rest], "malignant")
print(f"AUROC on {len(rest)} others: {roc_auc_score(y[rest] == 'malignant', scores):.3f}")
print(f"{model.sparsity_:.0%} of the map is exactly zero, its rank is {model.rank_}")

# %%
# The whole model is this picture: every other weight is zero.

sm.plot.factors(model)

# %%
# Two patients: one of whom the model is sure, one of whom it is not. Bars add up to the log odds.

clear, unclear = rest[scores.argmax()], rest[np.abs(scores - 0.5).argmin()]
_, axes = plt.subplots(1, 2, figsize=(13, 3.4), layout="constrained")
for ax, patient in zip(axes, (clear, unclear), strict=True):
    why = model.explain(X.iloc[patient], "malignant")
    sm.plot.explanation(why, most=6, ax=ax)
    print(f"patient {patient}, {y[patient]}: confidence {why.confidence:.2f}")
    print(why.table().head(3))
plt.show()

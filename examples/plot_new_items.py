"""
Place new items
===============

A map of twenty items stands. Four more arrive; sixty answers about each put them about where they belong, and the
others stay where they are.
"""

import numpy as np

import similitude as sm

rng = np.random.default_rng(5)
truth = rng.normal(size=(24, 2))
names = [f"item {k}" for k in range(20)] + ["new A", "new B", "new C", "new D"]

# %%
# The map of the first twenty.

old = sm.simulate(truth[:20], 2000, sharpness=2.0, names=names[:20], random_state=1)
model = sm.STE(2, random_state=0).fit(old)

# %%
# Questions about the new ones: each is the head, two of the old items stand beside it.

questions = [[new, *rng.choice(20, 2, replace=False)] for new in range(20, 24) for _ in range(60)]
about_new = sm.simulate(truth, form="triplet", questions=questions, sharpness=2.0, names=names, random_state=2)
larger = model.place(about_new, random_state=0)

# %%
# With few answers, the penalty keeps a new item nearer to the centre than it truly is; more answers pull it out.

learned = sm.align(larger.embedding, truth)
kinds = ["in the map"] * 20 + ["placed"] * 4 + ["where it truly is"] * 4
labels = [""] * 20 + names[20:] * 2
axes = sm.plot.embedding(np.concatenate([learned, truth[20:]]), classes=kinds, labels=labels)
print(f"share of the true map that is missed: {sm.procrustes_distance(larger.embedding, truth):.3f}")

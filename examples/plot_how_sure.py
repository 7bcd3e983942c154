"""
How sure is the map, and what would more answers bring?
=======================================================

A study of twenty items. Nineteen were asked about often, one joined late. The map alone does not show that; its
ellipses do.
"""

import numpy as np

import similitude as sm

truth = np.random.default_rng(4).normal(size=(20, 2))
names = [chr(ord("A") + k) for k in range(20)]
answers = sm.simulate(truth, 1000, sharpness=1.5, names=names, random_state=1)
about_last = np.flatnonzero((answers.quadruplets == 19).any(1))
answers = answers[np.delete(np.arange(len(answers)), about_last[5:])]

# %%
# Refits on reweighted answers, laid over the map. T, which joined late, is the least sure.

model = sm.STE(2, random_state=0).fit(answers)
sure = sm.uncertainty(model, answers, n=60, random_state=0)
print(sure.needs_answers.head(3).round(2))
axes = sm.plot.embedding(model, uncertainty=sure)
axes.set_title("90% ellipses")

# %%
# Two dimensions are what the answers ask for.

found = sm.dimension(sm.STE(random_state=0), answers, dimensions=(1, 2, 3, 4), n_repeats=1, random_state=0)
print(found)
sm.plot.dimension(found)

# %%
# And this is what more answers would bring.

forecast = sm.more_answers(sm.STE(2, random_state=0), answers, n_repeats=4, random_state=0)
print(forecast)
sm.plot.forecast(forecast)

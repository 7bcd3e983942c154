"""
A map of colours from answers alone
===================================

Simulated raters see three colours at a time and say which of two is more like the first. From their answers alone, the
hue circle appears.
"""

import similitude as sm
from similitude.demo import colours, to_lab

# %%
# Sixty colours. What raters see is their place in CIELAB, a space in which distance is roughly how different two
# colours look; the method never gets to know it.

rgb = colours(60)
truth = to_lab(rgb) / 25.0
answers = sm.simulate(truth, 4000, raters=20, sharpness=1.0, random_state=1)
train, held_out = answers.split(0.2, random_state=2)
print(train)

# %%
# Two dimensions, and the map in its own colours.

model = sm.STE(n_components=2, random_state=0).fit(train)
axes = sm.plot.embedding(model, colors=rgb, size=260)
axes.set_title("Learned from answers alone")

# %%
# How good is it? Raters err, so even the truth does not predict all of their answers.

distance = ((truth[held_out.near[:, 0]] - truth[held_out.near[:, 1]]) ** 2).sum(1)
other = ((truth[held_out.far[:, 0]] - truth[held_out.far[:, 1]]) ** 2).sum(1)
print(f"held-out accuracy {model.score(held_out):.3f}, of the truth itself {(distance < other).mean():.3f}")

"""
A few links bend a kernel
=========================

Opposite corners of a square are of one kind. No straight line parts them, and distance is misleading: a few links
("these two are of one kind") tell a spectral kernel which of its directions matter. By default it follows them only
as far as held-out links prove a gain; here it pays to follow them far.
"""

import matplotlib.pyplot as plt
import numpy as np

import similitude as sm

rng = np.random.default_rng(0)
corner = np.sort(rng.integers(0, 4, 400))
X = np.array([[1, 1], [-1, -1], [1, -1], [-1, 1]])[corner] + 0.2 * rng.normal(size=(400, 2))
kind = corner // 2
links = sm.Links.from_labels(np.arange(400), kind, n_links=100, random_state=1)
links = links[links.similar]
model = sm.SpectralKernel(strength=1.0, random_state=0).fit(X, links)
print(links)

# %%
# The kernel before, and the learned one: two blocks, a kind each. J is the mean distance between kinds over that
# within.

before = sm.kernels.RBF(X).matrix()
_, axes = plt.subplots(1, 3, figsize=(12, 3.9), layout="constrained")
for a, b in links.pairs:
    axes[0].plot(*X[[a, b]].T, color="0.7", linewidth=0.6, zorder=0)
for own in (0, 1):
    axes[0].scatter(*X[kind == own].T, s=8, label=f"kind {own}")
axes[0].set(title=f"items, and {len(links)} links", aspect="equal")
axes[0].legend(frameon=False, loc="lower center")
for ax, name, kernel in ((axes[1], "RBF", before), (axes[2], "learned", model.kernel_)):
    J = sm.separation(sm.kernel_distances(kernel), kind)
    ax.imshow(kernel, cmap="viridis")
    ax.set(title=f"{name}: J = {J:.1f}", xlabel="item", ylabel="item")
    print(f"{name}: J = {J:.2f}")

# %%
# New items go the same way, and nearest neighbours in the learned metric agree in kind.

corner = rng.integers(0, 4, 200)
new = np.array([[1, 1], [-1, -1], [1, -1], [-1, 1]])[corner] + 0.2 * rng.normal(size=(200, 2))
nearest = model.distance(new, X).argmin(1)
print(f"{(kind[nearest] == corner // 2).mean():.1%} of new items have a nearest item of their kind")
plt.show()

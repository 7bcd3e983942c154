"""Positions in many dimensions shown in two."""

from __future__ import annotations

from typing import Literal

import numpy as np

from similitude.display.places import plane
from similitude.types import Floats


def project(positions: Floats, method: Literal["pca", "tsne"] = "pca", random_state: int | None = 0) -> Floats:
    """Return positions in two dimensions.

    Parameters
    ----------
    positions : (n, d); two dimensions are left as they are, one becomes a line
    method : "pca" keeps the two directions of largest spread; "tsne" keeps neighbourhoods, for more than two dimensions
    random_state : seed of "tsne"
    """
    if method not in ("pca", "tsne"):
        raise ValueError(f"projection: expected 'pca' or 'tsne', found {method!r}")
    X = np.asarray(positions, float)
    if X.shape[1] <= 2:
        return X @ plane(X)
    X = X - X.mean(0)
    if method == "tsne":
        from sklearn.manifold import TSNE

        perplexity = min(30.0, max(1.0, (len(X) - 1) / 3.0))
        return np.asarray(TSNE(2, perplexity=perplexity, init="pca", random_state=random_state).fit_transform(X), float)
    return X @ plane(X)

"""The figures of the report, each a function from findings to axes; drawn once, for the page and for print."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.cluster.hierarchy import linkage

from similitude.analysis.learn import Findings
from similitude.display.words import shortened
from similitude.engine.measures import SignedProduct
from similitude.methods.kernel_clustering import kernel_linkage
from similitude.plot.choices import dimension, forecast
from similitude.plot.clusters import dendrogram
from similitude.plot.curves import calibration
from similitude.plot.feedback import rater_agreement

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LARGEST_TREE = 300
Drawing = Callable[[Findings], "Axes | None"]


def tree(found: Findings) -> Axes | None:
    """Items in a tree of average linkage; None for more than can be read."""
    similarity = found.similarity
    if not 3 <= similarity.n_items <= _LARGEST_TREE:
        return None
    labels = None if similarity.names is None else [shortened(name) for name in similarity.names]
    if isinstance(similarity.form, SignedProduct):
        unlike = similarity.distances()[np.triu_indices(similarity.n_items, 1)]
        axes = dendrogram(linkage(unlike - unlike.min(), "average"), labels=labels)
        axes.set_xlabel("mean product of pairs, below that of the most alike")
        return axes
    X = similarity.embedding
    return dendrogram(kernel_linkage(X @ X.T, "average"), labels=labels)


def curve(found: Findings) -> Axes | None:
    """Accuracy against the number of answers, measured and expected, below the noise ceiling."""
    return None if found.forecast is None else forecast(found.forecast)


def dimensions(found: Findings) -> Axes | None:
    """How far each number of dimensions is behind the best."""
    return None if found.dimensions is None else dimension(found.dimensions, relative=True)


def reliability(found: Findings) -> Axes | None:
    """How often the model is right against how sure it is."""
    return None if found.calibration is None else calibration(found.calibration)


def raters(found: Findings) -> Axes | None:
    """Agreement of each rater with the others."""
    if not np.isfinite(found.consistency.raters.agreement).any():
        return None
    return rater_agreement(found.consistency)


FIGURES: dict[str, Drawing] = {
    "learning_curve": curve,
    "calibration": reliability,
    "dimensions": dimensions,
    "dendrogram": tree,
    "raters": raters,
}


def drawn(found: Findings) -> dict[str, Axes]:
    """Every figure that there is something for."""
    made = {name: draw(found) for name, draw in FIGURES.items()}
    return {name: axes for name, axes in made.items() if axes is not None}

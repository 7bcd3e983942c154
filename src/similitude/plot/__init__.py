"""Figures for papers: every function takes and returns matplotlib axes.

Which picture when: `embedding` is the map of a similarity, with how sure it is; `learning_curve` says whether more
answers would help, `forecast` how many for how much, `active_curve` whether choosing questions pays; `calibration`
whether probabilities can be believed; `penalty_path` and `dimension` how a setting was chosen; `weights` what matters,
`item_weights` which items do; `rater_agreement` whom to trust; `retained` what cleaning leaves; `dendrogram` and
`kernel_matrix` show a kernel; `factors` shows what a `CAMEL` is made of, `explanation` why one item got its class, or
why an answer was given; `dimension_tiles` what non-negative dimensions are about, `deciding` how much each decides,
`profile` what an item is made of; `agreement` how far two models agree.

Examples
--------
>>> import similitude as sm
>>> c = sm.simulate([[0.0], [1.0], [3.0], [7.0]], 300, random_state=0)
>>> axes = sm.plot.embedding(sm.STE(2, random_state=0).fit(c))
>>> axes.get_aspect()
1.0
"""

from similitude.plot.agreement import agreement
from similitude.plot.choices import dimension, forecast
from similitude.plot.clusters import dendrogram, kernel_matrix
from similitude.plot.confidence import explanation, factors
from similitude.plot.curves import active_curve, calibration, item_weights, learning_curve, penalty_path, weights
from similitude.plot.dimensions import deciding, dimension_tiles, profile
from similitude.plot.embedding import embedding
from similitude.plot.feedback import rater_agreement, retained
from similitude.plot.style import save

__all__ = [
    "active_curve",
    "agreement",
    "calibration",
    "deciding",
    "dendrogram",
    "dimension",
    "dimension_tiles",
    "embedding",
    "explanation",
    "factors",
    "forecast",
    "item_weights",
    "kernel_matrix",
    "learning_curve",
    "penalty_path",
    "profile",
    "rater_agreement",
    "retained",
    "save",
    "weights",
]

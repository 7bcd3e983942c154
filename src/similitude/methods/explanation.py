"""Why an item was given a class: what each factor and feature adds to its log odds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import softmax

from similitude.display.cards import card, grid, note, title_of
from similitude.display.words import shortened
from similitude.types import Bools, Floats

if TYPE_CHECKING:
    import pandas as pd

_NODES = 64
_SHOWN = 8  # features in a notebook


@dataclass(frozen=True, repr=False)
class Explanation:
    """What speaks for a class of one item (above 0) and against it (below 0).

    Attributes
    ----------
    label : the class
    contributions : (factors, features) they add up to `log_odds`
    features : names of the features
    """

    label: Any
    contributions: Floats
    features: tuple[str, ...]

    @property
    def log_odds(self) -> float:
        """log S^y - log S^(not y); 0 is undecided."""
        return float(self.contributions.sum())

    @property
    def confidence(self) -> float:
        """C^y = S^y / (S^y + S^(not y)) = 1 / (1 + e^-log_odds)."""
        return float(1.0 / (1.0 + np.exp(-np.clip(self.log_odds, -700, 700))))

    @property
    def by_factor(self) -> Floats:
        """What each factor adds."""
        return self.contributions.sum(1)

    @property
    def by_feature(self) -> Floats:
        """What each feature adds, over all factors."""
        return self.contributions.sum(0)

    def table(self) -> pd.DataFrame:
        """Return a row per factor and feature that counts, the weightiest first."""
        import pandas as pd

        factor, feature = np.nonzero(self.contributions)
        rows = {
            "factor": factor,
            "feature": [self.features[k] for k in feature],
            "contribution": self.contributions[factor, feature],
        }
        return pd.DataFrame(rows).sort_values("contribution", key=abs, ascending=False, ignore_index=True)

    def __repr__(self) -> str:
        return f"<{self.label}: confidence {self.confidence:.0%}, log odds {self.log_odds:+.3g}>"

    def _repr_html_(self) -> str:
        strong = np.argsort(-np.abs(self.by_feature), kind="stable")[:_SHOWN]
        rows = [(shortened(self.features[k]), f"{self.by_feature[k]:+.3g}") for k in strong.tolist()]
        table = grid(("feature", "adds to the log odds"), rows)
        rest = len(self.features) - len(rows)
        return card(title_of(repr(self)), table, note(f"and {rest:,} more features, which add less" if rest else ""))


def explained(away: Floats, L: Floats, own: Bools) -> Floats:
    """Divide log S^y(x) - log S^(not y)(x) among factors f and features a.

    d_j² = sum_fa L_fa (x_a - x_ja) (z_f - z_jf) is a sum over factors and features already. With S_t the mean of
    exp(-t d²), log S_t^y - log S_t^(not y) is 0 at t = 0, what is to be explained at t = 1, and its derivative by t is
    the mean of d² over the other items less that over the items of y, both weighed by exp(-t d²). The integral over t
    (64 Gauss nodes) is divided as d² is: nothing is left over, and no order of features matters.

    Parameters
    ----------
    away : (n, m) the item less every training item
    L : (factors, m) the map
    own : (n,) which training items are of the class
    """
    moved = away @ L.T
    d2 = (moved**2).sum(1)
    node, weight = np.polynomial.legendre.leggauss(_NODES)
    steps = 0.5 * (node + 1.0)
    pull = np.zeros(len(d2))
    for rows, sign in ((own, -1.0), (~own, 1.0)):
        pull[rows] = sign * 0.5 * weight @ softmax(-np.outer(steps, d2[rows]), axis=1)
    return L * (moved.T @ (pull[:, None] * away))

"""Why an item was given a class, and why an answer was given: what each part of a model adds to the log odds.

Both are one division. A choice among alternatives with levels d_j (distances, or minus products) has log odds that grow
from 0 as all levels are multiplied by t from 0 to 1, and their derivative by t is a mean of levels less another one: so
what the levels are a sum of (features, dimensions), the log odds are a sum of, and nothing is left over.
"""

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
    """What speaks for a class of one item, or for an answer (above 0), and against it (below 0).

    Attributes
    ----------
    label : the class, or what was answered
    contributions : (factors, features) they add up to `log_odds`; for an answer one row, over dimensions
    features : names of the features, or of the dimensions
    chance : probability of the label where nothing is known: a half for a class, one of so many for an answer
    """

    label: Any
    contributions: Floats
    features: tuple[str, ...]
    chance: float = 0.5

    @property
    def log_odds(self) -> float:
        """log S^y - log S^(not y), with S the mean over the items of a class, or over alternatives; 0 is by chance.

        The log odds of `confidence` are these and those of chance: 4.25 among three is 97%, logit 0.97 = 4.25 - log 2.
        """
        return float(self.contributions.sum())

    @property
    def confidence(self) -> float:
        """C^y = S^y / (S^y + S^(not y)) = 1 / (1 + e^-log_odds); for an answer, its probability among all."""
        prior = np.log(self.chance / (1.0 - self.chance))
        return float(1.0 / (1.0 + np.exp(-np.clip(self.log_odds + prior, -700, 700))))

    @property
    def shares(self) -> Floats:
        """What each feature adds as a share of all that speaks for the label; below 0 where it speaks against it."""
        return self.by_feature / max(float(np.maximum(self.by_feature, 0.0).sum()), 1e-300)

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
        by_chance = "" if self.chance == 0.5 else f" ({self.chance:.0%} by chance)"
        beyond = " beyond chance" if by_chance else ""
        return f"<{self.label}: confidence {self.confidence:.0%}{by_chance}, log odds {self.log_odds:+.3g}{beyond}>"

    def _repr_html_(self) -> str:
        strong = np.argsort(-np.abs(self.by_feature), kind="stable")[:_SHOWN]
        rows = [(shortened(self.features[k]), f"{self.by_feature[k]:+.3g}") for k in strong.tolist()]
        table = grid(("feature", "adds to the log odds"), rows)
        rest = len(self.features) - len(rows)
        return card(title_of(repr(self)), table, note(f"and {rest:,} more features, which add less" if rest else ""))


def explained(away: Floats, L: Floats, own: Bools) -> Floats:
    """Divide log S^y(x) - log S^(not y)(x) among factors f and features a, as `pulls` does.

    d_j² = sum_fa L_fa (x_a - x_ja) (z_f - z_jf) is a sum over factors and features already.

    Parameters
    ----------
    away : (n, m) the item less every training item
    L : (factors, m) the map
    own : (n,) which training items are of the class
    """
    moved = away @ L.T
    pull = pulls((moved**2).sum(1), own)
    return L * (moved.T @ (pull[:, None] * away))


def pulls(level: Floats, own: Bools) -> Floats:
    """(n,) by how much each level counts, where log S^own - log S^other is to be the sum of `pulls * level`.

    With S_t the mean of exp(-t level), log S_t^own - log S_t^other is 0 at t = 0, what is to be explained at t = 1, and
    its derivative by t is the mean level of the others less that of `own`, both weighed by exp(-t level). The integral
    over t (64 Gauss nodes) is divided as the levels are: nothing is left over, and no order of parts matters (it is the
    Aumann-Shapley value of the parts).
    """
    node, weight = np.polynomial.legendre.leggauss(_NODES)
    steps = 0.5 * (node + 1.0)
    pull = np.zeros(len(level))
    for rows, sign in ((own, -1.0), (~own, 1.0)):
        pull[rows] = sign * 0.5 * weight @ softmax(-np.outer(steps, level[rows]), axis=1)
    return pull

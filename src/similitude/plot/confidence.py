"""Pictures of a CAMEL: what its factors are made of; and why one item was given its class, or an answer given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from similitude.plot.letters import lettered
from similitude.plot.style import COLOURS, axes_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from similitude.methods.confidence import CAMEL
    from similitude.methods.explanation import Explanation


@lettered
def factors(model: CAMEL, *, names: Sequence[str] | None = None, ax: Axes | None = None) -> Axes:
    """Draw the weights of features in each factor, blank where exactly zero; factors without any are left out.

    Parameters
    ----------
    model : a fitted `CAMEL`
    names : names of the features, where the model was not fitted to a table that has them
    ax : axes to draw in; a new figure when not given

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> model = sm.CAMEL(n_components=1, n_init=1, random_state=0).fit(X, np.where(X[:, 0] > 0, "calm", "alert"))
    >>> sm.plot.factors(model, names=["pulse", "sweat", "sound"]).get_ylabel()
    'factor'
    """
    L = np.asarray(model.components_, float)
    labels = [
        str(name) for name in (getattr(model, "feature_names_in_", range(L.shape[1])) if names is None else names)
    ]
    if len(labels) != L.shape[1]:
        raise ValueError(f"names: expected one per feature ({L.shape[1]}), found {len(labels)}")
    rows, columns = np.flatnonzero(L.any(1)), np.flatnonzero(L.any(0))
    shown = np.ma.masked_equal(L[np.ix_(rows, columns)], 0.0)
    most = float(np.abs(shown).max())
    axes = axes_of(ax, (max(4.0, 1.6 + 0.35 * len(columns)), max(2.6, 1.9 + 0.3 * len(rows))))
    image = axes.imshow(shown, cmap="RdBu_r", vmin=-most, vmax=most, aspect="auto")
    axes.set_xticks(range(len(columns)), [labels[k] for k in columns], rotation=90, fontsize="small")
    axes.set_yticks(range(len(rows)), [str(row) for row in rows])
    unused = L.shape[1] - len(columns)
    axes.set(ylabel="factor", xlabel=f"feature ({unused} without weight not shown)" if unused else "feature")
    figure: Any = axes.get_figure(root=True)
    figure.colorbar(image, ax=axes, label="weight")
    return axes


@lettered
def explanation(found: Explanation, *, most: int = 12, ax: Axes | None = None) -> Axes:
    """Draw what speaks for and against the class of one item, or an answer, feature by feature, coloured by factor.

    Parameters
    ----------
    found : an explanation, from `CAMEL.explain` or `similitude.explain_answer`
    most : how many features to draw at most, the weightiest first
    ax : axes to draw in; a new figure when not given

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> model = sm.CAMEL(n_components=1, n_init=1, random_state=0).fit(X, np.where(X[:, 0] > 0, "calm", "alert"))
    >>> axes = sm.plot.explanation(model.explain(X[0]))
    >>> "log odds" in axes.get_xlabel()
    True
    """
    parts = np.asarray(found.contributions, float)
    heaviest = np.argsort(-np.abs(parts).sum(0), kind="stable")[:most]
    heaviest = heaviest[parts[:, heaviest].any(0)][::-1]
    if not len(heaviest):
        raise ValueError("found: no feature counts for this item, expected one contribution at least")
    axes = axes_of(ax, (6.5, 1.4 + 0.32 * len(heaviest)))
    ends = {1: np.zeros(len(heaviest)), -1: np.zeros(len(heaviest))}
    for factor in np.flatnonzero(parts[:, heaviest].any(1)):
        own, colour = parts[factor, heaviest], COLOURS[factor % len(COLOURS)]
        for sign, end in ends.items():
            part = np.where(np.sign(own) == sign, own, 0.0)
            axes.barh(
                range(len(heaviest)), part, left=end, color=colour, label=f"factor {factor}" if sign > 0 else None
            )
            end += part
    axes.axvline(0.0, color="0.4", linewidth=0.8)
    axes.set_yticks(range(len(heaviest)), [found.features[k] for k in heaviest])
    axes.set_xlabel(f"against   \N{LEFTWARDS ARROW}   {found.label}   \N{RIGHTWARDS ARROW}   for   (log odds)")
    axes.set_title(
        f"{found.label}: confidence {found.confidence:.2f}, log odds {found.log_odds:+.2f}", fontsize="medium"
    )
    if len(parts) > 1:
        axes.legend(frameon=False, loc="best")
    return axes

"""Pictures of feedback: how well raters agree, and what cleaning leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from similitude.feedback.comparisons import Comparisons
from similitude.graph.verdicts import DIFFERENT, RANDOM, UNTOLD
from similitude.plot.letters import lettered
from similitude.plot.style import COLOURS, axes_of, legend_below

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from similitude.graph.consistency import ConsistencyReport

_MOST_NAMED = 40


@lettered
def rater_agreement(report: ConsistencyReport, *, ax: Axes | None = None) -> Axes:
    """Draw each rater's agreement with the others, with its interval, from the report of `similitude.check`.

    Raters who answer at random, who see things differently, and of whom it cannot be told stand out by colour and
    marker; the dotted line is chance.

    Parameters
    ----------
    report : a `ConsistencyReport`
    ax : axes to draw in; a new figure when not given

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> report = sm.check(sm.simulate(truth, 2000, sharpness=3.0, raters=5, random_state=0))
    >>> sm.plot.rater_agreement(report).get_xlabel()
    'agreement with the other raters'
    """
    raters = report.raters
    known = np.flatnonzero(np.isfinite(raters.agreement))
    if not len(known):
        raise ValueError("report: there is no rater whose agreement with others is known")
    order = known[np.argsort(raters.agreement[known], kind="stable")]
    axes = axes_of(ax, (6.0, min(1.0 + 0.22 * len(order), 8.0)))
    place = np.arange(len(order))
    verdict, odd = np.array(raters.verdict, object)[order], raters.odd[order]
    for some, colour, marker, label in (
        (~odd, COLOURS[0], "o", "raters"),
        (odd & (verdict == RANDOM), COLOURS[5], "X", "answer at random"),
        (odd & (verdict == DIFFERENT), COLOURS[2], "D", "see things differently"),
        (odd & (verdict == UNTOLD), COLOURS[1], "s", "cannot be told"),
    ):
        if some.any():
            rows = order[some]
            middle = raters.agreement[rows]
            spread = np.clip([middle - raters.low[rows], raters.high[rows] - middle], 0.0, None)
            axes.errorbar(
                middle, place[some], xerr=spread, fmt=marker, color=colour, markersize=5, linewidth=1, label=label
            )
    axes.axvline(0.5, color="0.4", linestyle=":", linewidth=1)
    if len(order) <= _MOST_NAMED:
        axes.set_yticks(place, [raters.names[row] for row in order])
    else:
        axes.set(yticks=[], ylabel=f"{len(order)} raters")
    axes.set_xlabel("agreement with the other raters")
    legend_below(axes, columns=1)
    return axes


def retained(cleaned: Comparisons, *, ax: Axes | None = None) -> Axes:
    """Draw the share of the comparisons' weight that is left after each step of cleaning.

    Parameters
    ----------
    cleaned : feedback that was cleaned (its `removed` holds the steps)
    ax : axes to draw in; a new figure when not given

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 400, sharpness=1.0, random_state=0)
    >>> axes = sm.plot.retained(sm.clean(answers))
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['acyclic', 'majority', 'as given']
    """
    if not cleaned.removed:
        raise ValueError("cleaned: this feedback was not cleaned, so nothing was removed")
    lost = np.array([step.weight for step in cleaned.removed])
    whole = float(cleaned.weight.sum() + lost.sum())
    left = 1.0 - np.concatenate([[0.0], np.cumsum(lost)]) / whole
    labels = ["as given", *(step.step.replace("_", " ") for step in cleaned.removed)]
    axes = axes_of(ax, (6.0, 0.9 + 0.4 * len(labels)))
    bars = axes.barh(labels[::-1], left[::-1], color=COLOURS[0])
    axes.bar_label(bars, [f"{share:.1%}" for share in left[::-1]], padding=4)
    axes.set(xlim=(0.0, 1.15), xlabel="share of the weight that is left")
    axes.spines[["top", "right"]].set_visible(False)
    return axes

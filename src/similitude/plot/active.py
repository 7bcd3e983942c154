"""The curve of chosen questions against random ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from similitude.plot.curves import need
from similitude.plot.style import COLOURS, axes_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def active_curve(table: pd.DataFrame, *, target: float | None = None, ax: Axes | None = None) -> Axes:
    """Draw error against the number of answers, a line per strategy, from the table of `similitude.active_curve`.

    Where a target error is given, each line is marked where it first gets there.

    Parameters
    ----------
    table : columns strategy, answers, error, low, high
    target : an error to mark
    ax : axes to draw in; a new figure when not given

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> table = sm.active_curve(sm.CKL(2), truth, rounds=3, n_repeats=2, random_state=0, sharpness=3.0)
    >>> sm.plot.active_curve(table, target=0.2).get_xlabel()
    'answers'
    """
    need(table, "strategy", "answers", "error", "low", "high")
    axes = axes_of(ax)
    for k, (name, part) in enumerate(table.groupby("strategy", sort=False)):
        part, colour = part.sort_values("answers"), COLOURS[k % len(COLOURS)]
        axes.plot(part.answers, part.error, color=colour, label=name)
        axes.fill_between(part.answers, part.low, part.high, color=colour, alpha=0.2, linewidth=0)
        reached = part[part.error <= (-1.0 if target is None else target)]
        if len(reached):
            axes.plot(reached.answers.iloc[0], reached.error.iloc[0], marker="o", markersize=6, color=colour)
    if target is not None:
        axes.axhline(target, color="0.4", linestyle="--", linewidth=1, label=f"{target:.0%} error")
    axes.set(xlabel="answers", ylabel="error on random questions", ylim=(0.0, None))
    axes.legend(frameon=False)
    return axes

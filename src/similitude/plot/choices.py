"""What to choose: accuracy by the number of dimensions, and what more answers would bring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from similitude.plot.style import COLOURS, axes_of, legend_below

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from similitude.evaluate.dimension import DimensionChoice
    from similitude.evaluate.forecast import Forecast


def dimension(choice: DimensionChoice, *, relative: bool = False, ax: Axes | None = None) -> Axes:
    """Draw held-out accuracy against the number of dimensions, from `similitude.dimension`.

    Bars are one standard error of the difference from the best; the number chosen is the least whose bar reaches it.

    Parameters
    ----------
    choice : what `similitude.dimension` found
    relative : draw how far each number is behind the best, in points
    ax : axes to draw in; a new figure when not given

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 400, names=list("abcdefghijkl"), sharpness=2.0, raters=4, random_state=0)
    >>> model = sm.STE(2, random_state=0).fit(answers)
    >>> found = sm.dimension(model, answers, dimensions=(1, 2), n_folds=3, n_repeats=1, random_state=0)
    >>> sm.plot.dimension(found).get_xlabel()
    'dimensions'
    """
    axes = axes_of(ax)
    table = choice.table
    height, bars = (-100 * table.behind, 100 * table.error) if relative else (table.accuracy, table.error)
    axes.errorbar(
        table.dimensions,
        height,
        bars,
        color=COLOURS[0],
        marker="o",
        markersize=5,
        capsize=3,
        linewidth=1.2,
    )
    axes.axhline(float(height.max()), color="0.4", linestyle="--", linewidth=1, label=f"best: {choice.best}")
    axes.axvline(choice.chosen, color=COLOURS[5], linestyle=":", linewidth=1.5, label=f"chosen: {choice.chosen}")
    axes.set(xlabel="dimensions", ylabel="points behind the best" if relative else "held-out accuracy")
    axes.set_xticks(table.dimensions)
    legend_below(axes)
    return axes


def forecast(found: Forecast, *, ax: Axes | None = None) -> Axes:
    """Draw the learning curve that was measured, and how it is expected to go on, from `similitude.more_answers`.

    Parameters
    ----------
    found : what `similitude.more_answers` found
    ax : axes to draw in; a new figure when not given

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 400, names=list("abcdefghijkl"), sharpness=2.0, raters=4, random_state=0)
    >>> model = sm.STE(2, random_state=0).fit(answers)
    >>> found = sm.more_answers(model, answers, n_repeats=2, n_curves=20, random_state=0)
    >>> sm.plot.forecast(found).get_xlabel()
    'answers learned from'
    """
    axes = axes_of(ax)
    ahead = np.geomspace(float(found.curve.answers.min()), float(found.table.answers.max()), 80)
    expected = found.expected(ahead)
    axes.plot(ahead, expected.accuracy, color=COLOURS[0], linewidth=1.4, label="expected")
    axes.fill_between(ahead, expected.low, expected.high, color=COLOURS[0], alpha=0.2, linewidth=0)
    axes.plot(found.curve.answers, found.curve.accuracy, "o", color=COLOURS[5], markersize=5, label="measured")
    axes.axvline(found.answers, color="0.4", linestyle=":", linewidth=1, label=f"now: {found.answers:,} answers")
    _ceiling(axes, found)
    axes.set(xscale="log", xlabel="answers learned from", ylabel="accuracy on new answers")
    ticks = _apart([int(found.curve.answers.min()), *found.table.answers.astype(int)])
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.minorticks_off()
    legend_below(axes)
    return axes


def _apart(numbers: list[int]) -> list[int]:
    """Return numbers far enough apart on a logarithmic axis to be written beside each other."""
    kept: list[int] = []
    for number in sorted(set(numbers)):
        if not kept or number >= 1.9 * kept[-1]:
            kept.append(number)
    return kept


def _ceiling(axes: Axes, found: Any) -> None:
    if found.ceiling.value is None:
        return
    axes.axhline(found.ceiling.value, color="0.4", linestyle="--", linewidth=1, label="noise ceiling")
    if found.ceiling.low is not None and found.ceiling.high is not None:
        axes.axhspan(found.ceiling.low, found.ceiling.high, color="0.4", alpha=0.1, linewidth=0)

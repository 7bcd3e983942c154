"""Curves and bars: learning curve, active curve, calibration, penalty path, weights of modalities and of items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from similitude.plot.letters import lettered
from similitude.plot.style import COLOURS, axes_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def learning_curve(table: pd.DataFrame, *, ceiling: float | None = None, ax: Axes | None = None) -> Axes:
    """Draw accuracy against the number of answers, from the table of `similitude.learning_curve`.

    Parameters
    ----------
    table : columns estimator, answers, accuracy, low, high
    ceiling : the best accuracy that the noise of the answers allows, drawn as a line
    ax : axes to draw in; a new figure when not given

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 400, names=list("abcdefghijkl"), sharpness=2.0, raters=4, random_state=0)
    >>> model = sm.STE(2, random_state=0).fit(answers)
    >>> table = sm.learning_curve(model, answers, sizes=[80, 300], n_repeats=2, random_state=0)
    >>> sm.plot.learning_curve(table, ceiling=0.9).get_xlabel()
    'training answers'
    """
    need(table, "estimator", "answers", "accuracy", "low", "high")
    axes = axes_of(ax)
    _bands(axes, table, "answers", "estimator")
    if ceiling is not None:
        axes.axhline(ceiling, color="0.4", linestyle="--", linewidth=1, label="noise ceiling")
    axes.set(xscale="log", xlabel="training answers", ylabel="held-out accuracy")
    sizes = sorted(set(table.answers))
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.minorticks_off()
    axes.legend(frameon=False)
    return axes


def penalty_path(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw held-out accuracy against the penalty.

    Parameters
    ----------
    table : columns penalty, accuracy, low, high, and estimator where there are several
    ax : axes to draw in; a new figure when not given

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 400, names=list("abcdefghijkl"), sharpness=2.0, raters=4, random_state=0)
    >>> model = sm.STE(2, random_state=0).fit(answers)
    >>> table = sm.penalty_path(model, answers, [0.003, 0.03, 0.3], n_folds=3, random_state=0)
    >>> sm.plot.penalty_path(table).get_xlabel()
    'penalty'
    """
    need(table, "penalty", "accuracy", "low", "high")
    axes = axes_of(ax)
    _bands(axes, table, "penalty", "estimator" if "estimator" in table else None)
    best = float(table.penalty.iloc[table.accuracy.argmax()])
    axes.axvline(best, color="0.4", linestyle=":", linewidth=1, label=f"best: {best:g}")
    axes.set(xscale="log", xlabel="penalty", ylabel="held-out accuracy")
    axes.legend(frameon=False)
    return axes


def calibration(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw how often the model is right against how sure it is, from the table of `similitude.calibration`.

    From that of `similitude.answer_calibration`, how often an alternative is picked against how likely the model finds
    it, from 0 to 1. The area of a marker shows how many answers it stands for; on the diagonal, probabilities can be
    believed.

    Parameters
    ----------
    table : columns predicted, observed, weight
    ax : axes to draw in; a new figure when not given

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 400, names=list("abcdefghijkl"), sharpness=2.0, raters=4, random_state=0)
    >>> model = sm.STE(2, random_state=0).fit(answers)
    >>> sm.plot.calibration(sm.calibration(model, answers)).get_xlabel()
    'how sure the model is'
    """
    need(table, "predicted", "observed", "weight")
    axes = axes_of(ax, (4.5, 4.5))
    whole = bool(table.predicted.min() < 0.5)  # of two, the likelier has a half or more
    start = 0.0 if whole else 0.5
    axes.plot([start, 1.0], [start, 1.0], color="0.4", linestyle="--", linewidth=1)
    axes.plot(table.predicted, table.observed, color=COLOURS[0], linewidth=1)
    axes.scatter(table.predicted, table.observed, s=20 + 280 * table.weight / table.weight.max(), color=COLOURS[0])
    lowest = min(start, float(table.observed.min()))
    axes.set(
        xlabel="how likely the model finds it" if whole else "how sure the model is",
        ylabel="how often it is picked" if whole else "how often it is right",
        xlim=(start - 0.02, 1.02),
        ylim=(lowest - 0.02, 1.02),
    )
    return axes


@lettered
def weights(values: Mapping[str, float] | pd.Series[float], *, ax: Axes | None = None) -> Axes:
    """Draw weights as bars, largest first.

    Parameters
    ----------
    values : a mapping of names to weights (a dict, a pandas Series)
    ax : axes to draw in; a new figure when not given

    Examples
    --------
    >>> import similitude as sm
    >>> axes = sm.plot.weights({"colour": 0.7, "size": 0.2})
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['size', 'colour']
    """
    pairs = sorted(dict(values).items(), key=lambda pair: pair[1])
    if not pairs:
        raise ValueError("values: expected at least one weight, found none")
    axes = axes_of(ax, (6.0, 0.8 + 0.3 * len(pairs)))
    axes.barh([str(name) for name, _ in pairs], [float(value) for _, value in pairs], color=COLOURS[0])
    axes.axvline(0.0, color="0.4", linewidth=0.8)
    axes.set_xlabel("weight")
    return axes


@lettered
def item_weights(
    values: Mapping[str, Any],
    *,
    names: Sequence[str] | None = None,
    most: int = 40,
    ax: Axes | None = None,
) -> Axes:
    """Draw the weight of each item in each modality as stacked bars, the heaviest items first.

    Parameters
    ----------
    values : per modality a weight for every item: `diagonal_` of a diagonal `KPOE` or `MKPOE`
    names : the items' names
    most : how many items to draw at most
    ax : axes to draw in; a new figure when not given

    Examples
    --------
    >>> import similitude as sm
    >>> axes = sm.plot.item_weights({"look": [0.5, 0.0, 0.2], "sound": [0.3, 0.0, 0.4]}, names=["cat", "bus", "dog"])
    >>> [label.get_text() for label in axes.get_xticklabels()]
    ['cat', 'dog']
    """
    tables = {str(name): np.asarray(own, float) for name, own in dict(values).items()}
    if not tables or len({own.shape for own in tables.values()}) > 1:
        raise ValueError("values: expected the same number of weights, one per item, for each modality")
    total = np.sum(list(tables.values()), axis=0)
    heaviest = [item for item in np.argsort(-total, kind="stable")[:most] if total[item] > 0]
    if not heaviest:
        raise ValueError("values: all weights are zero, expected one item at least with a weight")
    axes = axes_of(ax, (max(5.0, 1.5 + 0.22 * len(heaviest)), 3.6))
    foot = np.zeros(len(heaviest))
    for k, (name, own) in enumerate(tables.items()):
        axes.bar(range(len(heaviest)), own[heaviest], bottom=foot, color=COLOURS[k % len(COLOURS)], label=name)
        foot += own[heaviest]
    written = [str(item) if names is None else str(names[item]) for item in heaviest]
    axes.set_xticks(range(len(heaviest)), written, rotation=90, fontsize="small")
    axes.margins(x=0.01)
    axes.set_ylim(0.0, 1.05 * float(foot.max()))
    more = int((total > 0).sum()) - len(heaviest)
    axes.set(xlabel="item" + (f" ({more} lighter ones not shown)" if more else ""), ylabel="weight")
    axes.legend(frameon=False)
    return axes


def _bands(axes: Axes, table: pd.DataFrame, x: str, by: str | None) -> None:
    groups = table.groupby(by, sort=False) if by else [(None, table)]
    for k, (name, part) in enumerate(groups):
        part, colour = part.sort_values(x), COLOURS[k % len(COLOURS)]
        axes.plot(part[x], part.accuracy, marker="o", markersize=4, color=colour, label=name)
        axes.fill_between(part[x], part.low, part.high, color=colour, alpha=0.2, linewidth=0)


def need(table: Any, *columns: str) -> None:
    """Refuse a table without these columns, or with no number in the last of them."""
    missing = [name for name in columns if name not in getattr(table, "columns", [])]
    if missing:
        found = ", ".join(map(str, getattr(table, "columns", []))) or type(table).__name__
        raise ValueError(f"table: expected the columns {', '.join(columns)}, found {found}")
    if not np.isfinite(table[list(columns[-1:])].to_numpy(float)).any():
        raise ValueError(f"table: the column {columns[-1]} holds no number")


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

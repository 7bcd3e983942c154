"""Two similarities side by side: their distances against each other, or their maps over each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from similitude.methods.scaling import project
from similitude.plot.letters import lettered
from similitude.plot.sheet import sheet
from similitude.plot.style import COLOURS, PAGE, axes_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from similitude.evaluate.comparing import Agreement

_RADIUS = 3.4  # of a marker, in points
_MANY = 20_000  # dots


@lettered
def agreement(
    found: Agreement,
    *,
    kind: Literal["distances", "maps"] = "distances",
    labels: tuple[str, str] = ("first", "second"),
    width: float = PAGE,
    ax: Axes | None = None,
) -> Axes:
    """Draw what `similitude.compare` found.

    Parameters
    ----------
    found : an `Agreement`
    kind : "distances" draws every pair of items by its distance in the first and in the second; "maps" lays the second
        map onto the first and joins each item's two places
    labels : what to call the two
    width : of a new figure of maps, in millimetres
    ax : axes to draw in; a new figure when not given

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 400, names=list("abcdefghijkl"), sharpness=2.0, raters=4, random_state=0)
    >>> model = sm.STE(2, random_state=0).fit(answers)
    >>> found = sm.compare(model, sm.CKL(2, random_state=0).fit(answers), n_resamples=50, random_state=0)
    >>> sm.plot.agreement(found, labels=("STE", "CKL")).get_xlabel()
    'distance, STE'
    """
    if kind == "distances":
        return _distances(found, labels, axes_of(ax, (4.8, 4.6)))
    if kind != "maps":
        raise ValueError(f"kind: expected 'distances' or 'maps', found {kind!r}")
    if found.maps is None:
        raise ValueError("found: there are no maps, since a table has gaps; expected kind='distances'")
    return _maps(found, labels, ax, width)


def _distances(found: Any, labels: tuple[str, str], axes: Axes) -> Axes:
    first, second = found.distances
    size = float(np.clip(4000 / len(first), 3, 25))
    many = len(first) > _MANY  # a dot each would make a vector file too large to open
    axes.scatter(first, second, s=size, color=COLOURS[0], alpha=0.5, linewidths=0, rasterized=many)
    axes.set(xlabel=f"{found.kinds[0]}, {labels[0]}", ylabel=f"{found.kinds[1]}, {labels[1]}")
    if np.nanmin(first) >= 0:
        axes.set_xlim(0, None)
    if np.nanmin(second) >= 0:
        axes.set_ylim(0, None)
    axes.set_title(
        f"rank correlation {found.correlation:.2f} ({found.low:.2f} to {found.high:.2f} over items)", fontsize=10
    )
    return axes


def _maps(found: Any, labels: tuple[str, str], ax: Axes | None, width: float) -> Axes:
    flat = project(found.maps.reshape(-1, found.maps.shape[2]), "pca")
    paper = sheet(flat, ax, width)
    axes, first = paper.axes, len(found.mapped)
    axes.plot(*flat.reshape(2, first, -1).transpose(2, 0, 1), color="0.75", linewidth=1, zorder=0)
    axes.scatter(flat[:first, 0], flat[:first, 1], s=4 * _RADIUS**2, color=COLOURS[0], label=labels[0])
    axes.scatter(
        flat[first:, 0],
        flat[first:, 1],
        s=4 * _RADIUS**2,
        facecolors="none",
        edgecolors=COLOURS[5],
        linewidths=1.4,
        label=labels[1],
    )
    paper.legend()
    paper.write([*map(str, found.mapped), *[""] * first], _RADIUS)
    axes.set_title(f"variance left after Procrustes: {found.procrustes:.0%}", fontsize=10)
    paper.make_room()
    return axes

"""Pictures of a kernel: the tree of its clusters, and the matrix itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from similitude.plot.letters import lettered
from similitude.plot.style import COLOURS, axes_of
from similitude.types import Column, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_REST = "#888888"  # branches that hold several clusters
_MOST_LABELS = 150


@lettered
def dendrogram(
    tree: Table,
    *,
    labels: Sequence[str] | None = None,
    n_clusters: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a tree of clusters, items from top to bottom.

    Parameters
    ----------
    tree : (n - 1, 4) as of `kernel_linkage` or scipy's `linkage`
    labels : a name per item; without them, positions are written where there are at most 150 items
    n_clusters : how many clusters to tell apart by colour; by default one colour
    ax : axes to draw in; a new figure when not given

    Returns
    -------
    the axes

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> F = np.array([[0.0], [1.0], [5.0]])
    >>> axes = sm.plot.dendrogram(sm.kernel_linkage(F @ F.T), labels=["cat", "dog", "bus"])
    >>> sorted(label.get_text() for label in axes.get_yticklabels())
    ['bus', 'cat', 'dog']
    """
    from scipy.cluster.hierarchy import dendrogram as draw

    merges = np.asarray(tree, float)
    n = len(merges) + 1
    if merges.ndim != 2 or merges.shape[1] != 4:
        raise ValueError(f"tree: expected (n - 1, 4) merges as of kernel_linkage, found shape {merges.shape}")
    if labels is not None and len(labels) != n:
        raise ValueError(f"labels: expected one per item ({n}), found {len(labels)}")
    if n_clusters is not None and not 1 <= n_clusters <= n:
        raise ValueError(f"n_clusters: expected 1 to {n}, found {n_clusters}")
    written = n <= _MOST_LABELS
    axes = axes_of(ax, (8.0, max(3.0, (0.14 if written else 0.02) * n)))
    colours = _branch_colours(merges, 1 if n_clusters is None else n_clusters)
    draw(
        merges,
        ax=axes,
        orientation="left",
        labels=None if labels is None else [str(label) for label in labels],
        no_labels=not written,
        leaf_font_size=8,
        link_color_func=colours.__getitem__,
    )
    axes.invert_yaxis()
    axes.set_xlabel("distance")
    axes.spines[["top", "right", "left"]].set_visible(False)
    return axes


def _branch_colours(merges: Any, n_clusters: int) -> dict[int, str]:
    """Return the colour of each branch: that of its cluster, or grey where it joins several."""
    n = len(merges) + 1
    whole = n - n_clusters  # the first merges stay within clusters
    top = {int(part) for merge in merges[whole:] for part in merge[:2] if part < n + whole} if whole < n - 1 else set()
    top = top or {2 * n - 2}
    shade = dict(zip(sorted(top), (COLOURS[k % (len(COLOURS) - 1)] for k in range(len(top))), strict=True))
    colours: dict[int, str] = {}
    for k in range(n - 2, -1, -1):  # from the root down
        branch = n + k
        colours[branch] = shade.get(branch, colours.get(branch, _REST))
        for part in merges[k, :2].astype(int):
            if part >= n and colours[branch] != _REST:
                colours[part] = colours[branch]
    return colours


def kernel_matrix(K: Table, *, order: Column | None = None, ax: Axes | None = None) -> Axes:
    """Draw a kernel as an image, its diagonal left out of the scale of colours.

    Parameters
    ----------
    K : (n, n) kernel values
    order : the items in the order in which to show them, by class say (for a tree, scipy's `leaves_list`)
    ax : axes to draw in; a new figure when not given

    Returns
    -------
    the axes

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> F = np.random.default_rng(0).normal(size=(6, 2))
    >>> axes = sm.plot.kernel_matrix(F @ F.T, order=[0, 2, 4, 1, 3, 5])
    >>> axes.images[0].get_array().shape
    (6, 6)
    """
    matrix = np.asarray(K, float)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) < 2:
        raise ValueError(f"K: expected a square matrix of at least 2 items, found shape {matrix.shape}")
    shown = np.arange(len(matrix)) if order is None else np.asarray(order)
    if not np.array_equal(np.sort(shown), np.arange(len(matrix))):
        raise ValueError(f"order: expected every item from 0 to {len(matrix) - 1} once, found {len(shown)} values")
    beside = matrix[~np.eye(len(matrix), dtype=bool)]
    axes = axes_of(ax, (4.5, 4.0))
    image = axes.imshow(matrix[np.ix_(shown, shown)], cmap="viridis", vmin=beside.min(), vmax=beside.max())
    axes.set(xticks=[], yticks=[])
    figure: Any = axes.get_figure(root=True)
    figure.colorbar(image, ax=axes, shrink=0.8)
    return axes

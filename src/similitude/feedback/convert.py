"""What an estimator is given, as `Comparisons`: they themselves, or arrays in cblearn's manner."""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt

from similitude.feedback.comparisons import Comparisons
from similitude.feedback.shards import Shards
from similitude.feedback.sheets import as_right
from similitude.types import ItemRows

ComparisonsLike = Comparisons | Shards | ItemRows  # who needs all shards at once, says so


def as_comparisons(
    comparisons: ComparisonsLike, y: npt.ArrayLike | None = None, n_items: int | None = None
) -> Comparisons:
    """Return feedback as `Comparisons`.

    Parameters
    ----------
    comparisons : a `Comparisons`; or an array of rows `(i, j, k)`, "i is closer to j than to k", or
        `(i, j, k, l)`, "i, j are closer than k, l"
    y : booleans or +1/-1 per comparison, False or -1 where it is the other way round
    n_items : number of items, where it is more than the comparisons show
    """
    if isinstance(comparisons, Comparisons):
        result = comparisons if y is None else comparisons.flip(~as_right(y, len(comparisons)))
        return result if n_items is None or n_items == result.n_items else result.with_items(n_items=n_items)
    if isinstance(comparisons, Shards):
        raise TypeError(
            f"comparisons: expected what fits in memory, found {type(comparisons).__name__}; the embedding methods, "
            "ComparisonKernel, check and score take it, others take some of it: sample(1_000_000)"
        )
    if isinstance(comparisons, (str, os.PathLike)):
        raise TypeError(
            f"comparisons: expected Comparisons or an array, found the path {str(comparisons)!r}; read the file first: "
            f"similitude.read_comparisons({str(comparisons)!r})"
        )
    rows = np.asarray(comparisons)
    if rows.ndim == 2 and rows.shape[1] == 3:
        return Comparisons.from_triplets(rows, y, n_items=n_items)
    if rows.ndim == 2 and rows.shape[1] == 4:
        return Comparisons.from_quadruplets(rows, y, n_items=n_items)
    found = f"shape {rows.shape}" if rows.ndim else type(comparisons).__name__
    raise ValueError(f"comparisons: expected Comparisons or an array of shape (m, 3) or (m, 4), found {found}")

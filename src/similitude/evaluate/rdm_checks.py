"""Whether numbers can be dissimilarities: what is not is refused, what is odd is said."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from similitude.types import Floats

_EXPECTED = "a model, dissimilarities, vectors or attributes"


def as_numbers(given: Any, argument: str) -> Floats:
    """Return what was given as numbers along one to three axes; refuse anything else by what it is."""
    try:
        values = np.array(given, float)
    except (TypeError, ValueError):
        values = np.array(np.nan)
    if values.ndim in (1, 2, 3):
        return values
    if values.ndim:
        raise ValueError(f"{argument}: expected {_EXPECTED}, found an array of shape {values.shape}")
    advice = "; read the file first, as by pandas.read_csv(file, index_col=0)" if isinstance(given, str | Path) else ""
    raise TypeError(f"{argument}: expected {_EXPECTED}, found {_called(given)}{advice}")


def _called(given: Any) -> str:
    if isinstance(given, str | Path):
        return f"the text {str(given)!r}"
    holds = hasattr(given, "shape") or isinstance(given, list | tuple)
    return f"{type(given).__name__}" + (" of other things than numbers" if holds else "")


def is_symmetric(tables: Floats) -> bool:
    """Whether tables say the same of a pair in both orders."""
    return bool(np.allclose(tables, tables.swapaxes(-1, -2), equal_nan=True))


def check_dissimilarities(tables: Floats, argument: str) -> None:
    """Refuse (raters, n, n) tables that are no dissimilarities; warn of what these seldom have.

    Similarities are known by their diagonal: nothing is more alike to an item than itself. Values below 0 are what
    cross-validated distances can be, and their order means what it says; a diagonal is left out.
    """
    if not is_symmetric(tables):
        worst = float(np.nanmax(np.abs(tables - tables.swapaxes(1, 2))))
        raise ValueError(
            f"{argument}: the table is not symmetric (up to {worst:.3g} apart); average dissimilarities with their "
            'transpose, and give vectors with a metric (metric="euclidean")'
        )
    n = tables.shape[1]
    apart = tables[:, ~np.eye(n, dtype=bool)]
    if np.isinf(apart).any():
        raise ValueError(f"{argument}: found infinity, expected dissimilarities, NaN where one is unknown")
    if np.isnan(apart).all():
        raise ValueError(f"{argument}: no dissimilarity is known, expected numbers for some pairs")
    own = tables[:, np.arange(n), np.arange(n)]
    if any(_are_similarities(*one) for one in zip(own, apart, strict=True)):
        raise ValueError(
            f"{argument}: no pair has more than the diagonal, so these are similarities; expected dissimilarities, "
            "as 1 - table is for correlations and cosines"
        )
    if len(tables) == 1:  # of several the ranks alone count
        _warn_of_odd(own[0], apart[0], argument)


def _are_similarities(own: Floats, apart: Floats) -> bool:
    known, others = own[np.isfinite(own)], apart[np.isfinite(apart)]
    return bool(len(known) and len(others) and known.min() >= others.max() and known.max() > others.min())


def _warn_of_odd(own: Floats, apart: Floats, argument: str) -> None:
    below, odd = int((apart < 0).sum()) // 2, np.abs(own[np.isfinite(own)]).max(initial=0.0)
    if below:
        warnings.warn(
            f"{argument}: {below:,} dissimilarities are below 0; they count in their order, and as 0 on the map",
            stacklevel=5,
        )
    if odd > 1e-9 * np.nanmax(np.abs(apart)):
        warnings.warn(
            f"{argument}: the diagonal holds up to {odd:.3g}, expected 0; it is left out",
            stacklevel=5,
        )

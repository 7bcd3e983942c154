"""What may be wrong with features though they can be read: rows in no known order, items without a row, units."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from similitude.display.words import listed
from similitude.engine.feature_checks import index_knows, is_table
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.items import Names
from similitude.kernels.base import Kernel
from similitude.kernels.vectors import Linear
from similitude.methods.base import warn_at_caller
from similitude.types import Floats

_ALONE = 0.99  # of the variance in one column: ten times the deviation of all others together
_SHOWN = 3


def warn_of_gaps_in_features(kernels: Mapping[str, Kernel], c: Comparisons) -> None:
    """Warn of items with names that were compared, and have features in no modality."""
    if c.names is None:
        return
    compared = np.isin(np.arange(c.n_items), c.items_compared)
    without = compared & ~np.any([kernel.present for kernel in kernels.values()], axis=0)
    if without.any():
        lacking = [c.names[k] for k in np.flatnonzero(without)]
        warn_at_caller(
            f"features: {len(lacking)} of the {c.n_items} items have no row ({listed(lacking, len(lacking), _SHOWN)}), "
            "so that features say nothing of them; check that names are spelled alike"
        )


def warn_of_order_and_units(features: Any, kernels: Mapping[str, Kernel], c: Comparisons) -> None:
    """Warn of rows whose order is not known, and of a column that drowns the others."""
    if c.names is not None:
        _warn_of_order(features, c.names)
    for name, kernel in kernels.items():
        if isinstance(kernel, Linear):
            _warn_of_units(name, kernel.inside, kernel.columns)


def _warn_of_order(features: Any, names: Names) -> None:
    """Warn of rows without names beside items with names.

    Names that were not given in an order of their own are sorted, which rows of an array seldom are.
    """
    given = features if isinstance(features, Mapping) else {"features": features}
    unnamed = [name for name, value in given.items() if not _by_name(value, names)]
    if unnamed and not isinstance(given[unnamed[0]], Kernel) and list(names) == sorted(names):
        warn_at_caller(
            f"features: the rows have no names, and were taken in the order of the items' names, which is that of the "
            f"alphabet ({', '.join(names[:_SHOWN])}, ...); give a table whose index holds the names, or rows for "
            "`answers.names`"
        )


def _warn_of_units(modality: str, rows: Floats, columns: tuple[str, ...] | None) -> None:
    """Warn where one column has nearly all of the variance: maps of features are then maps of that column."""
    variance = rows.var(0)
    if len(variance) < 2 or not variance.max() > _ALONE * variance.sum():
        return
    one = int(variance.argmax())
    which = one if columns is None else repr(columns[one])
    warn_at_caller(
        f"{modality}: column {which} varies more than ten times as much as all "
        "others together, so that these hardly count; where columns have units of their own, give them in units of "
        "their deviations: (features - features.mean()) / features.std(), new items with the same mean and deviation"
    )


def _by_name(value: Any, names: tuple[str, ...]) -> bool:
    return is_table(value) and index_knows(value.index, {*names}, named=True)

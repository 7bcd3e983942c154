"""Dimensions against given attributes of the items: rank correlations, with intervals over items and a joint test."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from similitude.evaluate.item_rows import rows_of_items
from similitude.feedback.items import Names
from similitude.types import Array, Bools, Floats, Seed, Table

_MOST_KINDS = 20  # of a column of words; more are names, not kinds
_LEAST_ITEMS = 5


def against_attributes(
    values: Floats,
    attributes: Table,
    names: Names | None = None,
    *,
    n_resamples: int = 300,
    level: float = 0.95,
    random_state: Seed = None,
) -> pd.DataFrame:
    """Return Spearman's correlation of every dimension with every attribute.

    The interval is by bootstrap over items. With many attributes some correlate by chance: `p_value` is that of
    Westfall and Young's maximum, the share of shuffles of the items in which any attribute correlates as strongly with
    any dimension; so below 0.05 nothing is claimed of all the table in 19 of 20 tables without any relation. The best
    attribute of a dimension owes part of its correlation to having been picked; the interval does not know of that.

    Parameters
    ----------
    values : (n, d) of the items on the dimensions
    attributes : a table with a row per item, whose index or one column holds the names where items have names, and a
        column per attribute: numbers, or words of 20 kinds at most, each of which becomes an attribute "column: word";
        NaN where unknown; or an array in the order of the items
    names : of the items
    n_resamples : draws of the bootstrap, and shuffles
    level : of the intervals
    random_state : seed or generator

    Returns
    -------
    a table, highest first within each dimension: `dimension` (from 1), `attribute`, `correlation`, `low`, `high`,
    `p_value`, `items` (how many have the attribute)
    """
    frame = as_attributes(attributes, names, len(values))
    rng = np.random.default_rng(random_state)
    parts = [KnownAttributes.of(values, frame.to_numpy(float), columns) for columns in _by_gaps(frame.to_numpy(float))]
    order = np.concatenate([part.columns for part in parts])
    once = np.ones(len(values))
    found = np.hstack([part.correlations(once) for part in parts])
    draws = [rng.multinomial(len(values), once / len(values)).astype(float) for _ in range(n_resamples)]
    drawn = np.stack([np.hstack([part.correlations(times) for part in parts]) for times in draws])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # an attribute that no draw can tell of has no interval
        low, high = np.nanpercentile(drawn, [50 - 50 * level, 50 + 50 * level], axis=0)
    p_value = _joint_p(parts, found, len(values), n_resamples, rng)
    rows = [
        (k + 1, str(frame.columns[order[a]]), *(one[k, a] for one in (found, low, high, p_value)), count)
        for k in range(values.shape[1])
        for a, count in enumerate(int(part.known.sum()) for part in parts for _ in part.columns)
    ]
    table = pd.DataFrame(rows, columns=["dimension", "attribute", "correlation", "low", "high", "p_value", "items"])
    return table.sort_values(["dimension", "correlation"], ascending=[True, False], kind="stable", ignore_index=True)


def as_attributes(given: Table, names: Names | None, n_items: int) -> pd.DataFrame:
    """Return attributes as numbers, a row per item in the items' order; NaN where unknown."""
    frame = rows_of_items(given, names, n_items, "attributes")
    columns = dict(part for name in frame.columns for part in _as_numbers(str(name), frame[name]))
    if not columns:
        raise ValueError("attributes: expected a column of numbers, or of words that several items share, found none")
    return pd.DataFrame(columns, index=frame.index)


def _as_numbers(name: str, column: pd.Series[Any]) -> Iterator[tuple[str, Any]]:
    """Numbers as they are; of words whether an item has each; what is the same for all tells nothing."""
    known = column.notna()
    if pd.api.types.is_bool_dtype(column) or pd.api.types.is_numeric_dtype(column):
        if np.isinf(column.astype(float)).any():
            raise ValueError(f"attributes: column {name!r} holds infinity, expected numbers, or NaN where unknown")
        found = [(name, column.astype(float))]
    elif column[known].nunique() <= min(_MOST_KINDS, max(int(known.sum()) // 2, 2)):
        kinds = sorted(map(str, column[known].unique()))
        text = column.astype(str)
        found = [(f"{name}: {kind}", (text == kind).where(known).astype(float)) for kind in kinds]
    else:
        found = []
    yield from ((what, one) for what, one in found if one.nunique() > 1 and one.notna().sum() >= _LEAST_ITEMS)


def _by_gaps(A: Floats) -> list[Array]:
    """Columns that are known of the same items, together."""
    _, code = np.unique(np.isfinite(A), axis=1, return_inverse=True)
    return [np.flatnonzero(code.ravel() == k) for k in range(int(code.max()) + 1)]


@dataclass(frozen=True, eq=False)
class KnownAttributes:
    """Dimensions and attributes of the items of which some attributes are known.

    Attributes
    ----------
    known : (n,) which items
    columns : which attributes
    own, given : their orders
    """

    known: Bools
    columns: Array
    own: RankedColumns
    given: RankedColumns

    @classmethod
    def of(cls, values: Floats, A: Floats, columns: Array) -> KnownAttributes:
        """Sort each column once."""
        known = np.isfinite(A[:, columns[0]])
        return cls(known, columns, RankedColumns.of(values[known]), RankedColumns.of(A[known][:, columns]))

    def correlations(self, times: Floats) -> Floats:
        """(d, a) rank correlations where each item stands there so many times; NaN where a column is constant."""
        own_times = times[self.known]
        own, given = (one.ranks(own_times) for one in (self.own, self.given))
        size = np.sqrt(np.outer(own_times @ own**2, own_times @ given**2))
        product = (own * own_times[:, None]).T @ given
        return np.divide(product, size, out=np.full(size.shape, np.nan), where=size > 1e-9)

    def shuffled(self, order: Array) -> float:
        """The largest correlation, in size, where the items' values are those of others."""
        own, given = self._units
        place = np.argsort(np.argsort(order[self.known]))  # among the items of which the attributes are known
        return float(np.abs(own[place].T @ given).max(initial=0.0))

    @cached_property
    def _units(self) -> tuple[Floats, Floats]:
        once = np.ones(int(self.known.sum()))
        return _unit(self.own.ranks(once)), _unit(self.given.ranks(once))


@dataclass(frozen=True, eq=False)
class RankedColumns:
    """Columns in ascending order, so that ranks of a sample of the rows cost a pass and no sort.

    Attributes
    ----------
    order : (n, q) the rows of each column in order
    begin, end : (n, q) where in that order the values equal to each begin, and end
    """

    order: Array
    begin: Array
    end: Array

    @classmethod
    def of(cls, values: Floats) -> RankedColumns:
        """Sort."""
        order = np.argsort(values, axis=0, kind="stable")
        low = stats.rankdata(values, "min", axis=0).astype(int) - 1
        high = stats.rankdata(values, "max", axis=0).astype(int)
        return cls(order, low, high)

    def ranks(self, times: Floats) -> Floats:
        """(n, q) the mean rank of each row among rows that stand there so many times, less the mean of all."""
        total = np.zeros((len(times) + 1, self.order.shape[1]))
        np.cumsum(times[self.order], axis=0, out=total[1:])
        rank = np.take_along_axis(total, self.begin, 0) + np.take_along_axis(total, self.end, 0)
        rank -= times.sum()  # the mean of all, twice: so many have ranks (1 + count) / 2 on average
        return 0.5 * rank


def _unit(ranks: Floats) -> Floats:
    size = np.sqrt((ranks**2).sum(0))
    return np.divide(ranks, size, out=np.zeros_like(ranks), where=size > 0)


def _joint_p(
    parts: Sequence[KnownAttributes], found: Floats, n_items: int, count: int, rng: np.random.Generator
) -> Floats:
    """Share of shuffles whose largest correlation of all is as large, the true order among them."""
    orders = [rng.permutation(n_items) for _ in range(count)]
    largest = np.array([max(part.shuffled(order) for part in parts) for order in orders])
    as_large = count - np.searchsorted(np.sort(largest), np.abs(found) - 1e-12)
    return np.where(np.isfinite(found), (1 + as_large) / (1 + count), np.nan)

"""Readers of tables in which the rows of a rater are one sheet: ratings, placements, groupings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from similitude.feedback.comparisons import Comparisons
from similitude.feedback.files import cells
from similitude.feedback.files.about import about, column_of, extra
from similitude.feedback.files.options import Options
from similitude.feedback.files.tables import Table, objects

_DIFFERENT = re.compile(r"dissim|unlike|distan|differ|unähn")
_SIMILAR = re.compile(r"simil|alike|likeness|ähn")


def ratings(table: Table, columns: Sequence[str], options: Options) -> Comparisons:
    """Read pairs and a rating for each."""
    larger = options.larger or _larger(table.called.get(columns[2], columns[2]), options)
    table = _rated_once(table, columns, options)
    items, names = options.items.read(cells.matrix(table, columns[:2]), table.typed)
    return Comparisons.from_ratings(
        items,
        cells.numbers(table, columns[2]),
        larger=larger,
        missing=options.missing,
        max_per_rater=options.max_per_rater,
        random_state=options.random_state,
        names=names,
        n_items=options.items.n_items,
        **about(table, columns, "rater"),
        **extra(table, columns, "rater"),
    )


def _rated_once(table: Table, columns: Sequence[str], options: Options) -> Table:
    """One row of each pair that a rater rated; of a pair that was rated again, the mean counts."""
    import pandas as pd

    pairs = np.sort(options.items.told_apart(cells.matrix(table, columns[:2])), axis=1)
    rater = column_of(table, columns, "rater")
    who = np.zeros(len(table), int) if rater is None else pd.factorize(table.columns[rater])[0]
    keys = pd.DataFrame({"who": who, "first": pairs[:, 0], "second": pairs[:, 1]})
    again = keys.duplicated().to_numpy()
    if not again.any():
        return table
    rating = cells.numbers(table, columns[2])
    known = pd.Series(rating).where(rating != (np.nan if options.missing is None else options.missing))
    mean = known.groupby(keys.groupby(list(keys), sort=False).ngroup()).transform("mean")
    options.note(f"{int(again.sum()):,} of {len(table):,} ratings are of a pair that was rated before: the mean counts")
    once = {**table.columns, columns[2]: objects(mean.tolist())}
    return replace(table, columns=once).take(np.flatnonzero(~again))


def _larger(column: str, options: Options) -> Literal["similar", "different"]:
    """What a larger rating means, where the column's name says so."""
    name = column.lower()
    if _DIFFERENT.search(name) or _SIMILAR.search(name):
        found: Literal["similar", "different"] = "different" if _DIFFERENT.search(name) else "similar"
        options.note(f"a larger {column!r} is taken for more {found}")
        return found
    raise ValueError(
        f"larger: does a larger rating mean 'similar' or 'different'? The column {column!r} does not say; give larger="
    )


def placements(table: Table, columns: Sequence[str], options: Options) -> Comparisons:
    """Read where each item was laid."""
    items, names = options.items.read(cells.full(table, columns[0]), table.typed)
    place = np.stack([cells.numbers(table, column) for column in columns[1:]], axis=1)
    sampled = {"max_per_rater": options.max_per_rater, "random_state": options.random_state}
    kept = about(table, columns, "rater") | extra(table, columns, "rater") | sampled
    return Comparisons.from_placements(items, place, names=names, n_items=options.items.n_items, **kept)


def groupings(table: Table, columns: Sequence[str], options: Options) -> Comparisons:
    """Read the group that each item was put into."""
    items, names = options.items.read(cells.full(table, columns[0]), table.typed)
    group = cells.full(table, columns[1])
    kept = about(table, columns, "rater") | extra(table, columns, "rater")
    return Comparisons.from_groupings(items, group, names=names, n_items=options.items.n_items, **kept)

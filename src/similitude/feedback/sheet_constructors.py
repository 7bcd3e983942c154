"""The constructors of `Comparisons` for sheets: ratings, placements, groupings, tables of dissimilarities.

A rater's whole sheet is one answer: its comparisons depend on each other, and a split inside it would leak.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from similitude.feedback import pairs as pair_sampling
from similitude.feedback.answers import Answers
from similitude.feedback.arraylike import Column, ItemRows, Table
from similitude.feedback.columns import Rows
from similitude.feedback.forms.placement import PLACEMENT
from similitude.feedback.forms.ratings import DIFFERENCE, SIMILARITY
from similitude.feedback.items import encode_items
from similitude.feedback.sheets import Sheets, item_rows
from similitude.types import Array, Seed

if TYPE_CHECKING:
    from similitude.feedback.comparisons import Comparisons

ANSWER_COLUMNS = ("rater", "time", "side", "strategy", "extra")


class SheetColumns(TypedDict, total=False):
    """The columns that every constructor takes beside its own arguments."""

    time: npt.ArrayLike | None
    side: npt.ArrayLike | None
    strategy: Any
    extra: Mapping[str, Any] | None
    weight: npt.ArrayLike | None
    names: Sequence[str] | None
    n_items: int | None


class Columns(SheetColumns, total=False):
    """The same with the rater, who is an argument where an answer is a whole sheet."""

    rater: Any


COLUMNS = ("rater", *SheetColumns.__annotations__)


class SheetConstructors:
    """The `from_...` of `Comparisons` where one answer is a whole sheet."""

    @classmethod
    def from_ratings(
        cls,
        pairs: ItemRows,
        rating: Column,
        rater: Any = None,
        *,
        larger: Literal["similar", "different"],
        missing: float | None = None,
        max_per_rater: int | None = None,
        random_state: Seed = None,
        **columns: Unpack[SheetColumns],
    ) -> Comparisons:
        """Pairs rated on a scale; the whole sheet of a rater is one answer, and ties give nothing.

        Parameters
        ----------
        pairs : (ratings, 2) array of names or positions
        rating : one number per pair
        rater : who rated each pair; one rater when not given
        larger : whether a larger number means more similar or more different
        missing : a number that stands for "no rating" (NaN always does)
        max_per_rater : draw at most this many comparisons per rater (k ratings give up to k²/2)
        random_state : seed of that draw
        **columns : extra, weight (per rater), names, n_items
        """
        if larger not in ("similar", "different"):
            raise ValueError(f"larger: expected 'similar' or 'different', found {larger!r}")
        codes, names, n_items = item_rows(pairs, 2, "pairs", *about_items(columns))
        value = np.array(rating, float)
        if value.shape != (len(codes),):
            raise ValueError(f"rating: expected one number per pair ({len(codes)}), found shape {value.shape}")
        if missing is not None:
            value[value == missing] = np.nan
        sheets = Sheets(rater, len(codes))
        form = SIMILARITY if larger == "similar" else DIFFERENCE
        answers = Answers.of(
            form.name,
            sheets.rows(codes),
            sheets.rows(value),
            rater=sheets.labels,
            strategy=columns.get("strategy"),
            extra=sheets.extra(columns.get("extra")),
        )
        edges = None
        if max_per_rater is not None:
            edges = pair_sampling.sample(answers.shown, answers.response, form.sign, max_per_rater, random_state)
        return cls._finish(answers, names, n_items, columns, edges)

    @classmethod
    def from_placements(
        cls,
        item: Column,
        position: Table,
        rater: Any = None,
        *,
        max_per_rater: int | None = None,
        random_state: Seed = None,
        **columns: Unpack[SheetColumns],
    ) -> Comparisons:
        """Items laid out on a table (spatial arrangement): pairs that lie closer are more alike.

        Parameters
        ----------
        item : the item of each row, by name or position
        position : (rows, 2) where it was laid (or any number of coordinates)
        rater : who laid it; one rater when not given. A rater's table is one answer.
        max_per_rater : draw at most this many comparisons per rater
        random_state : seed of that draw
        **columns : extra, weight (per rater), names, n_items
        """
        codes, names, n_items = item_rows(np.asarray(item).reshape(-1, 1), 1, "item", *about_items(columns))
        place = np.asarray(position, float)
        if place.ndim != 2 or len(place) != len(codes) or not np.isfinite(place).all():
            raise ValueError(f"position: expected finite coordinates for {len(codes)} rows, found shape {place.shape}")
        sheets = Sheets(rater, len(codes))
        known: dict[str, Any] = {"rater": sheets.labels, "extra": sheets.extra(columns.get("extra"))}
        answers = Answers.of(PLACEMENT.name, sheets.rows(codes), sheets.rows(place), **known)
        edges = None
        if max_per_rater is not None:
            pairs, distances = PLACEMENT.distances_by_answer(answers.shown, answers.response)
            edges = pair_sampling.sample(pairs, distances, 1.0, max_per_rater, random_state)
        return cls._finish(answers, names, n_items, columns, edges)

    @classmethod
    def from_groupings(
        cls, item: Column, group: Column, rater: Any = None, **columns: Unpack[SheetColumns]
    ) -> Comparisons:
        """Items sorted into groups: an item is more like the members of its group than like any other.

        Parameters
        ----------
        item : the item of each row, by name or position
        group : the group that it was put into
        rater : who sorted; one rater when not given. A rater's sorting is one answer.
        **columns : extra, weight (per rater), names, n_items
        """
        codes, names, n_items = item_rows(np.asarray(item).reshape(-1, 1), 1, "item", *about_items(columns))
        group_code = np.unique(np.asarray(group).astype(str), return_inverse=True)[1]
        if len(group_code) != len(codes):
            raise ValueError(f"group: expected one group per row ({len(codes)}), found {len(group_code)}")
        sheets = Sheets(rater, len(codes))
        known: dict[str, Any] = {"rater": sheets.labels, "extra": sheets.extra(columns.get("extra"))}
        answers = Answers.of("grouping", sheets.rows(codes), sheets.rows(group_code.reshape(-1, 1)), **known)
        return cls._finish(answers, names, n_items, columns)

    @classmethod
    def from_distances(
        cls,
        distances: Table,
        how: Literal["chain", "all", "sample"] = "sample",
        n_comparisons: int | None = None,
        *,
        random_state: Seed = None,
        **columns: Unpack[Columns],
    ) -> Comparisons:
        """A table of dissimilarities between all items.

        Parameters
        ----------
        distances : (n, n) symmetric table; NaN where a pair is unknown
        how : "chain" compares each pair with the next larger one (n(n-1)/2 - 1 comparisons); "all" every two
            pairs; "sample" draws `n_comparisons` of them. Ties give nothing.
        n_comparisons : size of the sample; by default 20 per pair
        random_state : seed of the sample
        **columns : rater, weight, names
        """
        table = np.asarray(distances, float)
        if table.ndim != 2 or table.shape[0] != table.shape[1]:
            raise ValueError(f"distances: expected a square table, found shape {table.shape}")
        if not np.allclose(table, table.T, equal_nan=True):
            worst = float(np.nanmax(np.abs(table - table.T)))
            raise ValueError(f"distances: it is not symmetric (up to {worst:.3g} apart); average it with its transpose")
        first, second = np.triu_indices(len(table), 1)
        pairs = np.stack([first, second], 1)
        known, names, n_items = encode_items(pairs, columns.get("names"), len(table))
        value = table[first, second]
        shown, said = Rows.uniform(known.reshape(1, -1)), Rows.uniform(value.reshape(1, -1))
        answers = Answers.of(
            "difference_rating", shown, said, rater=columns.get("rater"), strategy=columns.get("strategy")
        )
        if how == "chain":
            edges = pair_sampling.chain(known, value)
        elif how == "all":
            edges = None
        elif how == "sample":
            edges = pair_sampling.sample(shown, said, 1.0, n_comparisons or 20 * len(value), random_state)
        else:
            raise ValueError(f"how: expected 'chain', 'all' or 'sample', found {how!r}")
        return cls._finish(answers, names, n_items, columns, edges)

    @classmethod
    def from_answers(
        cls,
        answers: Answers,
        *,
        names: Sequence[str] | None = None,
        n_items: int | None = None,
        weight: npt.ArrayLike | None = None,
        edges: tuple[Array, Array, Array] | None = None,
    ) -> Comparisons:
        """Derive comparisons from answers; `Comparisons` defines it."""
        raise NotImplementedError

    @classmethod
    def _finish(
        cls, answers: Answers, names: Any, n_items: int, columns: Mapping[str, Any], edges: Any = None
    ) -> Comparisons:
        unknown = sorted(set(columns) - set(COLUMNS))
        if unknown:
            raise TypeError(f"unexpected argument {unknown[0]!r}; expected one of {', '.join(COLUMNS)}")
        weight = columns.get("weight")
        return cls.from_answers(answers, names=names, n_items=n_items, weight=weight, edges=edges)


def about_answers(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns about answers, where they are given."""
    return {name: columns[name] for name in ANSWER_COLUMNS if name in columns}


def about_items(columns: Mapping[str, Any]) -> tuple[Any, int | None]:
    """Return the names and the number of items, None where not given."""
    return columns.get("names"), columns.get("n_items")

"""The constructors of `Comparisons`: one per form of question, each a few lines over the answer table.

All of them take the same columns, one value per answer or one for all:

rater : who answered
weight : how much an answer counts
time : seconds that the answer took
side : position on the screen of what was chosen
strategy : how the question was chosen
names : names of the items (then items may be given by name or by position in `names`)
n_items : number of items, where some were never compared and items have no names
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from similitude.feedback import pairs as pair_sampling
from similitude.feedback.answers import Answers
from similitude.feedback.columns import Rows
from similitude.feedback.items import encode_items
from similitude.feedback.sheets import Sheets, as_right, item_rows, positions_of, with_head

if TYPE_CHECKING:
    from similitude.feedback.comparisons import Comparisons

Seed = int | np.random.Generator | None


class Constructors:
    """The `from_...` half of `Comparisons`."""

    @classmethod
    def from_triplets(
        cls, triplets: Any, responses: npt.ArrayLike | None = None, *, answer: Any = None, **columns: Any
    ) -> Comparisons:
        """Rows `(i, j, k)`: item i is more like j than like k.

        Parameters
        ----------
        triplets : (m, 3) array of names or positions
        responses : booleans or +1/-1 per row, False or -1 where i is more like k (cblearn's convention)
        answer : an id per row, where several rows come from one answer
        **columns : rater, weight, time, side, strategy, names, n_items
        """
        return cls._from_rows("triplet", triplets, responses, answer, columns)

    @classmethod
    def from_quadruplets(
        cls, quadruplets: Any, responses: npt.ArrayLike | None = None, *, answer: Any = None, **columns: Any
    ) -> Comparisons:
        """Rows `(i, j, k, l)`: the pair i, j is more alike than the pair k, l.

        The parameters are those of `from_triplets`.
        """
        return cls._from_rows("quadruplet", quadruplets, responses, answer, columns)

    @classmethod
    def from_odd_one_out(cls, triples: Any, odd: npt.ArrayLike | None = None, **columns: Any) -> Comparisons:
        """Three items and the one that does not belong.

        Parameters
        ----------
        triples : (answers, 3) array of names or positions
        odd : position (0, 1, 2) of the odd one in each row; the last one when not given
        **columns : rater, weight, time, side, strategy, names, n_items
        """
        return cls._from_three("odd_one_out", triples, odd, 2, columns)

    @classmethod
    def from_most_central(
        cls, triples: Any, central: npt.ArrayLike | None = None, **columns: Any
    ) -> Comparisons:
        """Three items and the most central one.

        Parameters
        ----------
        triples : (answers, 3) array of names or positions
        central : position (0, 1, 2) of the central one in each row; the first one when not given
        **columns : rater, weight, time, side, strategy, names, n_items
        """
        return cls._from_three("most_central", triples, central, 0, columns)

    @classmethod
    def from_choices(
        cls, shown: Iterable[Sequence[Any]], chosen: Iterable[Sequence[Any]], head: Any = None, **columns: Any
    ) -> Comparisons:
        """Picks from a grid, or clicks: every chosen item is nearer to the head than every item left.

        Parameters
        ----------
        shown : for each answer the items on the screen; the first is the head unless `head` is given
        chosen : for each answer the items that were picked; none picked is "can't tell"
        head : for each answer the item that the others were compared with
        **columns : rater, weight, time, side, strategy, names, n_items
        """
        return cls._from_picks("choice", shown, chosen, head, columns)

    @classmethod
    def from_rankings(
        cls,
        shown: Iterable[Sequence[Any]],
        ranked: Iterable[Sequence[Any]] | None = None,
        head: Any = None,
        **columns: Any,
    ) -> Comparisons:
        """Items ranked by closeness to a head, nearest first.

        Parameters
        ----------
        shown : for each answer the items on the screen; the first is the head unless `head` is given
        ranked : for each answer the items from nearest on; what is shown and not ranked is farther than all of
            them. When not given, `shown` is itself in order.
        head : for each answer the item that the others were compared with
        **columns : rater, weight, time, side, strategy, names, n_items
        """
        questions = with_head(shown, head)
        order = [list(row[1:]) for row in questions] if ranked is None else ranked
        return cls._from_picks("ranking", questions, order, None, columns)

    @classmethod
    def from_ratings(
        cls,
        pairs: Any,
        rating: npt.ArrayLike,
        rater: Any = None,
        *,
        larger: Literal["similar", "different"],
        missing: float | None = None,
        max_per_rater: int | None = None,
        random_state: Seed = None,
        **columns: Any,
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
        **columns : weight (per rater), names, n_items
        """
        if larger not in ("similar", "different"):
            raise ValueError(f"larger: expected 'similar' or 'different', found {larger!r}")
        codes, names, n_items = item_rows(pairs, 2, "pairs", columns.get("names"), columns.get("n_items"))
        value = np.array(rating, float)
        if value.shape != (len(codes),):
            raise ValueError(
                f"rating: expected one number per pair ({len(codes)}), found shape {value.shape}"
            )
        if missing is not None:
            value[value == missing] = np.nan
        sheets = Sheets(rater, len(codes))
        form = "similarity_rating" if larger == "similar" else "difference_rating"
        answers = Answers.of(
            form, sheets.rows(codes), sheets.rows(value), rater=sheets.labels, **_only(columns, "strategy")
        )
        edges = None
        if max_per_rater is not None:
            sign = -1.0 if larger == "similar" else 1.0
            edges = pair_sampling.sample(answers.shown, answers.response, sign, max_per_rater, random_state)
        return cls._finish(answers, names, n_items, columns, edges)

    @classmethod
    def from_placements(
        cls,
        item: Any,
        position: npt.ArrayLike,
        rater: Any = None,
        *,
        max_per_rater: int | None = None,
        random_state: Seed = None,
        **columns: Any,
    ) -> Comparisons:
        """Items laid out on a table (spatial arrangement): pairs that lie closer are more alike.

        Parameters
        ----------
        item : the item of each row, by name or position
        position : (rows, 2) where it was laid (or any number of coordinates)
        rater : who laid it; one rater when not given. A rater's table is one answer.
        max_per_rater : draw at most this many comparisons per rater
        random_state : seed of that draw
        **columns : weight (per rater), names, n_items
        """
        codes, names, n_items = item_rows(
            np.asarray(item).reshape(-1, 1), 1, "item", columns.get("names"), columns.get("n_items")
        )
        place = np.asarray(position, float)
        if place.ndim != 2 or len(place) != len(codes) or not np.isfinite(place).all():
            raise ValueError(
                f"position: expected finite coordinates for {len(codes)} rows, found shape {place.shape}"
            )
        sheets = Sheets(rater, len(codes))
        answers = Answers.of("placement", sheets.rows(codes), sheets.rows(place), rater=sheets.labels)
        edges = None
        if max_per_rater is not None:
            shown, distance = pair_sampling.distances_within(answers.shown, answers.response, place.shape[1])
            edges = pair_sampling.sample(shown, distance, 1.0, max_per_rater, random_state)
        return cls._finish(answers, names, n_items, columns, edges)

    @classmethod
    def from_groupings(cls, item: Any, group: Any, rater: Any = None, **columns: Any) -> Comparisons:
        """Items sorted into groups: an item is more like the members of its group than like any other.

        Parameters
        ----------
        item : the item of each row, by name or position
        group : the group that it was put into
        rater : who sorted; one rater when not given. A rater's sorting is one answer.
        **columns : weight (per rater), names, n_items
        """
        codes, names, n_items = item_rows(
            np.asarray(item).reshape(-1, 1), 1, "item", columns.get("names"), columns.get("n_items")
        )
        group_code = np.unique(np.asarray(group).astype(str), return_inverse=True)[1]
        if len(group_code) != len(codes):
            raise ValueError(f"group: expected one group per row ({len(codes)}), found {len(group_code)}")
        sheets = Sheets(rater, len(codes))
        answers = Answers.of(
            "grouping", sheets.rows(codes), sheets.rows(group_code.reshape(-1, 1)), rater=sheets.labels
        )
        return cls._finish(answers, names, n_items, columns)

    @classmethod
    def from_attribute(cls, orders: Iterable[Sequence[Any]], **columns: Any) -> Comparisons:
        """Items ranked on a named attribute: of three, the middle one is nearer to each end than the ends are.

        Parameters
        ----------
        orders : for each answer the items from the least to the most of the attribute
        **columns : rater, weight, time, strategy (the attribute's name, say), names, n_items
        """
        rows = Rows.of([list(row) for row in orders], None)
        codes, names, n_items = encode_items(rows.values, columns.get("names"), columns.get("n_items"))
        order = (
            np.concatenate([np.arange(length) for length in rows.lengths]) if len(rows) else np.empty(0, int)
        )
        answers = Answers.of(
            "attribute", rows.with_values(codes), rows.with_values(order), **_about_answers(columns)
        )
        return cls._finish(answers, names, n_items, columns)

    @classmethod
    def from_distances(
        cls,
        distances: npt.ArrayLike,
        how: Literal["chain", "all", "sample"] = "sample",
        n_comparisons: int | None = None,
        *,
        random_state: Seed = None,
        **columns: Any,
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
            raise ValueError(
                f"distances: the table is not symmetric (up to {worst:.3g} apart); average it with its transpose"
            )
        first, second = np.triu_indices(len(table), 1)
        pairs = np.stack([first, second], 1)
        known, names, n_items = encode_items(pairs, columns.get("names"), len(table))
        value = table[first, second]
        shown, said = Rows.uniform(known.reshape(1, -1)), Rows.uniform(value.reshape(1, -1))
        answers = Answers.of("difference_rating", shown, said, **_only(columns, "rater", "strategy"))
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
    def _from_rows(
        cls, form: str, rows: Any, responses: npt.ArrayLike | None, answer: Any, columns: dict[str, Any]
    ) -> Comparisons:
        width = {"triplet": 3, "quadruplet": 4}[form]
        codes, names, n_items = item_rows(
            rows, width, f"{form}s", columns.get("names"), columns.get("n_items")
        )
        right = as_right(responses, len(codes))
        first, second = (1, 2) if form == "triplet" else (0, 1)
        said = np.where(right, first, second).astype(np.int8)[:, None]
        if answer is None:
            shown, response = Rows.uniform(codes), Rows.uniform(said)
            return cls._finish(
                Answers.of(form, shown, response, **_about_answers(columns)), names, n_items, columns
            )
        sheets = Sheets(answer, len(codes))
        about = {
            name: sheets.one_each(columns[name], name)
            for name in _ANSWER_COLUMNS
            if columns.get(name) is not None
        }
        about_weight = (
            {"weight": sheets.one_each(columns["weight"], "weight")}
            if columns.get("weight") is not None
            else {}
        )
        answers = Answers.of(form, sheets.rows(codes), sheets.rows(said), **about)
        return cls._finish(answers, names, n_items, columns | about_weight)

    @classmethod
    def _from_three(
        cls, form: str, triples: Any, position: npt.ArrayLike | None, default: int, columns: dict[str, Any]
    ) -> Comparisons:
        codes, names, n_items = item_rows(triples, 3, "triples", columns.get("names"), columns.get("n_items"))
        said = np.full(len(codes), default) if position is None else np.asarray(position)
        if said.shape != (len(codes),):
            raise ValueError(
                f"{form}: expected one position per row ({len(codes)}), found shape {said.shape}"
            )
        answers = Answers.of(
            form, Rows.uniform(codes), Rows.uniform(said.astype(np.int8)[:, None]), **_about_answers(columns)
        )
        return cls._finish(answers, names, n_items, columns)

    @classmethod
    def _from_picks(
        cls,
        form: str,
        shown: Iterable[Sequence[Any]],
        picked: Iterable[Sequence[Any]],
        head: Any,
        columns: dict[str, Any],
    ) -> Comparisons:
        questions = with_head(shown, head)
        said = [
            positions_of(question, row, k)
            for k, (question, row) in enumerate(zip(questions, picked, strict=True))
        ]
        rows = Rows.of(questions, None)
        codes, names, n_items = encode_items(rows.values, columns.get("names"), columns.get("n_items"))
        answers = Answers.of(
            form, rows.with_values(codes), Rows.of(said, np.int32), **_about_answers(columns)
        )
        return cls._finish(answers, names, n_items, columns)

    @classmethod
    def _finish(
        cls, answers: Answers, names: Any, n_items: int, columns: dict[str, Any], edges: Any = None
    ) -> Comparisons:
        unknown = set(columns) - {*_ANSWER_COLUMNS, "weight", "names", "n_items"}
        if unknown:
            raise TypeError(
                f"unexpected argument {sorted(unknown)[0]!r}; expected one of {', '.join(_COLUMNS)}"
            )
        return cls.from_answers(
            answers, names=names, n_items=n_items, weight=columns.get("weight"), edges=edges
        )  # type: ignore[attr-defined, no-any-return]


_ANSWER_COLUMNS = ("rater", "time", "side", "strategy")
_COLUMNS = (*_ANSWER_COLUMNS, "weight", "names", "n_items")


def _only(columns: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: columns[name] for name in names if name in columns}


def _about_answers(columns: dict[str, Any]) -> dict[str, Any]:
    return _only(columns, *_ANSWER_COLUMNS)

"""The constructors of `Comparisons`: one per form of question, each a few lines over the answer table.

All of them take the same columns, one value per answer or one for all:

rater : who answered
weight : how much an answer counts
time : seconds that the answer took
side : position on the screen of what was chosen
strategy : how the question was chosen
extra : other columns by name, such as {"group": [...]}: `Answers.extra`
names : names of the items (then items may be given by name or by position in `names`)
n_items : number of items, where some were never compared and items have no names
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt

from similitude.feedback.answers import Answers
from similitude.feedback.columns import Rows
from similitude.feedback.forms import picking_forms
from similitude.feedback.forms.picking import Picking
from similitude.feedback.picks import NotShown, positions
from similitude.feedback.sheet_constructors import (
    ANSWER_COLUMNS,
    Columns,
    SheetConstructors,
    about_answers,
    about_items,
)
from similitude.feedback.sheets import (
    Responses,
    Sheets,
    item_lists,
    item_rows,
    positions_of,
    said_or_silent,
    with_head,
    with_silence,
)
from similitude.types import Column, Floats, ItemRows

if TYPE_CHECKING:
    from similitude.feedback.comparisons import Comparisons


class Constructors(SheetConstructors):
    """The `from_...` half of `Comparisons`."""

    @classmethod
    def from_triplets(
        cls, triplets: ItemRows, responses: Responses = None, *, answer: Any = None, **columns: Unpack[Columns]
    ) -> Comparisons:
        """Rows `(i, j, k)`: item i is more like j than like k.

        Parameters
        ----------
        triplets : (m, 3) array of names or positions
        responses : booleans or +1/-1 per row, False or -1 where i is more like k (cblearn's convention); None
            is "can't tell"
        answer : an id per row, where several rows come from one answer
        **columns : rater, weight, time, side, strategy, extra, names, n_items
        """
        return cls.from_judged("triplet", triplets, responses, answer=answer, **columns)

    @classmethod
    def from_quadruplets(
        cls, quadruplets: ItemRows, responses: Responses = None, *, answer: Any = None, **columns: Unpack[Columns]
    ) -> Comparisons:
        """Rows `(i, j, k, l)`: the pair i, j is more alike than the pair k, l.

        The parameters are those of `from_triplets`.
        """
        return cls.from_judged("quadruplet", quadruplets, responses, answer=answer, **columns)

    @classmethod
    def from_odd_one_out(cls, triples: ItemRows, odd: Column | None = None, **columns: Unpack[Columns]) -> Comparisons:
        """Three items and the one that does not belong.

        Parameters
        ----------
        triples : (answers, 3) array of names or positions
        odd : the odd one of each row, by position (0, 1, 2; NaN for "can't tell") or by name (None for "can't tell");
        the
            last one when not given
        **columns : rater, weight, time, side, strategy, extra, names, n_items
        """
        return cls.from_picked("odd_one_out", triples, 2 if odd is None else odd, **columns)

    @classmethod
    def from_most_central(
        cls, triples: ItemRows, central: Column | None = None, **columns: Unpack[Columns]
    ) -> Comparisons:
        """Three items and the most central one.

        Parameters
        ----------
        triples : (answers, 3) array of names or positions
        central : the central one of each row, by position (0, 1, 2; NaN for "can't tell") or by name (None for "can't
            tell"); the first one when not given
        **columns : rater, weight, time, side, strategy, extra, names, n_items
        """
        return cls.from_picked("most_central", triples, 0 if central is None else central, **columns)

    @classmethod
    def from_choices(
        cls,
        shown: Iterable[Sequence[Any]],
        chosen: Iterable[Sequence[Any]],
        head: Any = None,
        **columns: Unpack[Columns],
    ) -> Comparisons:
        """Picks from a grid, or clicks: every chosen item is nearer to the head than every item left.

        Parameters
        ----------
        shown : for each answer the items on the screen; the first is the head unless `head` is given
        chosen : for each answer the items that were picked; none picked is "can't tell"
        head : for each answer the item that the others were compared with
        **columns : rater, weight, time, side, strategy, extra, names, n_items
        """
        return cls._from_picks("choice", shown, chosen, head, columns)

    @classmethod
    def from_rankings(
        cls,
        shown: Iterable[Sequence[Any]],
        ranked: Iterable[Sequence[Any]] | None = None,
        head: Any = None,
        **columns: Unpack[Columns],
    ) -> Comparisons:
        """Items ranked by closeness to a head, nearest first.

        Parameters
        ----------
        shown : for each answer the items on the screen; the first is the head unless `head` is given
        ranked : for each answer the items from nearest on; what is shown and not ranked is farther than all
            of them. When not given, `shown` is itself in order.
        head : for each answer the item that the others were compared with
        **columns : rater, weight, time, side, strategy, extra, names, n_items
        """
        questions = with_head(shown, head)
        order = [list(row[1:]) for row in questions] if ranked is None else ranked
        return cls._from_picks("ranking", questions, order, None, columns)

    @classmethod
    def from_best_worst(
        cls,
        shown: Iterable[Sequence[Any]],
        best: Iterable[Any],
        worst: Iterable[Any],
        head: Any = None,
        **columns: Unpack[Columns],
    ) -> Comparisons:
        """The most and the least like a head: all others lie between.

        Parameters
        ----------
        shown : for each answer the items on the screen; the first is the head unless `head` is given
        best, worst : for each answer the item most like the head, and the one least like it
        head : for each answer the item that the others were compared with
        **columns : rater, weight, time, side, strategy, extra, names, n_items
        """
        both = [list(two) for two in zip(best, worst, strict=True)]
        return cls._from_picks("best_worst", shown, both, head, columns)

    @classmethod
    def from_attribute(cls, orders: Iterable[Sequence[Any]], **columns: Unpack[Columns]) -> Comparisons:
        """Items ranked on an attribute: of three, the middle one is nearer to each end than the ends are.

        Parameters
        ----------
        orders : for each answer the items from the least to the most of the attribute
        **columns : rater, weight, time, strategy (the attribute's name, say), names, n_items
        """
        codes, names, n_items = item_lists([list(row) for row in orders], *about_items(columns))
        order = np.arange(len(codes.values)) - np.repeat(np.cumsum(codes.lengths) - codes.lengths, codes.lengths)
        answers = Answers.of("attribute", codes, codes.with_values(order), **about_answers(columns))
        return cls._finish(answers, names, n_items, columns)

    @classmethod
    def from_judged(
        cls, form: str, rows: ItemRows, responses: Responses = None, *, answer: Any = None, **columns: Unpack[Columns]
    ) -> Comparisons:
        """Rows of items of a form with two alternatives: the first is chosen.

        Parameters
        ----------
        form : the form of question, of one comparison: triplet or quadruplet
        rows : (m, width) array of names or positions
        responses, answer, **columns : as in `from_triplets`
        """
        asked = _picking(form, n_alternatives=2)
        codes, names, n_items = item_rows(rows, asked.width(), f"{form}s", *about_items(columns))
        right, silent = said_or_silent(responses, len(codes))
        first, second = asked.codes(asked.width())
        said = np.where(right, first, second).astype(np.int8)[:, None]
        if answer is None:
            answers = Answers.of(form, Rows.uniform(codes), with_silence(said, silent), **about_answers(columns))
            return cls._finish(answers, names, n_items, columns)
        if silent.any():
            raise ValueError('responses: an answer of several rows cannot be "can\'t tell"; leave such rows out')
        sheets = Sheets(answer, len(codes))
        given = [name for name in (*ANSWER_COLUMNS, "weight") if columns.get(name) is not None and name != "extra"]
        each: dict[str, Any] = {**columns} | {name: sheets.one_each(columns.get(name), name) for name in given}
        each["extra"] = sheets.extra(columns.get("extra"))
        answers = Answers.of(form, sheets.rows(codes), sheets.rows(said), **about_answers(each))
        return cls._finish(answers, names, n_items, each)

    @classmethod
    def from_picked(cls, form: str, rows: ItemRows, picked: npt.ArrayLike, **columns: Unpack[Columns]) -> Comparisons:
        """Rows of items of any form whose answer is one pick among so many items.

        Parameters
        ----------
        form : the form of question, a name of `similitude.feedback.forms.FORMS`
        rows : (answers, width) array of names or positions
        picked : the code of what was picked in each row, or one for all, NaN for "can't tell"; or its name, None for
            "can't tell"
        **columns : rater, weight, time, side, strategy, extra, names, n_items
        """
        width = _picking(form).width()
        codes, names, n_items = item_rows(rows, width, "triples" if width == 3 else "rows", *about_items(columns))
        said = np.full(len(codes), picked, float) if np.ndim(picked) == 0 else _said(form, rows, picked)
        if said.shape != (len(codes),):
            raise ValueError(f"{form}: expected one position per row ({len(codes)}), found shape {said.shape}")
        response = with_silence(said[:, None], np.isnan(said))
        answers = Answers.of(form, Rows.uniform(codes), response, **about_answers(columns))
        return cls._finish(answers, names, n_items, columns)

    @classmethod
    def _from_picks(
        cls,
        form: str,
        shown: Iterable[Sequence[Any]],
        picked: Iterable[Sequence[Any]],
        head: Any,
        columns: Mapping[str, Any],
    ) -> Comparisons:
        questions, picks = with_head(shown, head), list(picked)
        if len(picks) != len(questions):
            raise ValueError(f"{form}: expected picks for {len(questions)} questions, found {len(picks)}")
        said = [positions_of(question, row, k) for k, (question, row) in enumerate(zip(questions, picks, strict=True))]
        codes, names, n_items = item_lists(questions, *about_items(columns))
        answers = Answers.of(form, codes, Rows.of(said, np.int32), **about_answers(columns))
        return cls._finish(answers, names, n_items, columns)


def _said(form: str, rows: ItemRows, picked: npt.ArrayLike) -> Floats:
    """What was picked as codes: given as codes, or by name."""
    given = np.asarray(picked)
    if given.dtype.kind not in "OUST" or not any(isinstance(value, str) for value in given.tolist()):
        return given.astype(float)
    names = np.array(
        [None if not isinstance(value, str) or not value.strip() else value for value in given.tolist()], object
    )
    shown = np.asarray(rows, object)
    if len(shown) != len(names):
        return np.full(len(names), np.nan)  # the caller says how many there should be
    try:
        return positions(shown, names, int(_picking(form).arrangement.head))[0]
    except NotShown as error:
        raise ValueError(f"{form}: {error}") from None


def _picking(form: str, n_alternatives: int | None = None) -> Picking:
    """The form of that name, which picks one of a fixed number of alternatives (any number, or so many)."""
    known = {name: one for name, one in picking_forms().items() if one.n_alternatives is not None}
    known = {name: one for name, one in known.items() if n_alternatives in (None, one.n_alternatives)}
    if form not in known:
        raise ValueError(f"form: expected one of {', '.join(known)}, found {form!r}")
    return known[form]

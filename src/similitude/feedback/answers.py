"""Answers: what people said, one row per answer, as it was said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from similitude.display.words import counted, listed
from similitude.feedback.cards import answers_card
from similitude.feedback.columns import Categories, Rows, join, take
from similitude.feedback.extra import Extra, attributes, extra_columns, join_extra, take_extra
from similitude.types import Array, Floats

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Answers:
    """One row per answer.

    Attributes
    ----------
    form : the form of question, a name of `similitude.feedback.forms.FORMS`; pieces of sheets (`PIECES`) are gathered
        when they are compared
    shown : the items of the question, in the order that the form defines
    response : what was said, in the code of the form; an empty row is "can't tell"
    rater : who said it
    strategy : how the question was chosen
    time : seconds that the answer took, NaN where not recorded
    side : position on the screen of what was chosen, -1 where not recorded
    extra : whatever else a file said, a column by each name (a group, an age, a block): numbers as floats, NaN where
        empty, and words as objects, None where empty; `raters` has those that are about the raters
    called : what the file calls the columns that became attributes, by role (`time_ms` for one of milliseconds)

    Examples
    --------
    >>> import similitude as sm
    >>> c = sm.Comparisons.from_odd_one_out([("cat", "dog", "bus"), ("car", "bus", "cat")], rater=["ann", "ben"])
    >>> answers = c.answers
    >>> len(answers), answers.rater.labels, int(answers.cant_tell.sum())
    (2, ('ann', 'ben'), 0)
    """

    form: Categories
    shown: Rows
    response: Rows
    rater: Categories
    strategy: Categories
    time: Floats | None = None
    side: Array | None = None
    extra: Extra = field(default_factory=dict)
    called: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        form: Any,
        shown: Rows,
        response: Rows,
        *,
        rater: Any = None,
        strategy: Any = None,
        time: Any = None,
        side: Any = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Answers:
        """Build the table from columns; `rater`, `strategy` and those of `extra` may be one value for all answers."""
        length = len(shown)
        if len(response) != length:
            raise ValueError(f"expected one response per question ({length}), found {len(response)}")
        return cls(
            Categories.of(form, length),
            shown,
            response,
            _labelled(rater, length, "rater"),
            _labelled(strategy, length, "strategy"),
            None if time is None else _column(time, np.float64, length, "time"),
            None if side is None else _column(side, np.int32, length, "side"),
            extra_columns(extra, length),
        )

    def __len__(self) -> int:
        return len(self.shown)

    @property
    def cant_tell(self) -> Array:
        """Whether each answer was "can't tell" (it gives no comparison, but it is kept and counted)."""
        return self.response.lengths == 0

    @property
    def raters(self) -> pd.DataFrame:
        """What is known of the raters: a row for each, and the columns of `extra` that have one value per rater."""
        return attributes(self.extra, self.rater)

    def by_form(self) -> list[tuple[str, Array]]:
        """Return each form with the rows of its answers, "can't tell" left out."""
        said = ~self.cant_tell
        rows = [np.flatnonzero(said & (self.form.codes == code)) for code in range(len(self.form.labels))]
        return list(zip(self.form.labels, rows, strict=True))

    def take(self, rows: Array) -> Answers:
        """Return the given answers."""
        return Answers(
            self.form.take(rows),
            self.shown.take(rows),
            self.response.take(rows),
            self.rater.take(rows),
            self.strategy.take(rows),
            None if self.time is None else take(self.time, rows),
            None if self.side is None else take(self.side, rows),
            take_extra(self.extra, rows),
            self.called,
        )

    def renumber(self, table: Array) -> Answers:
        """Return the same answers about items numbered `table[old index]`."""
        return replace(self, shown=self.shown.with_values(table[self.shown.values]))

    @staticmethod
    def join(parts: Sequence[Answers]) -> Answers:
        """Concatenate tables of answers about the same items."""
        return Answers(
            Categories.join([part.form for part in parts]),
            Rows.join([part.shown for part in parts]),
            Rows.join([part.response for part in parts]),
            Categories.join([part.rater for part in parts]),
            Categories.join([part.strategy for part in parts]),
            _join_optional([part.time for part in parts], parts, np.nan),
            _join_optional([part.side for part in parts], parts, -1),
            join_extra([part.extra for part in parts], [len(part) for part in parts]),
            {
                role: name
                for role, name in parts[0].called.items()
                if all(one.called.get(role) == name for one in parts)
            },
        )

    def to_frame(self, names: Sequence[str] | None = None) -> pd.DataFrame:
        """Return a table with one row per answer, items by name where there are names."""
        import pandas as pd

        label = (lambda code: names[code]) if names is not None else int
        columns: dict[str, Any] = {
            "form": self.form.values,
            "rater": self.rater.values,
            "shown": [[label(code) for code in self.shown[k]] for k in range(len(self))],
            "response": [self.response[k].tolist() for k in range(len(self))],
            "strategy": self.strategy.values,
        }
        optional = {"time": self.time, "side": self.side, **self.extra}
        columns |= {name: column for name, column in optional.items() if column is not None}
        for name in ("rater", "strategy"):
            if not getattr(self, name).recorded:
                del columns[name]
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        forms, raters, unsure = self.form.labels, len(self.rater.labels), int(self.cant_tell.sum())
        text = counted(len(self), "answer") + (f" ({listed(forms, len(forms))})" if forms else "")
        text += f" by {counted(raters, 'rater')}" if raters else ""
        return f"<{text}{f', {unsure:,} could not tell' if unsure else ''}>"

    def _repr_html_(self) -> str:
        return answers_card(self)


def _labelled(values: Any, length: int, argument: str) -> Categories:
    try:
        return Categories.of(values, length)
    except ValueError as error:
        raise ValueError(f"{argument}: {error}") from None


def _column(values: Any, dtype: Any, length: int, argument: str) -> Array:
    column = np.asarray(values, dtype)
    if column.shape != (length,):
        raise ValueError(f"{argument}: expected one value per answer ({length}), found shape {column.shape}")
    return column


def _join_optional(columns: Sequence[Array | None], parts: Sequence[Answers], missing: float) -> Array | None:
    present = [column for column in columns if column is not None]
    if not present:
        return None
    filled = [
        np.full(len(part), missing, present[0].dtype) if column is None else column
        for column, part in zip(columns, parts, strict=True)
    ]
    return join(filled)

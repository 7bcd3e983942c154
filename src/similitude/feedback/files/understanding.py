"""What was understood of a file: the form, the columns, how much there is, the first answers in words, what is odd.

It is said before anything is learned, so that a misread file is seen by whoever knows what it should say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from similitude.display.cards import card, remarks
from similitude.display.words import counted, listed
from similitude.feedback.answers import Answers
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.forms import find
from similitude.feedback.spelling import folded, nearly, twins
from similitude.types import Array, Bools

_FIRST = 3
_NAMED = 5
_NOBODY = {"na", "n/a", "nan", "none", "null"}  # what programs write where a value is missing


@dataclass(frozen=True, eq=False, repr=False)
class Understood:
    """What was understood of one file or of several together; printed, it is a few lines of plain words.

    Attributes
    ----------
    comparisons : the feedback that was read
    source : the file, or how many
    tool : the tool that wrote it, or None
    written : how the text is written (encoding, separator), or None
    used : the columns that were used, by role
    kept : other columns, which are kept in `comparisons.answers.extra`
    reasons : why columns were taken for what they are, where that was guessed
    notes : what was decided or left out, and what is worth a look

    Examples
    --------
    >>> import pandas as pd, similitude as sm
    >>> table = pd.DataFrame({"Pic 1": ["a", "b"], "Pic 2": ["b", "c"], "Pic 3": ["c", "a"], "Odd one": ["c", "b"]})
    >>> understood = sm.understand(table)
    >>> understood.used["odd"], len(understood.comparisons)
    ('Odd one', 4)
    """

    comparisons: Comparisons
    source: str
    tool: str | None
    written: str | None
    used: Mapping[str, str]
    reasons: Sequence[str]
    notes: Sequence[str]

    @property
    def kept(self) -> list[str]:
        """Other columns, which are kept."""
        return list(self.comparisons.answers.extra)

    def __str__(self) -> str:
        return "\n".join([f"{self.source}: {self._title()}", *(f"  {line}" for line in self._lines())])

    def __repr__(self) -> str:
        return f"<{self}>"

    def _repr_html_(self) -> str:
        return card(f"{self.source}: {self._title()}", remarks(list(self._lines())))

    def _title(self) -> str:
        c = self.comparisons
        forms = " and ".join(find(name).words for name in c.answers.form.labels) or "no questions"
        raters = len(c.answers.rater.labels)
        by = f" by {counted(raters, 'rater')}" if raters else ""
        unsure = int(c.answers.cant_tell.sum())
        silent = f" ({unsure:,} can't tell)" if unsure else ""
        return f"{counted(c.n_answers, 'answer')}{silent} to {forms}, about {counted(c.n_items, 'item')}{by}"

    def _lines(self) -> Iterator[str]:
        if self.tool or self.written:
            yield f"read as: {', '.join(part for part in (self.tool, self.written) if part)}"
        if self.used:
            yield "columns: " + ", ".join(_role(role, column) for role, column in self.used.items())
        for reason in self.reasons:
            yield f"guessed: {reason}"
        if self.kept:
            about = list(self.comparisons.answers.raters.columns)
            others = [name for name in self.kept if name not in about]
            yield from (f"about raters: {listed(about, len(about), 8)}",) if about else ()
            yield from (f"kept beside: {listed(others, len(others), 8)}",) if others else ()
        yield from first_answers(self.comparisons)
        for note in (*self.notes, *doubts(self.comparisons)):
            yield f"note: {note}"


def _role(role: str, column: str) -> str:
    return column if role == column.strip().lower() else f"{role} = {column!r}"


def first_answers(c: Comparisons) -> Iterator[str]:
    """The first answers in words: "P01: of red, blue, green, green does not belong"."""
    answers = c.answers
    for row in range(min(_FIRST, len(answers))):
        who = answers.rater.labels[answers.rater.codes[row]] if answers.rater.codes[row] >= 0 else f"answer {row + 1}"
        shown = [c.label(item) for item in answers.shown[row]]
        said = answers.response[row]
        form = find(answers.form.labels[answers.form.codes[row]])
        yield f"{who}: " + (form.in_words(shown, said.tolist()) if len(said) else f"of {', '.join(shown)}, cannot tell")


def doubts(c: Comparisons) -> Iterator[str]:
    """What is odd about feedback, so that somebody looks."""
    names = c.names or ()
    yield from _alike(twins(names), "case, spaces, accents or .0", "give fold_names=True to join them")
    distinct: dict[str, str] = {}
    for name in names:
        distinct.setdefault(folded(name), name)
    yield from _alike(twins(distinct.values(), nearly), "leading zeros", "call those alike that are one")
    repeated = int(repeats(c.answers).sum())
    if repeated:
        repeat = "repeats" if repeated == 1 else "repeat"
        yield f"{counted(repeated, 'answer')} {repeat} an earlier one in every column: asked again, or copied in twice?"
    rater = c.answers.rater
    for code, name in enumerate(rater.labels):
        if name.lower() in _NOBODY:
            said = counted(int((rater.codes == code).sum()), "answer")
            yield f"a rater is called {name!r} ({said}): where nobody knows who answered, leave the cell empty"
    single = int((np.bincount(rater.codes[rater.codes >= 0], minlength=len(rater.labels)) == 1).sum())
    if single and single * 2 > len(rater.labels) > 1 and c.n_answers > len(rater.labels):
        yield f"{single:,} of {counted(len(rater.labels), 'rater')} gave a single answer: is that column who answered?"
    elif single and c.n_answers > len(rater.labels) > 1:
        yield f"{counted(single, 'rater')} gave a single answer"


def _alike(groups: list[list[str]], by: str, remedy: str) -> Iterator[str]:
    """What is said of names that hardly differ."""
    if groups:
        some = "; ".join(" = ".join(repr(name) for name in group) for group in groups[:_NAMED])
        more = f" and {len(groups) - _NAMED:,} more" if len(groups) > _NAMED else ""
        differ = "differs" if len(groups) == 1 else "differ"
        yield f"{counted(len(groups), 'group')} of names {differ} by {by} alone: {some}{more}; {remedy}"


def repeats(answers: Answers) -> Bools:
    """Which answers are equal to an earlier one in every column: rater, items in order, response, time and others."""
    import pandas as pd

    found = np.zeros(len(answers), bool)
    if not answers.rater.recorded or answers.shown.offsets is not None:
        return found  # sheets of unequal length say more than a glance can compare
    columns = _columns(answers)
    mixed = np.zeros(len(answers), np.uint64)
    for column in columns.values():  # a number for each row, so that few rows are compared cell by cell
        whole = column.astype(np.float64).view(np.uint64) if column.dtype.kind == "f" else column.astype(np.uint64)
        mixed = (mixed ^ whole) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    rows = np.flatnonzero(pd.Series(mixed).duplicated(keep=False))
    some = {name: column[rows] for name, column in columns.items()}
    some |= {f"extra {name}": column[rows] for name, column in answers.extra.items()}
    found[rows] = pd.DataFrame(some).duplicated().to_numpy()
    return found


def _columns(answers: Answers) -> dict[str, Array]:
    """Who said what to what, as columns of numbers."""
    columns: dict[str, Array] = {"rater": answers.rater.codes, "form": answers.form.codes}
    for name, rows in (("shown", answers.shown), ("response", answers.response)):
        wide = rows.matrix() if rows.offsets is None else _padded(rows.values, rows.lengths)
        columns |= {f"{name} {k}": wide[:, k] for k in range(wide.shape[1])}
    return columns if answers.time is None else columns | {"time": answers.time}


def _padded(values: Array, lengths: Array) -> Array:
    """Responses side by side, NaN where one is shorter."""
    wide = np.full((len(lengths), int(lengths.max(initial=0))), np.nan)
    wide[np.arange(wide.shape[1]) < lengths[:, None]] = values
    return wide

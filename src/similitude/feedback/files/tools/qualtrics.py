"""Qualtrics: CSV or TSV with three header lines, a row per respondent and a column per question.

The first line has the names (`StartDate, EndDate, Status, ..., ResponseId, ..., Q1`), the second what was asked, the
third `{"ImportId":"QID1"}` (qualtrics.com: "Understanding Your Dataset"). What was shown stands in the question
alone, so questions are read that name their items after a colon, a question mark or a dash: "Which is the odd one
out: cat, dog, bus?", "Which is more like the cat: dog or bus?", "How similar are these? cat / dog". Export choices as
text, not as numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from similitude.feedback.files.sources import FileSource
from similitude.feedback.files.tables import Table
from similitude.feedback.files.tools.base import Export, Tool, rows_table, table_rows

_ABOUT = (
    "StartDate", "EndDate", "Status", "IPAddress", "Progress", "Duration (in seconds)", "Finished", "RecordedDate",
    "ResponseId", "RecipientLastName", "RecipientFirstName", "RecipientEmail", "ExternalReference",
    "LocationLatitude", "LocationLongitude", "DistributionChannel", "UserLanguage", "Q_RecaptchaScore",
)  # fmt: skip
_ODD = re.compile(r"odd|not belong|n.t belong|least like|different from")
_CENTRAL = re.compile(r"most typical|most central|in the middle")
_RATED = re.compile(r"how (dis)?similar|how (un)?alike|how different")
_LIKE = re.compile(r"(?:more|most) (?:like|similar to|alike to) (?:the )?(.+?)\s*[:?]")


def _recognises(source: FileSource) -> bool:
    table = source.table
    if table is None or not {"StartDate", "ResponseId"} & set(table.columns) or len(table) < 2:
        return False
    return any("ImportId" in str(cells[1]) for cells in table.columns.values())


def _read(source: FileSource) -> Export:
    table = source.table
    assert table is not None
    asked = {name: str(cells[0] or "") for name, cells in table.columns.items()}
    people = table_rows(table.take(np.arange(2, len(table))))
    real = [row for row in people if "preview" not in str(row.get("Status", "")).lower()]
    notes = [f"previews of the survey are left out: {len(people) - len(real):,}"] if len(real) < len(people) else []
    questions = {name: found for name, text in asked.items() if name not in _ABOUT and (found := _question(text))}
    if not questions:
        raise ValueError(
            "no question names its items, such as 'Which is the odd one out: cat, dog, bus?'; write a table with a row "
            "per answer and columns a, b, c, odd, rater"
        )
    kinds = {kind for kind, _ in questions.values()}
    if len(kinds) > 1:
        raise ValueError(
            f"the survey asks {len(kinds)} forms of question ({', '.join(sorted(kinds))}); export them apart"
        )
    rows = [row for person in real for row in _answers(person, questions)]
    form = {"odd": "odd_one_out", "central": "most_central", "chosen": "triplet"}.get(next(iter(kinds)))
    larger = None if form else _larger(asked[next(iter(questions))])
    return Export(_typed(rows_table(rows)), form, larger, notes=notes)


def _larger(text: str) -> Any:
    return "different" if re.search("dissimilar|unalike|different", text.lower()) else "similar"


def _typed(table: Table) -> Table:
    return Table(table.columns, None, typed=False)


def _question(text: str) -> tuple[str, list[str]] | None:
    """What a question asks (the role of its answer) and the items that it names, or None."""
    low = " ".join(text.split())
    if like := _LIKE.search(low.lower()):
        items = _items(low)
        return ("chosen", [low[like.start(1) : like.end(1)], *items]) if len(items) == 2 else None
    items = _items(low)
    if len(items) == 2 and _RATED.search(low.lower()):
        return "rating", items
    if len(items) == 3 and _ODD.search(low.lower()):
        return "odd", items
    return ("central", items) if len(items) == 3 and _CENTRAL.search(low.lower()) else None


def _items(text: str) -> list[str]:
    """The items that stand after the last colon, question mark or dash, between commas, bars or "or"."""
    part = re.split(r"[:?]\s+| - | – ", text.rstrip(" ?."))[-1]
    return [one.strip() for one in re.split(r"\s*[,/|;]\s*(?:or |and )?|\s+(?:or|and)\s+", part) if one.strip()]


def _answers(person: Mapping[str, Any], questions: Mapping[str, tuple[str, list[str]]]) -> Iterator[dict[str, Any]]:
    """The answers of one respondent, a row each, with whatever else is known of them."""
    about = {name: cell for name, cell in person.items() if name not in questions and name not in _ABOUT}
    for name, (role, items) in questions.items():
        letters = {"rating": "ij", "chosen": ("head", "b", "c")}.get(role, "abc")
        yield {
            **dict(zip(letters, items, strict=True)), role: person.get(name), "rater": person.get("ResponseId"),
            "question_tag": name, **about,
        }  # fmt: skip


QUALTRICS = Tool("Qualtrics", _recognises, _read)

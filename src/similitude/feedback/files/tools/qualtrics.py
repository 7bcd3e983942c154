"""Qualtrics: CSV or TSV with three header lines, a row per respondent and a column per question.

The first line has the names (`StartDate, EndDate, Status, ..., ResponseId, ..., Q1`), the second what was asked, the
third `{"ImportId":"QID1"}` (qualtrics.com: "Understanding Your Dataset"). What was shown stands in the question
alone, so questions are read that name their items after a colon, a question mark or a dash: "Which is the odd one
out: cat, dog, bus?", "Which is more like the cat: dog or bus?", "How similar are these? cat / dog". Of a question in
other words, whose answers are among three items that it names, the caller says the form. A file with these header lines
whose columns hold items and answers themselves is read as any table. Export choices as text, not as numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
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
_ODD = re.compile(
    r"odd|not belong|n.t belong|least like|different from|passt nicht|gehört nicht|intrus|hoort niet|no pertenece|"
    r"non appartiene"
)
_CENTRAL = re.compile(r"most typical|most central|in the middle")
_RATED = re.compile(r"how (dis)?similar|how (un)?alike|how different|wie (un)?ähnlich|wie verschieden")
_AND = "or|and|oder|und|ou|et|o|y|of|en|e"
_BETWEEN = re.compile(rf"\s*[,/|;]\s*(?:(?:{_AND})\s+)?|\s+(?:{_AND})\s+")
_DASH = re.compile(r"\s+[-–—]\s+")
_COLUMNS = {"rating": "ij", "chosen": ("head", "b", "c"), "choice": ("item1", "item2", "item3")}
_NO_ITEMS = (
    "no question names its items, such as 'Which is the odd one out: cat, dog, bus?'; write a table with a row per "
    "answer and columns a, b, c, odd, rater"
)
_LIKE = re.compile(r"(?:more|most) (?:like|similar to|alike to) (?:the )?(.+?)\s*[:?]")


def _recognises(source: FileSource) -> bool:
    table = source.table
    if table is None or len(table) < 2:
        return False
    return any("ImportId" in str(cells[1]) for cells in table.columns.values())


def _read(source: FileSource) -> Export:
    table = source.table
    assert table is not None
    asked = {name: str(cells[0] or "") for name, cells in table.columns.items()}
    people = table_rows(table.take(np.arange(2, len(table))))
    real = [row for row in people if "preview" not in str(row.get("Status", "")).lower()]
    notes = [f"previews of the survey are left out: {len(people) - len(real):,}"] if len(real) < len(people) else []
    texts = {name: text for name, text in asked.items() if name not in _ABOUT}
    questions = {name: found for name, text in texts.items() if (found := _question(text))}
    if not questions:
        questions = {name: found for name, text in texts.items() if (found := _unworded(text, name, real))}
    if not questions:
        return Export(table.take(np.arange(2, len(table))), notes=notes, otherwise=_NO_ITEMS)
    kinds = {kind for kind, _ in questions.values()}
    if len(kinds) > 1:
        raise ValueError(
            f"the survey asks {len(kinds)} forms of question ({', '.join(sorted(kinds))}); export them apart"
        )
    rows = [row for person in real for row in _answers(person, questions)]
    form = {"odd": "odd_one_out", "central": "most_central", "chosen": "triplet"}.get(next(iter(kinds)))
    larger = _larger(asked[next(iter(questions))]) if kinds == {"rating"} else None
    return Export(_typed(rows_table(rows)), form, larger, notes=notes)


def _larger(text: str) -> Any:
    """What a larger rating means, where the words of the question say."""
    if not _RATED.search(text.lower()):
        return None
    return "different" if re.search("dissimilar|unalike|different|unähnlich|verschieden", text.lower()) else "similar"


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


def _unworded(text: str, name: str, people: Sequence[Mapping[str, Any]]) -> tuple[str, list[str]] | None:
    """What a question in unknown words asks, by the items that it names and by its answers."""
    items = _items(" ".join(text.split()))
    said = {str(person[name]) for person in people if name in person}
    if len(items) == 3 and said and said <= {*items, "1", "2", "3"}:
        return "choice", items
    return ("rating", items) if len(items) == 2 and said and all(one.isdigit() for one in said) else None


def _items(text: str) -> list[str]:
    """The items that stand after the last colon, question mark or dash: between commas, bars, "or", or dashes."""
    part = re.split(r"[:?]\s+", text.rstrip(" ?."))[-1].strip(" -–—")
    items = [one.strip() for one in _BETWEEN.split(part) if one.strip()]
    if len(items) == 1:
        return _DASH.split(part)[-3:]
    return [_DASH.split(items[0])[-1], *items[1:]] if items else []


def _answers(person: Mapping[str, Any], questions: Mapping[str, tuple[str, list[str]]]) -> Iterator[dict[str, Any]]:
    """The answers of one respondent, a row each, with whatever else is known of them."""
    about = {name: cell for name, cell in person.items() if name not in questions and name not in _ABOUT}
    for name, (role, items) in questions.items():
        letters = _COLUMNS.get(role, "abc")
        yield {
            **dict(zip(letters, items, strict=True)), role: person.get(name), "rater": person.get("ResponseId"),
            "question_tag": name, **about,
        }  # fmt: skip


QUALTRICS = Tool("Qualtrics", _recognises, _read)

"""Answers as a file that `read_comparisons` reads; raters are a table of their own (`raters_file.py`).

Answers hold no identity: a rater is a code. Items stand in JSON lists and never begin a cell, so no spreadsheet takes
one for a formula; nor any other text, such as a code that an import brought (`feedback/files/spreadsheets.py`). Answers
are read and written in blocks, up to the last number that there was at the start: the log only grows, so that is one
moment of it, and no transaction is held open meanwhile; what is redacted meanwhile is gone.

Answers that do not count, of raters who were left out or asked anew, are there with a word in `standing`; who reads the
file leaves them out, and says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from similitude.extras import need
from similitude.feedback.files import tables
from similitude.feedback.files.native import FORMAT
from similitude.feedback.files.whole import write_whole
from similitude.feedback.files.writing import WRITTEN, pieces
from similitude.feedback.forms import PAGES, PIECES
from similitude.study import measured
from similitude.study.counting import standing
from similitude.study.designs import BEFORE_CONDITIONS
from similitude.study.entrance import APART, PILOT, REHEARSAL, kept_apart
from similitude.study.maintenance.plain import PlainTable
from similitude.study.settings import StudyError
from similitude.study.store import schema
from similitude.study.store.database import Database
from similitude.study.store.revisions import served_last
from similitude.study.store.rows import Row, dicts

BLOCK = 500  # rows that are read and written together
TYPES = {
    "form": str, "rater": str, "shown": list[str], "response": list[float], "time": float, "side": int,
    "strategy": str, "kind": str, "outcome": str, "number": int, "received": float, "score": float, "model": int,
    "direction": str, "background": str, **measured.TYPES, "study_version": str, "standing": str, "label": list[str],
    "condition": str, "block": str, "sheet": str,
}  # fmt: skip
_SOME = ("label", "condition", "block", "sheet")  # columns that only answers of some studies have
_AS_KEPT = ("kind", "outcome", "number", "received", "score", "model", "direction", "background")


@dataclass(frozen=True)
class Exported:
    """What was written."""

    answers: int
    raters: int
    left_out: int


def study_number(connection: sa.Connection, name: str) -> int:
    """The number of a study in the database."""
    found = connection.scalar(sa.select(schema.study.c.id).where(schema.study.c.name == name))
    if found is None:
        raise StudyError(
            f"{name}: the database has no such study; it has {', '.join(study_names(connection)) or 'none'}"
        )
    return int(found)


def study_names(connection: sa.Connection) -> list[str]:
    """The studies that the database holds."""
    return list(connection.scalars(sa.select(schema.study.c.name).order_by(schema.study.c.name)))


class AnswersFile:
    """The answers of a study as the bytes of a file, made block by block while they are taken.

    Parameters
    ----------
    database, study : where the answers are
    kind : .csv, .tsv, .jsonl or .parquet
    known : whether practice and catch trials go in, too; the column `kind` says which is which
    rehearsal, pilot : whether answers of rehearsals, of the pilot go in, too; the codes of their raters begin with it
    """

    def __init__(
        self, database: Database, study: str, kind: str, known: bool = False, rehearsal: bool = False,
        pilot: bool = False,
    ) -> None:  # fmt: skip
        if kind == ".parquet":
            need("parquet", "a Parquet file")
        self.database, self.study, self.kind = database, study, kind
        self.known, self.rehearsal, self.pilot = known, rehearsal, pilot
        taken = {REHEARSAL: rehearsal, PILOT: pilot}
        self._without = [origin for origin in APART if not taken[origin]]
        answer = schema.answer
        with database.read() as connection:
            self._study_id = study_number(connection, study)
            self._last = connection.scalar(sa.select(sa.func.max(answer.c.id)).where(*self._here)) or 0
            kept = sa.select(answer.c.id).join(schema.rater, schema.rater.c.id == answer.c.rater_id)
            kept = kept.where(*self._here, *self._kept).limit(1)
            if connection.scalar(kept) is None:
                raise StudyError(f"{study}: no answers to write yet")
            has = {
                "label": answer.c.form.in_(_with_classes()), "condition": schema.rater.c.condition.is_not(None),
                "block": answer.c.block != "",
            }  # fmt: skip
            self._more = [name for name, said in has.items() if connection.scalar(kept.where(said)) is not None]
            self._sheets = self._more.count("block") and _asked_in_several_blocks(connection, *self._here)
            self._versions = _versions(connection, self._study_id)
        self._header = {"format": FORMAT, "items": self._items()}
        self._raters: set[str] = set()
        self._answers = self._left_out = 0

    @property
    def written(self) -> Exported:
        """What was written so far."""
        return Exported(self._answers, len(self._raters), self._left_out)

    def pieces(self) -> Iterator[bytes]:
        """The file, piece by piece; nothing is read ahead of what is taken."""
        more = [*self._more, *(["sheet"] if self._sheets else [])]
        types = {name: held for name, held in TYPES.items() if name not in _SOME or name in more}
        return pieces(self.kind, self._columns(), self._header, types)

    def plain_pieces(self) -> Iterator[bytes]:
        """The file as a plain table; answers are read twice, since the widest one says how many columns there are."""
        forms: dict[str, None] = {}
        shown = said = 1
        first = AnswersFile(self.database, self.study, self.kind, self.known, self.rehearsal, self.pilot)
        for block in first._columns():
            forms |= dict.fromkeys(block["form"])
            shown = max(shown, *map(len, block["shown"]), 1)
            words = block.get("label") or [None] * len(block["form"])
            said = max(said, *(len(word or one) for word, one in zip(words, block["response"], strict=True)), 1)
        more = [name for name in self._more if name != "label"]
        table = PlainTable(list(forms), shown, said, "," if self.kind == ".csv" else "\t", more)
        return table.pieces(self._columns())

    @property
    def _here(self) -> list[sa.ColumnElement[bool]]:
        return [schema.answer.c.study_id == self._study_id]

    @property
    def _kept(self) -> list[sa.ColumnElement[bool]]:
        answer = schema.answer
        return [
            answer.c.outcome != "redacted",
            *([] if self.known else [answer.c.kind == "question"]),
            answer.c.rater_id.not_in(kept_apart(self._study_id, self._without)),
        ]

    def _is_kept(self, row: Mapping[str, Any]) -> bool:
        """The same as `_kept`, of a row that was read to count what is left out."""
        if row["outcome"] == "redacted" or row["origin"] in self._without:
            return False
        return self.known or row["kind"] == "question"

    def _rows(self, *where: sa.ColumnElement[bool]) -> Iterator[list[dict[str, Any]]]:
        """Rows of the log with the rater's code, in blocks, each read by itself."""
        answer, rater = schema.answer, schema.rater
        of = rater.c.code, rater.c.origin, rater.c.left_out, rater.c.first, rater.c.condition
        query = sa.select(answer, *of).join(rater, rater.c.id == answer.c.rater_id)
        query = query.where(*self._here, *where)
        seen = 0
        while seen < self._last:
            block = query.where(answer.c.id > seen, answer.c.id <= self._last).order_by(answer.c.id).limit(BLOCK)
            with self.database.read() as connection:
                rows = dicts(connection.execute(block))
            yield rows
            seen = rows[-1]["id"] if len(rows) == BLOCK else self._last

    def _items(self) -> list[str]:
        """The items of the study as it was served last, and whatever else was shown in earlier versions."""
        names: set[str] = set()
        latest = ""
        with self.database.read() as connection:
            last = served_last(connection, self._study_id)
        if last is not None:
            latest, names = last["version"], set(json.loads(last["items"]))
        for rows in self._rows(schema.answer.c.version != latest):
            names.update(name for row in rows for name in json.loads(row["shown"]))
        return sorted(names)

    def _columns(self) -> Iterator[dict[str, list[Any]]]:
        classes = {row["version"]: _classes(json.loads(row["settings"])) for row in self._versions}
        for rows in self._rows():
            kept = [row for row in rows if self._is_kept(row)]
            self._answers += len(kept)
            self._left_out += len(rows) - len(kept)
            self._raters.update(row["code"] for row in kept)
            columns = _columns(kept)
            if "label" in self._more:
                columns["label"] = list(_labels(kept, classes))
            if "condition" in self._more:
                columns["condition"] = [row["condition"] or BEFORE_CONDITIONS for row in kept]
            if "block" in self._more:
                columns["block"] = [row["block"] or None for row in kept]
            if self._sheets:
                columns["sheet"] = columns["block"]
            yield columns


def export_answers(
    database: Database, study: str, path: Path, known: bool = False, rehearsal: bool = False, plain: bool = False,
    pilot: bool = False,
) -> Exported:  # fmt: skip
    """Write the answers of a study.

    Parameters
    ----------
    database, study : where the answers are
    path : .csv, .tsv, .jsonl or .parquet
    known : whether practice and catch trials go in, too; the column `kind` says which is which
    rehearsal : whether answers of rehearsals go in, too; the codes of their raters begin with it
    plain : a table for spreadsheets instead (.csv, .tsv): one cell for each item and answer, times in ISO 8601
    pilot : whether answers of the pilot go in, too; the codes of their raters begin with it
    """
    kind, zipped = tables.suffix_of(path)
    if kind not in WRITTEN or zipped:
        raise StudyError(f"{path.name}: expected a file that ends in {', '.join(WRITTEN)}")
    if plain and kind not in (".csv", ".tsv"):
        raise StudyError(f"{path.name}: a plain table is written as .csv or .tsv")
    answers = AnswersFile(database, study, kind, known, rehearsal, pilot)
    write_whole(path, answers.plain_pieces() if plain else answers.pieces())
    return answers.written


def _versions(connection: sa.Connection, study_id: int) -> list[Row]:
    table = schema.study_version
    query = sa.select(table).where(table.c.study_id == study_id).order_by(table.c.created)
    return dicts(connection.execute(query))


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    return {
        "form": [PAGES[row["form"]].name if row["form"] in PAGES else row["form"] for row in rows],
        "rater": [row["code"] for row in rows],
        "shown": [json.loads(row["shown"]) for row in rows],
        "response": [json.loads(row["response"] or "[]") for row in rows],
        "time": [None if row["milliseconds"] is None else row["milliseconds"] / 1000 for row in rows],
        "side": [row["side"] for row in rows],
        "strategy": [row["strategy"] for row in rows],
        **{name: [row[name] for row in rows] for name in _AS_KEPT},
        **measured.columns([row["measured"] for row in rows]),
        "study_version": [row["version"] for row in rows],
        "standing": [standing(row) for row in rows],
    }


def _with_classes() -> list[str]:
    """Forms whose first number is that of a class, which has a name."""
    return [page for page, form in PAGES.items() if "classes" in form.settings]


def _classes(settings: Mapping[str, Any]) -> dict[str, list[str]]:
    """The classes of each block of a study as it was written."""
    blocks = {block["name"]: block["question"]["classes"] for block in settings.get("block", ())}
    return {"": settings["question"]["classes"], **blocks}


def _asked_in_several_blocks(connection: sa.Connection, *here: sa.ColumnElement[bool]) -> bool:
    """Whether a form that is gathered into sheets was asked in more than one block: each has a sheet of its own."""
    answer, pieces = schema.answer, [page for page, form in PAGES.items() if form.name in PIECES]
    query = sa.select(answer.c.form).where(*here, answer.c.form.in_(pieces)).group_by(answer.c.form)
    several = query.having(sa.func.count(sa.distinct(answer.c.block)) > 1)
    return connection.scalar(several.limit(1)) is not None


def _labels(
    rows: Sequence[Mapping[str, Any]], classes: Mapping[str, Mapping[str, Sequence[str]]]
) -> Iterator[list[str] | None]:
    """The words behind the numbers of classes."""
    labelled = _with_classes()
    for row in rows:
        said = None if row["form"] not in labelled or row["response"] is None else json.loads(row["response"])
        yield None if said is None else [classes[row["version"]][row["block"]][int(said[0])]]

"""Answers as a file that `read_comparisons` reads, and raters as a table of their own.

Answers hold no identity: a rater is a code. Items stand in JSON lists and never begin a cell, so no spreadsheet takes
one for a formula; nor any other text, such as a code that an import brought (`feedback/files/spreadsheets.py`). Answers
are read and written in blocks, up to the last number that there was at the start: the log only grows, so that is one
moment of it, and no transaction is held open meanwhile; what is redacted meanwhile is gone.

The table of raters has free text in its cells; `read_raters` reads it back as it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from similitude.extras import need
from similitude.feedback.files import separated, tables
from similitude.feedback.files.native import FORMAT
from similitude.feedback.files.spreadsheets import defused, plain_column
from similitude.feedback.files.whole import write_whole
from similitude.feedback.files.writing import WRITTEN, pieces
from similitude.feedback.forms import PAGES
from similitude.study import measured
from similitude.study.entrance import REHEARSAL, rehearsing
from similitude.study.maintenance.plain import PlainTable
from similitude.study.settings import StudyError
from similitude.study.store import schema
from similitude.study.store.database import Database
from similitude.study.store.rows import Row, dicts

BLOCK = 500  # rows that are read and written together
TYPES = {
    "form": str, "rater": str, "shown": list[str], "response": list[float], "time": float, "side": int,
    "strategy": str, "kind": str, "outcome": str, "number": int, "received": float, "score": float, "model": int,
    "direction": str, "background": str, **measured.TYPES, "study_version": str, "label": list[str],
}  # fmt: skip
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
    rehearsal : whether answers of rehearsals go in, too; the codes of their raters begin with it
    """

    def __init__(self, database: Database, study: str, kind: str, known: bool = False, rehearsal: bool = False) -> None:
        if kind == ".parquet":
            need("parquet", "a Parquet file")
        self.database, self.study, self.kind = database, study, kind
        self.known, self.rehearsal = known, rehearsal
        answer = schema.answer
        with database.read() as connection:
            self._study_id = study_number(connection, study)
            self._last = connection.scalar(sa.select(sa.func.max(answer.c.id)).where(*self._here)) or 0
            kept = sa.select(answer.c.id).join(schema.rater, schema.rater.c.id == answer.c.rater_id)
            kept = kept.where(*self._here, *self._kept).limit(1)
            if connection.scalar(kept) is None:
                raise StudyError(f"{study}: no answers to write yet")
            self._labelled = connection.scalar(kept.where(answer.c.form.in_(_with_classes()))) is not None
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
        types = TYPES if self._labelled else {name: held for name, held in TYPES.items() if name != "label"}
        return pieces(self.kind, self._columns(), self._header, types)

    def plain_pieces(self) -> Iterator[bytes]:
        """The file as a plain table; answers are read twice, since the widest one says how many columns there are."""
        forms: dict[str, None] = {}
        shown = said = 1
        for block in AnswersFile(self.database, self.study, self.kind, self.known, self.rehearsal)._columns():
            forms |= dict.fromkeys(block["form"])
            shown = max(shown, *map(len, block["shown"]), 1)
            said = max(said, *map(len, block["response"]), 1)
        table = PlainTable(list(forms), shown, 1 if self._labelled else said, "," if self.kind == ".csv" else "\t")
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
            *([] if self.rehearsal else [answer.c.rater_id.not_in(rehearsing(self._study_id))]),
        ]

    def _is_kept(self, row: Mapping[str, Any]) -> bool:
        """The same as `_kept`, of a row that was read to count what is left out."""
        if row["outcome"] == "redacted" or (row["origin"] == REHEARSAL and not self.rehearsal):
            return False
        return self.known or row["kind"] == "question"

    def _rows(self, *where: sa.ColumnElement[bool]) -> Iterator[list[dict[str, Any]]]:
        """Rows of the log with the rater's code, in blocks, each read by itself."""
        answer, rater = schema.answer, schema.rater
        query = sa.select(answer, rater.c.code, rater.c.origin).join(rater, rater.c.id == answer.c.rater_id)
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
        if self._versions:
            latest, names = self._versions[-1]["version"], set(json.loads(self._versions[-1]["items"]))
        for rows in self._rows(schema.answer.c.version != latest):
            names.update(name for row in rows for name in json.loads(row["shown"]))
        return sorted(names)

    def _columns(self) -> Iterator[dict[str, list[Any]]]:
        classes = {row["version"]: json.loads(row["settings"])["question"]["classes"] for row in self._versions}
        for rows in self._rows():
            kept = [row for row in rows if self._is_kept(row)]
            self._answers += len(kept)
            self._left_out += len(rows) - len(kept)
            self._raters.update(row["code"] for row in kept)
            columns = _columns(kept)
            if self._labelled:
                columns["label"] = list(_labels(kept, classes))
            yield columns


def export_answers(
    database: Database, study: str, path: Path, known: bool = False, rehearsal: bool = False, plain: bool = False
) -> Exported:
    """Write the answers of a study.

    Parameters
    ----------
    database, study : where the answers are
    path : .csv, .tsv, .jsonl or .parquet
    known : whether practice and catch trials go in, too; the column `kind` says which is which
    rehearsal : whether answers of rehearsals go in, too; the codes of their raters begin with it
    plain : a table for spreadsheets instead (.csv, .tsv): one cell for each item and answer, times in ISO 8601
    """
    kind, zipped = tables.kind_of(path)
    if kind not in WRITTEN or zipped:
        raise StudyError(f"{path.name}: expected a file that ends in {', '.join(WRITTEN)}")
    if plain and kind not in (".csv", ".tsv"):
        raise StudyError(f"{path.name}: a plain table is written as .csv or .tsv")
    answers = AnswersFile(database, study, kind, known, rehearsal)
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
    }


def _with_classes() -> list[str]:
    """Forms whose first number is that of a class, which has a name."""
    return [page for page, form in PAGES.items() if "classes" in form.settings]


def _labels(rows: Sequence[Mapping[str, Any]], classes: Mapping[str, Sequence[str]]) -> Iterator[list[str] | None]:
    """The words behind the numbers of classes."""
    labelled = _with_classes()
    for row in rows:
        said = None if row["form"] not in labelled or row["response"] is None else json.loads(row["response"])
        yield None if said is None else [classes[row["version"]][int(said[0])]]


def raters_table(database: Database, study: str) -> dict[str, list[Any]]:
    """Columns about the raters of a study: who they are, how far they came, catch trials, survey."""
    rater, reply = schema.rater, schema.reply
    with database.read() as connection:
        study_id = study_number(connection, study)
        rows = dicts(connection.execute(sa.select(rater).where(rater.c.study_id == study_id).order_by(rater.c.id)))
        replies = connection.execute(
            sa.select(reply.c.rater_id, reply.c.field, reply.c.value).join(rater).where(rater.c.study_id == study_id)
        ).all()
        of_devices = measured.of_raters(_measured(connection, study_id))
    names = (
        "code", "origin", "identity", "joined", "consented", "finished", "erased", "answered", "catches",
        "catches_passed", "withheld",
    )  # fmt: skip
    columns: dict[str, list[Any]] = {name: [row[name] for row in rows] for name in names}
    columns["parameters"] = [row["parameters"] for row in rows]
    for name in measured.RATERS:
        columns[name] = [of_devices.get(row["id"], {}).get(name) for row in rows]
    said = {(rater_id, name): value for rater_id, name, value in replies}
    for name in sorted({name for _, name in said}):
        columns[f"survey_{name}"] = [said.get((row["id"], name)) for row in rows]
    return columns


def _measured(connection: sa.Connection, study_id: int) -> Iterator[tuple[int, str]]:
    """What browsers told with the answers of a study, by rater, in the order of the answers."""
    answer = schema.answer
    told = sa.select(answer.c.rater_id, answer.c.measured).order_by(answer.c.id)
    for row in connection.execute(told.where(answer.c.study_id == study_id, answer.c.measured.is_not(None))):
        yield row.rater_id, row.measured


def export_raters(database: Database, study: str, path: Path) -> int:
    """Write the table of raters: it says who they are, so keep it apart from the answers. Returns how many."""
    if path.suffix.lower() != ".csv":
        raise StudyError(f"{path.name}: raters are written as .csv")
    columns = raters_table(database, study)
    lines = [list(columns), *zip(*columns.values(), strict=True)]
    text = "".join(",".join(_quoted(_cell(cell)) for cell in line) + "\n" for line in lines)
    write_whole(path, text.encode(), private=True)
    return len(columns["code"])


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return defused(value)
    return "" if value is None else repr(value)


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(sign in cell for sign in ',"\r\n') else cell


def read_raters(path: Path) -> list[dict[str, str | None]]:
    """Read the table of raters as it was written."""
    table = separated.parse_text(path.read_bytes(), ",")
    columns = {name: plain_column(column).tolist() for name, column in table.columns.items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

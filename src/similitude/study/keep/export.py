"""Answers as a file that `read_comparisons` reads, and raters as a table of their own.

Answers hold no identity: a rater is a code. Items stand in JSON lists and never begin a cell, so no spreadsheet takes
one for a formula. The table of raters has free text in its cells; one that a spreadsheet might run is written as a JSON
string, which `read_raters` reads back as it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from similitude.feedback.files import tables
from similitude.feedback.files.native import FORMAT
from similitude.feedback.files.whole import write_whole
from similitude.study.entrance import REHEARSAL
from similitude.study.settings import StudyError
from similitude.study.store import schema
from similitude.study.store.database import Database

FILE_FORM = {"similarity_rating": "rated_pair", "labelling": "labelled_item"}
KINDS = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
_RUNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


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


def export_answers(
    database: Database, study: str, path: Path, known: bool = False, rehearsal: bool = False
) -> Exported:
    """Write the answers of a study.

    Parameters
    ----------
    database, study : where the answers are
    path : .csv, .tsv, .jsonl or .parquet
    known : whether practice and catch trials go in, too; the column `kind` says which is which
    rehearsal : whether answers of rehearsals go in, too; the codes of their raters begin with it
    """
    kind = _kind(path)
    answer, rater = schema.answer, schema.rater
    with database.read() as connection:
        study_id = study_number(connection, study)
        query = (
            sa.select(answer, rater.c.code, rater.c.origin)
            .join(rater, rater.c.id == answer.c.rater_id)
            .where(answer.c.study_id == study_id)
            .order_by(answer.c.id)
        )
        rows = [dict(row) for row in connection.execute(query).mappings()]
        versions = _versions(connection, study_id)
    counted = [row for row in rows if rehearsal or row["origin"] != REHEARSAL]
    kept = [row for row in counted if row["outcome"] != "redacted" and (known or row["kind"] == "question")]
    if not kept:
        raise StudyError(f"{study}: no answers to write yet")
    items = sorted({name for row in rows for name in json.loads(row["shown"])} | set(_items(versions)))
    columns = _columns(kept, versions)
    _write(path, kind, columns, {"format": FORMAT, "items": items})
    return Exported(len(kept), len({row["code"] for row in kept}), len(rows) - len(kept))


def _kind(path: Path) -> str:
    kind, zipped = tables.kind_of(path)
    if kind not in KINDS or zipped:
        raise StudyError(f"{path.name}: expected a file that ends in {', '.join(KINDS)}")
    return kind


def _versions(connection: sa.Connection, study_id: int) -> list[Mapping[str, Any]]:
    table = schema.study_version
    query = sa.select(table).where(table.c.study_id == study_id).order_by(table.c.created)
    return [dict(row) for row in connection.execute(query).mappings()]


def _items(versions: Sequence[Mapping[str, Any]]) -> list[str]:
    """The items of the study as it was served last."""
    return json.loads(versions[-1]["items"]) if versions else []


def _columns(rows: Sequence[Mapping[str, Any]], versions: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {
        "form": [FILE_FORM.get(row["form"], row["form"]) for row in rows],
        "rater": [row["code"] for row in rows],
        "shown": [json.loads(row["shown"]) for row in rows],
        "response": [json.loads(row["response"] or "[]") for row in rows],
        "time": [None if row["milliseconds"] is None else row["milliseconds"] / 1000 for row in rows],
        "side": [row["side"] for row in rows],
        "strategy": [row["strategy"] for row in rows],
        **{name: [row[name] for row in rows] for name in ("kind", "outcome", "number", "received", "score", "model")},
        "study_version": [row["version"] for row in rows],
    }
    if any(row["form"] == "labelling" for row in rows):
        classes = {row["version"]: json.loads(row["settings"])["question"]["classes"] for row in versions}
        columns["label"] = list(_labels(rows, classes))
    return columns


def _labels(rows: Sequence[Mapping[str, Any]], classes: Mapping[str, Sequence[str]]) -> Iterator[list[str] | None]:
    """The words behind the numbers of classes."""
    for row in rows:
        said = None if row["form"] != "labelling" or row["response"] is None else json.loads(row["response"])
        yield None if said is None else [classes[row["version"]][int(said[0])]]


def _write(path: Path, kind: str, columns: dict[str, list[Any]], header: dict[str, Any]) -> None:
    if kind in (".csv", ".tsv"):
        data = tables.text(columns, header, "," if kind == ".csv" else "\t")
    else:
        data = (tables.parquet if kind == ".parquet" else tables.json_lines)(columns, header)
    write_whole(path, data)


def raters_table(database: Database, study: str) -> dict[str, list[Any]]:
    """Columns about the raters of a study: who they are, how far they came, catch trials, survey."""
    rater, reply = schema.rater, schema.reply
    with database.read() as connection:
        study_id = study_number(connection, study)
        rows = [
            dict(row)
            for row in connection.execute(
                sa.select(rater).where(rater.c.study_id == study_id).order_by(rater.c.id)
            ).mappings()
        ]
        replies = connection.execute(
            sa.select(reply.c.rater_id, reply.c.field, reply.c.value).join(rater).where(rater.c.study_id == study_id)
        ).all()
    names = (
        "code",
        "origin",
        "identity",
        "joined",
        "consented",
        "finished",
        "erased",
        "answered",
        "catches",
        "catches_passed",
        "withheld",
    )
    columns: dict[str, list[Any]] = {name: [row[name] for row in rows] for name in names}
    columns["parameters"] = [row["parameters"] for row in rows]
    said = {(rater_id, name): value for rater_id, name, value in replies}
    for name in sorted({name for _, name in said}):
        columns[f"survey_{name}"] = [said.get((row["id"], name)) for row in rows]
    return columns


def export_raters(database: Database, study: str, path: Path) -> int:
    """Write the table of raters: it says who they are, so keep it apart from the answers. Returns how many."""
    if path.suffix.lower() != ".csv":
        raise StudyError(f"{path.name}: raters are written as .csv")
    columns = raters_table(database, study)
    lines = [list(columns), *zip(*columns.values(), strict=True)]
    text = "".join(",".join(_quoted(_defused(cell)) for cell in line) + "\n" for line in lines)
    write_whole(path, text.encode(), private=True)
    return len(columns["code"])


def _defused(cell: Any) -> str:
    """A cell as text; one that a spreadsheet might run, or that looks like one of these, as a JSON string."""
    if not isinstance(cell, str):
        return "" if cell is None else repr(cell)
    return json.dumps(cell, ensure_ascii=False) if cell.startswith((*_RUNS, '"')) else cell


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(sign in cell for sign in ',"\r\n') else cell


def read_raters(path: Path) -> list[dict[str, str | None]]:
    """Read the table of raters as it was written."""
    table = tables.parse_text(path.read_bytes(), ",")
    columns = {name: [_plain(cell) for cell in column] for name, column in table.columns.items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _plain(cell: str | None) -> str | None:
    return json.loads(cell) if cell is not None and cell.startswith('"') else cell

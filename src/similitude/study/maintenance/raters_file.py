"""The table of raters: who they are, how far they came, how they are judged, what was decided about them, their survey.

It has free text in its cells; `read_raters` reads it back as it was. Nothing that opens a door is in it: neither tokens
nor the keys of recruiting services.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from similitude.feedback.files import separated
from similitude.feedback.files.spreadsheets import defused, plain_column
from similitude.feedback.files.whole import write_whole
from similitude.study import measured
from similitude.study.counting import LEFT_OUT, REDO, TAKEN_BACK
from similitude.study.designs import BEFORE_CONDITIONS
from similitude.study.maintenance.export import study_number
from similitude.study.maintenance.rebuild import latest
from similitude.study.people.listing import RaterProfile, completion
from similitude.study.people.listing import read_raters as listed_raters
from similitude.study.people.standing import NOTE, Remark, remark_of
from similitude.study.settings import StudyError
from similitude.study.store import schema
from similitude.study.store.database import Database

_OF_RATER = (
    "code", "origin", "identity", "joined", "consented", "finished", "erased", "answered", "catches", "catches_passed",
    "withheld", "left_out",
)  # fmt: skip
_JUDGED = ("agreement", "self_consistency", "by_model", "seconds", "cant_tell", "verdict", "note")


def raters_table(database: Database, study: str) -> dict[str, list[Any]]:
    """Columns about the raters of a study."""
    with database.read() as connection:
        study_id = study_number(connection, study)
        served = latest(connection, study_id)
        raters = listed_raters(connection, served.study, study_id)
        remarks, replies = _remarks(connection, study_id), _replies(connection, study_id)
        devices = measured.of_raters(_measured(connection, study_id))
    design = [name for name in ("condition", "blocks") if any(one.row[name] is not None for one in raters)]
    columns: dict[str, list[Any]] = {name: [one.row[name] for one in raters] for name in (*_OF_RATER, *design)}
    if "condition" in design:
        columns["condition"] = [condition or BEFORE_CONDITIONS for condition in columns["condition"]]
    columns |= _decided(raters, remarks)
    columns["state"] = [one.state for one in raters]
    columns["completion"] = [completion(served.study, one.row) for one in raters]
    columns["flags"] = ["; ".join(one.flags) for one in raters]
    columns |= {f"judged_{name}": [one.judged.get(name) for one in raters] for name in _JUDGED}
    columns["parameters"] = [one.row["parameters"] for one in raters]
    columns |= {name: [devices.get(one.row["id"], {}).get(name) for one in raters] for name in measured.RATERS}
    for name in sorted({name for _, name in replies}):
        columns[f"survey_{name}"] = [replies.get((one.row["id"], name)) for one in raters]
    return columns


def _decided(raters: Sequence[RaterProfile], remarks: dict[int, list[Remark]]) -> dict[str, list[Any]]:
    """Why and by whom raters are left out, how often they were asked anew, and what was noted about them."""
    its = [remarks.get(one.row["id"], []) for one in raters]
    out = [
        next((remark for remark in reversed(some) if remark.what == LEFT_OUT), None) if one.is_left_out else None
        for one, some in zip(raters, its, strict=True)
    ]
    notes = [[{"at": one.at, "who": one.who, "text": one.text} for one in some if one.what == NOTE] for some in its]
    return {
        "left_out_reason": [one and one.text for one in out],
        "left_out_by": [one and one.who for one in out],
        "redone": [sum(one.what == REDO for one in some) for some in its],
        "notes": [json.dumps(some, ensure_ascii=False) if some else None for some in notes],
        "decisions": [json.dumps(some, ensure_ascii=False) if some else None for some in map(_history, its)],
    }


def _history(remarks: Sequence[Remark]) -> list[dict[str, Any]]:
    """All decisions about a rater, the first first; who was left out has when and by whom that was taken back."""
    found: list[dict[str, Any]] = []
    for one in remarks:
        if one.what == NOTE:
            continue
        if one.what == TAKEN_BACK:
            for before in found:
                if before["what"] == LEFT_OUT and before["taken_back"] is None:
                    before |= {"taken_back": one.at, "taken_back_by": one.who}
        decided: dict[str, Any] = {"what": one.what, "at": one.at, "who": one.who, "reason": one.text}
        found.append({**decided, "taken_back": None, "taken_back_by": None} if one.what == LEFT_OUT else decided)
    return found


def _remarks(connection: sa.Connection, study_id: int) -> dict[int, list[Remark]]:
    table = schema.remark
    query = sa.select(table).where(table.c.study_id == study_id).order_by(table.c.id)
    found: dict[int, list[Remark]] = {}
    for row in connection.execute(query).mappings():
        found.setdefault(row["rater_id"], []).append(remark_of(row))
    return found


def _measured(connection: sa.Connection, study_id: int) -> Iterator[tuple[int, str]]:
    """What browsers told with the answers of a study, by rater, in the order of the answers."""
    answer = schema.answer
    told = sa.select(answer.c.rater_id, answer.c.measured).order_by(answer.c.id)
    for row in connection.execute(told.where(answer.c.study_id == study_id, answer.c.measured.is_not(None))):
        yield row.rater_id, row.measured


def _replies(connection: sa.Connection, study_id: int) -> dict[tuple[int, str], str]:
    rater, reply = schema.rater, schema.reply
    query = sa.select(reply.c.rater_id, reply.c.field, reply.c.value).join(rater).where(rater.c.study_id == study_id)
    return {(rater_id, name): value for rater_id, name, value in connection.execute(query)}


def raters_file(database: Database, study: str) -> tuple[bytes, int]:
    """The table as the bytes of a CSV file, and how many raters are in it."""
    columns = raters_table(database, study)
    lines = [list(columns), *zip(*columns.values(), strict=True)]
    text = "".join(",".join(_quoted(_cell(cell)) for cell in line) + "\n" for line in lines)
    return text.encode(), len(columns["code"])


def export_raters(database: Database, study: str, path: Path) -> int:
    """Write the table of raters: it says who they are, so keep it apart from the answers. Returns how many."""
    if path.suffix.lower() != ".csv":
        raise StudyError(f"{path.name}: raters are written as .csv")
    data, number = raters_file(database, study)
    write_whole(path, data, private=True)
    return number


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

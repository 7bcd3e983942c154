"""Answers from a file of answers: an export of this server, or of another one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from pydantic import ValidationError

from similitude.feedback.files import separated, tables
from similitude.feedback.files.writing import WRITTEN
from similitude.feedback.forms import PAGES
from similitude.study import measured
from similitude.study.asking import BACKGROUND, DIRECTIONS, OUTCOMES, form_of
from similitude.study.counting import COUNTS, LEFT_OUT, SUPERSEDED
from similitude.study.designs import BEFORE_CONDITIONS
from similitude.study.items import is_storable
from similitude.study.maintenance.rebuild import recount
from similitude.study.people.standing import People
from similitude.study.service import StudyService
from similitude.study.settings import StudyError
from similitude.study.store import schema
from similitude.study.store.rows import Row

_WORD = r"\w[\w .:-]{0,99}"
_EXPECTED = {
    "kind": "question|practice|catch", "direction": "|".join(DIRECTIONS), "background": BACKGROUND, "strategy": _WORD,
    "study_version": _WORD, "condition": _WORD, "block": _WORD, "standing": "|".join((COUNTS, LEFT_OUT, SUPERSEDED)),
    **measured.WORDS,
}  # fmt: skip


def bring_in(service: StudyService, path: Path) -> int:
    """Add the answers of a file to a study; returns how many were new.

    Raters keep their codes and come without identity. An answer that is there already (the same rater, number, items
    and response) is left as it is; another answer in its place, or a new one of a rater who takes part here, is
    refused, and nothing is added. Answers that did not count where they come from do not count here.
    """
    found = _cells(path)
    rows = [_row(service, cells, place, path) for place, cells in enumerate(found)]
    with service.database.write() as connection:
        conditions = {row["code"]: row.pop("condition") for row in rows}
        ids = _raters(connection, service, [row.pop("code") for row in rows], rows, conditions)
        new = _new(connection, ids, rows, path)
        _refuse_strangers(connection, new, path)
        if new:
            connection.execute(sa.insert(schema.answer), new)
            _leave_out(connection, service, new, [cells.get("standing") for cells in found], rows)
        recount(connection, service.study_id)
    return len(new)


def _cells(path: Path) -> list[dict[str, Any]]:
    kind = tables.kind_of(path)
    if kind not in WRITTEN:
        raise StudyError(f"{path.name}: expected a file that ends in {', '.join(WRITTEN)}")
    data = tables.content(path)
    if kind == ".parquet":
        table = tables.parse_parquet(data)
    elif kind in (".jsonl", ".ndjson"):
        table = tables.parse_json_lines(data)
    else:
        table = separated.parse_text(data, "," if kind == ".csv" else "\t")
    if missing := {"form", "rater", "shown", "response"} - set(table.columns):
        raise StudyError(f"{path.name}: no column {min(missing)!r}; expected a file of `similitude study export`")
    columns: dict[str, Any] = dict(table.columns)
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _row(service: StudyService, cells: Mapping[str, Any], place: int, path: Path) -> dict[str, Any]:
    """A row of the log from a row of the file."""
    where = f"{path.name}: row {place + 1}"
    form = next((page for page, one in PAGES.items() if one.name == cells["form"]), cells["form"])
    shown, response = _listed(cells["shown"], where), _listed(cells["response"], where)
    outcome = cells.get("outcome") or ("answered" if response else "cant_tell")
    if form not in PAGES or outcome not in OUTCOMES or not cells["rater"] or not shown:
        raise StudyError(f"{where}: expected an answer of a study, found form {form!r}, outcome {outcome!r}")
    _check_words(cells, where)
    time, received = _number(cells.get("time"), where), _number(cells.get("received"), where)
    now = service.database.clock.now()
    number, model = _number(cells.get("number"), where), _number(cells.get("model"), where)
    return {
        "code": str(cells["rater"]), "condition": _condition(cells), "study_id": service.study_id,
        "number": None if number is None else int(number), "uid": None, "kind": cells.get("kind") or "question",
        "block": _text(cells, "block"),
        "form": form, "shown": json.dumps([str(name) for name in shown], ensure_ascii=False), "outcome": outcome,
        "response": json.dumps([float(value) for value in response]) if outcome == "answered" else None,
        "side": form_of(form).side_of(response), "milliseconds": None if time is None else round(1000 * time),
        "direction": cells.get("direction"), "background": cells.get("background"),
        "measured": _measured(cells, where),
        "strategy": cells.get("strategy") or "imported", "score": _number(cells.get("score"), where),
        "model": None if model is None else int(model), "version": cells.get("study_version") or service.version,
        "asked_at": received or now, "received": received or now,
    }  # fmt: skip


def _measured(cells: Mapping[str, Any], where: str) -> str | None:
    try:
        return measured.from_cells(cells)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        raise StudyError(f"{where}: {fault['loc'][0]}: {fault['msg']}, found {fault['input']!r}") from None
    except (ValueError, TypeError) as error:
        raise StudyError(f"{where}: {', '.join(measured.TYPES)}: expected what an export has ({error})") from None


def _check_words(cells: Mapping[str, Any], where: str) -> None:
    """Refuse what no server of ours writes: it would go on into every export and onto the admin's pages."""
    if not is_storable(str(cells["rater"])):
        raise StudyError(f"{where}: rater {cells['rater']!r} has a byte that is no text (or NUL)")
    for name, pattern in _EXPECTED.items():
        cell = cells.get(name)
        if cell and cell == cell and not (isinstance(cell, str) and re.fullmatch(pattern, cell)):
            raise StudyError(f"{where}: {name}: expected a word such as an export has, found {cell!r}")


def _text(cells: Mapping[str, Any], name: str) -> str:
    """A cell that is a word or empty."""
    cell = cells.get(name)
    return cell if isinstance(cell, str) else ""


def _condition(cells: Mapping[str, Any]) -> str | None:
    said = _text(cells, "condition")
    return None if said in ("", BEFORE_CONDITIONS) else said


def _listed(cell: Any, where: str) -> list[Any]:
    try:
        found = json.loads(cell or "[]") if isinstance(cell, str) or cell is None else list(cell)
    except (json.JSONDecodeError, TypeError):
        found = None
    if not isinstance(found, list):
        raise StudyError(f'{where}: expected a list such as ["a", "b"], found {cell!r}')
    return found


def _number(cell: Any, where: str) -> float | None:
    try:
        return None if cell is None or cell != cell else float(cell)
    except (TypeError, ValueError):
        raise StudyError(f"{where}: expected a number, found {cell!r}") from None


def _raters(
    connection: sa.Connection, service: StudyService, codes: list[str], rows: list[dict[str, Any]],
    conditions: Mapping[str, str | None],
) -> dict[str, int]:  # fmt: skip
    """The raters' numbers by code; those who are not there come in. Rows get their rater's number."""
    table = schema.rater
    query = sa.select(table.c.code, table.c.id).where(table.c.study_id == service.study_id)
    ids: dict[str, int] = {row.code: row.id for row in connection.execute(query)}
    now = service.database.clock.now()
    for code in dict.fromkeys(codes):
        if code not in ids:
            new = {
                "study_id": service.study_id, "code": code, "origin": "imported", "uid": f"imported:{code}",
                "parameters": "{}", "joined": now, "consented": now, "finished": now, "asked": 0, "answered": 0,
                "catches": 0, "catches_passed": 0, "condition": conditions[code],
            }  # fmt: skip
            made = connection.scalar(sa.insert(table).returning(table.c.id), new)
            assert made is not None
            ids[code] = made
    count: dict[str, int] = {}
    for code, row in zip(codes, rows, strict=True):
        row["rater_id"] = ids[code]
        if row["number"] is None:
            row["number"] = count.get(code, 0)
        count[code] = row["number"] + 1
    return ids


def _refuse_strangers(connection: sa.Connection, new: list[Row], path: Path) -> None:
    """A code that a rater has here by joining is not the rater of the file who has it too."""
    table = schema.rater
    query = sa.select(table.c.code).where(table.c.id.in_({row["rater_id"] for row in new}))
    joined = connection.scalar(query.where(table.c.origin != "imported").order_by(table.c.code).limit(1))
    if joined is not None:
        raise StudyError(f"{path.name}: {joined} is another rater here; bring answers into a study without raters")


def _leave_out(
    connection: sa.Connection, service: StudyService, new: list[Row], standings: list[Any], rows: list[Row]
) -> None:
    """Let raters who come in as left out, or were asked anew, stand as the file says."""
    table, now, added = schema.rater, service.database.clock.now(), {row["rater_id"] for row in new}
    said = [(row["rater_id"], row["number"], word) for row, word in zip(rows, standings, strict=True)]
    out = sorted({of for of, _, word in said if word == LEFT_OUT and of in added})
    if out:
        connection.execute(sa.update(table).where(table.c.id.in_(out)).values(left_out=now))
        People(service.database, service.study_id).told(connection, out, "import", LEFT_OUT, "left out in the file")
    first = {of: 0 for of, _, word in said if word == SUPERSEDED and of in added}
    for of, number, word in said:
        if of in first and word == SUPERSEDED:
            first[of] = max(first[of], number + 1)
    for of, number in first.items():
        connection.execute(sa.update(table).where(table.c.id == of).values(first=number))


def _new(connection: sa.Connection, ids: Mapping[str, int], rows: list[Row], path: Path) -> list[Row]:
    """The rows that are not in the log."""
    answer = schema.answer
    there = {
        (row["rater_id"], row["number"]): dict(row)
        for row in connection.execute(sa.select(answer).where(answer.c.rater_id.in_(set(ids.values())))).mappings()
    }
    new = []
    for place, row in enumerate(rows):
        found = there.setdefault((row["rater_id"], row["number"]), row)
        if found is row:
            new.append(row)
        elif found["outcome"] != "redacted" and any(found[name] != row[name] for name in ("shown", "response")):
            raise StudyError(f"{path.name}: row {place + 1} differs from the answer that is there; nothing was added")
    return new

"""The admin's page of one rater: what was said and shown, how the rater is judged and why, what was decided."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

import sqlalchemy as sa
from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from similitude.study.people.answers import Given, answers_of, number_of_answers, thumbnail, times_of
from similitude.study.people.flags import Judgements
from similitude.study.people.listing import RaterProfile, completion, page_of, read_raters
from similitude.study.people.standing import People, no_such_rater
from similitude.study.refusal import Refused
from similitude.study.service import StudyService
from similitude.study.store import schema
from similitude.study.web.admin_page import moment, outside, percent, render, said_as_of, seconds, whole
from similitude.study.web.auth import Session
from similitude.study.web.interface import Service
from similitude.study.web.login import Admin, checked_form

_ANSWERS = 50  # on one page
_SHOWN = 12  # items of an answer that are drawn
_WHY = {"random": "at random", "fallback": "at random", "repeat": "asked again", "imported": "brought in"}

router = APIRouter(prefix="/admin", include_in_schema=False)


@router.get("/{study}/rater")
async def rater_page(request: Request, session: Admin, service: Service, code: str = "") -> Response:
    """All about one rater."""
    return await _page(request, session, service, code)


@router.post("/{study}/rater")
async def decide(request: Request, session: Admin, service: Service, code: str = "") -> Response:
    """Leave a rater out, take one back in, ask one anew, or note something."""
    form = await checked_form(request, session)
    action, text, standing = (
        form.get("action", ""),
        form.get("reason", ""),
        People(service.database, service.study_id),
    )
    try:
        if action == "note":
            await asyncio.to_thread(standing.note, code, session.name, text)
        else:
            acted = await asyncio.to_thread(standing.act, action, [code], session.name, text)
            if acted.not_done:
                raise Refused(409, "not_done", f"Nothing was changed: {acted.not_done[code]}.")
    except Refused as refusal:
        return await _page(request, session, service, code, refusal.status, problem=str(refusal), text=text)
    return RedirectResponse(outside(request, f"/admin/{service.study.name}/rater?{urlencode({'code': code})}"), 303)


async def _page(
    request: Request, session: Session, service: StudyService, code: str, status: int = 200, **values: object
) -> Response:
    page = whole(request.query_params.get("page", "1"))
    told = await asyncio.to_thread(_portrait, service, code, page)
    told["answers"] = [_told_answer(request, service, one) for one in told["answers"]]
    told |= {"study": service.study, "session": session, "text": ""}
    return render(request, "rater.html", status, **{**told, **values})


def _portrait(service: StudyService, code: str, page: int) -> dict[str, Any]:
    """Everything that is known of a rater."""
    with service.database.read() as connection:
        found = read_raters(connection, service.study, service.study_id, code)
        as_of = Judgements.read(connection, service.study, service.study_id).as_of
        if not found:
            raise no_such_rater(code)
        one, row = found[0], found[0].row
        number = number_of_answers(connection, row)
        places, page, pages = page_of(range(number), page, _ANSWERS)
        answers = answers_of(connection, service.answering.served, row, places[0] if places else 0, _ANSWERS)
        times, replies = times_of(connection, row), _replies(connection, service, row["id"])
    return {
        "one": one, "row": row, "answers": answers, "number": number, "page": page, "pages": pages,
        "bars": _bars(times), "slowest": seconds(max(times, default=None)), "judged": _judged(one),
        "remarks": People(service.database, service.study_id).remarks(code),
        "as_of": said_as_of(as_of), "completion": completion(service.study, row),
        "parameters": json.loads(row["parameters"]), "replies": replies,
        **{name: moment(row[name]) for name in ("joined", "consented", "finished")},
    }  # fmt: skip


def _replies(connection: sa.Connection, service: StudyService, rater_id: int) -> list[tuple[str, str]]:
    table = schema.reply
    query = sa.select(table.c.field, table.c.value).where(table.c.rater_id == rater_id).order_by(table.c.field)
    labels = {field.name: field.label for field in service.study.survey.fields}
    return [(labels.get(name, name), value) for name, value in connection.execute(query)]


def _judged(one: RaterProfile) -> list[tuple[str, str, str]]:
    """The figures about a rater, each with what it means."""
    row, found = one.row, one.judged
    interval = f", {percent(found['low'])} to {percent(found['high'])}" if found.get("low") is not None else ""
    catches = f"{row['catches_passed']} of {row['catches']}" if row["catches"] else "none asked"
    return [
        ("Agreement with others", percent(found.get("agreement")) + interval,
         "how often they say the same; one half is chance"),
        ("Self-consistency", percent(found.get("self_consistency")),
         "how often an answer is what the rater's own other answers imply; one half is chance"),
        ("Agreement with the model", percent(found.get("by_model")),
         "how often the model orders as the rater does; it has learned from these answers, too"),
        ("Catch trials", catches, "answered as they should be"),
        ("Seconds an answer", seconds(found.get("seconds")), "the median"),
        ("Can't tell", percent(found.get("cant_tell")), "share of the answers"),
        ("Verdict", _verdict(found), "by agreement with others and with oneself"),
    ]  # fmt: skip


def _verdict(found: Any) -> str:
    note = f": {found['note']}" if found.get("note") else ""
    return f"{found['verdict']}{note}" if found.get("verdict") else "–"


def _bars(times: Sequence[float]) -> list[float]:
    """Heights of bars from 0 to 40, on a scale on which a minute does not hide a second."""
    most = max(times, default=0.0) ** 0.5
    return [round(max(1.0, 40 * time**0.5 / most), 1) if most else 1.0 for time in times]


def _told_answer(request: Request, service: StudyService, one: Given) -> dict[str, Any]:
    drawn = []
    for place, name in enumerate(one.shown[:_SHOWN]):
        item = thumbnail(service.on_screen.get(name), name)
        address = item["address"] and outside(request, item["address"])
        drawn.append({**item, "address": address, "chosen": place in one.chosen})
    return {
        "number": one.number, "kind": one.kind, "shown": drawn, "more": max(0, len(one.shown) - _SHOWN),
        "said": one.said, "seconds": seconds(one.seconds), "right": one.right, "superseded": one.superseded,
        "received": moment(one.received), "why": _WHY.get(one.strategy, "chosen"),
    }  # fmt: skip

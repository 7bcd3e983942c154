"""The admin's list of raters with its bulk actions, and the table to download."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response

from similitude.study.invite import Invited, invited_people
from similitude.study.leaving import WHY
from similitude.study.maintenance.raters_file import raters_file
from similitude.study.people.flags import Judgements
from similitude.study.people.listing import FILTERS, SORTS, RaterProfile, Sifting, page_of, read_raters
from similitude.study.people.standing import ACTIONS, People
from similitude.study.refusal import Refused
from similitude.study.service import StudyService
from similitude.study.web.admin_page import moment, outside, percent, render, said_as_of, seconds, whole
from similitude.study.web.auth import Session
from similitude.study.web.interface import Service
from similitude.study.web.login import Admin, checked_fields

_MOST_FIELDS = 1000

router = APIRouter(prefix="/admin", include_in_schema=False)


@router.get("/{study}/raters")
async def raters_page(request: Request, session: Admin, service: Service) -> Response:
    """The list of raters: filtered, sorted, page by page."""
    return await _list_page(request, session, service)


@router.post("/{study}/raters")
async def decide_many(request: Request, session: Admin, service: Service) -> Response:
    """Do the same to all raters who were ticked, or to all of the list."""
    form = await checked_fields(request, session, _MOST_FIELDS)
    codes = form.get("rater", [])
    if form.get("everybody") == ["yes"]:
        codes = await asyncio.to_thread(_all_of_list, service, _wanted(request), form.get("expected", ["0"])[-1])
    if not codes:
        return await _list_page(request, session, service, 422, problem="Tick the raters first.")
    try:
        standing, said = People(service.database, service.study_id), form.get("reason", [""])[-1]
        acted = await asyncio.to_thread(standing.act, form.get("action", [""])[-1], codes, session.name, said)
    except Refused as refusal:
        return await _list_page(request, session, service, refusal.status, problem=str(refusal), ticked=set(codes))
    return await _list_page(request, session, service, said=str(acted))


@router.get("/{study}/raters.csv")
async def raters_csv(session: Admin, service: Service) -> Response:
    """The table of raters as a file; it says who they are, and who took it is noted."""
    data, _ = await asyncio.to_thread(raters_file, service.database, service.study.name)
    await asyncio.to_thread(service.taken, session.name, "raters.csv")
    headers = {"Cache-Control": "no-store"}
    headers["Content-Disposition"] = f'attachment; filename="{service.study.name}-raters.csv"'
    return Response(data, media_type="text/csv", headers=headers)


def _wanted(request: Request) -> Sifting:
    given = request.query_params
    try:
        return Sifting(given.get("only", "all"), given.get("search", "")[:100], given.get("sort", "-joined"))
    except ValueError as error:
        raise Refused(422, "list", str(error)) from None


def _all_raters(service: StudyService) -> list[RaterProfile]:
    with service.database.read() as connection:
        return read_raters(connection, service.study, service.study_id)


def _judged(service: StudyService) -> dict[str, Any]:
    """Of how many answers the raters were judged, and when."""
    with service.database.read() as connection:
        return Judgements.read(connection, service.study, service.study_id).as_of


def _all_of_list(service: StudyService, wanted: Sifting, expected: str) -> list[str]:
    """The codes of a whole list; refused where it has become another one since it was shown."""
    codes = [one.code for one in wanted.of(_all_raters(service))]
    if str(len(codes)) != expected:
        raise Refused(
            409, "changed", f"The list has {len(codes)} raters now, {expected[:10]} when you saw it. Look again."
        )
    return codes


async def _list_page(
    request: Request, session: Session, service: StudyService, status: int = 200, **values: object
) -> Response:
    wanted = _wanted(request)
    everybody = await asyncio.to_thread(_all_raters, service)
    found = wanted.of(everybody)
    shown, page, pages = page_of(found, whole(request.query_params.get("page", "1")))
    invited = await asyncio.to_thread(invited_people, service)

    def address(**changed: object) -> str:
        given = {"only": wanted.only, "search": wanted.search, "sort": wanted.sort, "page": page, **changed}
        usual = {"only": "all", "search": "", "sort": "-joined", "page": 1}
        query = urlencode({name: value for name, value in given.items() if str(value) != str(usual[name])})
        return outside(request, f"/admin/{service.study.name}/raters{'?' if query else ''}{query}")

    told = {
        "study": service.study, "session": session, "wanted": wanted, "address": address, "page": page, "pages": pages,
        "raters": [_told(one) for one in shown], "found": len(found), "everybody": len(everybody),
        "filters": {name: (words, sum(map(keeps, everybody))) for name, (words, keeps) in FILTERS.items()},
        "sorts": {name: words for name, (words, _) in SORTS.items()}, "actions": ACTIONS, "ticked": set(), "said": None,
        "as_of": said_as_of(await asyncio.to_thread(_judged, service)),
        "invited": [_told_invited(one, service) for one in invited], "by_invitation": service.study.raters.invited,
    }  # fmt: skip
    return render(request, "raters.html", status, **{**told, **values})


def _told(one: RaterProfile) -> dict[str, Any]:
    row = one.row
    catches = f"{row['catches_passed']} of {row['catches']}" if row["catches"] else "–"
    figures = {"agreement": percent(one.judged.get("agreement")), "seconds": seconds(one.judged.get("seconds"))}
    return {
        "code": one.code, "flags": one.flags, "left_out": one.is_left_out, "reason": one.reason, "state": one.state,
        "answered": row["answered"], "catches": catches, "joined": moment(row["joined"]),
        "condition": row["condition"], **figures,
    }  # fmt: skip


def _told_invited(one: Invited, service: StudyService) -> dict[str, str]:
    state = "finished" if one.finished else "has joined" if one.joined else "has not come yet"
    why = f" ({WHY[one.withheld]})" if one.withheld in WHY else ""
    return {
        "name": one.identity, "invited": moment(one.invited),
        "state": f"{state}{why}", "answers": f"{one.answered} of {service.study.under(one.condition).length}",
    }  # fmt: skip

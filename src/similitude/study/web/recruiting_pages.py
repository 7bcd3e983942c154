"""The admin's page of recruiting services: accounts, submissions beside our raters, approvals and the rest."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from similitude.study.recruiting.accounts import SERVICES, Accounts
from similitude.study.recruiting.calling import ServiceFault
from similitude.study.recruiting.prolific import CATEGORIES, SHORTEST_MESSAGE
from similitude.study.recruiting.reviewing import Matched, Reviewing, Told
from similitude.study.refusal import Refused
from similitude.study.service import StudyService
from similitude.study.web.admin_page import moment, outside, render
from similitude.study.web.auth import Session
from similitude.study.web.interface import Service
from similitude.study.web.login import Admin, checked_fields, checked_form

_MOST_FIELDS = 5000
_DO = {
    "prolific": {"approve": "Approve", "reject": "Reject", "ask_back": "Ask to return", "screen_out": "Screen out"},
    "mturk": {"approve": "Approve", "reject": "Reject"},
}

router = APIRouter(prefix="/admin", include_in_schema=False)


@router.get("/{study}/recruiting")
async def recruiting_page(request: Request, session: Admin, service: Service, at: str = "") -> Response:
    """The accounts and, of one service, its submissions."""
    return await _page(request, session, service, at)


@router.post("/{study}/recruiting/account")
async def keep_account(request: Request, session: Admin, service: Service) -> Response:
    """Keep the key of an account, or forget it; no page shows it again."""
    form, accounts = await checked_form(request, session), Accounts(service.database, service.study_id)
    which = form.get("service", "")
    try:
        if form.get("forget") == "yes":
            await asyncio.to_thread(accounts.forget, which, session.name)
        else:
            await asyncio.to_thread(accounts.keep, which, form, session.name, form.get("sandbox") == "yes")
    except Refused as refusal:
        return await _page(request, session, service, "", refusal.status, problem=str(refusal))
    return RedirectResponse(outside(request, f"/admin/{service.study.name}/recruiting"), 303)


@router.post("/{study}/recruiting")
async def act(request: Request, session: Admin, service: Service, at: str = "") -> Response:
    """Tell the service about the submissions that were ticked."""
    form = await checked_fields(request, session, _MOST_FIELDS)
    ids = form.get("submission", [])
    if not ids:
        return await _page(request, session, service, at, 422, problem="Tick the submissions first.")
    told = Told(*(form.get(name, [""])[-1].strip() for name in ("text", "category", "code")))
    review = Reviewing(service.database, service.study, service.study_id)
    try:
        done = await asyncio.to_thread(review.act, at, form.get("action", [""])[-1], ids, session.name, told)
    except (Refused, ServiceFault) as fault:
        return await _page(
            request, session, service, at, fault.status or 502, problem=str(fault), ticked=set(ids), told=told
        )
    return await _page(request, session, service, at, said=str(done))


@router.get("/{study}/recruiting/payable.txt")
async def payable(session: Admin, service: Service, at: str = "prolific") -> Response:
    """The people who can be paid without a doubt, one a line, for the service's own bulk approval."""
    review = Reviewing(service.database, service.study, service.study_id)
    people = await asyncio.to_thread(review.payable, at)
    await asyncio.to_thread(service.taken, session.name, "who can be paid")
    headers = {"Cache-Control": "no-store", "Content-Disposition": f'attachment; filename="{at}-payable.txt"'}
    return Response("".join(f"{who}\n" for who in people), media_type="text/plain; charset=utf-8", headers=headers)


async def _page(
    request: Request, session: Session, service: StudyService, at: str, status: int = 200, **values: object
) -> Response:
    accounts = await asyncio.to_thread(Accounts(service.database, service.study_id).known)
    told: dict[str, Any] = {
        "study": service.study, "session": session, "services": SERVICES, "at": at if at in accounts else "",
        "accounts": {name: {**vars(one), "since": moment(one.since)} for name, one in accounts.items()},
        "actions": _DO.get(at, {}), "categories": CATEGORIES, "shortest": SHORTEST_MESSAGE, "found": None, "said": None,
        "ticked": set(), "told": Told(),
    }  # fmt: skip
    if told["at"]:
        review = Reviewing(service.database, service.study, service.study_id)
        try:
            told["found"] = [_told(one) for one in await asyncio.to_thread(review.look, at)]
        except ServiceFault as fault:
            told["problem"], status = str(fault), max(status, 502)
    return render(request, "recruiting.html", status, **{**told, **values})


def _told(one: Matched) -> dict[str, Any]:
    its, completed = one.submission, one.submission.completed or "–"
    return {
        "id": its.id, "who": its.who, "status": its.status.lower(), "completed": completed[:16].replace("T", " "),
        "code": its.code or "–", "asked_back": its.asked_back is not None, "doubts": one.doubts,
        "rater": one.rater.code if one.rater else None, "is_clear": one.is_clear,
    }  # fmt: skip

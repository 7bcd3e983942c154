"""Who belongs to a study: the page on which owners invite, change and remove; and how who is invited comes in."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from similitude.study.members import Members
from similitude.study.refusal import Refused
from similitude.study.roles import ROLES
from similitude.study.service import StudyService
from similitude.study.web.admin_page import outside, render
from similitude.study.web.auth import Door, Session
from similitude.study.web.interface import Service
from similitude.study.web.login import HOME, Admin, checked_form

router = APIRouter(prefix="/admin", include_in_schema=False)


@router.get("/{study}/members")
async def members_page(request: Request, session: Admin, service: Service) -> Response:
    """Who belongs to the study, and the form to invite somebody."""
    return await _page(request, session, service)


@router.post("/{study}/members")
async def invite(request: Request, session: Admin, service: Service) -> Response:
    """Make a one-time link for a role, which this page alone shows."""
    form, door = await checked_form(request, session), request.app.state.door
    try:
        path = await asyncio.to_thread(door.invite, service.study_id, form.get("role", ""), session.name)
    except Refused as refusal:
        return await _page(request, session, service, refusal.status, problem=str(refusal))
    return await _page(request, session, service, made=outside(request, path))


@router.post("/{study}/members/change")
async def change(request: Request, session: Admin, service: Service) -> Response:
    """Give somebody another role, or none."""
    form = await checked_form(request, session)
    role = form.get("role", "") or None
    try:
        await asyncio.to_thread(
            Members(service.database).change, service.study_id, form.get("name", ""), role, session.name
        )
    except Refused as refusal:
        return await _page(request, session, service, refusal.status, problem=str(refusal))
    return _back(request, service)


@router.post("/{study}/members/withdraw")
async def withdraw(request: Request, session: Admin, service: Service) -> Response:
    """End an invitation."""
    form = await checked_form(request, session)
    await asyncio.to_thread(Members(service.database).withdraw, service.study_id, form.get("id", ""), session.name)
    return _back(request, service)


@router.post("/-/join/{token}")
async def join(request: Request, session: Admin, token: str) -> Response:
    """Take up an invitation under the name that is logged in."""
    await checked_form(request, session)
    door: Door = request.app.state.door
    await asyncio.to_thread(door.accept, token, session)
    return RedirectResponse(outside(request, HOME), 303)


def _back(request: Request, service: StudyService) -> Response:
    return RedirectResponse(outside(request, f"/admin/{service.study.name}/members"), 303)


async def _page(
    request: Request, session: Session, service: StudyService, status: int = 200, **values: object
) -> Response:
    members = Members(service.database)
    found = await asyncio.to_thread(members.of_study, service.study_id)
    waiting = await asyncio.to_thread(members.open_invitations, service.study_id)
    for one in waiting:
        one["expires"] = f"{datetime.fromtimestamp(one['expires'], UTC):%Y-%m-%d %H:%M} UTC"
    told = {"members": found, "invitations": waiting, "roles": ROLES, "made": None, "study": service.study}
    return render(request, "members.html", status, session=session, **{**told, **values})

"""An admin's own pages: the password, and who did what."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from similitude.study.audit import SHOWN, deeds
from similitude.study.refusal import Refused
from similitude.study.roles import EDITOR, includes
from similitude.study.web.admin_page import outside, render
from similitude.study.web.auth import SHORTEST, Door, Session
from similitude.study.web.login import DEVICE_COOKIE, HOME, Admin, address_of, checked_form

router = APIRouter(prefix="/admin/-", include_in_schema=False)


@router.get("/password")
async def password_page(request: Request, session: Admin) -> Response:
    """The form to change one's password."""
    return _password_page(request, session)


@router.post("/password")
async def change_password(request: Request, session: Admin) -> Response:
    """Change it, or see the form again with what was wrong; attempts count as those to log in do."""
    form, door = await checked_form(request, session), request.app.state.door
    if form.get("password") != form.get("again"):
        return _password_page(request, session, 422, "The two new passwords are not the same.")
    try:
        await _change(request, door, session, form.get("old", ""), form.get("password", ""))
    except Refused as refusal:
        return _password_page(request, session, refusal.status, str(refusal))
    return RedirectResponse(outside(request, HOME), 303)


async def _change(request: Request, door: Door, session: Session, old: str, new: str) -> None:
    lanes = door.lanes(session.name, request.cookies.get(DEVICE_COOKIE, ""), address_of(request))
    room = door.rooms["known"]
    if room.is_full:
        raise Refused(429, "busy", "Too many people log in at this moment. Try again in a few seconds.")
    if (wait := door.attempts.begin(lanes)) > 0:
        raise Refused(429, "wait", f"Too many wrong passwords. Try again in {round(wait)} seconds.", wait)
    async with room.turn():
        await asyncio.to_thread(door.change_password, session, old, new)
    door.attempts.succeeded(lanes)


def _password_page(request: Request, session: Session, status: int = 200, problem: str | None = None) -> Response:
    return render(request, "password.html", status, session=session, shortest=SHORTEST, problem=problem)


@router.get("/log")
async def log_page(request: Request, session: Admin) -> Response:
    """Who did what, the latest first; who does not own all sees the lines of the studies that he or she runs."""
    database = request.app.state.site.database
    run = None if session.owns_all else [of for of, role in session.roles.items() if includes(role, EDITOR)]
    found = await asyncio.to_thread(deeds, database, studies=run)
    told = [{**vars(one), "when": f"{datetime.fromtimestamp(one.at, UTC):%Y-%m-%d %H:%M:%S}"} for one in found]
    return render(request, "log.html", session=session, deeds=told, shown=SHOWN)

"""The pages to log in and out, and those behind a one-time link.

There is no default password. At the first start a link is made that works once; who opens it sets a name and a
password. Every form carries a token against forged requests. Attempts are counted before a password is looked at, and
refused at once where too many wait (`attempts.py`).
"""

from __future__ import annotations

import asyncio
import hmac
import math
import secrets
from typing import Annotated
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from similitude.study.arrivals import network_of
from similitude.study.refusal import Refused
from similitude.study.site import Site
from similitude.study.web.admin_page import outside, render
from similitude.study.web.auth import SHORTEST, Door, Session

HOME, LOGIN = "/admin", "/admin/-/login"
SESSION_COOKIE, FORM_COOKIE, DEVICE_COOKIE = "similitude_admin", "similitude_form", "similitude_device"
_DEVICE_SECONDS = 365 * 86_400

router = APIRouter(prefix="/admin/-", include_in_schema=False)


class LoginNeeded(Exception):
    """A page that only admins see was asked for by nobody known."""


def first_link(site: Site) -> str | None:
    """The path of the one-time link of the first start; None where there is an admin already."""
    door = Door(site.database)
    return None if door.has_admin() else door.make_link()


async def session_of(request: Request) -> Session:
    """The admin who asks, looked up once for each request; LoginNeeded where it is nobody."""
    session: Session | None = getattr(request.state, "session", None) or await _session(request)
    if session is None:
        raise LoginNeeded
    request.state.session = session
    return session


async def _session(request: Request) -> Session | None:
    door: Door = request.app.state.door
    return await asyncio.to_thread(door.session, request.cookies.get(SESSION_COOKIE))


Admin = Annotated[Session, Depends(session_of)]


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form that was sent."""
    return {name: values[-1] for name, values in (await _fields(request, 20)).items()}


async def _fields(request: Request, most: int) -> dict[str, list[str]]:
    try:
        return parse_qs((await request.body()).decode(), keep_blank_values=True, max_num_fields=most)
    except ValueError:
        raise Refused(422, "form", "The form could not be read.") from None


async def checked_form(request: Request, session: Session) -> dict[str, str]:
    """The fields of a form of an admin; refused where its token is not the session's."""
    return {name: values[-1] for name, values in (await checked_fields(request, session)).items()}


async def checked_fields(request: Request, session: Session, most: int = 20) -> dict[str, list[str]]:
    """The same, of a form in which a field may be given several times."""
    form = await _fields(request, most)
    match(form.get("csrf", [""])[-1], session.csrf)
    return form


@router.get("/login")
async def login_page(request: Request) -> Response:
    """The form to log in."""
    return await _login_page(request)


@router.post("/login")
async def log_in(request: Request) -> Response:
    """Log in, or see the form again with what was wrong."""
    door: Door = request.app.state.door
    form = await form_of(request)
    match(form.get("csrf", ""), request.cookies.get(FORM_COOKIE, ""))
    name, password = form.get("name", ""), form.get("password", "")
    lanes = door.lanes(name, request.cookies.get(DEVICE_COOKIE, ""), address_of(request))
    room = door.rooms["known" if "device" in lanes else "stranger"]
    if room.is_full:
        return await _later(request, 2.0, "Too many people log in at this moment.")
    if (wait := door.attempts.begin(lanes)) > 0:
        return await _later(request, wait, "Too many wrong passwords.")
    async with room.turn():
        token = await asyncio.to_thread(door.log_in, name, password)
    if token is None:
        return await _login_page(request, "Name or password is wrong.", 401)
    door.attempts.succeeded(lanes)
    answer = RedirectResponse(outside(request, HOME), 303)
    _set_cookie(answer, request, SESSION_COOKIE, token, int(door.session_seconds))
    _set_cookie(answer, request, DEVICE_COOKIE, door.device(name), _DEVICE_SECONDS)
    return answer


async def _later(request: Request, wait: float, why: str) -> Response:
    seconds = math.ceil(wait)
    when = f"{seconds} seconds" if seconds < 120 else f"{math.ceil(seconds / 60)} minutes"
    answer = await _login_page(request, f"{why} Try again in {when}. {_OTHERWISE}", 429)
    answer.headers["Retry-After"] = str(seconds)
    return answer


@router.post("/logout")
async def log_out(request: Request, session: Admin) -> Response:
    """Log out."""
    await checked_form(request, session)
    await asyncio.to_thread(request.app.state.door.log_out, session.token)
    answer = RedirectResponse(outside(request, LOGIN), 303)
    answer.delete_cookie(SESSION_COOKIE, path=outside(request, HOME))
    return answer


@router.get("/first/{token}")
async def first_page(request: Request, token: str) -> Response:
    """The form behind a one-time link."""
    if not await asyncio.to_thread(request.app.state.door.is_open, token):
        return _used_up(request)
    return await _first_page(request, 200)


@router.post("/first/{token}")
async def first(request: Request, token: str) -> Response:
    """Set name and password, or see the form again with what was wrong."""
    form, door = await form_of(request), request.app.state.door
    match(form.get("csrf", ""), request.cookies.get(FORM_COOKIE, ""))
    name, password = form.get("name", "").strip(), form.get("password", "")
    if password != form.get("again"):
        return await _first_page(request, 422, problem="The two passwords are not the same.", name=name)
    if not await asyncio.to_thread(door.is_open, token):  # before a place is taken: an invented link has none
        return _used_up(request)
    if door.rooms["link"].is_full:
        raise Refused(429, "busy", "Too many people log in at this moment. Try again in a few seconds.")
    try:
        async with door.rooms["link"].turn():
            await asyncio.to_thread(door.use_link, token, name, password, form.get("replace") == "yes")
    except Refused as refusal:
        if refusal.status == 410:
            return _used_up(request)
        return await _first_page(request, refusal.status, problem=str(refusal), name=name)
    answer = RedirectResponse(outside(request, LOGIN), 303)
    _set_cookie(answer, request, DEVICE_COOKIE, door.device(name), _DEVICE_SECONDS)
    return answer


_USED_UP = (
    "A one-time link works once, for a day, and until a newer one is made. `similitude study admin-link FOLDER` makes "
    "another."
)
_OTHERWISE = (
    "In a browser in which you have logged in before, other people's attempts do not count; "
    "`similitude study admin-link FOLDER` on the server makes a link that lets you in."
)


def _used_up(request: Request) -> Response:
    return render(request, "message.html", 410, title="This link is used up", text=_USED_UP)


async def _first_page(request: Request, status: int, **values: object) -> Response:
    door: Door = request.app.state.door
    has_admin = await asyncio.to_thread(door.has_admin)
    token = request.path_params["token"]
    invited = await asyncio.to_thread(door.invitation, token)
    if invited is not None and (session := await _session(request)) is not None:
        return render(request, "join.html", status, session=session, invited=invited, token=token)
    given = {"shortest": SHORTEST, "has_admin": has_admin, "invited": invited, **values}
    return _with_form_token(request, "first.html", status, **given)


async def _login_page(request: Request, problem: str | None = None, status: int = 200) -> Response:
    door: Door = request.app.state.door
    has_admin = await asyncio.to_thread(door.has_admin)
    return _with_form_token(request, "login.html", status, problem=problem, has_admin=has_admin)


def _with_form_token(request: Request, template: str, status: int, **values: object) -> Response:
    """A form for somebody who is not logged in: its token is in the page and in a cookie, and both must match."""
    token = request.cookies.get(FORM_COOKIE) or secrets.token_urlsafe(24)
    answer = render(request, template, status, csrf=token, **values)
    _set_cookie(answer, request, FORM_COOKIE, token, 3600)
    return answer


def _set_cookie(answer: Response, request: Request, name: str, value: str, seconds: int) -> None:
    secure = request.app.state.secure or request.url.scheme == "https"
    path = outside(request, HOME)
    answer.set_cookie(name, value, max_age=seconds, path=path, httponly=True, samesite="strict", secure=secure)


def match(given: str, expected: str) -> None:
    """Refuse a form whose token is not the one that was given out with it."""
    if not expected or not hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode()):
        raise Refused(403, "csrf", "This form is too old, or did not come from this site. Load the page again.")


def address_of(request: Request) -> str:
    """Who tries."""
    return network_of(request.client.host if request.client else "unknown")

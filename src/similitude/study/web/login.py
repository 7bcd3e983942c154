"""Who may watch: admins with a password (argon2), sessions in cookies that scripts cannot read, one-time links.

There is no default password. At the first start a link is made that works once; who opens it sets a name and a
password. Of links and sessions only hashes are kept, so that a stolen database opens no door. Every form carries a
token against forged requests, and wrong passwords are counted per address, by a clock that only runs forward.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import parse_qs

import sqlalchemy as sa
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from similitude.study.service import Refused
from similitude.study.site import Site
from similitude.study.store import schema
from similitude.study.store.database import Database
from similitude.study.web.admin_page import render

LOGIN, FIRST = "/admin/-/login", "/admin/-/first"
SESSION_COOKIE, FORM_COOKIE = "similitude_admin", "similitude_form"
_SESSION_SECONDS, _LINK_SECONDS = 12 * 3600.0, 24 * 3600.0
_FAILURES, _WINDOW = 5, 300.0
_REMEMBERED = 10_000
_SHORTEST, _LONGEST = 10, 200
_NAME_LENGTH = 50
_AT_ONCE = 2  # passwords that are checked at the same time: each takes 64 MB for a moment

router = APIRouter(prefix="/admin/-", include_in_schema=False)


@dataclass(frozen=True)
class Session:
    """Who is logged in, and the token that his or her forms carry."""

    name: str
    csrf: str
    token: str


class LoginNeeded(Exception):
    """A page that only admins see was asked for by nobody known."""


class Limiter:
    """Counts failures per address: after a few, none is let through until the first has been forgotten.

    Parameters
    ----------
    monotonic : seconds that only go forward
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._failed: OrderedDict[str, deque[float]] = OrderedDict()

    def wait(self, address: str) -> float:
        """Seconds until the address may try again; 0 where it may now."""
        failed = self._failed.get(address)
        while failed and failed[0] <= self._monotonic() - _WINDOW:
            failed.popleft()
        return failed[0] + _WINDOW - self._monotonic() if failed and len(failed) >= _FAILURES else 0.0

    def failed(self, address: str) -> None:
        """Count a failure; the oldest addresses are forgotten where there are too many."""
        self._failed.setdefault(address, deque(maxlen=_FAILURES)).append(self._monotonic())
        self._failed.move_to_end(address)
        while len(self._failed) > _REMEMBERED:
            self._failed.popitem(last=False)


class Door:
    """Lets admins in: passwords, sessions and one-time links of one database.

    Parameters
    ----------
    database : where they are kept
    limiter : of wrong passwords
    hasher : of passwords
    """

    def __init__(
        self, database: Database, limiter: Limiter | None = None, hasher: PasswordHasher | None = None
    ) -> None:
        self.database, self.limiter = database, limiter or Limiter()
        self._hasher = hasher or PasswordHasher()
        self._nobody = self._hasher.hash(secrets.token_hex(16))  # checked for unknown names, so that it takes as long
        self.busy = asyncio.Semaphore(_AT_ONCE)

    def make_link(self) -> str:
        """The path of a new one-time link: who opens it sets a name and a password."""
        token = secrets.token_urlsafe(32)
        row = {"token": _hash(token), "expires": self.database.clock.now() + _LINK_SECONDS}
        with self.database.write() as connection:
            connection.execute(sa.insert(schema.one_time_link), row)
        return f"{FIRST}/{token}"

    def has_admin(self) -> bool:
        """Whether anybody can log in."""
        with self.database.read() as connection:
            return connection.scalar(sa.select(sa.func.count()).select_from(schema.admin)) != 0

    def is_open(self, token: str) -> bool:
        """Whether a one-time link can still be used."""
        link, now = schema.one_time_link, self.database.clock.now()
        query = sa.select(link.c.token).where(link.c.token == _hash(token), link.c.expires > now)
        with self.database.read() as connection:
            return connection.scalar(query) is not None

    def use_link(self, token: str, name: str, password: str) -> None:
        """Set a name and a password by a link, which is then gone; the name's sessions end."""
        _check(name, password)
        hashed, now = self._hasher.hash(password), self.database.clock.now()
        link, admin, session = schema.one_time_link, schema.admin, schema.admin_session
        with self.database.write() as connection:
            used = connection.execute(sa.delete(link).where(link.c.token == _hash(token), link.c.expires > now))
            if used.rowcount != 1:
                raise Refused(410, "link_used", "This link was used before, or is older than a day.")
            connection.execute(sa.delete(link).where(link.c.expires <= now))
            connection.execute(sa.delete(admin).where(admin.c.name == name))
            connection.execute(sa.insert(admin), {"name": name, "password": hashed, "created": now})
            connection.execute(sa.delete(session).where(session.c.name == name))

    def log_in(self, name: str, password: str) -> str | None:
        """The token of a new session; None where name or password is wrong, after the same time for either."""
        admin, session, now = schema.admin, schema.admin_session, self.database.clock.now()
        with self.database.read() as connection:
            known = connection.scalar(sa.select(admin.c.password).where(admin.c.name == name))
        try:
            self._hasher.verify(known or self._nobody, password[:_LONGEST])
        except (VerificationError, InvalidHashError):
            return None
        if known is None:
            return None
        token = secrets.token_urlsafe(32)
        row = {
            "token": _hash(token),
            "name": name,
            "csrf": secrets.token_urlsafe(24),
            "expires": now + _SESSION_SECONDS,
        }
        with self.database.write() as connection:
            connection.execute(sa.delete(session).where(session.c.expires <= now))
            connection.execute(sa.insert(session), row)
        return token

    def session(self, token: str | None) -> Session | None:
        """The session of a cookie; None where there is none any more."""
        table, now = schema.admin_session, self.database.clock.now()
        if not token:
            return None
        query = sa.select(table.c.name, table.c.csrf).where(table.c.token == _hash(token), table.c.expires > now)
        with self.database.read() as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else Session(row.name, row.csrf, token)

    def log_out(self, token: str) -> None:
        """End a session."""
        with self.database.write() as connection:
            connection.execute(sa.delete(schema.admin_session).where(schema.admin_session.c.token == _hash(token)))


def first_link(site: Site) -> str | None:
    """The path of the one-time link of the first start; None where there is an admin already."""
    door = Door(site.database)
    return None if door.has_admin() else door.make_link()


async def session_of(request: Request) -> Session:
    """The admin who asks; LoginNeeded where it is nobody."""
    door: Door = request.app.state.door
    session = await asyncio.to_thread(door.session, request.cookies.get(SESSION_COOKIE))
    if session is None:
        raise LoginNeeded
    return session


Admin = Annotated[Session, Depends(session_of)]


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form that was sent."""
    try:
        text = (await request.body()).decode()
        return {name: values[-1] for name, values in parse_qs(text, keep_blank_values=True, max_num_fields=20).items()}
    except ValueError:
        raise Refused(422, "form", "The form could not be read.") from None


async def checked_form(request: Request, session: Session) -> dict[str, str]:
    """The fields of a form of an admin; refused where its token is not the session's."""
    form = await form_of(request)
    _match(form.get("csrf", ""), session.csrf)
    return form


@router.get("/login")
async def login_page(request: Request) -> Response:
    """The form to log in."""
    return await _login_page(request)


@router.post("/login")
async def log_in(request: Request) -> Response:
    """Log in, or see the form again with what was wrong."""
    door: Door = request.app.state.door
    form, address = await form_of(request), _address(request)
    _match(form.get("csrf", ""), request.cookies.get(FORM_COOKIE, ""))
    if (wait := door.limiter.wait(address)) > 0:
        answer = await _login_page(request, f"Too many wrong passwords. Try again in {wait / 60:.0f} minutes.", 429)
        answer.headers["Retry-After"] = f"{wait:.0f}"
        return answer
    async with door.busy:
        token = await asyncio.to_thread(door.log_in, form.get("name", ""), form.get("password", ""))
    if token is None:
        door.limiter.failed(address)
        return await _login_page(request, "Name or password is wrong.", 401)
    answer = RedirectResponse("/admin", 303)
    _set_cookie(answer, request, SESSION_COOKIE, token, int(_SESSION_SECONDS))
    return answer


@router.post("/logout")
async def log_out(request: Request, session: Admin) -> Response:
    """Log out."""
    await checked_form(request, session)
    await asyncio.to_thread(request.app.state.door.log_out, session.token)
    answer = RedirectResponse(LOGIN, 303)
    answer.delete_cookie(SESSION_COOKIE, path="/admin")
    return answer


@router.get("/first/{token}")
async def first_page(request: Request, token: str) -> Response:
    """The form behind a one-time link."""
    if not await asyncio.to_thread(request.app.state.door.is_open, token):
        return render("message.html", 410, title="This link is used up", text=_USED_UP)
    return _with_form_token(request, "first.html", 200, shortest=_SHORTEST)


@router.post("/first/{token}")
async def first(request: Request, token: str) -> Response:
    """Set name and password, or see the form again with what was wrong."""
    form, door = await form_of(request), request.app.state.door
    _match(form.get("csrf", ""), request.cookies.get(FORM_COOKIE, ""))
    name, password = form.get("name", "").strip(), form.get("password", "")
    problem = None if password == form.get("again") else "The two passwords are not the same."
    try:
        if problem is None:
            async with door.busy:
                await asyncio.to_thread(door.use_link, token, name, password)
    except Refused as refusal:
        if refusal.status == 410:
            return render("message.html", 410, title="This link is used up", text=_USED_UP)
        problem = str(refusal)
    if problem is not None:
        return _with_form_token(request, "first.html", 422, shortest=_SHORTEST, problem=problem, name=name)
    return RedirectResponse(LOGIN, 303)


_USED_UP = "A one-time link works once, for a day. Start the server again for another while nobody has a password."


async def _login_page(request: Request, problem: str | None = None, status: int = 200) -> Response:
    door: Door = request.app.state.door
    has_admin = await asyncio.to_thread(door.has_admin)
    return _with_form_token(request, "login.html", status, problem=problem, has_admin=has_admin)


def _with_form_token(request: Request, template: str, status: int, **values: object) -> Response:
    """A form for somebody who is not logged in: its token is in the page and in a cookie, and both must match."""
    token = request.cookies.get(FORM_COOKIE) or secrets.token_urlsafe(24)
    answer = render(template, status, csrf=token, **values)
    _set_cookie(answer, request, FORM_COOKIE, token, 3600)
    return answer


def _set_cookie(answer: Response, request: Request, name: str, value: str, seconds: int) -> None:
    secure = request.url.scheme == "https"
    answer.set_cookie(name, value, max_age=seconds, path="/admin", httponly=True, samesite="strict", secure=secure)


def _match(given: str, expected: str) -> None:
    if not expected or not hmac.compare_digest(given.encode(), expected.encode()):
        raise Refused(403, "csrf", "This form is too old, or did not come from this site. Load the page again.")


def _check(name: str, password: str) -> None:
    if not 1 <= len(name) <= _NAME_LENGTH or not name.isprintable():
        raise Refused(422, "name", f"The name needs 1 to {_NAME_LENGTH} characters.")
    if not _SHORTEST <= len(password) <= _LONGEST:
        raise Refused(422, "password", f"The password needs {_SHORTEST} to {_LONGEST} characters.")


def _address(request: Request) -> str:
    """Who tries: the address; of IPv6 the network, since one person has a whole one."""
    host = request.client.host if request.client else "unknown"
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    return host if address.version == 4 else str(ipaddress.ip_network((address, 64), strict=False))


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()

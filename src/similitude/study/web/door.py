"""The door: passwords (argon2), sessions and one-time links (only hashes are kept), and how often one may try."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass

import sqlalchemy as sa
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from similitude.study.service import Refused
from similitude.study.store import schema
from similitude.study.store.database import Database

FIRST = "/admin/-/first"
SESSION_SECONDS, SHORTEST = 12 * 3600.0, 10
_LINK_SECONDS = 24 * 3600.0
_FAILURES, _WINDOW = 5, 300.0
_REMEMBERED = 10_000
_LONGEST, _NAME_LENGTH = 200, 50
_AT_ONCE = 2  # passwords that are checked at the same time: each takes 64 MB for a moment


@dataclass(frozen=True)
class Session:
    """Who is logged in, and the token that his or her forms carry."""

    name: str
    csrf: str
    token: str


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
            "expires": now + SESSION_SECONDS,
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


def _check(name: str, password: str) -> None:
    if not 1 <= len(name) <= _NAME_LENGTH or not name.isprintable():
        raise Refused(422, "name", f"The name needs 1 to {_NAME_LENGTH} characters.")
    if not SHORTEST <= len(password) <= _LONGEST:
        raise Refused(422, "password", f"The password needs {SHORTEST} to {_LONGEST} characters.")


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()

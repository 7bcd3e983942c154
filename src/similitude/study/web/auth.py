"""The door: passwords (argon2), sessions and one-time links (only hashes are kept), and devices that are known."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

import sqlalchemy as sa
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from similitude.study.audit import note
from similitude.study.items import is_storable
from similitude.study.keys import is_signed, sign
from similitude.study.members import grant
from similitude.study.refusal import Refused
from similitude.study.roles import OWNER, ROLES, highest, includes
from similitude.study.store import schema
from similitude.study.store.database import Database
from similitude.study.store.rows import secret_of_tokens
from similitude.study.web.attempts import Attempts, Room
from similitude.study.web.limits import LIMITS, Limits

FIRST = "/admin/-/first"
SHORTEST = 10
_LONGEST, _NAME_LENGTH, _LISTED = 200, 50, 10


@dataclass(frozen=True)
class Session:
    """Who is logged in, the token that his or her forms carry, and when the same name logged in before.

    `everywhere` is the role in all studies, `roles` those in single ones, by the number of the study.
    """

    name: str
    csrf: str
    token: str
    since: float | None
    everywhere: str | None = None
    roles: Mapping[int, str] = field(default_factory=dict)

    @property
    def owns_all(self) -> bool:
        """Whether all studies are his or hers."""
        return includes(self.everywhere, OWNER)

    def role_in(self, study_id: int) -> str | None:
        """The role in a study; None where there is none."""
        return highest(self.everywhere, self.roles.get(study_id))


@dataclass(frozen=True)
class PasswordSet:
    """A password that a one-time link has set."""

    name: str
    at: float
    replaced: bool


@dataclass(frozen=True)
class Invitation:
    """What a one-time link gives: a role in a study; and who made it."""

    role: str
    by: str
    study_id: int
    study: str


class Door:
    """Lets admins in: passwords, sessions, one-time links and known devices of one database.

    Parameters
    ----------
    database : where they are kept
    attempts : how often passwords were tried
    limits : how long sessions last, and one-time links
    """

    def __init__(
        self,
        database: Database,
        attempts: Attempts | None = None,
        limits: Limits = LIMITS,
    ) -> None:
        self.session_seconds, self.link_seconds = 3600 * limits.session_hours, 3600 * limits.link_hours
        self.database, self.attempts = database, attempts or Attempts()
        self._hasher = PasswordHasher()
        self._nobody = self._hasher.hash(secrets.token_hex(16))  # checked for unknown names, so that it takes as long
        with database.write() as connection:
            self._secret = secret_of_tokens(connection)
        self.rooms = {who: Room(1, waiting=3) for who in ("stranger", "known", "link")}

    def make_link(self) -> str:
        """The path of a new one-time link: who opens it sets a name and a password. Links made before end."""
        token, link = secrets.token_urlsafe(32), schema.one_time_link
        row = {"token": _hash(token), "expires": self.database.clock.now() + self.link_seconds}
        with self.database.write() as connection:
            connection.execute(sa.delete(link).where(link.c.role.is_(None)))
            connection.execute(sa.insert(link), row)
        return f"{FIRST}/{token}"

    def invite(self, study_id: int, role: str, by: str) -> str:
        """The path of a one-time link that gives a role in a study to who opens it."""
        if role not in ROLES:
            raise Refused(422, "role", f"role: expected one of {', '.join(ROLES)}, found {role!r}")
        token, now, link = secrets.token_urlsafe(32), self.database.clock.now(), schema.one_time_link
        row = {"token": _hash(token), "expires": now + self.link_seconds, "role": role, "study_id": study_id, "by": by}
        with self.database.write() as connection:
            connection.execute(sa.delete(link).where(link.c.expires <= now, link.c.role.is_not(None)))
            connection.execute(sa.insert(link), row)
            note(connection, now, by, "invited somebody to", study_id, f"as {role}")
        return f"{FIRST}/{token}"

    def invitation(self, token: str) -> Invitation | None:
        """What a one-time link gives, where it is an invitation to a study."""
        link, study = schema.one_time_link, schema.study
        query = sa.select(link.c.role, link.c.by, link.c.study_id, study.c.name).join(
            study, study.c.id == link.c.study_id
        )
        with self.database.read() as connection:
            row = connection.execute(query.where(self._is_link(token))).one_or_none()
        return None if row is None else Invitation(row.role, row.by, row.study_id, row.name)

    def accept(self, token: str, session: Session) -> None:
        """Take up an invitation under a name that is logged in."""
        invited = self.invitation(token)
        with self.database.write() as connection:
            here = sa.delete(schema.one_time_link).where(self._is_link(token))
            if invited is None or connection.execute(here).rowcount != 1:
                raise _used_up()
            self._grant(connection, invited, session.name)

    def _grant(self, connection: sa.Connection, invited: Invitation, name: str) -> None:
        grant(connection, invited.study_id, name, invited.role)
        said = f"as {invited.role}, invited by {invited.by}"
        note(connection, self.database.clock.now(), name, "joined", invited.study_id, said)

    def has_admin(self) -> bool:
        """Whether anybody can log in."""
        with self.database.read() as connection:
            return connection.scalar(sa.select(sa.func.count()).select_from(schema.admin)) != 0

    def is_open(self, token: str) -> bool:
        """Whether a one-time link can still be used."""
        with self.database.read() as connection:
            return connection.scalar(sa.select(schema.one_time_link.c.token).where(self._is_link(token))) is not None

    def use_link(self, token: str, name: str, password: str, replace: bool = False) -> None:
        """Set a name and a password by a link; it is then gone and, where it is no invitation, all others like it.

        A name that has a password gets another only where `replace` says so; then all sessions end.
        """
        _check(name, password)
        if not self.is_open(token):
            raise _used_up()  # before the work: nobody makes us hash with an invented link
        hashed, now, invited = self._hasher.hash(password), self.database.clock.now(), self.invitation(token)
        link, admin = schema.one_time_link, schema.admin
        with self.database.write() as connection:
            if connection.execute(sa.delete(link).where(self._is_link(token))).rowcount != 1:
                raise _used_up()
            old = connection.execute(sa.select(admin.c.last_login).where(admin.c.name == name)).one_or_none()
            if old is not None and invited is not None:  # an invitation opens no account that is there
                raise Refused(409, "taken", f"{name} has an account. If it is yours, log in, and open this link again.")
            if old is not None and not replace:
                raise Refused(409, "taken", f"{name} has a password already. Tick the box to replace it.")
            row = {"name": name, "password": hashed, "created": now, "last_login": old and old.last_login}
            if invited is None:
                connection.execute(sa.delete(link).where(link.c.role.is_(None)))
                connection.execute(sa.delete(admin).where(admin.c.name == name))
            else:
                self._grant(connection, invited, name)
            connection.execute(sa.insert(admin), row | {"everywhere": OWNER if invited is None else None})
            event = {"name": name, "at": now, "replaced": old is not None}
            connection.execute(sa.insert(schema.password_set), event)
            note(connection, now, name, "set a password by a one-time link", detail="replaced" if old else "new")
            if old is not None:
                connection.execute(sa.delete(schema.admin_session))

    def passwords_set(self) -> list[PasswordSet]:
        """The last times that a one-time link set a password, the latest first: nobody can take them off this list."""
        table = schema.password_set
        query = sa.select(table.c.name, table.c.at, table.c.replaced).order_by(table.c.id.desc()).limit(_LISTED)
        with self.database.read() as connection:
            return [PasswordSet(row.name, row.at, row.replaced) for row in connection.execute(query)]

    def lanes(self, name: str, device: str, network: str) -> dict[str, str]:
        """Where an attempt is counted: by its device, if this name has logged in there before; else as a stranger's."""
        nonce, _, signature = device.partition(".")
        if nonce and is_signed(self._secret, _device_text(name, nonce), signature):
            return {"device": nonce}
        return {"address": network, "account": name[:_NAME_LENGTH]}

    def device(self, name: str) -> str:
        """What a browser keeps in which a name has logged in."""
        nonce = secrets.token_urlsafe(16)
        return f"{nonce}.{sign(self._secret, _device_text(name, nonce))}"

    def log_in(self, name: str, password: str) -> str | None:
        """The token of a new session; None where name or password is wrong, after the same time for either."""
        admin, session, now = schema.admin, schema.admin_session, self.database.clock.now()
        known = None
        if is_storable(name):
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
            "expires": now + self.session_seconds,
        }
        with self.database.write() as connection:
            here = admin.c.name == name
            since = connection.scalar(sa.select(admin.c.last_login).where(here))
            connection.execute(sa.update(admin).where(here).values(last_login=now))
            connection.execute(sa.delete(session).where(session.c.expires <= now))
            connection.execute(sa.insert(session), {**row, "since": since})
            note(connection, now, name, "logged in")
        return token

    def change_password(self, session: Session, old: str, new: str) -> None:
        """Set another password for who is logged in and knows the old one; the name's other sessions end."""
        _check(session.name, new)
        admin, kept = schema.admin, schema.admin_session
        with self.database.read() as connection:
            known = connection.scalar(sa.select(admin.c.password).where(admin.c.name == session.name))
        try:
            self._hasher.verify(known or self._nobody, old[:_LONGEST])
        except (VerificationError, InvalidHashError):
            raise Refused(403, "password", "That is not your password until now.") from None
        hashed = self._hasher.hash(new)
        with self.database.write() as connection:
            here = admin.c.name == session.name, admin.c.password == known  # else somebody else was quicker
            if connection.execute(sa.update(admin).where(*here).values(password=hashed)).rowcount != 1:
                raise Refused(409, "password", "The password was changed meanwhile. Log in anew.")
            others = kept.c.name == session.name, kept.c.token != _hash(session.token)
            connection.execute(sa.delete(kept).where(*others))
            note(connection, self.database.clock.now(), session.name, "changed the password")

    def session(self, token: str | None) -> Session | None:
        """The session of a cookie; None where there is none any more."""
        table, now = schema.admin_session, self.database.clock.now()
        if not token:
            return None
        lasts = table.c.expires.between(
            now, now + self.session_seconds
        )  # one that lasts longer is of a clock gone wrong
        query = sa.select(table.c.name, table.c.csrf, table.c.since).where(table.c.token == _hash(token), lasts)
        admin, member = schema.admin, schema.membership
        with self.database.read() as connection:
            found = connection.execute(query).one_or_none()
            if found is None:
                return None
            everywhere = connection.scalar(sa.select(admin.c.everywhere).where(admin.c.name == found.name))
            here = sa.select(member.c.study_id, member.c.role).where(member.c.name == found.name)
            roles = {row.study_id: row.role for row in connection.execute(here)}
        return Session(found.name, found.csrf, token, found.since, everywhere, roles)

    def log_out(self, token: str) -> None:
        """End a session."""
        with self.database.write() as connection:
            connection.execute(sa.delete(schema.admin_session).where(schema.admin_session.c.token == _hash(token)))

    def _is_link(self, token: str) -> sa.ColumnElement[bool]:
        link, now = schema.one_time_link, self.database.clock.now()
        return sa.and_(link.c.token == _hash(token), link.c.expires.between(now, now + self.link_seconds))


def _check(name: str, password: str) -> None:
    if not 1 <= len(name) <= _NAME_LENGTH or not name.isprintable():
        raise Refused(422, "name", f"The name needs 1 to {_NAME_LENGTH} characters.")
    if not SHORTEST <= len(password) <= _LONGEST:
        raise Refused(422, "password", f"The password needs {SHORTEST} to {_LONGEST} characters.")


def _used_up() -> Refused:
    return Refused(410, "link_used", "This link was used before, or is older than a day, or a newer one was made.")


def _device_text(name: str, nonce: str) -> str:
    return f"device\0{name}\0{nonce}"


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()

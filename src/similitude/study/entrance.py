"""The way into a study: who is known already, who may come in, and whether there is a seat."""

from __future__ import annotations

import itertools
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import sqlalchemy as sa

from similitude.study import states
from similitude.study.arrivals import Arrivals
from similitude.study.assigning import Assigning
from similitude.study.keys import Keys
from similitude.study.refusal import Refused, erased_rater, study_is_full
from similitude.study.settings import Study
from similitude.study.store import schema
from similitude.study.store.database import Database

REHEARSAL, PILOT, APART = states.REHEARSAL, states.PILOT, states.APART
KEY = "key"  # the part of a link that is the signature of an invitation; the one called rehearsal is only a trial
_CODES = {"joined": "r", REHEARSAL: REHEARSAL, PILOT: PILOT}


def kept_apart(study_id: int, origins: Sequence[str] = APART) -> sa.Select[tuple[int]]:
    """The raters of a study who only rehearse it, or came in its pilot."""
    rater = schema.rater
    return sa.select(rater.c.id).where(rater.c.study_id == study_id, rater.c.origin.in_(origins))


@dataclass(frozen=True)
class Joining:
    """A rater at the door: an id that the browser made, the parts of the link, and the network that it comes from.

    The address is forgotten within the hour and written nowhere; None is the machine of the server itself. `identity`
    is who a program says it is that may ask for anybody: it has invited the person by its own means.
    """

    uid: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    address: str | None = None
    identity: str | None = None


@dataclass(frozen=True)
class _Person:
    """A rater as the database knows one: `origin` is joined (of the pilot or not) or rehearsal; the two never meet."""

    origin: str
    identity: str | None
    uid: str

    @property
    def same(self) -> sa.ColumnElement[bool]:
        table = schema.rater
        who = table.c.uid == self.uid if self.identity is None else table.c.identity == self.identity
        return sa.and_(who, table.c.origin.in_((REHEARSAL,) if self.origin == REHEARSAL else ("joined", PILOT)))


class Entrance:
    """Lets raters into one study.

    Parameters
    ----------
    study, study_id : as written in `study.toml`, and its number
    database : where its raters are
    keys : its signatures
    """

    def __init__(self, study: Study, study_id: int, database: Database, keys: Keys) -> None:
        self.study, self.study_id, self.database, self.keys = study, study_id, database, keys
        self.arrivals = Arrivals(study.raters.joins_per_address)
        self.assigning = Assigning(study, study_id, database)

    def follow(self, before: Entrance) -> None:
        """Take the place of another of the same study: who came to that within the hour counts here."""
        self.arrivals = before.arrivals
        self.arrivals.most = self.study.raters.joins_per_address

    def join(self, connection: sa.Connection, joining: Joining) -> int:
        """Come in, or come back: the rater's number; refused to whom this study is not open."""
        person = self._person(joining)
        vouched = joining.identity is not None or self._may_rehearse(person, joining.parameters)
        needs_invitation = self.study.raters.invited and not vouched
        if needs_invitation:
            self._check_signature(person, joining.parameters)
        self._refuse_erased(connection, person)  # said to nobody but who holds the link
        if needs_invitation:
            self._check_listed(connection, person)
        here = schema.rater.c.study_id == self.study_id
        rater, now_it_is = schema.rater.c, states.at_the_moment(connection, self.study_id)
        known = connection.execute(sa.select(rater.id, rater.asked, rater.origin).where(here, person.same)).first()
        if known is not None and not now_it_is.shuts_out(known._asdict()):
            return int(known.id)
        if known is not None:
            raise study_is_full()
        phase = now_it_is.phase
        if phase == states.DRAFT and not (person.origin == REHEARSAL and vouched):
            raise Refused(403, "not_open", "This study is not open yet.")
        if person.origin == "joined":
            self._check_room(connection, person)
            person = replace(person, origin=PILOT if phase == PILOT else "joined")
        assigned = self.assigning.assign(connection, joining.parameters, counts=person.origin == "joined")
        if joining.address is not None and not self.arrivals.let_in(joining.address):
            raise Refused(403, "crowded", "Too many people came from your network within an hour. Please come later.")
        return self._add(connection, person, joining.parameters, assigned)

    def is_full(self, connection: sa.Connection, parameters: Mapping[str, str] | None = None) -> bool:
        """Whether nobody new can come in by a link: closed, no seat or place is left, or as many came as ever may.

        Who has begun may always go on, also after the seat went to somebody else: so a few more than the limit may
        finish, and never more than `joins_in_all`. Those of the pilot count while it is one, and then no more.
        """
        raters, rater = self.study.raters, schema.rater
        phase = states.at_the_moment(connection, self.study_id).phase
        if phase == states.CLOSED:
            return True
        if raters.joins_in_all is not None:
            here = rater.c.study_id == self.study_id, rater.c.origin == (PILOT if phase == PILOT else "joined")
            came = connection.scalar(sa.select(sa.func.count()).where(*here)) or 0
            if came >= raters.joins_in_all:
                return True
        if self.assigning.is_full(connection, parameters or {}):
            return True
        return raters.limit is not None and self.seats_taken(connection) >= raters.limit

    def is_shut(self, connection: sa.Connection, parameters: Mapping[str, str]) -> bool:
        """Whether a link lets nobody new in: one for rehearsing, if it is signed, also into a draft."""
        if states.at_the_moment(connection, self.study_id).phase == states.DRAFT:
            return not self.keys.is_rehearsal(parameters.get(REHEARSAL, ""))
        return self.is_full(connection, parameters)

    def seats_taken(self, connection: sa.Connection) -> int:
        """How many have answered everything, hold questions whose time runs, or have just come; not who is left out."""
        rater, lease = schema.rater, schema.lease
        pilot = states.at_the_moment(connection, self.study_id).phase == PILOT
        here = rater.c.study_id == self.study_id, rater.c.origin == PILOT if pilot else rater.c.origin.not_in(APART)
        now = self.database.uptime.now()
        its = lease.c.study_id == self.study_id, lease.c.rater_id == rater.c.id
        busy = sa.exists().where(*its, lease.c.open, lease.c.expires > now)
        new = rater.c.began > now - 60 * self.study.choose.lease_minutes
        longer = {name: seen.length for name, seen in self.study.variants.items()}
        length = sa.case(longer, value=rater.c.condition, else_=self.study.length) if longer else self.study.length
        done = sa.or_(rater.c.finished.is_not(None), rater.c.answered >= length)
        there = rater.c.erased.is_(None), rater.c.left_out.is_(None)
        seats = sa.select(sa.func.count()).where(*here, *there, sa.or_(done, busy, new))
        return connection.scalar(seats) or 0

    def _person(self, joining: Joining) -> _Person:
        """Who it is; of several parts of a link that may say it the first, of invitations that alone.

        A rehearsal has no identity, since people may be called anything: its id has a colon, which no browser's has.
        """
        given, raters = joining.parameters, self.study.raters
        names = raters.parameter[:1] if raters.invited else raters.parameter
        identity = joining.identity or next((given[name] for name in names if given.get(name)), None)
        if given.get(REHEARSAL):
            return _Person(REHEARSAL, None, f"{REHEARSAL} of:{identity}" if identity else f"{REHEARSAL}:{joining.uid}")
        return _Person("joined", identity, joining.uid)

    def _may_rehearse(self, person: _Person, given: Mapping[str, str]) -> bool:
        return person.origin == REHEARSAL and self.keys.is_rehearsal(given[REHEARSAL])

    def _check_signature(self, person: _Person, given: Mapping[str, str]) -> None:
        if person.identity is None or not self.keys.is_invitation(person.identity, given.get(KEY, "")):
            raise _not_invited()

    def _check_listed(self, connection: sa.Connection, person: _Person) -> None:
        table = schema.invitation
        here = table.c.study_id == self.study_id, table.c.identity == person.identity
        if connection.scalar(sa.select(table.c.identity).where(*here)) is None:
            raise _not_invited()

    def _refuse_erased(self, connection: sa.Connection, person: _Person) -> None:
        kind, who = ("uid", person.uid) if person.identity is None else ("identity", person.identity)
        table = schema.tombstone
        query = sa.select(table.c.digest).where(
            table.c.study_id == self.study_id, table.c.digest == self.keys.tombstone(kind, who)
        )
        if connection.scalar(query) is not None:
            raise erased_rater()

    def _check_room(self, connection: sa.Connection, person: _Person) -> None:
        if person.identity is None and self.study.raters.must_be_named:
            raise _not_invited()
        if self.is_full(connection):
            raise study_is_full()

    def _add(
        self, connection: sa.Connection, person: _Person, parameters: Mapping[str, str], assigned: Mapping[str, Any]
    ) -> int:
        made = connection.scalar(
            sa.insert(schema.rater).returning(schema.rater.c.id),
            {
                "study_id": self.study_id, "code": self._new_code(connection, _CODES[person.origin]),
                "origin": person.origin, "identity": person.identity,
                "uid": person.uid if person.identity is None else secrets.token_hex(16),
                "parameters": json.dumps(dict(parameters), ensure_ascii=False),
                "joined": self.database.clock.now(), "began": self.database.uptime.advance(connection),
                "asked": 0, "answered": 0, "catches": 0, "catches_passed": 0, **assigned,
            },
        )  # fmt: skip
        assert made is not None
        return made

    def _new_code(self, connection: sa.Connection, begins: str) -> str:
        """A code that nobody has: the number of raters says which, but answers brought in may have taken it."""
        here = schema.rater.c.study_id == self.study_id
        alike = schema.rater.c.origin == begins if begins in APART else schema.rater.c.origin.not_in(APART)
        count = connection.scalar(sa.select(sa.func.count()).where(here, alike)) or 0
        codes = (f"{begins}{number:04d}" for number in itertools.count(count + 1))
        taken = sa.select(sa.literal(1)).where(here, schema.rater.c.code == sa.bindparam("code"))
        return next(code for code in codes if connection.scalar(taken, {"code": code}) is None)


def _not_invited() -> Refused:
    return Refused(403, "not_named", "This study is open to invited people: use the link that you were sent.")

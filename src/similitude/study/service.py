"""What happens to a rater: joining, consent, questions, answers, the survey, the way out.

Everything that changes something is a request to the writer and is durable before it returns. What a rater may not do
is a `Refused`, with the status that the browser gets and a sentence.
"""

from __future__ import annotations

import hmac
import itertools
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from random import Random
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa

from similitude.study.answering import Answering, Said
from similitude.study.asking import check_items, check_same_question
from similitude.study.items import Item, background_of, on_screen, read_items
from similitude.study.opening import check_opens
from similitude.study.refusal import Refused, unknown_rater
from similitude.study.rounds import check_number
from similitude.study.settings import Study
from similitude.study.store import schema
from similitude.study.store.database import Database
from similitude.study.store.rows import Row, questions_before, register, secret_of_tokens
from similitude.study.store.writer import Writer, each
from similitude.study.versions import Served, version_of
from similitude.study.written import check_pictures

__all__ = ["Joining", "Refused", "Said", "StudyService"]

encode: Callable[[Any], str] = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True)
class Joining:
    """A rater at the door."""

    uid: str
    parameters: Mapping[str, str] = field(default_factory=dict)


class StudyService:
    """One study, ready to be asked.

    Parameters
    ----------
    study : as written in `study.toml`
    database, writer : where it is kept
    seed : of the random questions; None is a seed of its own
    """

    def __init__(self, study: Study, database: Database, writer: Writer, seed: int | None = None) -> None:
        self.study, self.database, self.writer = study, database, writer
        self.items: dict[str, Item] = read_items(study)
        check_opens(study.name, self.items.values())
        check_pictures(study)
        self.background = background_of(study, self.items.values())
        self.names = list(self.items)
        self.on_screen = {name: on_screen(item, study.name) for name, item in self.items.items()}
        self._item_json = {name: encode(item) for name, item in self.on_screen.items()}
        check_items(study, self.names)
        check_number(study, len(self.names))
        self.version = version_of(study, self.names)
        with database.write() as connection:
            self.study_id = register(connection, study, self.version, self.names, database.clock.now())
            check_same_question(study, questions_before(connection, self.study_id))
            self._secret = secret_of_tokens(connection)
        served = Served.of(study, self.study_id, self.version, self.names)
        self.answering = Answering(served, database.clock.now, Random(seed))

    def item_json(self, name: str) -> str:
        """An item as it is shown, as JSON; one that was taken out of the study since is shown by its name."""
        known = self._item_json.get(name)
        return known or encode({"name": name, "kind": "text", "content": name, "address": None})

    def join(self, joining: Joining) -> Future[str]:
        """Come in, or come back: the token that says who it is from then on."""
        return self.writer.submit(self._join_batch, joining)

    def consent(self, rater_id: int) -> Future[None]:
        """Agree to take part."""
        return self.writer.submit(self._consent_batch, rater_id)

    def questions(self, rater_id: int) -> Future[Row]:
        """The questions that the rater holds, filled up to `choose.ahead`."""
        return self.writer.submit(self.answering.questions_batch, rater_id)

    def answer(self, said: Said) -> Future[Row]:
        """Keep an answer; the result has the questions that the rater holds then."""
        return self.writer.submit(self.answering.answer_batch, said)

    def survey(self, rater_id: int, replies: Mapping[str, str]) -> Future[Row]:
        """Keep what was said in the survey, and let the rater go."""
        return self.writer.submit(self._survey_batch, (rater_id, replies))

    def is_full(self) -> bool:
        """Whether nobody new can come in."""
        with self.database.read() as connection:
            return self._is_full(connection)

    def rater_of(self, token: str | None) -> int:
        """The rater that a token stands for; refused where it was not given out by us."""
        given = token or ""
        number, _, _ = given.partition(".")
        if not (number.isascii() and number.isdecimal() and len(number) < 19):
            raise unknown_rater()
        if not hmac.compare_digest(self._token(int(number)).encode(), given.encode("utf-8", "replace")):
            raise unknown_rater()
        return int(number)

    def _token(self, rater_id: int) -> str:
        text = f"{self.study.name} {rater_id}".encode()
        return f"{rater_id}.{hmac.digest(self._secret, text, 'sha256').hex()[:32]}"

    # --- what the writer runs, in its transaction ---

    def _join_batch(self, connection: sa.Connection, requests: Sequence[Joining]) -> Sequence[Any]:
        return each(self._join)(connection, requests)

    def _join(self, connection: sa.Connection, joining: Joining) -> str:
        table, study = schema.rater, self.study
        identity = next(
            (joining.parameters[name] for name in study.raters.parameter if joining.parameters.get(name)), None
        )
        same = table.c.uid == joining.uid if identity is None else table.c.identity == identity
        query = sa.select(table.c.id).where(table.c.study_id == self.study_id, same)
        if (known := connection.scalar(query)) is not None:
            return self._token(known)
        if identity is None and study.raters.must_be_named:
            raise Refused(403, "not_named", "This study is open to invited people: use the link that you were sent.")
        if self._is_full(connection):
            raise Refused(403, "full", "This study has all the people it needs. Thank you for coming.")
        made = connection.scalar(
            sa.insert(table).returning(table.c.id),
            {
                "study_id": self.study_id, "code": self._new_code(connection), "identity": identity,
                "uid": joining.uid if identity is None else secrets.token_hex(16),
                "parameters": json.dumps(dict(joining.parameters), ensure_ascii=False),
                "joined": self.database.clock.now(), "asked": 0, "answered": 0, "catches": 0, "catches_passed": 0,
            },
        )  # fmt: skip
        assert made is not None
        return self._token(made)

    def _new_code(self, connection: sa.Connection) -> str:
        """A code that nobody has: the number of raters says which, but answers brought in may have taken it."""
        here = schema.rater.c.study_id == self.study_id
        count = connection.scalar(sa.select(sa.func.count()).where(here)) or 0
        codes = (f"r{number:04d}" for number in itertools.count(count + 1))
        taken = sa.select(sa.literal(1)).where(here, schema.rater.c.code == sa.bindparam("code"))
        return next(code for code in codes if connection.scalar(taken, {"code": code}) is None)

    def _is_full(self, connection: sa.Connection) -> bool:
        """Whether all seats are taken: by those who answered all, and those who hold a question or have just come."""
        if self.study.raters.limit is None:
            return False
        rater, lease, now = schema.rater, schema.lease, self.database.clock.now()
        busy = sa.exists().where(lease.c.rater_id == rater.c.id, lease.c.open, lease.c.expires > now)
        new = rater.c.joined > now - 60 * self.study.choose.lease_minutes
        done = sa.or_(rater.c.finished.is_not(None), rater.c.answered >= self.study.length)
        seats = sa.select(sa.func.count()).where(
            rater.c.study_id == self.study_id, rater.c.erased.is_(None), sa.or_(done, busy, new)
        )
        return (connection.scalar(seats) or 0) >= self.study.raters.limit

    def _consent_batch(self, connection: sa.Connection, requests: Sequence[int]) -> list[Any]:
        now = self.database.clock.now()
        table = schema.rater
        here = table.c.id.in_(list(requests)), table.c.study_id == self.study_id
        connection.execute(
            sa.update(table).where(*here, table.c.consented.is_(None), table.c.erased.is_(None)).values(consented=now)
        )
        return [None] * len(requests)

    def _survey_batch(
        self, connection: sa.Connection, requests: Sequence[tuple[int, Mapping[str, str]]]
    ) -> Sequence[Any]:
        return each(self._survey)(connection, requests)

    def _survey(self, connection: sa.Connection, request: tuple[int, Mapping[str, str]]) -> Row:
        rater_id, replies = request
        rater = self.answering.raters(connection, [rater_id]).get(rater_id)
        if (refusal := self.answering.refusal(rater)) is not None:
            raise refusal
        assert rater is not None
        if not self.answering.is_done(connection, rater):
            left = self.study.length - rater["answered"]
            raise Refused(409, "not_done", f"{left} of your questions are still open.")
        self._check_replies(replies)
        now = self.database.clock.now()
        if rater["finished"] is None:
            rows = [{"rater_id": rater_id, "field": k, "value": v, "received": now} for k, v in replies.items() if v]
            if rows:
                connection.execute(sa.insert(schema.reply), rows)
            connection.execute(sa.update(schema.rater).where(schema.rater.c.id == rater_id).values(finished=now))
        return self.way_out(rater)

    def _check_replies(self, replies: Mapping[str, str]) -> None:
        fields = {each_field.name: each_field for each_field in self.study.survey.fields}
        if unknown := set(replies) - set(fields):
            raise Refused(422, "field", f"{min(unknown)}: the survey has no such field.")
        for name, one in fields.items():
            value = replies.get(name, "")
            if one.required and not value.strip():
                raise Refused(422, "field", f"{one.label}: this field must be filled in.")
            if value and one.kind == "choice" and value not in one.choices:
                raise Refused(422, "field", f"{one.label}: expected one of {', '.join(one.choices)}.")
            if value and one.kind == "number" and not _is_number(value):
                raise Refused(422, "field", f"{one.label}: expected a number.")

    def way_out(self, rater: Row) -> Row:
        """Where a rater goes who has finished: a code to copy, an address to go to."""
        completion = self.study.completion
        address = completion.redirect
        if address is not None:
            for name, value in {**json.loads(rater["parameters"]), "rater": rater["code"]}.items():
                address = address.replace("{" + name + "}", quote(value, safe=""))
        return {"code": completion.code, "redirect": address}


def _is_number(text: str) -> bool:
    try:
        return float(text) == float(text)
    except ValueError:
        return False

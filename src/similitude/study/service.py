"""What happens to a rater: joining, consent, questions, answers, the survey, the way out.

Everything that changes something is a request to the writer and is durable before it returns. What a rater may not do
is a `Refused`, with the status that the browser gets and a sentence.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from random import Random
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa

from similitude.study.asking import (
    OUTCOMES,
    check_items,
    check_response,
    check_same_question,
    expected,
    same_response,
    side_of,
)
from similitude.study.items import Item, read_items
from similitude.study.rounds import check_number, hand_out, place
from similitude.study.settings import Study
from similitude.study.store import schema
from similitude.study.store.database import Database
from similitude.study.store.rows import Row, questions_before, register, rows_at, secret_of_tokens, write_counts
from similitude.study.store.writer import Writer, each

AHEAD = 2  # questions that a browser holds: the one on the screen, and the next, loaded meanwhile
_LONGEST_TIME = 24 * 3600 * 1000


class Refused(ValueError):
    """A request that cannot be granted.

    Attributes
    ----------
    status : of HTTP
    code : one word for programs
    """

    def __init__(self, status: int, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.code = status, code


@dataclass(frozen=True)
class Said:
    """An answer as the browser sends it."""

    rater_id: int
    number: int
    uid: str
    outcome: str
    response: Sequence[float] | None
    milliseconds: int | None = None


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
        self.names = list(self.items)
        check_items(study, self.names)
        check_number(study, len(self.names))
        self._rng = Random(seed)
        with database.write() as connection:
            self.study_id = register(connection, study, self.names, database.clock.now())
            check_same_question(study, questions_before(connection, self.study_id))
            self._secret = secret_of_tokens(connection)

    def join(self, joining: Joining) -> Future[str]:
        """Come in, or come back: the token that says who it is from then on."""
        return self.writer.submit(self._join_batch, joining)

    def consent(self, rater_id: int) -> Future[None]:
        """Agree to take part."""
        return self.writer.submit(self._consent_batch, rater_id)

    def questions(self, rater_id: int) -> Future[Row]:
        """The questions that the rater holds, filled up to `AHEAD`."""
        return self.writer.submit(self._questions_batch, rater_id)

    def answer(self, said: Said) -> Future[Row]:
        """Keep an answer; the result has the questions that the rater holds then."""
        return self.writer.submit(self._answer_batch, said)

    def survey(self, rater_id: int, replies: Mapping[str, str]) -> Future[Row]:
        """Keep what was said in the survey, and let the rater go."""
        return self.writer.submit(self._survey_batch, (rater_id, replies))

    def is_full(self) -> bool:
        """Whether nobody new can come in."""
        with self.database.read() as connection:
            return self._is_full(connection)

    def rater_of(self, token: str | None) -> int:
        """The rater that a token stands for; refused where it was not given out by us."""
        number, _, _ = (token or "").partition(".")
        if not (number.isdecimal() and len(number) < 19 and hmac.compare_digest(self._token(int(number)), token or "")):
            raise Refused(401, "unknown_rater", "This page does not know you; open the study's link again.")
        return int(number)

    def _token(self, rater_id: int) -> str:
        text = f"{self.study.name} {rater_id}".encode()
        return f"{rater_id}.{hmac.new(self._secret, text, hashlib.sha256).hexdigest()[:32]}"

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
        count = connection.scalar(sa.select(sa.func.count()).where(table.c.study_id == self.study_id)) or 0
        made = connection.scalar(
            sa.insert(table).returning(table.c.id),
            {
                "study_id": self.study_id, "code": f"r{count + 1:04d}", "identity": identity,
                "uid": joining.uid if identity is None else secrets.token_hex(16),
                "parameters": json.dumps(dict(joining.parameters), ensure_ascii=False),
                "joined": self.database.clock.now(), "asked": 0, "answered": 0, "catches": 0, "catches_passed": 0,
            },
        )  # fmt: skip
        assert made is not None
        return self._token(made)

    def _is_full(self, connection: sa.Connection) -> bool:
        """Whether all seats are taken: by those who finished, and by those who hold a question or have just come."""
        if self.study.raters.limit is None:
            return False
        rater, lease, now = schema.rater, schema.lease, self.database.clock.now()
        busy = sa.exists().where(lease.c.rater_id == rater.c.id, lease.c.open, lease.c.expires > now)
        new = rater.c.joined > now - 60 * self.study.choose.lease_minutes
        seats = sa.select(sa.func.count()).where(
            rater.c.study_id == self.study_id, sa.or_(rater.c.finished.is_not(None), busy, new)
        )
        return (connection.scalar(seats) or 0) >= self.study.raters.limit

    def _consent_batch(self, connection: sa.Connection, requests: Sequence[int]) -> list[Any]:
        now = self.database.clock.now()
        table = schema.rater
        connection.execute(
            sa.update(table).where(table.c.id.in_(list(requests)), table.c.consented.is_(None)).values(consented=now)
        )
        return [None] * len(requests)

    def _questions_batch(self, connection: sa.Connection, requests: Sequence[int]) -> list[Any]:
        raters = self._raters(connection, requests)
        held = self._hold(connection, raters)
        return [
            self._refusal(raters.get(rater_id)) or {"questions": held[rater_id], **self._progress(raters[rater_id])}
            for rater_id in requests
        ]

    def _answer_batch(self, connection: sa.Connection, requests: Sequence[Said]) -> list[Any]:
        raters = self._raters(connection, [said.rater_id for said in requests])
        places = [(said.rater_id, said.number) for said in requests]
        leases = {(row["rater_id"], row["number"]): row for row in rows_at(connection, schema.lease, places)}
        given = {(row["rater_id"], row["number"]): row["uid"] for row in rows_at(connection, schema.answer, places)}
        now = self.database.clock.now()
        rows: list[Row] = []
        verdicts: list[Refused | None] = []
        for said in requests:
            try:
                row = self._row(said, raters.get(said.rater_id), leases, given, now)
            except Refused as refusal:
                verdicts.append(refusal)
            else:
                verdicts.append(None)
                if row is not None:
                    rows.append(row)
                    given[said.rater_id, said.number] = said.uid
        self._keep(connection, rows, raters)
        held = self._hold(connection, raters)
        return [
            verdict or {"questions": held[said.rater_id], **self._progress(raters[said.rater_id])}
            for said, verdict in zip(requests, verdicts, strict=True)
        ]

    def _row(
        self, said: Said, rater: Row | None, leases: dict[Any, Row], given: dict[Any, Any], now: float
    ) -> Row | None:
        """The row of the log for an answer; None where it is there already; refused where it cannot be."""
        where = said.rater_id, said.number
        if (refusal := self._refusal(rater)) is not None:
            raise refusal
        if where not in leases:
            raise Refused(404, "not_asked", f"Question {said.number} was not asked of you.")
        if where in given:
            if given[where] == said.uid:
                return None
            raise Refused(
                409, "answered_before", f"Question {said.number} was answered before, perhaps in another tab."
            )
        lease = leases[where]
        response = self._checked(said)
        return {
            "study_id": self.study_id, "rater_id": said.rater_id, "number": said.number, "uid": said.uid,
            "kind": lease["kind"], "form": self.study.question.form, "shown": lease["shown"], "outcome": said.outcome,
            "response": None if response is None else json.dumps(response),
            "side": side_of(self.study.question.form, response), "milliseconds": _plausible(said.milliseconds),
            "strategy": lease["strategy"], "score": lease["score"], "model": lease["model"],
            "version": lease["version"], "asked_at": lease["asked_at"], "received": now,
        }  # fmt: skip

    def _checked(self, said: Said) -> list[float] | None:
        question = self.study.question
        allowed = {"answered": True, "cant_tell": question.cant_tell, "skipped": question.skip}
        if said.outcome not in OUTCOMES or not allowed[said.outcome]:
            raise Refused(422, "outcome", f"outcome: {said.outcome!r} is not among those that this study takes.")
        if said.outcome != "answered":
            return None
        try:
            return check_response(question, said.response or ())
        except ValueError as error:
            raise Refused(422, "response", str(error)) from None

    def _keep(self, connection: sa.Connection, rows: list[Row], raters: dict[int, Row]) -> None:
        """Add to the log, close the leases, move the raters on."""
        if not rows:
            return
        connection.execute(sa.insert(schema.answer), rows)
        lease = schema.lease
        closed = sa.update(lease).where(
            lease.c.rater_id == sa.bindparam("of"), lease.c.number == sa.bindparam("at")
        ).values(open=False)  # fmt: skip
        connection.execute(closed, [{"of": row["rater_id"], "at": row["number"]} for row in rows])
        for row in rows:
            rater = raters[row["rater_id"]]
            rater["answered"] += 1
            if row["kind"] == "catch" and (passed := self._passed(rater["code"], row)) is not None:
                rater["catches"] += 1
                rater["catches_passed"] += passed

    def _passed(self, code: str, row: Row) -> bool | None:
        """Whether a catch trial was answered as expected; None where nobody knows any more what was expected."""
        known = place(self.study, code, row["number"]).known
        right = None
        if known is not None:
            right = expected(row["form"], self.study.catch.questions, known, json.loads(row["shown"]))
        if right is None or row["response"] is None:
            return None if right is None else False
        return same_response(row["form"], json.loads(row["response"]), right)

    def _hold(self, connection: sa.Connection, raters: dict[int, Row]) -> dict[int, list[Row]]:
        """The open questions of each rater, filled up; their leases begin anew; the raters' counts are written."""
        lease, now = schema.lease, self.database.clock.now()
        held: dict[int, list[Row]] = {rater_id: [] for rater_id in raters}
        query = sa.select(lease).where(lease.c.rater_id.in_(list(raters)), lease.c.open).order_by(lease.c.number)
        for row in connection.execute(query).mappings():
            held[row["rater_id"]].append(dict(row))
        paused = connection.scalar(sa.select(schema.study.c.paused).where(schema.study.c.id == self.study_id))
        if not paused:
            wanted = [
                (rater, AHEAD - len(held[rater_id]))
                for rater_id, rater in raters.items()
                if self._refusal(rater) is None and len(held[rater_id]) < AHEAD
            ]
            new = hand_out(connection, self.study, self.study_id, self.names, wanted, now, self._rng)
            for rater_id, leases in new.items():
                held[rater_id] += leases
        for rater in raters.values():
            rater["paused"] = bool(paused)
        write_counts(connection, list(raters.values()))
        return {rater_id: [self._as_asked(row) for row in rows] for rater_id, rows in held.items()}

    def _as_asked(self, lease: Row) -> Row:
        """A question as the browser gets it: what chose it stays here."""
        asked = {"number": lease["number"], "kind": lease["kind"], "shown": json.loads(lease["shown"])}
        if lease["kind"] == "practice" and self.study.practice.feedback:
            form, known = self.study.question.form, self.study.practice.questions
            asked["correct"] = expected(form, known, lease["number"], asked["shown"])
        elif lease["kind"] == "catch":
            asked["kind"] = "question"  # a catch trial that can be told from the others catches nobody
        return asked

    def _progress(self, rater: Row) -> Row:
        done = rater["answered"] >= self.study.length
        return {"answered": rater["answered"], "length": self.study.length, "done": done, "paused": rater["paused"]}

    def _raters(self, connection: sa.Connection, ids: Sequence[int]) -> dict[int, Row]:
        table = schema.rater
        query = sa.select(table).where(table.c.id.in_(set(ids)), table.c.study_id == self.study_id)
        return {row["id"]: dict(row) for row in connection.execute(query).mappings()}

    def _refusal(self, rater: Row | None) -> Refused | None:
        if rater is None:
            return Refused(401, "unknown_rater", "This page does not know you; open the study's link again.")
        if rater["consented"] is None and self.study.pages.consent is not None:
            return Refused(403, "no_consent", "Questions are asked only after you have agreed to take part.")
        return None

    def _survey_batch(
        self, connection: sa.Connection, requests: Sequence[tuple[int, Mapping[str, str]]]
    ) -> Sequence[Any]:
        return each(self._survey)(connection, requests)

    def _survey(self, connection: sa.Connection, request: tuple[int, Mapping[str, str]]) -> Row:
        rater_id, replies = request
        rater = self._raters(connection, [rater_id]).get(rater_id)
        if (refusal := self._refusal(rater)) is not None:
            raise refusal
        assert rater is not None
        if rater["answered"] < self.study.length:
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


def _plausible(milliseconds: int | None) -> int | None:
    """A time from a browser's clock; None where it cannot be one."""
    return milliseconds if milliseconds is not None and 0 <= milliseconds <= _LONGEST_TIME else None


def _is_number(text: str) -> bool:
    try:
        return float(text) == float(text)
    except ValueError:
        return False

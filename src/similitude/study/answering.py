"""Questions out, answers in: what the writer runs for the raters whose requests wait together.

A rater holds at most `choose.ahead` questions, and every answer names the number of its question. In one transaction
the answers join the log, their leases close, the raters' counts move on and new questions are leased.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any

import sqlalchemy as sa

from similitude.study.asking import OUTCOMES, form_of
from similitude.study.assigning import Assigning
from similitude.study.leaving import WITHDRAWN
from similitude.study.measured import Circumstances, kept
from similitude.study.refusal import (
    Refused,
    displaced_rater,
    erased_rater,
    study_is_full,
    unknown_rater,
    withdrawn_rater,
)
from similitude.study.rounds import hand_out
from similitude.study.sections import Question
from similitude.study.states import at_the_moment
from similitude.study.store import schema
from similitude.study.store.database import Database
from similitude.study.store.rows import Row, close_leases, dicts, execute_many, rows_at, write_counts
from similitude.study.timing import TIMED_OUT, Timing, check_time
from similitude.study.versions import Served

_LONGEST_TIME = 24 * 3600 * 1000
Places = dict[tuple[int, int], Row]

# what every answer asks of the database, put together once
_RATERS = sa.select(schema.rater).where(
    schema.rater.c.id.in_(sa.bindparam("ids", expanding=True)), schema.rater.c.study_id == sa.bindparam("study")
)
_OPEN = (  # the study is named for the index of open leases, which begins with it
    schema.lease.c.study_id == sa.bindparam("study"),
    schema.lease.c.rater_id.in_(sa.bindparam("raters", expanding=True)),
    schema.lease.c.open,
)
_OF_LEASE = (
    "rater_id",
    "number",
    "version",
    "kind",
    "block",
    "shown",
    "strategy",
    "score",
    "model",
    "asked_at",
    "expires",
)
_HELD = sa.select(*(schema.lease.c[name] for name in _OF_LEASE)).where(*_OPEN).order_by(schema.lease.c.number)
_RENEWED = sa.update(schema.lease).where(*_OPEN).values(expires=sa.bindparam("ends"))
_INTO_LOG = sa.insert(schema.answer)


@dataclass(frozen=True)
class Said:
    """An answer as the browser sends it."""

    rater_id: int
    number: int
    uid: str
    outcome: str
    response: Sequence[float] | None
    milliseconds: int | None = None
    direction: str | None = None
    background: str | None = None
    measured: Circumstances | None = None


class Answering:
    """The questions and answers of one study.

    Parameters
    ----------
    served : the study as it is now
    database : whose clocks tell the time
    rng : draws the questions
    assigning : gives places
    """

    def __init__(self, served: Served, database: Database, rng: Random, assigning: Assigning) -> None:
        self.served, self.study, self.rng, self.assigning = served, served.study, rng, assigning
        self.clock, self.uptime = database.clock.now, database.uptime

    def questions_batch(self, connection: sa.Connection, requests: Sequence[int]) -> list[Any]:
        """The questions of each rater; their leases begin anew."""
        raters = self.raters(connection, requests)
        held, now = self.open_leases(connection, raters), self.clock()
        self._renew(connection, list(raters))
        self._fill_up(connection, raters, held, now)
        return [self.refusal(raters.get(of)) or self._as_asked(connection, raters[of], held[of]) for of in requests]

    def answer_batch(self, connection: sa.Connection, requests: Sequence[Said]) -> list[Any]:
        """Keep answers; for each a refusal, or the questions that its rater holds then."""
        raters = self.raters(connection, [said.rater_id for said in requests])
        held, now = self.open_leases(connection, raters), self.clock()
        leases, given = self._asked_and_answered(connection, requests, held)
        rows: list[Row] = []
        verdicts: list[Refused | None] = []
        for said in requests:
            try:
                row = self._row(connection, said, raters.get(said.rater_id), leases, given, now)
            except Refused as refusal:
                verdicts.append(refusal)
                continue
            verdicts.append(None)
            if row is not None:
                rows.append(row)
                given[said.rater_id, said.number] = row  # the same answer, sent again, may wait in the same batch
        self._keep(connection, rows, raters, held)
        self._renew(connection, [of for of, leases in held.items() if self._run_low(leases)])
        self._fill_up(connection, raters, held, now)
        return [
            verdict or self._as_asked(connection, raters[said.rater_id], held[said.rater_id])
            for said, verdict in zip(requests, verdicts, strict=True)
        ]

    def _run_low(self, leases: Sequence[Row]) -> bool:
        """Whether questions held ahead have less than half of their time left; who answers is given it anew."""
        soon = self.uptime.now() + 30 * self.study.choose.lease_minutes
        return any(lease["expires"] < soon for lease in leases)

    def _renew(self, connection: sa.Connection, raters: Sequence[int]) -> None:
        """Let the time of all questions that raters hold begin anew."""
        if raters:
            whose = {"study": self.served.study_id, "raters": raters}
            connection.execute(_RENEWED, {**whose, "ends": self._lease_end(connection)})

    def raters(self, connection: sa.Connection, ids: Sequence[int]) -> dict[int, Row]:
        """The rows of raters of this study, by id."""
        found = dicts(connection.execute(_RATERS, {"ids": list(set(ids)), "study": self.served.study_id}))
        self.mark_shut_out(connection, found)
        self.assigning.take_again(connection, found)
        return {row["id"]: row for row in found}

    def mark_shut_out(self, connection: sa.Connection, raters: Sequence[Row]) -> None:
        """Mark raters who have not begun before the study was closed, whichever page they have open."""
        unasked = [rater for rater in raters if rater["asked"] == 0]
        now_it_is = at_the_moment(connection, self.served.study_id) if unasked else None
        for rater in unasked:
            rater["shut_out"] = now_it_is is not None and now_it_is.shuts_out(rater)

    def refusal(self, rater: Row | None) -> Refused | None:
        """Why a rater may not be asked; None where nothing is against it."""
        if rater is None:
            return unknown_rater()
        if rater["erased"] is not None:
            return erased_rater()
        if rater["withheld"] == WITHDRAWN:
            return withdrawn_rater()
        if rater.get("shut_out"):
            return study_is_full()
        if rater.get("displaced"):
            return displaced_rater()
        if rater["consented"] is None and self.study.pages.consent is not None:
            return Refused(403, "no_consent", "Questions are asked only after you have agreed to take part.")
        return None

    def length_for(self, rater: Mapping[str, Any]) -> int:
        """How many questions a rater is asked in all."""
        return self.served.study_of(rater).length

    def is_done(self, connection: sa.Connection, rater: Row) -> bool:
        """Whether a rater has answered all: as many as the study asks, or all that there are."""
        if rater["answered"] >= self.length_for(rater):
            return True
        held = self.open_leases(connection, {rater["id"]: rater})
        self._fill_up(connection, {rater["id"]: rater}, held, self.clock())
        return not held[rater["id"]] and not rater["paused"]

    def open_leases(self, connection: sa.Connection, raters: Mapping[int, Row]) -> dict[int, list[Row]]:
        """The questions that raters hold; those that no longer fit the study are withdrawn."""
        held: dict[int, list[Row]] = {rater_id: [] for rater_id in raters}
        stale = []
        whose = {"study": self.served.study_id, "raters": list(raters)}
        for row in dicts(connection.execute(_HELD, whose)):
            if self.served.still_asked(connection, row):
                held[row["rater_id"]].append(row)
            else:
                stale.append(row)
        close_leases(connection, stale)
        return held

    def _asked_and_answered(
        self, connection: sa.Connection, requests: Sequence[Said], held: Mapping[int, list[Row]]
    ) -> tuple[Places, Places]:
        """The questions that answers are about, and answers given before; an open question has none."""
        leases = {(row["rater_id"], row["number"]): row for rows in held.values() for row in rows}
        others = [place for said in requests if (place := (said.rater_id, said.number)) not in leases]
        if not others:
            return leases, {}
        leases |= {(row["rater_id"], row["number"]): row for row in rows_at(connection, schema.lease, others)}
        return leases, {(row["rater_id"], row["number"]): row for row in rows_at(connection, schema.answer, others)}

    def _row(
        self, connection: sa.Connection, said: Said, rater: Row | None, leases: Places, given: Places, now: float
    ) -> Row | None:
        """The row of the log for an answer; None where it is there already; refused where it cannot be."""
        where = said.rater_id, said.number
        if (refusal := self.refusal(rater)) is not None:
            raise refusal
        if where not in leases:
            raise Refused(404, "not_asked", f"Question {said.number} was not asked of you.")
        if where in given:
            if given[where]["uid"] == said.uid:  # the reply to it was lost: stored is stored, and it is said again
                return None
            raise Refused(
                409, "answered_before", f"Question {said.number} was answered before, perhaps in another tab."
            )
        # What was shown and how its answer is read are the server's word, from the lease: the browser only says which
        # number it answers. The time of the lease may be over: an answer that comes late is still one.
        lease = leases[where]
        question, then = self.served.question_of(connection, lease), self.served.at(connection, lease["version"])
        response = checked(question, then.timing, said)
        return {
            "study_id": self.served.study_id, "rater_id": said.rater_id, "number": said.number, "uid": said.uid,
            "kind": lease["kind"], "block": lease["block"], "form": question.form, "shown": lease["shown"],
            "outcome": said.outcome,
            "response": None if response is None else json.dumps(response),
            "side": form_of(question.form).side_of(response or ()), "milliseconds": _plausible(said.milliseconds),
            "direction": said.direction, "background": said.background,
            "measured": kept(said.measured) if then.timing.record_device else None,
            "strategy": lease["strategy"], "score": lease["score"], "model": lease["model"],
            "version": lease["version"], "asked_at": lease["asked_at"], "received": now,
        }  # fmt: skip

    def _keep(
        self, connection: sa.Connection, rows: list[Row], raters: dict[int, Row], held: dict[int, list[Row]]
    ) -> None:
        """Add to the log, close the leases, move the raters on."""
        if not rows:
            return
        execute_many(connection, _INTO_LOG, rows)
        close_leases(connection, rows)
        for row in rows:
            rater = raters[row["rater_id"]]
            held[rater["id"]] = [lease for lease in held[rater["id"]] if lease["number"] != row["number"]]
            if row["number"] < rater["first"]:  # on its way while the rater was asked anew
                continue
            rater["answered"] += 1
            if row["kind"] == "catch":
                rater["catches"] += 1
                rater["catches_passed"] += passed(self.served, connection, row)

    def _fill_up(
        self, connection: sa.Connection, raters: dict[int, Row], held: dict[int, list[Row]], now: float
    ) -> None:
        """Lease questions until each rater holds enough, and write the raters' counts; nothing new while paused."""
        now_it_is = at_the_moment(connection, self.served.study_id)
        wanted = []
        for rater_id, rater in raters.items():
            paused = rater["paused"] = now_it_is.asks_nothing_of(rater["origin"])
            room = min(self.study.choose.ahead, self.length_for(rater) - rater["answered"]) - len(held[rater_id])
            if room > 0 and not paused and self.refusal(rater) is None:
                wanted.append((rater, room))
        times = now, self._lease_end(connection)
        for rater_id, leases in hand_out(connection, self.served, wanted, times, self.rng).items():
            held[rater_id] += leases
        write_counts(connection, list(raters.values()))

    def _lease_end(self, connection: sa.Connection) -> float:
        """When a question that is handed out now is free again, in seconds of `uptime`."""
        return self.uptime.advance(connection) + 60 * self.study.choose.lease_minutes

    def _as_asked(self, connection: sa.Connection, rater: Row, held: list[Row]) -> Row:
        """Questions as the browser gets them, and how far the rater is; what chose a question stays here."""
        length = self.length_for(rater)
        done = rater["answered"] >= length or not (held or rater["paused"])
        progress = {"answered": rater["answered"], "length": length, "done": done, "paused": rater["paused"]}
        asked = [self._on_screen(connection, lease) for lease in held]
        about = {"first": rater["first"], "study_version": self.served.version, "condition": rater["condition"]}
        return {"questions": asked, **progress, **about}

    def _on_screen(self, connection: sa.Connection, lease: Row) -> Row:
        form = self.served.question_of(connection, lease).form
        asked = {"number": lease["number"], "kind": lease["kind"], "block": lease["block"], "form": form}
        asked["shown"] = _names(lease["shown"])
        if lease["kind"] == "practice" and self.study.practice.feedback:
            asked["correct"] = self.served.correct(connection, lease)
        elif lease["kind"] == "catch":
            asked["kind"] = "question"  # a catch trial that can be told from the others catches nobody
        return asked


@lru_cache(maxsize=4096)
def _names(shown: str) -> tuple[str, ...]:
    """The items of a question, read once for all the replies that it is part of."""
    return tuple(json.loads(shown))


def passed(served: Served, connection: sa.Connection, row: Mapping[str, Any]) -> bool:
    """Whether the answer to a catch trial was right; not where its version cannot be read any more."""
    try:
        correct = served.correct(connection, row)
    except Refused:
        return False
    return bool(
        correct is not None
        and row["response"] is not None
        and form_of(row["form"]).same_response(json.loads(row["response"]), correct)
    )


def checked(question: Question, timing: Timing, said: Said) -> list[float] | None:
    """The response as its form codes it, None where there is none; refused where the question does not take it."""
    allowed = {"cant_tell": question.cant_tell, "skipped": question.skip, TIMED_OUT: timing.limit_seconds is not None}
    if said.outcome not in OUTCOMES or not allowed.get(said.outcome, True):
        raise Refused(422, "outcome", f"outcome: {said.outcome!r} is not among those that this study takes.")
    check_time(timing, said.outcome, said.milliseconds)
    if said.outcome != "answered":
        return None
    try:
        return form_of(question.form).check_response(said.response or (), question)
    except ValueError as error:
        raise Refused(422, "response", str(error)) from None


def _plausible(milliseconds: int | None) -> int | None:
    """A time from a browser's clock; None where it cannot be one."""
    return milliseconds if milliseconds is not None and 0 <= milliseconds <= _LONGEST_TIME else None

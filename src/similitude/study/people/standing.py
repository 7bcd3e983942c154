"""What researchers decide about raters: left out, taken back in, asked anew; and what they note about them.

Every decision is a row of `remark` with who, when and why, and a line of the audit log, written in the transaction that
does it. Nothing that a rater said is changed. Two admins who decide the same at once have decided it once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from similitude.study.audit import note as write_deed
from similitude.study.counting import LEFT_OUT, REDO, TAKEN_BACK
from similitude.study.entrance import APART
from similitude.study.items import is_storable
from similitude.study.leaving import WITHDRAWN
from similitude.study.refusal import Refused
from similitude.study.store import schema
from similitude.study.store.database import Database
from similitude.study.store.rows import Row

NOTE = "note"
ACTIONS = {"leave_out": "Leave out", "take_back": "Take back in", "redo": "Ask anew"}
LONGEST = 2000  # characters of a reason or a note
_AT_ONCE = 500
_TOLD = 12  # raters whom the audit log names in one line


@dataclass(frozen=True)
class Acted:
    """What a decision did: the raters whom it changed, and why it did not change others, by code."""

    done: tuple[str, ...]
    not_done: dict[str, str]

    def __str__(self) -> str:
        skipped: dict[str, list[str]] = {}
        for code, why in self.not_done.items():
            skipped.setdefault(why, []).append(code)
        parts = [f"{len(codes)} not: {why} ({_listed(codes)})" for why, codes in skipped.items()]
        return "; ".join([f"{len(self.done)} done", *parts])


@dataclass(frozen=True)
class Remark:
    """One decision or note."""

    at: float
    who: str
    what: str
    text: str
    found: dict[str, Any] | None

    @property
    def words(self) -> str:
        """What was decided, as researchers read it."""
        known = {LEFT_OUT: "left out", TAKEN_BACK: "taken back in", REDO: "asked anew", NOTE: "note"}
        return known.get(self.what, self.what.replace("_", " "))

    @property
    def when(self) -> str:
        """The moment, in universal time."""
        return f"{datetime.fromtimestamp(self.at, UTC):%Y-%m-%d %H:%M} UTC"


Check = Callable[[Row], str | None]


class People:
    """The raters of one study, as its researchers decide about them.

    Parameters
    ----------
    database, study_id : where they are
    """

    def __init__(self, database: Database, study_id: int) -> None:
        self.database, self.study_id = database, study_id

    def act(self, action: str, codes: Sequence[str], by: str, reason: str) -> Acted:
        """Decide one of `ACTIONS` about raters; refused where it is none."""
        if action not in ACTIONS:
            raise Refused(422, "action", f"action: expected one of {', '.join(ACTIONS)}")
        acted: Acted = getattr(self, action)(codes, by, reason)
        return acted

    def leave_out(self, codes: Sequence[str], by: str, reason: str) -> Acted:
        """Let raters' answers count no more; their rows stay, and the model follows."""
        if not reason.strip():
            raise Refused(422, "reason", "Say why, in a few words: the reason is kept with the rater and in the log.")
        now = {"left_out": self.database.clock.now()}
        return self._decide(codes, by, LEFT_OUT, reason, _may_be_left_out, lambda _, __: now)

    def take_back(self, codes: Sequence[str], by: str, reason: str = "") -> Acted:
        """Let raters who were left out count again."""
        return self._decide(codes, by, TAKEN_BACK, reason, _may_be_taken_back, lambda _, __: {"left_out": None})

    def redo(self, codes: Sequence[str], by: str, reason: str = "") -> Acted:
        """Let raters answer once more from the start; what they said before is kept, marked superseded."""
        return self._decide(codes, by, REDO, reason, _may_redo, self._begin_anew)

    def note(self, code: str, by: str, text: str) -> None:
        """Note something about a rater; the log says that, not what."""
        if not text.strip():
            raise Refused(422, "text", "note: it is empty.")
        _check_text(text, "note")
        now = self.database.clock.now()
        with self.database.write() as connection:
            rater = next(iter(self._raters(connection, [code])), None)
            if rater is None:
                raise no_such_rater(code)
            if rater["erased"] is not None:
                raise Refused(409, "erased", f"{code} was erased; nothing more is kept about this person.")
            self._remark(connection, rater, now, by, NOTE, text.strip())
            write_deed(connection, now, by, "noted about a rater of", self.study_id, code)

    def remarks(self, code: str) -> list[Remark]:
        """All that was decided and noted about a rater, the latest first."""
        table, rater = schema.remark, schema.rater
        query = sa.select(table).join(rater, rater.c.id == table.c.rater_id).order_by(table.c.id.desc())
        query = query.where(rater.c.study_id == self.study_id, rater.c.code == code)
        with self.database.read() as connection:
            return [remark_of(row) for row in connection.execute(query).mappings()]

    def told(self, connection: sa.Connection, rater_ids: Sequence[int], by: str, what: str, text: str) -> None:
        """Keep with raters what a recruiting service was told about them."""
        now = self.database.clock.now()
        rows = [
            {"study_id": self.study_id, "rater_id": of, "at": now, "who": by, "what": what, "text": text, "found": None}
            for of in rater_ids
        ]
        if rows:
            connection.execute(sa.insert(schema.remark), rows)

    def _decide(
        self, codes: Sequence[str], by: str, what: str, reason: str, check: Check,
        change: Callable[[sa.Connection, Row], Row],
    ) -> Acted:  # fmt: skip
        _check_text(reason, "reason")
        wanted, now = list(dict.fromkeys(codes)), self.database.clock.now()
        done: list[str] = []
        not_done: dict[str, str] = {}
        with self.database.write() as connection:
            raters = {rater["code"]: rater for rater in self._raters(connection, wanted)}
            judged = self._judged(connection) if what == LEFT_OUT else {}
            for code in wanted:
                why = check(raters[code]) if code in raters else "no such rater"
                if why is not None:
                    not_done[code] = why
                    continue
                values = change(connection, raters[code])
                connection.execute(
                    sa.update(schema.rater).where(schema.rater.c.id == raters[code]["id"]).values(values)
                )
                self._remark(connection, raters[code], now, by, what, reason.strip(), judged.get(code))
                done.append(code)
            if done:
                said = f"{_listed(done)}{f': {reason.strip()}' if reason.strip() else ''}"
                write_deed(connection, now, by, _DEEDS[what], self.study_id, said)
        return Acted(tuple(done), not_done)

    def _raters(self, connection: sa.Connection, codes: Sequence[str]) -> Iterator[Row]:
        table = schema.rater
        for start in range(0, len(codes), _AT_ONCE):
            some = table.c.code.in_(codes[start : start + _AT_ONCE])
            query = sa.select(table).where(table.c.study_id == self.study_id, some)
            yield from (dict(row) for row in connection.execute(query).mappings())

    def _judged(self, connection: sa.Connection) -> dict[str, Row]:
        """How raters are judged now: who is left out is judged no more, and this is what stays."""
        table = schema.model
        text = connection.scalar(sa.select(table.c.findings).where(table.c.study_id == self.study_id))
        return {one["names"]: one for one in json.loads(text)["raters"]} if text else {}

    def _remark(
        self, connection: sa.Connection, rater: Row, at: float, who: str, what: str, text: str, found: Row | None = None
    ) -> None:
        row = {"study_id": self.study_id, "rater_id": rater["id"], "at": at, "who": who, "what": what, "text": text}
        kept = None if found is None else json.dumps(found, ensure_ascii=False)
        connection.execute(sa.insert(schema.remark), {**row, "found": kept})

    def _begin_anew(self, connection: sa.Connection, rater: Row) -> Row:
        """Close what the rater holds, put the survey of before aside, and begin at the next number."""
        lease, reply, answer = schema.lease, schema.reply, schema.answer
        connection.execute(
            sa.update(lease).where(lease.c.rater_id == rater["id"], lease.c.open).values(open=sa.false())
        )
        said = reply.c.rater_id == rater["id"]
        before = sa.select(sa.func.count()).where(schema.remark.c.rater_id == rater["id"], schema.remark.c.what == REDO)
        label = f" (round {(connection.scalar(before) or 0) + 1})"
        current = said & ~reply.c.field.contains(" (round ", autoescape=True)
        connection.execute(sa.update(reply).where(current).values(field=reply.c.field + label))
        last = connection.scalar(sa.select(sa.func.max(answer.c.number)).where(answer.c.rater_id == rater["id"]))
        first = max(rater["asked"], -1 if last is None else last + 1)
        counts = {"asked": first, "first": first, "answered": 0, "catches": 0, "catches_passed": 0}
        return {**counts, "finished": None, "withheld": None, "began": self.database.uptime.advance(connection)}


_DEEDS = {LEFT_OUT: "left raters out of", TAKEN_BACK: "took raters back into", REDO: "asked raters anew in"}


def _may_be_left_out(rater: Row) -> str | None:
    if rater["origin"] in APART:
        return f"of the {rater['origin']}, which never counts"
    return "left out before" if rater["left_out"] is not None else None


def _may_be_taken_back(rater: Row) -> str | None:
    return "not left out" if rater["left_out"] is None else None


def _may_redo(rater: Row) -> str | None:
    if rater["erased"] is not None:
        return "erased"
    if rater["withheld"] == WITHDRAWN:
        return "the invitation was withdrawn; invite the person again"
    if rater["origin"] == "imported":
        return "brought in from a file: nobody can come as this rater"
    return "has answered nothing yet" if rater["answered"] == 0 and rater["finished"] is None else None


def no_such_rater(code: str) -> Refused:
    """The refusal where a code is nobody's."""
    return Refused(404, "no_rater", f"There is no rater {code[:50]!r} in this study.")


def remark_of(row: sa.RowMapping) -> Remark:
    """A row of the table as a remark."""
    found = json.loads(row["found"]) if row["found"] else None
    return Remark(row["at"], row["who"], row["what"], row["text"], found)


def _check_text(text: str, name: str) -> None:
    if len(text) > LONGEST or not is_storable(text):
        raise Refused(422, "text", f"{name}: expected at most {LONGEST} characters, found {len(text)}.")


def _listed(codes: Sequence[str]) -> str:
    more = f" and {len(codes) - _TOLD} more" if len(codes) > _TOLD else ""
    return f"{', '.join(codes[:_TOLD])}{more}"

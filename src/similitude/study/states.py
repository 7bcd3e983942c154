"""What a study is at the moment: a draft, a pilot, live, paused or closed; and which of these may follow which.

The database holds the phase (draft, pilot, live or closed) and, beside it, whether the study is paused: what is paused
goes on as what it was. A study that was served before there were phases is live.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from similitude.display.words import counted
from similitude.study.audit import note
from similitude.study.refusal import Refused
from similitude.study.store import schema
from similitude.study.store.database import Database

DRAFT, PILOT, LIVE, PAUSED, CLOSED = "draft", "pilot", "live", "paused", "closed"
REHEARSAL = "rehearsal"  # raters who only try the study
APART = (REHEARSAL, PILOT)  # raters from whom nothing is learned, and who are left out unless asked for
MEANING = {
    DRAFT: "Nobody is let in. Admins try it by the link for rehearsing, and everything may change.",
    PILOT: "People are let in and marked as the pilot's: the model, limits and downloads leave their answers out.",
    LIVE: "People are let in, and their answers count.",
    PAUSED: "Nobody gets further questions; those that are on a screen can be answered.",
    CLOSED: "Nobody begins any more; who was asked a question already may finish.",
}
STATES = tuple(MEANING)
_ROW = sa.select(schema.study.c.phase, schema.study.c.paused).where(schema.study.c.id == sa.bindparam("study"))


@dataclass(frozen=True)
class StudyState:
    """The state of a study: its phase, whether it is paused, and how many people were asked whose answers count."""

    phase: str
    paused: bool
    asked: int = 0

    @property
    def state(self) -> str:
        """In one word."""
        return PAUSED if self.paused else self.phase

    def asks_nothing_of(self, origin: str) -> bool:
        """Whether a rater gets no questions for now: nobody of a study that is paused, of a draft rehearsals alone."""
        return self.paused or (self.phase == DRAFT and origin != REHEARSAL)

    def shuts_out(self, rater: Mapping[str, Any]) -> bool:
        """Whether a rater comes too late: into a closed study nobody who was asked nothing yet, but to rehearse it."""
        return self.phase == CLOSED and rater["asked"] == 0 and rater["origin"] != REHEARSAL

    def why_not(self, to: str) -> str | None:
        """Why a state cannot follow on this one, in a sentence; None where it can."""
        if to not in STATES:
            return f"state: expected one of {', '.join(STATES)}, found {to!r}."
        if to == self.state:
            return f"The study is {_called(to)} already."
        if to in (PAUSED, CLOSED) and self.phase == DRAFT:
            return f"Nobody is let into a draft, so there is nothing to {'pause' if to == PAUSED else 'close'}."
        if to == PAUSED and self.phase == CLOSED:
            return "The study is closed, so there is nothing to pause."
        if to in (DRAFT, PILOT) and to != self.phase and self.asked:
            people = counted(self.asked, "person was", "people were")
            return f"{people} asked already whose answers count: pause or close the study instead."
        return None


def _called(state: str) -> str:
    return {DRAFT: "a draft", PILOT: "a pilot"}.get(state, state)


def standing(connection: sa.Connection, study_id: int) -> StudyState:
    """The state of a study, with whatever decides which may follow."""
    rater = schema.rater
    row = connection.execute(_ROW, {"study": study_id}).one()
    counts = sa.select(sa.func.count()).where(
        rater.c.study_id == study_id, rater.c.origin == "joined", rater.c.asked > 0
    )
    return StudyState(row.phase, bool(row.paused), connection.scalar(counts) or 0)


def state_of(connection: sa.Connection, study_id: int) -> str:
    """The state of a study in one word."""
    return at_the_moment(connection, study_id).state


def at_the_moment(connection: sa.Connection, study_id: int) -> StudyState:
    """The state of a study, and nothing else: what every answer asks."""
    phase, paused = connection.execute(_ROW, {"study": study_id}).one()
    return StudyState(phase, bool(paused))


def set_state(database: Database, study_id: int, to: str, by: str) -> None:
    """Bring a study into a state, noted with who did it; refused where it cannot follow."""
    table = schema.study
    with database.write() as connection:
        now = standing(connection, study_id)
        if (why := now.why_not(to)) is not None:
            raise Refused(409, "state", why)
        values = {"paused": True} if to == PAUSED else {"paused": False, "phase": to}
        connection.execute(sa.update(table).where(table.c.id == study_id).values(values))
        resumed = now.paused and to == now.phase
        what, detail = {PAUSED: ("paused", "")}.get(to, ("set the state of", f"{now.state} to {to}"))
        note(connection, database.clock.now(), by, *(("resumed", study_id) if resumed else (what, study_id, detail)))

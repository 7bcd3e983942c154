"""What happens to a rater: joining, consent, questions, answers, the survey, the way out.

Everything that changes something is a request to the writer and is durable before it returns. What a rater may not do
is a `Refused`, with the status that the browser gets and a sentence.
"""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import sqlalchemy as sa

from similitude.study.answering import Answering, Said
from similitude.study.asking import check_same_question, means
from similitude.study.audit import note
from similitude.study.contents import Contents
from similitude.study.entrance import REHEARSAL, Entrance, Joining
from similitude.study.items import background_of, on_screen
from similitude.study.keys import Keys
from similitude.study.leaving import way_out, why_withheld
from similitude.study.refusal import Refused
from similitude.study.states import CLOSED, PAUSED, StudyState, at_the_moment, set_state, standing
from similitude.study.store import schema
from similitude.study.store.database import Database
from similitude.study.store.rows import Row, questions_before, register, secret_of_tokens
from similitude.study.store.writer import Writer, each
from similitude.study.surveys import keep_after, keep_before
from similitude.study.versions import Served
from similitude.study.webhooks import tell_conditions, tell_finished, tell_full

__all__ = ["Joining", "Refused", "Said", "StudyService"]

_log = logging.getLogger("similitude.study")
_REMEMBERED = 4096  # questions that raters hold now: each is part of several replies
encode: Callable[[Any], str] = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class StudyService:
    """One study as one revision of it says, ready to be asked; where that changes, another takes its place.

    Parameters
    ----------
    contents : its settings, texts and items
    database, writer : where it is kept
    before : the same study as it was served until now
    """

    def __init__(
        self, contents: Contents, database: Database, writer: Writer, before: StudyService | None = None
    ) -> None:
        self.contents, self.database, self.writer = contents, database, writer
        self.study = study = contents.study
        self.items, self.names, self.version = dict(contents.items), contents.names, contents.version
        self._opened = contents.opened
        self.background = background_of(study, self.items.values())
        self.not_served: dict[str, Path] = {}  # items whose files were asked for and are gone or damaged, by name
        self.on_screen = {name: on_screen(item, study.name) for name, item in self.items.items()}
        self._item_json = {name: encode(item) for name, item in self.on_screen.items()}
        self.items_json = lru_cache(_REMEMBERED)(self._items_json)
        with database.write() as connection:
            self.study_id = register(connection, study, self.version, self.names, database.clock.now())
            check_same_question(study, questions_before(connection, self.study_id, means(study)))
            self.keys = Keys(secret_of_tokens(connection), study.name)
        served = Served.of(study, self.study_id, self.version, self.names)
        self.entrance: Entrance = Entrance(study, self.study_id, database, self.keys)
        if before is not None:
            self.entrance.follow(before.entrance)
        self.answering: Answering = Answering(served, database, Random(), self.entrance.assigning)
        # made once: the writer serves together what waits for the same batch
        self._join_batch, self._survey_batch = each(self._join), each(self._survey)
        self._before_batch = each(self._before)

    def _items_json(self, names: Sequence[str]) -> str:
        """Items as they are shown, as JSON; one that was taken out of the study since is shown by its name."""
        return f"[{','.join(self._item_json.get(name) or _as_text(name) for name in names)}]"

    def file_of(self, name: str) -> Path | None:
        """The file of an item, None where there is none that can be shown; the log says so, once."""
        path = self.items[name].path if name in self.items else None
        if path is None or (fault := self._opened.fault_of(path)) is None:
            self.not_served.pop(name, None)
            return path
        if name not in self.not_served:
            self.not_served[name] = path
            said = "%s: raters cannot see %s any more (%s); put it back as it was"
            _log.warning(said, self.study.name, path, fault)
        return None

    def join(self, joining: Joining) -> Future[str]:
        """Come in, or come back: the token that says who it is from then on."""
        return self.writer.submit(self._join_batch, joining)

    def known_as(self, identity: str, rehearsal: bool, parameters: Mapping[str, str] | None = None) -> Future[str]:
        """The token of who a program says it is, come in where the person is new."""
        given = {key: value for key, value in (parameters or {}).items() if key != REHEARSAL}
        given |= {REHEARSAL: "yes"} if rehearsal else {}
        return self.join(Joining(secrets.token_hex(16), given, identity=identity))

    def consent(self, rater_id: int) -> Future[None]:
        """Agree to take part."""
        return self.writer.submit(self._consent_batch, rater_id)

    def questions(self, rater_id: int) -> Future[Row]:
        """The questions that the rater holds, filled up to `choose.ahead`."""
        return self.writer.submit(self.answering.questions_batch, rater_id)

    def answer(self, said: Said) -> Future[Row]:
        """Keep an answer; the result has the questions that the rater holds then."""
        return self.writer.submit(self.answering.answer_batch, said)

    def before(self, rater_id: int, replies: Mapping[str, str]) -> Future[None]:
        """Keep what was said in the survey before the first question."""
        return self.writer.submit(self._before_batch, (rater_id, replies))

    def survey(self, rater_id: int, replies: Mapping[str, str]) -> Future[Row]:
        """Keep what was said in the survey, and let the rater go."""
        return self.writer.submit(self._survey_batch, (rater_id, replies))

    def standing(self) -> StudyState:
        """What the study is at the moment, and what it may become."""
        with self.database.read() as connection:
            return standing(connection, self.study_id)

    def set_state(self, to: str, by: str) -> None:
        """Make it a draft, a pilot, live, paused or closed; refused where that cannot follow."""
        set_state(self.database, self.study_id, to, by)

    def set_paused(self, paused: bool, by: str) -> None:
        """Hand out no further questions, or go on; those that are on a screen can be answered meanwhile."""
        now = self.standing()
        if paused != now.paused:
            self.set_state(PAUSED if paused else now.phase, by)

    def taken(self, by: str, what: str) -> None:
        """Note that somebody has taken what people said."""
        with self.database.write() as connection:
            note(connection, self.database.clock.now(), by, "downloaded the answers of", self.study_id, what)

    def is_shut(self, parameters: Mapping[str, str] | None = None) -> bool:
        """Whether nobody new can come in by a link, whose parts are given; it may be signed for rehearsing."""
        with self.database.read() as connection:
            return self.entrance.is_shut(connection, parameters or {})

    def rater_of(self, token: str | None) -> int:
        """The rater that a token stands for; refused where it was not given out by us."""
        return self.keys.rater_of(token)

    # --- what the writer runs, in its transaction ---

    def _join(self, connection: sa.Connection, joining: Joining) -> str:
        rater_id = self.entrance.join(connection, joining)
        if self.study.condition:
            tell_conditions(connection, self.study_id, self.entrance.assigning, self.database.clock.now())
        if self.entrance.is_full(connection):
            tell_full(connection, self.study, self.study_id, self.database.clock.now())
        return self.keys.token(rater_id)

    def _consent_batch(self, connection: sa.Connection, requests: Sequence[int]) -> list[Any]:
        now = self.database.clock.now()
        table = schema.rater
        here = [table.c.id.in_(list(requests)), table.c.study_id == self.study_id]
        if at_the_moment(connection, self.study_id).phase == CLOSED:  # nothing is kept of who comes too late
            here.append(sa.or_(table.c.asked > 0, table.c.origin == REHEARSAL))
        connection.execute(
            sa.update(table).where(*here, table.c.consented.is_(None), table.c.erased.is_(None)).values(consented=now)
        )
        return [None] * len(requests)

    def _before(self, connection: sa.Connection, request: tuple[int, Mapping[str, str]]) -> None:
        rater = self._may_be_asked(connection, request[0])
        keep_before(connection, self.study, rater, request[1], self.database.clock.now())

    def _may_be_asked(self, connection: sa.Connection, rater_id: int) -> Row:
        rater = self.answering.raters(connection, [rater_id]).get(rater_id)
        if (refusal := self.answering.refusal(rater)) is not None:
            raise refusal
        assert rater is not None
        return rater

    def _survey(self, connection: sa.Connection, request: tuple[int, Mapping[str, str]]) -> Row:
        rater_id, replies = request
        rater = self._may_be_asked(connection, rater_id)
        if not self.answering.is_done(connection, rater):
            left = self.answering.length_for(rater) - rater["answered"]
            raise Refused(409, "not_done", f"{left} of your questions are still open.")
        now = self.database.clock.now()
        keep_after(connection, self.study, rater, replies, now)
        if rater["finished"] is None:
            served = self.database.uptime.advance(connection)
            rater["withheld"] = why_withheld(connection, self.answering.served.study_of(rater), rater, served)
            done = {"finished": now, "withheld": rater["withheld"]}
            if rater["withheld"] is not None:
                done["place_until"] = None  # somebody else is to be asked instead
            connection.execute(sa.update(schema.rater).where(schema.rater.c.id == rater_id).values(done))
            tell_finished(connection, self.study, self.study_id, rater, now)
        return way_out(self.study, rater)


def _as_text(name: str) -> str:
    return encode({"name": name, "kind": "text", "content": name, "address": None})

"""What the admin page shows of a study, computed once per interval however many look, and sent as events.

Each event holds the whole state of its part, so it does not matter which were missed.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any

import sqlalchemy as sa

from similitude.study.counting import answer_counts, changes, rater_counts
from similitude.study.election import NOBODY, PATIENCE, Pulse
from similitude.study.entrance import APART, PILOT, kept_apart
from similitude.study.people.flags import Judgements, as_of
from similitude.study.service import StudyService
from similitude.study.site import Site
from similitude.study.states import MEANING, at_the_moment
from similitude.study.store import schema
from similitude.study.store.rows import dicts
from similitude.study.web.admin_page import UNAVAILABLE
from similitude.study.web.design_figures import DesignFigures
from similitude.study.works import DIMENSIONS, Works

_log = logging.getLogger("similitude.study")
NOW, MODEL, FAULT, SHARED = "now", "model", "fault", "shared"  # events; the last is all that a shared page gets
INTERVAL = 2.0
_MINUTES = 60
_MOST_RATERS = 300
_SHOWN_OF_RATERS = (
    "code", "origin", "joined", "finished", "answered", "catches", "catches_passed", "withheld", "left_out",
    "condition",
)  # fmt: skip
_BEHIND = 50  # answers that the model has not learned yet, beyond which it is called behind
_WORDS = {
    "starting": "No model process keeps this study yet; one takes it up within seconds of the server's start. Random "
    "questions go on.",
    "learning": "The model follows the answers as they come.",
    "waiting": "There is no model yet; questions are drawn at random. {trouble}",
    "behind": "The model has {behind:,} answers still to learn. Questions go on; the chosen ones are a little dated.",
    "dead": "The model process does not run. Random questions go on and are marked so; no answer is lost, and all of "
    "them are learned when it is back. The server starts it again by itself; if this stays, see its messages.",
}


class Tally:
    """Counts of the log, kept up with what was added."""

    def __init__(self, service: StudyService) -> None:
        self._service = service
        self._begin(0)

    def _begin(self, changes: int) -> None:
        self._changes = changes
        self._last: int | None = None
        self.strategies: Counter[str] = Counter()
        self.outcomes: Counter[str] = Counter()
        self._minutes: Counter[int] = Counter()
        self.latest: float | None = None

    def update(self, connection: sa.Connection, now: float) -> None:
        """Count what is new; all of it again where other raters count than before."""
        if (decided := changes(connection, self._service.study_id)) != self._changes:
            self._begin(decided)
        table = schema.answer
        here = table.c.study_id == self._service.study_id
        counted = sa.exists().where(schema.rater.c.id == table.c.rater_id, answer_counts())
        if self._last is None:
            self._last = connection.scalar(sa.select(sa.func.max(table.c.id)).where(here)) or 0
            totals = sa.select(table.c.strategy, table.c.outcome, sa.func.count()).where(here, counted)
            totals = totals.where(table.c.id <= self._last).group_by(table.c.strategy, table.c.outcome)
            for strategy, outcome, count in connection.execute(totals):
                self._add(strategy, outcome, count)
            self.latest = connection.scalar(sa.select(sa.func.max(table.c.received)).where(here, counted))
            recent = sa.select(table.c.received).where(
                here, counted, table.c.id <= self._last, table.c.received > now - 60 * _MINUTES
            )
            self._minutes.update(int(at // 60) for at in connection.scalars(recent))
        new = sa.select(table.c.id, table.c.received, table.c.strategy, table.c.outcome).where(
            here, counted, table.c.id > self._last
        )
        for number, received, strategy, outcome in connection.execute(new):
            self._last = max(self._last, number)
            self._add(strategy, outcome, 1)
            self._minutes[int(received // 60)] += 1
            self.latest = received if self.latest is None else max(self.latest, received)

    def _add(self, strategy: str, outcome: str, count: int) -> None:
        self.strategies[strategy] += count
        self.outcomes[outcome] += count

    @property
    def own(self) -> int:
        """Answers to the study's own questions: neither practice nor catch trials."""
        return self.strategies.total() - self.strategies["practice"] - self.strategies["catch"]

    def minutes(self, now: float) -> list[list[int]]:
        """Answers in each of the last minutes: the minute (seconds since 1970) and the number."""
        current = int(now // 60)
        for minute in [minute for minute in self._minutes if minute <= current - _MINUTES]:
            del self._minutes[minute]
        return [[60 * minute, self._minutes[minute]] for minute in range(current - _MINUTES + 1, current + 1)]


class Watch:
    """The state of one study as admins see it.

    Parameters
    ----------
    service : the study, or what finds it as it is now
    monotonic : seconds that only go forward
    interval : seconds between two looks at the database
    """

    def __init__(
        self,
        service: StudyService | Callable[[], StudyService],
        monotonic: Callable[[], float] = time.monotonic,
        interval: float = INTERVAL,
    ) -> None:
        self._service, self._interval = service, interval
        self._tally, self._one_at_a_time = Tally(self.service), threading.Lock()
        self._design = DesignFigures()
        self._pulse = Pulse(monotonic)
        self._parts: dict[str, tuple[int, str]] = {}
        self._number = 0
        self._listeners = 0
        self._changed = asyncio.Condition()
        self._task: asyncio.Task[None] | None = None

    @property
    def service(self) -> StudyService:
        """The study as it is now."""
        return self._service if isinstance(self._service, StudyService) else self._service()

    async def events(self, names: Sequence[str] = (NOW, MODEL, FAULT)) -> AsyncGenerator[str]:
        """Events of these names for one who looks: the whole state first, then each part whenever it changes."""
        self._listeners += 1
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        seen = 0
        try:
            yield "retry: 3000\n\n"
            while True:
                async with self._changed:
                    while self._number <= seen:
                        await self._changed.wait()
                    parts = [(name, *self._parts[name]) for name in names if name in self._parts]
                    new = [(name, text) for name, number, text in parts if number > seen]
                    seen = self._number
                yield (
                    "".join(f"id: {seen}\nevent: {name}\ndata: {text}\n\n" for name, text in new) or ": still here\n\n"
                )
        finally:
            self._listeners -= 1

    async def _run(self) -> None:
        """Look at the database while anybody listens."""
        while self._listeners:
            try:
                state = await asyncio.to_thread(self.look)
            except Exception as fault:  # the page says so, the log says what; the next look may succeed
                _log.warning("%s: %s", self.service.study.name, fault)
                state = {FAULT: {"detail": UNAVAILABLE}}
            else:
                state[FAULT] = {"detail": None}
            async with self._changed:
                self._number += 1
                for name, part in state.items():
                    text = json.dumps(part, ensure_ascii=False)
                    if self._parts.get(name, (0, ""))[1] != text:
                        self._parts[name] = self._number, text
                self._changed.notify_all()
            await asyncio.sleep(self._interval)

    def look(self) -> dict[str, Any]:
        """The state: `now` changes with every answer, `model` with every fit; `shared` is for those with a link."""
        service, table = self.service, schema.model
        now = service.database.clock.now()
        with self._one_at_a_time, service.database.read() as connection:
            self._tally.update(connection, now)
            here = table.c.study_id == service.study_id
            columns = [column for column in table.c if column.name != "similarity"]
            model = connection.execute(sa.select(*columns).where(here)).mappings().one_or_none()
            found = json.loads(model["findings"]) if model is not None and model["findings"] else None
            learned = {"curve": self._curve(connection), **self._learned(found)}
            return {
                NOW: {
                    **self._state(connection),
                    "totals": self._totals(connection, now),
                    "minutes": self._tally.minutes(now),
                    "strategies": dict(self._tally.strategies),
                    "outcomes": dict(self._tally.outcomes),
                    "model": self._model(connection, model, now),
                    "raters": self._raters(connection, found),
                    "design": self._design.look(connection, service),
                    "not_served": [path.name for path in list(service.not_served.values())],
                },
                MODEL: learned,
                SHARED: {
                    "answers": self._tally.own,
                    "latest": self._tally.latest,
                    **{name: learned[name] for name in ("as_of", "curve", "ceiling", "map")},
                    "dimensions": self._dimensions(),
                },
            }

    def _dimensions(self) -> dict[str, Any] | None:
        """The dimensions as they were found last, and of how many answers; None where nobody has asked for them."""
        made = Works(self.service.database).made(self.service.study_id, DIMENSIONS)
        return None if made is None else {**made.summary, "answers": made.answers, "at": made.ended}

    def _state(self, connection: sa.Connection) -> dict[str, Any]:
        """What the study is, and how much came in its pilot."""
        rater, now = schema.rater, at_the_moment(connection, self.service.study_id)
        counts = sa.select(sa.func.count(), sa.func.sum(rater.c.answered))
        here = rater.c.study_id == self.service.study_id, rater.c.origin == PILOT
        raters, answers = connection.execute(counts.where(*here)).one()
        pilot = {"raters": raters, "answers": int(answers or 0)}
        return {"state": now.state, "means": MEANING[now.state], "paused": now.paused, "pilot": pilot}

    def _totals(self, connection: sa.Connection, now: float) -> dict[str, Any]:
        rater, lease, study_id = schema.rater, schema.lease, self.service.study_id
        count, done = sa.func.count(), sa.func.count(rater.c.finished)
        row = connection.execute(
            sa.select(count, done, sa.func.sum(rater.c.answered)).where(rater.c.study_id == study_id, rater_counts())
        ).one()
        busy = connection.scalar(
            sa.select(sa.func.count(sa.distinct(lease.c.rater_id))).where(
                lease.c.study_id == study_id,
                lease.c.open,
                lease.c.expires > self.service.database.uptime.now(),
                lease.c.rater_id.not_in(kept_apart(study_id)),
            )
        )
        out = sa.select(count).where(rater.c.study_id == study_id, rater.c.left_out.is_not(None))
        recent = round(sum(count for _, count in self._tally.minutes(now)[-6:]) / (5 + now % 60 / 60), 1)
        return {
            "raters": row[0], "finished": row[1], "answers": int(row[2] or 0), "busy": busy or 0,
            "limit": self.service.study.raters.limit, "seats": self.service.entrance.seats_taken(connection),
            "left_out": connection.scalar(out) or 0, "own": self._tally.own, "length": self.service.study.length,
            "per_minute": recent, "latest": self._tally.latest,
        }  # fmt: skip

    def _model(self, connection: sa.Connection, model: Any, now: float) -> dict[str, Any]:
        table = schema.answer
        last = 0 if model is None else model["last_answer"]
        here = table.c.study_id == self.service.study_id, table.c.id > last
        behind = connection.scalar(sa.select(sa.func.count()).where(*here)) or 0
        if model is None or model["worker"] == NOBODY:
            state = "starting"
        elif not self._is_alive(model, now):
            state = "dead"
        elif model["trouble"] is not None:
            state = "waiting"
        else:
            state = "behind" if behind > _BEHIND else "learning"
        trouble = "" if model is None or model["trouble"] is None else _sentence(model["trouble"])
        words = _WORDS[state].format(trouble=trouble, behind=behind).strip()
        return {"state": state, "words": words, "behind": behind, "version": 0 if model is None else model["version"]}

    def _is_alive(self, model: Any, now: float) -> bool:
        """By its heartbeat changing as seen from here; at the first look by the time that it says."""
        silent = self._pulse.silent((model["worker"], model["heartbeat"]))
        if self._pulse.beats:
            return silent < 2 * PATIENCE
        return silent < 2 * PATIENCE and now - model["heartbeat"] < 2 * PATIENCE

    def _raters(self, connection: sa.Connection, found: dict[str, Any] | None) -> list[dict[str, Any]]:
        """Raters with what stands out about them, those with something first, then the latest."""
        table = schema.rater
        columns = [table.c[name] for name in _SHOWN_OF_RATERS]
        query = sa.select(*columns).where(table.c.study_id == self.service.study_id).order_by(table.c.id.desc())
        judgements = Judgements(self.service.study, found)
        raters = []
        for row in dicts(connection.execute(query)):
            judged = judgements.of(row["code"])
            figures = {name: judged.get(name) for name in ("agreement", "low", "high", "seconds")}
            figures["judged"] = judged.get("answers")
            raters.append({**row, **figures, "flags": judgements.flags(row, judged)})
        raters.sort(
            key=lambda rater: (
                rater.pop("origin") in APART, rater["left_out"] is not None, -len(rater["flags"])
            )
        )  # fmt: skip
        return raters[:_MOST_RATERS]

    def _curve(self, connection: sa.Connection) -> list[dict[str, Any]]:
        curve = schema.curve
        columns = [curve.c[name] for name in ("answers", "accuracy", "low", "high", "tested", "at")]
        query = sa.select(*columns).where(curve.c.study_id == self.service.study_id).order_by(curve.c.answers)
        return [dict(row) for row in connection.execute(query).mappings()]

    def _learned(self, found: dict[str, Any] | None) -> dict[str, Any]:
        if found is None:
            return {"as_of": None, "ceiling": None, "advice": None, "map": None, "items": []}
        ceiling = found["ceiling"] if found["ceiling_known"] else None
        return {"as_of": as_of(found), "ceiling": ceiling, **{name: found[name] for name in ("advice", "map", "items")}}


class Watches:
    """The watches of a site's studies, each made when somebody looks for the first time."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._of: dict[str, Watch] = {}

    def __getitem__(self, name: str) -> Watch:
        """That of a study which is served."""
        if name not in self._of:
            self._of[name] = Watch(lambda: self._site.studies[name])
        return self._of[name]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."

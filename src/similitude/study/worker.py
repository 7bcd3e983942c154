"""The model of one study, kept round by round: learn what came, fit where it is due, fill the pool, look at it."""

from __future__ import annotations

import gc
import json
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, fields
from typing import Any

import sqlalchemy as sa

from similitude.evaluate.advice import CurvePoint, advise, is_known
from similitude.feedback.comparisons import Comparisons
from similitude.methods.similarity import Similarity
from similitude.study.asking import key_of, means, width
from similitude.study.counting import changes
from similitude.study.designs import StudyPart
from similitude.study.election import Holding, Lost
from similitude.study.findings import ceiling_of, earlier_points, findings, held_out
from similitude.study.learner import Learner, NoModelYet, pools_of
from similitude.study.log import read_log
from similitude.study.settings import Study
from similitude.study.store import schema
from similitude.study.store.database import Database, StoreError
from similitude.study.store.rows import Row, counts_by, register
from similitude.study.versions import version_of
from similitude.study.webhooks import trouble_of_model

BEAT = 2.0  # seconds between heartbeats where there is nothing else to write
AFTER_FAULT = 30.0  # seconds for which a study that made trouble is left alone
QUIET = 20.0  # seconds without an answer after which all that came is fitted and looked at
_QUIET_PER_FIT = 20  # as many times what the last fit took: in a slow trickle of answers, 1 second in 20 is for that
_STALE = 4  # the pool is chosen anew when a quarter as many answers have come as it holds


class StudyWorker:
    """Keeps the model of one study, round by round.

    Parameters
    ----------
    study, names : the study and its items
    database : where its log is
    worker : the name of this process
    monotonic : seconds that only go forward
    """

    def __init__(
        self,
        study: Study,
        names: Sequence[str],
        database: Database,
        worker: str,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.study, self.names, self.database = study, list(names), database
        with database.write() as connection:
            version = version_of(study, self.names)
            self.study_id = register(connection, study, version, self.names, database.clock.now())
        self._monotonic = monotonic
        self._holding = Holding(database, self.study_id, worker, monotonic)
        self._holds = False
        self._beat_at = self._resume_at = -float("inf")
        self._begin(None)

    def _begin(self, start: Similarity | None) -> None:
        self.learner = Learner(self.study, self.names, start)
        self._last_answer = self._redactions = self._changes = 0
        self._chosen_at = 0
        self._came_at, self._took = self._monotonic(), 0.0  # the latest answers; what the last fit and look took
        self._begun = True  # the first round says what there is, be it too little
        self._found: dict[str, Any] | None = None

    def renew(self, study: Study, names: Sequence[str]) -> None:
        """Go on with a study that was changed; the log is read anew where that decides what is learned from it."""
        before = self.names, means(self.study), self.study.choose, self.study.condition
        self.study, self.names = study, list(names)
        if before != (self.names, means(study), study.choose, study.condition):
            self._begin(self.learner.similarity)
        else:
            self.learner.study, self.learner.pools = study, pools_of(study)

    def step(self) -> bool:
        """One round: learn what came, fit where it is due, fill the pool. Whether this process holds the study."""
        if self._monotonic() < self._resume_at:
            return self._holds
        try:
            if not self._holding.take():
                self._holds = False
                return False
            if not self._holds:
                self._resume()
            self._round()
        except Lost:
            self._holds = False
        return self._holds

    def fail(self, fault: Exception) -> None:
        """Say what went wrong where the admin sees it, and leave the study alone for a while."""
        self._resume_at = self._monotonic() + AFTER_FAULT
        if self._holds:
            with (
                suppress(Lost, StoreError),
                self._holding.write(
                    trouble=f"the model process failed ({type(fault).__name__}); the log says how"
                ) as connection,
            ):
                said = f"the model process failed ({type(fault).__name__})"
                trouble_of_model(connection, self.study_id, self.database.clock.now(), said)

    def beat(self) -> None:
        """Show that this process lives: from another thread, while this study or another has a long fit under way."""
        if self._holds:
            try:
                with self._holding.write():
                    pass
            except Lost:
                self._holds = False

    def release(self) -> None:
        """Let another process take over at once."""
        if self._holds:
            self._holding.release()

    def _resume(self) -> None:
        """Start from what the last holder left: the version goes on, the map is where the new fit starts."""
        table = schema.model
        with self.database.read() as connection:
            row = connection.execute(sa.select(table).where(table.c.study_id == self.study_id)).mappings().one()
        start = None
        with suppress(ValueError):  # damaged, or of a newer version: the log has all that is needed
            start = Similarity.from_bytes(row["similarity"]) if row["similarity"] else None
        self._begin(start)
        self._version = row["version"]
        self._found = json.loads(row["findings"]) if row["findings"] else None
        self._holds = True

    def _round(self) -> None:
        self._catch_up()
        if self.learner.is_due or self._begun or self._is_quiet:
            began = self._monotonic()
            self._fit()
            self._took = self._monotonic() - began
        elif self._wants_questions:
            self._fill(anew=self._is_stale)
        elif self._monotonic() - self._beat_at >= BEAT:
            with self._holding.write(last_answer=self._last_answer):
                self._beat_at = self._monotonic()

    def _catch_up(self) -> None:
        """Learn what the log holds more; after a redaction, or where other raters count, all of it from the start."""
        table = schema.redaction
        with self.database.read() as connection:
            redactions = connection.scalar(sa.select(sa.func.count()).where(table.c.study_id == self.study_id)) or 0
            decided = changes(connection, self.study_id)
        if (redactions, decided) != (self._redactions, self._changes) and self._last_answer:
            found = self._found if redactions == self._redactions else None  # so that the map does not turn
            self._begin(None)
            self._found = found
        self._redactions, self._changes = redactions, decided
        seen = 1
        while seen:
            with _uncollected(), self.database.read() as connection:
                answers, self._last_answer, seen = read_log(connection, self.study_id, self.names, self._last_answer)
            self.learner.learn(answers)
            if len(answers):
                self._came_at = self._monotonic()

    @property
    def _is_quiet(self) -> bool:
        """Whether answers have ceased to come before a fit was due: the figures are to be of all, not of most."""
        waited = self._monotonic() - self._came_at
        return self.learner.n_answers > self.learner.fitted_at and waited >= max(QUIET, _QUIET_PER_FIT * self._took)

    def _fit(self) -> None:
        """Fit, choose questions, and only then look how good it is: nobody waits for that."""
        self._begun = False
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a fit that stops a little early goes on with the next answers
                compared = self.learner.refit()
        except NoModelYet as why:
            self._write_trouble(str(why))
            return
        assert self.learner.similarity is not None
        self._version += 1
        values = {"version": self._version, "similarity": self.learner.similarity.to_bytes(), "trouble": None}
        with self._holding.write(last_answer=self._last_answer, **values):
            pass
        self._fill(anew=True)
        self._look(compared, self.learner.similarity)

    def _look(self, compared: Comparisons, similarity: Similarity) -> None:
        """Write what the admin page shows."""
        point = held_out(self.learner.estimator(), compared, self.learner.n_answers)
        curve = self._curve(point)
        missed = earlier_points(self.learner.estimator(), compared, curve) if point is not None else []
        self._found = findings(compared, similarity, self._found)
        self._found |= {"learned": self.learner.n_answers, "at": self.database.clock.now()}
        ceiling = ceiling_of(self._found)
        self._found["ceiling_known"] = is_known(ceiling)
        points = sorted([*missed, *curve], key=lambda one: one.answers)
        self._found["advice"] = asdict(advise(points, ceiling))
        with self._holding.write(findings=json.dumps(self._found, ensure_ascii=False)) as connection:
            if point is not None:
                self._write_points(connection, [*missed, point])

    def _write_points(self, connection: sa.Connection, points: Sequence[CurvePoint]) -> None:
        """Add to the curve, the newest point last, which replaces what is later: raters were left out since."""
        curve, now = schema.curve, self.database.clock.now()
        here = curve.c.study_id == self.study_id, curve.c.answers >= points[-1].answers
        connection.execute(sa.delete(curve).where(*here))
        rows = [{"study_id": self.study_id, "at": now, **vars(point)} for point in points]
        connection.execute(sa.insert(curve), rows)

    def _curve(self, newest: CurvePoint | None) -> list[CurvePoint]:
        """The points of the curve so far, and the newest."""
        curve = schema.curve
        columns = [curve.c[one.name] for one in fields(CurvePoint)]
        query = sa.select(*columns).where(curve.c.study_id == self.study_id).order_by(curve.c.answers)
        with self.database.read() as connection:
            points = [CurvePoint(**row) for row in connection.execute(query).mappings()]
        now = self.learner.n_answers
        return [*(point for point in points if point.answers < now), *([newest] if newest else [])]

    def _write_trouble(self, why: str) -> None:
        values = {"trouble": why, "similarity": None, "findings": None}
        with self._holding.write(last_answer=self._last_answer, **values) as connection:
            connection.execute(sa.delete(schema.pool).where(schema.pool.c.study_id == self.study_id))

    @property
    def _is_stale(self) -> bool:
        """Whether so much was learned since the pool was chosen that other questions teach more."""
        return self.learner.n_answers - self._chosen_at >= max(self.study.choose.pool // _STALE, 1)

    @property
    def _wants_questions(self) -> bool:
        if self.learner.similarity is None or not self.learner.adaptive:
            return False
        table = schema.pool
        query = sa.select(table.c.part, sa.func.count()).where(table.c.study_id == self.study_id)
        with self.database.read() as connection:
            ready = counts_by(connection, query.group_by(table.c.part))
        return self._is_stale or any(ready.get(pool, 0) < self._size / 2 for pool in self.learner.pools)

    @property
    def _size(self) -> int:
        """How many questions are kept ready for each part of the study."""
        return -(-self.study.choose.pool // len(self.learner.pools))

    def _fill(self, anew: bool) -> None:
        """Bring every pool to its size: with further questions, or with others in the place of all that are there."""
        for pool, part in self.learner.pools.items():
            self._fill_pool(pool, part, anew)
        if anew and self.learner.pools:
            self._chosen_at = self.learner.n_answers

    def _fill_pool(self, pool: str, part: StudyPart, anew: bool) -> None:
        ready, pending = self._waiting(part)
        wanted = self._size - (0 if anew else len(ready))
        if wanted < 1:
            return
        questions = self.learner.questions(part, wanted, pending if anew else [*pending, *ready])
        form, block = part.question.form, part.block
        rows = [
            {"study_id": self.study_id, "shown": json.dumps(shown, ensure_ascii=False), "strategy": strategy,
             "score": score, "model": self._version, "part": pool, "key": key_of(form, shown, block)}
            for shown, strategy, score in questions
        ]  # fmt: skip
        with self._holding.write(last_answer=self._last_answer) as connection:
            if anew:
                table = schema.pool  # with what was chosen for parts that are no longer there
                old = sa.or_(table.c.part == pool, table.c.part.not_in(list(self.learner.pools)))
                connection.execute(sa.delete(table).where(table.c.study_id == self.study_id, old))
            self._insert(connection, rows)
        self._beat_at = self._monotonic()

    def _insert(self, connection: sa.Connection, rows: list[Row]) -> None:
        """Add questions to the pool, but for those that were handed out while they were being chosen."""
        lease = schema.lease
        query = sa.select(lease.c.key).where(lease.c.study_id == self.study_id, lease.c.open)
        waiting = set(connection.scalars(query))
        new = [row for row in rows if row.pop("key") not in waiting]
        if new:
            connection.execute(sa.insert(schema.pool), new)

    def _waiting(self, part: StudyPart) -> tuple[list[list[str]], list[list[str]]]:
        """Questions in the pool of a part, and those of its block that raters hold and may still answer."""
        pool, lease, known = schema.pool, schema.lease, set(self.names)
        held = sa.select(lease.c.shown).where(
            lease.c.study_id == self.study_id, lease.c.open, lease.c.kind == "question", lease.c.block == part.block
        )
        stored = sa.select(pool.c.shown).where(pool.c.study_id == self.study_id, pool.c.part == part.pool)
        with self.database.read() as connection:
            held = held.where(lease.c.expires > self.database.uptime.follow(connection))
            ready = connection.scalars(stored).all()
            pending = connection.scalars(held).all()
        both = ([json.loads(shown) for shown in some] for some in (ready, pending))
        shows = width(part.question)
        first, second = ([one for one in some if known.issuperset(one) and len(one) == shows] for some in both)
        return first, second


@contextmanager
def _uncollected() -> Iterator[None]:
    """Rows of the log are many objects without a cycle among them: to look for some takes as long as to read them."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()

"""The model process: it replays the log, keeps the model up to date, and keeps scored questions ready in the pool.

It is a process of its own, so that serving a question never waits for mathematics, and it can die at any time: all that
it writes (pool, model, curve) is derived from the log, and while it is gone random questions go on. Started by a server
(`similitude.study.supervise`), it reads one line of JSON from its standard input and ends when that closes, which it
does even when the server is killed.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from similitude.engine.threads import limit_threads
from similitude.methods.similarity import Similarity
from similitude.study.advice import Point, advise
from similitude.study.asking import key_of, width
from similitude.study.findings import ceiling_of, findings, held_out
from similitude.study.holding import Holding, Lost
from similitude.study.items import read_items
from similitude.study.learner import Learner, NoModelYet
from similitude.study.learning import read_log
from similitude.study.settings import Study, read_studies
from similitude.study.store import schema
from similitude.study.store.database import Database, StoreError
from similitude.study.store.rows import Row, register

_log = logging.getLogger("similitude.study.worker")
_PAUSE = 0.5  # seconds between two rounds; more where a round took long, so that a core stays free for the server
_REST = 1.5  # times what the last round took
_BEAT = 2.0  # seconds between heartbeats where there is nothing else to write
_AFTER_FAULT = 30.0
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
            self.study_id = register(connection, study, self.names, database.clock.now())
        self._monotonic = monotonic
        self._holding = Holding(database, self.study_id, worker, monotonic)
        self._holds = False
        self._beat_at = self._resume_at = -float("inf")
        self._begin(None)

    def _begin(self, start: Similarity | None) -> None:
        self.learner = Learner(self.study, self.names, start)
        self._last_answer = self._redactions = 0
        self._chosen_at = 0
        self._begun = True  # the first round says what there is, be it too little
        self._found: dict[str, Any] | None = None

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
        self._resume_at = self._monotonic() + _AFTER_FAULT
        if self._holds:
            with self._holding.write(trouble=f"the model process failed ({type(fault).__name__}: {fault})"):
                pass

    def release(self) -> None:
        """Let another process take over at once."""
        if self._holds:
            self._holding.release()

    def _resume(self) -> None:
        """Start from what the last holder left: the version goes on, the map is where the new fit starts."""
        table = schema.model
        with self.database.read() as connection:
            row = connection.execute(sa.select(table).where(table.c.study_id == self.study_id)).mappings().one()
        self._begin(None if row["similarity"] is None else Similarity.from_bytes(row["similarity"]))
        self._version = row["version"]
        self._found = json.loads(row["findings"]) if row["findings"] else None
        self._holds = True

    def _round(self) -> None:
        self._catch_up()
        if self.learner.is_due or self._begun:
            self._fit()
        elif self._wants_questions:
            self._fill(anew=self._is_stale)
        elif self._monotonic() - self._beat_at >= _BEAT:
            with self._holding.write(last_answer=self._last_answer):
                self._beat_at = self._monotonic()

    def _catch_up(self) -> None:
        """Learn what the log holds more; after a redaction, all of it from the start."""
        table = schema.redaction
        with self.database.read() as connection:
            redactions = connection.scalar(sa.select(sa.func.count()).where(table.c.study_id == self.study_id)) or 0
            if redactions != self._redactions and self._last_answer:
                self._begin(None)
            self._redactions = redactions
            while True:
                answers, self._last_answer, seen = read_log(connection, self.study_id, self.names, self._last_answer)
                self.learner.learn(answers)
                if not seen:
                    break

    def _fit(self) -> None:
        self._begun = False
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a fit that stops a little early goes on with the next answers
                compared = self.learner.refit()
        except NoModelYet as why:
            self._write_trouble(str(why))
            return
        similarity = self.learner.similarity
        assert similarity is not None
        point = held_out(self.learner.estimator(), compared, self.learner.n_answers)
        self._found = findings(compared, similarity, self._found)
        self._found["advice"] = asdict(advise(self._curve(point), ceiling_of(self._found)))
        self._version += 1
        values = {"version": self._version, "similarity": similarity.to_bytes(), "trouble": None}
        values |= {"findings": json.dumps(self._found, ensure_ascii=False)}
        with self._holding.write(last_answer=self._last_answer, **values) as connection:
            if point is not None:
                curve, row = schema.curve, {"study_id": self.study_id, "at": self.database.clock.now(), **vars(point)}
                here = curve.c.study_id == self.study_id, curve.c.answers == point.answers
                connection.execute(sa.delete(curve).where(*here))
                connection.execute(sa.insert(curve), row)
        if self.learner.adaptive:
            self._fill(anew=True)

    def _curve(self, newest: Point | None) -> list[Point]:
        """The points of the curve so far, and the newest."""
        curve = schema.curve
        columns = [curve.c[one.name] for one in fields(Point)]
        query = sa.select(*columns).where(curve.c.study_id == self.study_id).order_by(curve.c.answers)
        with self.database.read() as connection:
            points = [Point(**row) for row in connection.execute(query).mappings()]
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
        with self.database.read() as connection:
            ready = connection.scalar(sa.select(sa.func.count()).where(table.c.study_id == self.study_id)) or 0
        return self._is_stale or ready < self.study.choose.pool / 2

    def _fill(self, anew: bool) -> None:
        """Bring the pool to its size: with further questions, or with others in the place of all that are there."""
        ready, pending = self._waiting()
        wanted = self.study.choose.pool - (0 if anew else len(ready))
        if wanted < 1:
            return
        questions = self.learner.questions(wanted, pending if anew else [*pending, *ready])
        rows = [
            {"study_id": self.study_id, "shown": json.dumps(shown, ensure_ascii=False), "strategy": strategy,
             "score": score, "model": self._version, "key": key_of(self.study.question.form, shown)}
            for shown, strategy, score in questions
        ]  # fmt: skip
        with self._holding.write(last_answer=self._last_answer) as connection:
            if anew:
                connection.execute(sa.delete(schema.pool).where(schema.pool.c.study_id == self.study_id))
                self._chosen_at = self.learner.n_answers
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

    def _waiting(self) -> tuple[list[list[str]], list[list[str]]]:
        """Questions in the pool, and those that raters hold and may still answer."""
        pool, lease, known = schema.pool, schema.lease, set(self.names)
        held = sa.select(lease.c.shown).where(
            lease.c.study_id == self.study_id, lease.c.open, lease.c.kind == "question",
            lease.c.expires > self.database.clock.now(),
        )  # fmt: skip
        with self.database.read() as connection:
            ready = connection.scalars(sa.select(pool.c.shown).where(pool.c.study_id == self.study_id)).all()
            pending = connection.scalars(held).all()
        both = ([json.loads(shown) for shown in part] for part in (ready, pending))
        shows = width(self.study.question)
        first, second = ([one for one in part if known.issuperset(one) and len(one) == shows] for part in both)
        return first, second


def run(root: Path, url: str, worker: str, stop: threading.Event) -> None:
    """Keep the models of all studies of a folder until told to stop."""
    database = Database(url)
    workers = [StudyWorker(study, list(read_items(study)), database, worker) for study in read_studies(root)]
    with limit_threads(1):
        while not stop.is_set():
            start = time.monotonic()
            for one in workers:
                _step(one)
            stop.wait(max(_PAUSE, _REST * (time.monotonic() - start)))
    for one in workers:
        one.release()
    database.close()


def _step(worker: StudyWorker) -> None:
    try:
        worker.step()
    except StoreError as fault:
        _log.warning("study %s: %s", worker.study.name, fault)
    except Exception as fault:  # one study must not take the others with it
        _log.exception("study %s", worker.study.name)
        worker.fail(fault)


def main() -> None:
    """Read what to do from standard input, and do it until that closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then closes our input
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
    settings = json.loads(sys.stdin.readline())
    if hasattr(os, "nice"):
        os.nice(5)
    stop = threading.Event()
    threading.Thread(target=_wait_for_end, args=(stop,), daemon=True).start()
    run(Path(settings["root"]), settings["url"], settings["worker"], stop)


def _wait_for_end(stop: threading.Event) -> None:
    """The input closes when the server ends, however it ends; then there is a moment to finish the round."""
    sys.stdin.read()
    stop.set()
    time.sleep(_AFTER_FAULT)
    os._exit(1)


if __name__ == "__main__":
    main()

"""The rounds of the model process: one study after the other, until told to stop."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

from similitude.engine.threads import limit_threads
from similitude.study.maintenance.rebuild import latest
from similitude.study.settings import StudyError, study_folders
from similitude.study.store.database import Database, StoreError
from similitude.study.store.revisions import latest_numbers
from similitude.study.store.rows import number_of
from similitude.study.worker import BEAT, StudyWorker

_log = logging.getLogger("similitude.study.process")
_PAUSE = 0.5  # seconds between two rounds; more where a round took long, so that a core stays free for the server
_REST = 1.5  # times what the last round took
_LONGEST_ROUND = 3600.0  # seconds after which a round that does not end is no sign of life


class Pace:
    """Whether the rounds move on: through long fits, and the rests after them, but not for ever.

    Parameters
    ----------
    monotonic : seconds that only go forward
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self.move_on()

    def move_on(self, rest: float = 0.0) -> None:
        """Say that the next round begins, perhaps after a rest."""
        self._until = self._monotonic() + rest + _LONGEST_ROUND

    @property
    def is_kept(self) -> bool:
        """Whether the round that goes on has not gone on for too long."""
        return self._monotonic() < self._until


def tend(root: Path, url: str, worker: str, stop: threading.Event) -> None:
    """Keep the models of all studies of a folder until told to stop."""
    database = Database(url)
    workers, pace = Workers(root, database, worker), Pace()
    threading.Thread(target=_beat, args=(workers, stop, pace), daemon=True).start()
    with limit_threads(1):
        while not stop.is_set():
            start = time.monotonic()
            workers.follow()
            for one in workers.all:
                pace.move_on()
                _step(one)
            rest = max(_PAUSE, _REST * (time.monotonic() - start))
            pace.move_on(rest)
            stop.wait(rest)
    for one in workers.all:
        one.release()
    database.close()


class Workers:
    """The workers of all studies of a folder, each as the latest revision of its study says.

    Parameters
    ----------
    root : the folder
    database : where the studies are: what they are is read there alone
    worker : the name of this process
    """

    def __init__(self, root: Path, database: Database, worker: str) -> None:
        self.root, self.database, self.worker = root, database, worker
        self._of: dict[str, StudyWorker] = {}
        self._numbers: dict[str, int] = {}

    @property
    def all(self) -> list[StudyWorker]:
        """One for each study; a list of its own, since another thread walks through it."""
        return list(self._of.values())

    def follow(self) -> None:
        """Take up studies that are new in the folder, and go on with those that were changed."""
        try:
            with self.database.read() as connection:
                numbers = latest_numbers(connection, servable=True)
                if numbers == self._numbers:
                    return
                names = [name for name in study_folders(self.root, may_be_empty=True) if name in numbers]
                found = {name: latest(connection, number_of(connection, name) or 0) for name in names}
        except (StoreError, StudyError) as fault:
            _log.warning("%s", fault)
            return
        self._numbers = numbers
        for name, served in found.items():
            if name in self._of:
                self._of[name].renew(served.study, served.names)
            else:
                self._of[name] = StudyWorker(served.study, served.names, self.database, self.worker)


def _beat(workers: Workers, stop: threading.Event, pace: Pace, every: float = BEAT) -> None:
    """Show that this process lives, for all studies that it keeps: one may be fitted for minutes while others wait."""
    while not stop.wait(every):
        for one in workers.all if pace.is_kept else ():
            try:
                one.beat()
            except Exception as fault:  # a heart that stops at the first fault would tell of a death that is none
                _log.warning("study %s: %s", one.study.name, fault)


def _step(worker: StudyWorker) -> None:
    try:
        worker.step()
    except StoreError as fault:
        _log.warning("study %s: %s", worker.study.name, fault)
    except Exception as fault:  # one study must not take the others with it
        _log.exception("study %s", worker.study.name)
        worker.fail(fault)

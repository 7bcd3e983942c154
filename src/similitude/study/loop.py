"""The rounds of the model process: one study after the other, until told to stop."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from similitude.engine.threads import limit_threads
from similitude.study.items import read_items
from similitude.study.settings import read_studies
from similitude.study.store.database import Database, StoreError
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
    workers = [StudyWorker(study, list(read_items(study)), database, worker) for study in read_studies(root)]
    pace = Pace()
    threading.Thread(target=_beat, args=(workers, stop, pace), daemon=True).start()
    with limit_threads(1):
        while not stop.is_set():
            start = time.monotonic()
            for one in workers:
                pace.move_on()
                _step(one)
            rest = max(_PAUSE, _REST * (time.monotonic() - start))
            pace.move_on(rest)
            stop.wait(rest)
    for one in workers:
        one.release()
    database.close()


def _beat(workers: Sequence[StudyWorker], stop: threading.Event, pace: Pace, every: float = BEAT) -> None:
    """Show that this process lives, for all studies that it keeps: one may be fitted for minutes while others wait."""
    while not stop.wait(every):
        for one in workers if pace.is_kept else ():
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

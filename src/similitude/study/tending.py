"""The rounds of the model process: one study after the other, until told to stop."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from similitude.engine.threads import limit_threads
from similitude.study.items import read_items
from similitude.study.modelling import BEAT, StudyWorker
from similitude.study.settings import read_studies
from similitude.study.store.database import Database, StoreError

_log = logging.getLogger("similitude.study.worker")
_PAUSE = 0.5  # seconds between two rounds; more where a round took long, so that a core stays free for the server
_REST = 1.5  # times what the last round took


def tend(root: Path, url: str, worker: str, stop: threading.Event) -> None:
    """Keep the models of all studies of a folder until told to stop."""
    database = Database(url)
    workers = [StudyWorker(study, list(read_items(study)), database, worker) for study in read_studies(root)]
    threading.Thread(target=_beat, args=(workers, stop), daemon=True).start()
    with limit_threads(1):
        while not stop.is_set():
            start = time.monotonic()
            for one in workers:
                _step(one)
            stop.wait(max(_PAUSE, _REST * (time.monotonic() - start)))
    for one in workers:
        one.release()
    database.close()


def _beat(workers: Sequence[StudyWorker], stop: threading.Event) -> None:
    while not stop.wait(BEAT):
        for one in workers:
            with suppress(StoreError):
                one.beat()


def _step(worker: StudyWorker) -> None:
    try:
        worker.step()
    except StoreError as fault:
        _log.warning("study %s: %s", worker.study.name, fault)
    except Exception as fault:  # one study must not take the others with it
        _log.exception("study %s", worker.study.name)
        worker.fail(fault)

"""The model process: it replays the log, keeps the models up to date, and keeps scored questions ready in the pool.

It is a process of its own, so that serving a question never waits for mathematics, and it can die at any time: all that
it writes (pool, model, curve) is derived from the log, and while it is gone random questions go on. Started by a server
(`similitude.study.supervise`), it reads one line of JSON from its standard input and ends when that closes, which it
does even when the server is killed.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from similitude.engine.threads import limit_threads
from similitude.study.items import read_items
from similitude.study.modelling import AFTER_FAULT, BEAT, StudyWorker
from similitude.study.settings import read_studies
from similitude.study.store.database import Database, StoreError

_log = logging.getLogger("similitude.study.worker")
_PAUSE = 0.5  # seconds between two rounds; more where a round took long, so that a core stays free for the server
_REST = 1.5  # times what the last round took


def run(root: Path, url: str, worker: str, stop: threading.Event) -> None:
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


def main() -> None:
    """Read what to do from standard input, and do it until that closes."""
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
    settings = json.loads(sys.stdin.readline())
    if hasattr(os, "nice"):
        os.nice(10)
    stop = threading.Event()
    threading.Thread(target=_wait_for_end, args=(stop,), daemon=True).start()
    run(Path(settings["root"]), settings["url"], settings["worker"], stop)


def _wait_for_end(stop: threading.Event) -> None:
    """The input closes when the server ends, however it ends; then there is a moment to finish the round."""
    sys.stdin.read()
    stop.set()
    time.sleep(AFTER_FAULT)
    os._exit(1)


if __name__ == "__main__":
    main()

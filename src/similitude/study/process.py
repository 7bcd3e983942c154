"""The model process: it replays the log, keeps the models up to date, and keeps scored questions ready in the pool.

It is a process of its own, so that serving a question never waits for mathematics, and it can die at any time: all that
it writes (pool, model, curve) is derived from the log, and while it is gone random questions go on. Started by a server
(`similitude.study.supervise`), it reads one line of JSON from its standard input and ends when that closes, which it
does even when the server is killed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

from similitude.study.logs import configure

_LET_FINISH = 30.0


def main() -> None:
    """Read what to do from standard input, and do it until that closes."""
    configure()
    settings = json.loads(sys.stdin.readline())
    if hasattr(os, "nice"):
        os.nice(10)
    ctrl_break = getattr(signal, "SIGBREAK", None)
    if ctrl_break is not None:  # on Windows it reaches every process of a console; we wait for the server's word
        signal.signal(ctrl_break, signal.SIG_IGN)
    begun, stop = threading.Event(), threading.Event()
    threading.Thread(target=_wait_for_end, args=(begun, stop), daemon=True).start()
    from similitude.study.loop import tend  # takes seconds: a server that stops meanwhile is not made to wait

    begun.set()
    tend(Path(settings["root"]), settings["url"], settings["worker"], stop)


def _wait_for_end(begun: threading.Event, stop: threading.Event) -> None:
    """The input closes when the server ends, however it ends; then there is a moment to finish the round."""
    sys.stdin.read()
    stop.set()
    if begun.is_set():
        time.sleep(_LET_FINISH)
    os._exit(1)


if __name__ == "__main__":
    main()

"""The server's side of the model process: started, watched, started again; gone when the server is."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import Any

from similitude.study.site import Site
from similitude.study.store.database import StoreError
from similitude.study.webhooks import trouble_of_model

_FIRST_WAIT, _LONGEST_WAIT = 1.0, 60.0
_STEADY = 60.0  # a process that lived so long failed by accident: the waits begin anew
_LET_FINISH = 10.0


def apart(system: str = os.name) -> dict[str, Any]:
    """How a process is started so that Ctrl+C reaches the server alone, which then closes the process' input.

    That is a session of its own, or on Windows a group; there the process cannot lower its own priority either.
    """
    if system == "nt":
        flags = ("CREATE_NEW_PROCESS_GROUP", "BELOW_NORMAL_PRIORITY_CLASS")
        return {"creationflags": sum(getattr(subprocess, flag) for flag in flags)}
    return {"start_new_session": True}


class Supervisor:
    """Runs the model process of a site, and starts it again where it ends, after ever longer waits.

    Parameters
    ----------
    site : whose studies are learned
    first_wait : seconds before the first new start
    """

    def __init__(self, site: Site, first_wait: float = _FIRST_WAIT) -> None:
        self._site, self._first_wait = site, first_wait
        self._settings = {
            "root": str(site.root.resolve()),
            "url": site.database.url.render_as_string(hide_password=False),
            "worker": f"{socket.gethostname()} {os.getpid()} {secrets.token_hex(4)}",
        }
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._thread = threading.Thread(target=self._watch, name="supervisor", daemon=True)

    def start(self) -> Supervisor:
        """Start the process and watch it."""
        self._thread.start()
        return self

    @property
    def pid(self) -> int | None:
        """Number of the process; None while there is none."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def stop(self) -> None:
        """End the process; it may finish its round."""
        self._stop.set()
        with self._lock:
            process = self._process
            if process is not None:
                _close_input(process)  # which tells it to end
        if process is not None:
            try:
                process.wait(_LET_FINISH)
            except subprocess.TimeoutExpired:
                process.kill()
        self._thread.join()

    def _watch(self) -> None:
        wait = self._first_wait
        while not self._stop.is_set():
            began = time.monotonic()
            self._run_once()
            self._tell()
            wait = self._first_wait if time.monotonic() - began > _STEADY else min(2 * wait, _LONGEST_WAIT)
            self._stop.wait(wait)

    def _tell(self) -> None:
        """Let webhooks know of a process that ended although nobody wanted it to."""
        if self._stop.is_set():
            return
        now = self._site.database.clock.now()
        with suppress(StoreError), self._site.database.write() as connection:
            for service in self._site.studies.values():
                trouble_of_model(connection, service.study_id, now, "the model process ended")

    def _run_once(self) -> None:
        with self._lock:
            if self._stop.is_set():
                return
            command = [sys.executable, "-m", "similitude.study.process"]
            self._process = process = subprocess.Popen(command, stdin=subprocess.PIPE, text=True, **apart())
            assert process.stdin is not None
            try:  # by its input, not its arguments: the address of the database may hold a password
                process.stdin.write(json.dumps(self._settings) + "\n")
                process.stdin.flush()
            except OSError:  # a broken pipe, which Windows calls an invalid argument
                pass  # it ended at once; the next start comes after a wait
        process.wait()
        with self._lock:
            _close_input(process)


def _close_input(process: subprocess.Popen[str]) -> None:
    """Close the input of a process; what it has not read, because it ended, is dropped."""
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()

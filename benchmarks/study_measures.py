"""What a study server does meanwhile: how long a newcomer waits, how much memory it takes, what strangers do to it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import resource
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import sqlalchemy as sa

from benchmarks.report import Row
from benchmarks.settings import HERE
from similitude.study.store import schema
from similitude.study.web.login import SESSION_COOKIE

_GET = b"GET /api/colours/about HTTP/1.1\r\nHost: study\r\nConnection: close\r\n\r\n"
USUAL_FILES = 1024  # open files that most systems allow a service


def resident(pid: int, which: str = "VmRSS") -> float:
    """Megabytes of memory that a process holds, or with `VmHWM` has held at most."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(which)) / 1024


def children(pid: int) -> list[int]:
    """Processes that a process has started and that still run."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(status.read_text(encoding="utf-8").rpartition(")")[2].split()[1]) == pid:
                found.append(int(status.parent.name))
    return found


def held_beside(pid: int) -> float:
    """Megabytes of their own (libraries not counted) that the processes hold which a process has started."""
    held = 0.0
    for child in children(pid):
        with contextlib.suppress(OSError, StopIteration):  # it may end meanwhile
            held += resident(child, "RssAnon")
    return held


def forget_most(pid: int) -> None:
    """Count the most memory that a process has held from now on; importing takes more than serving."""
    Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="utf-8")


class Newcomer(threading.Thread):
    """Somebody who comes again and again, each time anew, and notes how long it took until the reply."""

    def __init__(self, port: int, pause: float = 0.02, patience: float = 10.0) -> None:
        super().__init__(daemon=True)
        self.port, self.pause, self.patience = port, pause, patience
        self.waits: list[float] = []
        self.failed = 0
        self._over = threading.Event()

    def run(self) -> None:
        while not self._over.wait(self.pause):
            begin = time.perf_counter()
            if self._is_served():
                self.waits.append(1000 * (time.perf_counter() - begin))
            else:
                self.failed += 1

    def _is_served(self) -> bool:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), self.patience) as one:
            one.settimeout(self.patience)
            one.sendall(_GET)
            return one.recv(65536).startswith(b"HTTP/1.1 200")
        return False

    def figures(self) -> Row:
        """Stop, and tell."""
        self._over.set()
        self.join()
        longest = max(self.waits, default=float("nan"))
        p50 = float(np.median(self.waits)) if self.waits else float("nan")
        return {"requests": len(self.waits) + self.failed, "refused": self.failed, "p50 ms": p50, "longest ms": longest}


def environment(code: Path | None) -> dict[str, str]:
    """What a process is started with that imports similitude from another checkout, and the benchmarks from here."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str((code or HERE.parent) / "src"), str(HERE.parent)])}


def fill(root: Path, url: str, answers: int, code: Path | None) -> None:
    """Fill the database of a study by the similitude of a checkout."""
    command = [sys.executable, "-m", "benchmarks.study_database", str(root), url, str(answers)]
    subprocess.run(command, check=True, env=environment(code))


def download(port: int, token: str, path: str) -> tuple[float, int]:
    """Fetch a file as an admin; seconds it took, and megabytes."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"Cookie": f"{SESSION_COOKIE}={token}"})
    begin, size = time.perf_counter(), 0
    with urllib.request.urlopen(request) as reply:
        while piece := reply.read(1 << 20):
            size += len(piece)
    return time.perf_counter() - begin, size >> 20


def let_in(url: str, token: str) -> None:
    """Make a session of an admin, straight in the database."""
    engine = sa.create_engine(url)
    row = {
        "token": hashlib.sha256(token.encode()).hexdigest(),
        "name": "ada",
        "csrf": "none",
        "expires": time.time() + 3600,
    }
    with engine.begin() as connection:
        connection.execute(sa.insert(schema.admin_session), row)
    engine.dispose()


def strangers(port: int, what: str, size: int, seconds: float) -> str:
    """Let strangers do what they do for so long, as a process of its own; what they say of it."""
    command = [sys.executable, str(HERE / "workers" / "strangers.py"), str(port), what, str(size)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        time.sleep(seconds)
        process.kill()
        return process.communicate()[0].strip() or "still at it"


@contextmanager
def usual_open_files() -> Iterator[None]:
    """Processes that are started here may open as many files as on most systems."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(USUAL_FILES, before[1]), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)

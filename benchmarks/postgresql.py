"""A PostgreSQL server of its own in a temporary folder, for the tests and benchmarks of the study."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import sqlalchemy as sa

from benchmarks.study_measures import children
from benchmarks.study_server import free_port


def program(name: str) -> str:
    """Where a program of PostgreSQL lies; empty where it is not installed."""
    folders = [*map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), os.environ.get("PATH", "")]
    return shutil.which(name, path=os.pathsep.join(folders)) or ""


def missing_program() -> str:
    """The name of a program that is not there; empty where PostgreSQL can be started."""
    return next((name for name in ("initdb", "postgres") if not program(name)), "")


_OTHERS_OUT = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


class PostgreSQL:
    """A server of its own in a temporary folder; it refuses to run as root, so root runs it as somebody else."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="similitude-pg-"))
        self.port = free_port()
        self.user = {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}
        if self.user:
            shutil.chown(self.folder, "postgres", "postgres")
        data = self.folder / "data"
        initdb, postgres = program("initdb"), program("postgres")
        options = ["-D", str(data), "-U", "study", "-A", "trust", "-E", "UTF8", "--locale=C"]
        subprocess.run([initdb, *options], check=True, capture_output=True, cwd=self.folder, **self.user)
        self.log = (self.folder / "log").open("wb")
        place = ["-D", str(data), "-p", str(self.port), "-k", "", "-h", "127.0.0.1"]
        self.command = [postgres, "-F", *place]  # the machine does not lose power here, so nothing waits for its disk
        self.made: set[int] = set()
        self.start()

    def start(self) -> None:
        """Start it, the first time or after a kill."""
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log, cwd=self.folder, **self.user)
        self._wait()

    def kill(self) -> None:
        """`kill -9` of the server and of all processes that serve connections."""
        for pid in [*children(self.process.pid), self.process.pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(30)

    def _wait(self) -> None:
        for _ in range(1500):
            if self.process.poll() is not None:
                break
            with contextlib.suppress(sa.exc.OperationalError), self._engine().connect():
                return
            time.sleep(0.1)
        raise RuntimeError((self.folder / "log").read_text(encoding="utf-8"))

    def _engine(self, name: str = "postgres") -> sa.Engine:
        return sa.create_engine(self._url(name), isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)

    def _url(self, name: str) -> str:
        return f"postgresql+psycopg://study@127.0.0.1:{self.port}/{name}"

    def fresh(self, which: int = 0) -> str:
        """The address of an empty database; one for each `which`, emptied when it is asked for again."""
        name = f"study{which}"
        if which not in self.made:
            with self._engine().connect() as connection:
                connection.execute(sa.text(f"CREATE DATABASE {name}"))
            self.made.add(which)
        with self._engine(name).connect() as connection:
            connection.execute(
                sa.text(_OTHERS_OUT)
            )  # the model process of a server that was killed ends a little later
            connection.execute(sa.text("DROP SCHEMA public CASCADE"))
            connection.execute(sa.text("CREATE SCHEMA public"))
        self.url = self._url(name).replace("+psycopg", "")
        return self.url

    def stop(self) -> None:
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(30)
        self.log.close()
        shutil.rmtree(self.folder)

"""The study server: durable answers a second and their waits, question service under thought, memory, kills.

Everything on loopback and on this machine's cores: the server, the raters' process, and the model process.
`study_load`: 50 connections that answer without a pause; an answer counts when the server says that it is durable.
`study_thought`: 200 raters who think one second, after warm-up. `study_memory`: the server's resident memory as answers
come in. `study_kills`: `kill -9` of the server under load; every acknowledged answer must be in the log, once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa

from benchmarks.postgresql import PostgreSQL, missing_program
from benchmarks.report import Row, Table
from benchmarks.settings import HERE, Settings
from benchmarks.study_measures import resident
from benchmarks.study_server import Server, answer_while_killed
from similitude.study.store import schema
from similitude.study.store.database import Database

LONG = True
LOAD = {
    "database": "", "model process": "", "connections": "d", "answers": ",d", "answers a second": ",.0f",
    "p50 ms": ".1f", "p99 ms": ".1f", "server ms an answer": ".2f",
}  # fmt: skip
THOUGHT = {"database": "", "raters": "d", "answers": ",d", "p50 ms": ".1f", "p99 ms": ".1f"}
MEMORY = {"answers": ",d", "server MB": ".0f"}
KILLS = {"database": "", "kills": "d", "acknowledged": ",d", "lost": "d", "twice": "d", "broken requests": ",d"}


def run(settings: Settings) -> Iterator[Table]:
    yield load(settings)
    yield thought(settings)
    yield memory(settings)
    yield kills(settings)


@contextmanager
def served(settings: str = "", model: bool = False, code: Path | None = None) -> Iterator[tuple[Server, Path, str]]:
    """A study of 60 colours on a server of its own, with or without its model process; of this checkout or another."""
    with tempfile.TemporaryDirectory() as folder:
        root = write_study(Path(folder) / "colours", settings)
        url = f"sqlite:///{root / 'answers.db'}"
        server = Server(root, url, model=model, code=code).wait()
        try:
            yield server, root, url
        finally:
            server.kill()


def write_study(root: Path, settings: str) -> Path:
    root.mkdir()
    names = "".join(f"c{k:02d},#{(k * 4391 + 77) % 2**24:06x}\n" for k in range(60))
    (root / "items.csv").write_text("name,colour\n" + names, encoding="utf-8")
    pages = "[pages]\nconsent = ''\ninstructions = ''"
    number = "[question]\nnumber = 50000\n" if "[question]" not in settings else ""
    (root / "study.toml").write_text(
        f"title = 'Colours'\n{number}{settings}\n[items]\ntable = 'items.csv'\n{pages}\n", encoding="utf-8"
    )
    return root


def raters(port: int, n: int, seconds: float, think: float) -> tuple[float, np.ndarray]:
    """Let a process of raters answer; seconds it took, and every wait in milliseconds."""
    command = [sys.executable, str(HERE / "workers" / "study_load.py"), f"http://127.0.0.1:{port}/colours"]
    done = subprocess.run([*command, str(n), str(seconds), str(think)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    found = json.loads(done.stdout)
    return found["seconds"], np.array(found["waits"])


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def load(settings: Settings) -> Table:
    seconds = 2.0 if settings.quick else 15.0
    note = "one server process, one process of raters, loopback"
    table = Table("study_load", "Study: durable answers at 50 connections", LOAD, note=note)
    for model in (False, True):
        with served(model=model) as (server, _, _):
            raters(server.port, 50, seconds / 5, 0)
            before = cpu_seconds(server.process.pid)
            took, waits = raters(server.port, 50, seconds, 0)
            spent = cpu_seconds(server.process.pid) - before
        table.rows.append(
            {
                "database": "SQLite", "model process": "yes" if model else "no", "connections": 50,
                "answers": len(waits), "answers a second": len(waits) / took, **_percentiles(waits),
                "server ms an answer": 1000 * spent / len(waits),
            }
        )  # fmt: skip
    return table


def _percentiles(waits: np.ndarray) -> dict[str, Any]:
    return {"p50 ms": float(np.percentile(waits, 50)), "p99 ms": float(np.percentile(waits, 99))}


def thought(settings: Settings) -> Table:
    n, seconds = (20, 3.0) if settings.quick else (200, 20.0)
    note = "the next question comes with the acknowledgement; after warm-up"
    table = Table("study_thought", "Study: raters who think one second", THOUGHT, note=note)
    with served(model=True) as (server, _, _):
        raters(server.port, n, 3.0, 1.0)
        _, waits = raters(server.port, n, seconds, 1.0)
    table.rows.append({"database": "SQLite", "raters": n, "answers": len(waits), **_percentiles(waits)})
    return table


def memory(settings: Settings) -> Table:
    most = 2000 if settings.quick else 200_000
    table = Table("study_memory", "Study: memory of the server", MEMORY, note="50 connections without a pause")
    with served() as (server, _, _):
        answers, next_row = 0, 0
        while answers < most:
            answers += len(raters(server.port, 50, 1.0 if settings.quick else 10.0, 0)[1])
            if answers >= next_row:
                table.rows.append({"answers": answers, "server MB": resident(server.process.pid)})
                next_row += most // 5
    return table


def kills(settings: Settings) -> Table:
    """On SQLite, and on PostgreSQL where it is installed."""
    times = 2 if settings.quick else 40
    table = Table("study_kills", "Study: kill -9 of the server under load", KILLS, note="20 raters who send again")
    with tempfile.TemporaryDirectory() as folder:
        root = write_study(Path(folder) / "colours", "[question]\nnumber = 200\n")
        table.rows.append(killed(root, f"sqlite:///{root / 'answers.db'}", "SQLite", times))
        if not missing_program():
            postgresql = PostgreSQL()
            try:
                table.rows.append(killed(root, postgresql.fresh(), "PostgreSQL", times))
            finally:
                postgresql.stop()
    return table


def killed(root: Path, url: str, name: str, times: int) -> Row:
    told = answer_while_killed(root, url, "colours", times, 20, 1.0)
    database = Database(url)
    with database.read() as connection:
        query = sa.select(schema.rater.c.code, schema.answer.c.number, schema.answer.c.uid).join(schema.answer)
        log = Counter(tuple(row) for row in connection.execute(query))
    database.close()
    lost = sum(log[one] == 0 for one in told.kept)
    row = {"database": name, "kills": told.kills, "acknowledged": len(told.kept), "lost": lost}
    return row | {"twice": sum(n > 1 for n in log.values()), "broken requests": told.broken}

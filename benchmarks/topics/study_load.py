"""The study server under load, this version and an earlier one in turn (`--before FOLDER`).

`study_turns`: 50 connections that answer without a pause, in turns, the best of several. `study_strangers`: a newcomer
who comes fifty times a second, while a stranger sends a header without an end, or stands in the door with half-open
connections. `study_export`: a million answers downloaded from the admin page, while 50 raters think one second each;
memory of the server, and of the process that makes the file. `study_start`: seconds until the model of a million stored
answers is there, and until all that the admin page shows is.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

from benchmarks.report import Row, Table
from benchmarks.settings import HERE, Settings
from benchmarks.study_measures import (
    Newcomer,
    download,
    environment,
    fill,
    forget_most,
    held_beside,
    let_in,
    resident,
    strangers,
    usual_open_files,
)
from benchmarks.study_server import Server
from benchmarks.topics.study import cpu_seconds, raters, served, write_study

LONG = True
STRANGERS = {
    "version": "", "stranger": "", "requests": ",d", "refused": ",d", "p50 ms": ".1f", "longest ms": ",.1f",
    "server MB": ",.0f", "stranger says": "",
}  # fmt: skip


TURNS = {
    "version": "", "model process": "", "answers a second": ",.0f", "p50 ms": ".1f", "p99 ms": ".1f",
    "server ms an answer": ".2f",
}  # fmt: skip
EXPORT = {
    "version": "", "format": "", "seconds": ".1f", "MB": ",d", "server MB before": ",.0f", "at most": ",.0f",
    "after": ",.0f", "its process MB": ",.0f", "raters' p99 ms": ".1f",
}  # fmt: skip
START = {"version": "", "answers": ",d", "model s": ".1f", "all s": ".1f", "CPU s": ".1f", "process MB": ",.0f"}


def run(settings: Settings) -> Iterator[Table]:
    yield turns(settings)
    yield at_the_door(settings)
    yield export(settings)
    yield start(settings)


def versions(settings: Settings) -> list[tuple[str, Path | None]]:
    """The checkouts to measure in turn: the earlier one where it is given, and this one."""
    earlier = [("before", Path(settings.before).resolve())] if settings.before else []
    return [*earlier, ("now", None)]


def at_the_door(settings: Settings) -> Table:
    note = "a newcomer 50 times a second for 8 s; at most 1,024 open files allowed at the start"
    table = Table("study_strangers", "Study: strangers at the door", STRANGERS, note=note)
    sizes = [("header", 2), ("crowd", 50)] if settings.quick else [("header", 60), ("header", 300), ("crowd", 1100)]
    for what, size in sizes:
        for version, code in versions(settings):
            table.rows.append({"version": version, **beside_stranger(what, size, code, 1 if settings.quick else 8)})
    return table


def beside_stranger(what: str, size: int, code: Path | None, seconds: float) -> Row:
    with ExitStack() as started:
        with usual_open_files():
            server, _, _ = started.enter_context(served(code=code))
        time.sleep(0.5)
        newcomer = Newcomer(server.port)
        newcomer.start()
        told = strangers(server.port, what, size, seconds)
        found = newcomer.figures()
        memory = resident(server.process.pid, "VmHWM") if server.process.poll() is None else None
    called = f"{size} MB of header" if what == "header" else f"{size:,} half-open"
    return {"stranger": called, **found, "server MB": memory, "stranger says": told}


def turns(settings: Settings) -> Table:
    seconds, repeats = (1.0, 1) if settings.quick else (10.0, max(settings.repeats, 3))
    note = f"50 connections, {seconds:.0f} s each, in turns; the best rate and the least waits of {repeats}"
    table = Table("study_turns", "Study: durable answers in turns with the version before", TURNS, note=note)
    for model in (False, True):
        found: dict[str, list[Row]] = {}
        for _ in range(repeats):
            for version, code in versions(settings):
                found.setdefault(version, []).append(answered(code, model, seconds))
        for version, rows in found.items():
            best = {name: min(row[name] for row in rows) for name in rows[0]}
            best["answers a second"] = max(row["answers a second"] for row in rows)
            table.rows.append({"version": version, "model process": "yes" if model else "no", **best})
    return table


def answered(code: Path | None, model: bool, seconds: float) -> Row:
    with served(model=model, code=code) as (server, _, _):
        raters(server.port, 50, seconds / 5, 0)
        before = cpu_seconds(server.process.pid)
        took, waits = raters(server.port, 50, seconds, 0)
        spent = cpu_seconds(server.process.pid) - before
    p50, p99 = (float(np.percentile(waits, share)) for share in (50, 99))
    row = {"answers a second": len(waits) / took, "p50 ms": p50, "p99 ms": p99}
    return row | {"server ms an answer": 1000 * spent / len(waits)}


@contextmanager
def filled(answers: int, code: Path | None) -> Iterator[tuple[Path, str]]:
    """A study whose database holds so many answers."""
    with tempfile.TemporaryDirectory() as folder:
        root = write_study(Path(folder) / "colours", "")
        url = f"sqlite:///{root / 'answers.db'}"
        fill(root, url, answers, code)
        yield root, url


def export(settings: Settings) -> Table:
    note = "50 raters who think one second each, meanwhile"
    table = Table("study_export", "Study: a million answers from the admin page", EXPORT, note=note)
    for version, code in versions(settings):
        with filled(5_000 if settings.quick else 1_000_000, code) as (root, url):
            let_in(url, "benchmark")
            for kind in ("csv", "jsonl", "parquet"):
                table.rows.append({"version": version, "format": kind, **downloaded(root, url, code, kind)})
    return table


def downloaded(root: Path, url: str, code: Path | None, kind: str) -> Row:
    server = Server(root, url, code=code).wait()
    try:
        raters(server.port, 50, 2.0, 1.0)
        before = resident(server.process.pid)
        forget_most(server.process.pid)
        with ThreadPoolExecutor() as beside:
            sent = beside.submit(download, server.port, "benchmark", f"/admin/colours/export?format={kind}")
            waits, beside_it = [], 0.0
            while not waits or not sent.done():
                waits.append(raters(server.port, 50, 5.0, 1.0)[1])
                beside_it = max(beside_it, held_beside(server.process.pid))
        seconds, size = sent.result()
        most, after = resident(server.process.pid, "VmHWM"), resident(server.process.pid)
    finally:
        server.kill()
    memory = {"server MB before": before, "at most": most, "after": after, "its process MB": beside_it}
    return {"seconds": seconds, "MB": size, **memory, "raters' p99 ms": float(np.percentile(np.concatenate(waits), 99))}


def start(settings: Settings) -> Table:
    note = "one model process by itself: read the log, fit, choose questions; then held-out accuracy, noise, raters"
    table = Table("study_start", "Study: the model of a million stored answers", START, note=note)
    for version, code in versions(settings):
        for n in (2_000, 5_000 if settings.quick else 1_000_000):  # the first compiles what is not compiled yet
            with filled(n, code) as (root, url):
                command = [sys.executable, str(HERE / "workers" / "study_start.py"), str(root), url]
                done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment(code))
        table.rows.append({"version": version, "answers": n, **json.loads(done.stdout)})
    return table

"""The study server under load, this version and an earlier one in turn (`--before FOLDER`).

`study_strangers`: a newcomer who comes fifty times a second, while a stranger sends a header without an end, or stands
in the door with a thousand half-open connections.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from benchmarks.report import Row, Table
from benchmarks.settings import Settings
from benchmarks.study_measures import Newcomer, resident, strangers, usual_open_files
from benchmarks.topics.study import served

LONG = True
STRANGERS = {
    "version": "", "stranger": "", "requests": ",d", "refused": ",d", "p50 ms": ".1f", "longest ms": ",.1f",
    "server MB": ",.0f", "stranger says": "",
}  # fmt: skip


def run(settings: Settings) -> Iterator[Table]:
    yield at_the_door(settings)


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

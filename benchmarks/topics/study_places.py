"""Conditions with quotas: people come to two servers, some leave, and servers and database are killed meanwhile.

`study_places`: 200 people are to finish in three conditions (quotas of 80, 70 and 50), two of them in two blocks of
different forms in balanced order. Two servers on one PostgreSQL; a fifth of those who come leave in the middle, half
of these come back when their place may be gone. `kill -9` of one server, the database, the other server, the database,
and so on, at even distances. Who finished, by condition, must be the quotas exactly, and every acknowledged answer in
the log, once.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.postgresql import PostgreSQL, missing_program
from benchmarks.report import Row, Table
from benchmarks.settings import Settings
from benchmarks.study_places import COMPLETED, as_kept, design, fill_while_killed
from benchmarks.topics.study import write_study
from similitude.study.settings import read_study
from similitude.study.store.database import Database

LONG = True
PLACES = {
    "seed": "d", "quotas": "", "finished": "", "came": ",d", "left": "d", "came back": "d", "lost the place": "d",
    "kills": "d", "acknowledged": ",d", "lost": "d", "twice": "d", "broken requests": ",d", "seconds": ".0f",
}  # fmt: skip


def run(settings: Settings) -> Iterator[Table]:
    if missing := missing_program():
        raise RuntimeError(f"PostgreSQL's {missing} is not installed")
    note = "two servers and one PostgreSQL on this machine; kill -9 of each in turn"
    table = Table("study_places", "Study: quotas while servers and database are killed", PLACES, note=note)
    people, kills, seeds = (20, 4, 1) if settings.quick else (COMPLETED, 24, 3)
    for seed in range(settings.seed, settings.seed + seeds):
        table.rows.append(filled(people, kills, seed))
    yield table


def filled(people: int, kills: int, seed: int) -> Row:
    """One run: what was wanted, what there is, and what was lost."""
    postgresql = PostgreSQL()
    try:
        with tempfile.TemporaryDirectory() as folder:
            root = write_study(Path(folder) / "colours", design(people, number=10, minutes=0.2))
            told, seconds = fill_while_killed(root, postgresql, people, 50, kills, away=20.0, seed=seed)
            quotas = {one.name: one.quota for one in read_study(root).condition}
            database = Database(postgresql.url)
            finished, _, log = as_kept(database)
            database.close()
    finally:
        postgresql.stop()
    lost = sum(log[one] == 0 for one in told.kept)
    return {
        "seed": seed, "quotas": _listed(quotas), "finished": _listed({name: finished[name] for name in quotas}),
        "came": told.came, "left": told.left, "came back": told.back, "lost the place": told.displaced,
        "kills": told.kills, "acknowledged": len(told.kept), "lost": lost, "twice": sum(n > 1 for n in log.values()),
        "broken requests": told.broken, "seconds": seconds,
    }  # fmt: skip


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())

"""Reading a million answers from CSV: a questionnaire (the odd one by name, times, a group) and triplets.

`read`: `sm.read_comparisons`, from bytes on disk to comparisons. `understood`: the same with what every command prints
before it learns. CPU seconds stand beside, since other work on the machine does not change them.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import similitude as sm
from benchmarks.report import Row, Table
from benchmarks.settings import Settings

LONG = False
COLUMNS = {"layout": "", "answers": ",d", "MB": ".0f", "read s": ".2f", "CPU s": ".2f", "understood s": ".2f"}
ITEMS, RATERS = 200, 500


def run(settings: Settings) -> Iterator[Table]:
    count = 2_000 if settings.quick else 1_000_000
    table = Table("reading", f"Reading answers from CSV, {ITEMS} items", COLUMNS, note=f"best of {settings.repeats}")
    with tempfile.TemporaryDirectory() as folder:
        for layout, write in {"a, b, c and the name of the odd one": named, "head, winner, loser": triplets}.items():
            path = Path(folder) / "answers.csv"
            write(path, count)
            table.rows.append(measured(layout, path, count, settings.repeats))
    yield table


def measured(layout: str, path: Path, count: int, repeats: int) -> Row:
    whole, cpu = timed(lambda: sm.read_comparisons(path), repeats)
    said, _ = timed(lambda: str(sm.understand(path)), repeats)
    megabytes = path.stat().st_size / 1e6
    return {"layout": layout, "answers": count, "MB": megabytes, "read s": whole, "CPU s": cpu, "understood s": said}


def timed(function: Callable[[], object], repeats: int) -> tuple[float, float]:
    """The best wall time and the best CPU time of several runs."""
    walls, cpus = [], []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        function()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return min(walls), min(cpus)


def questions(count: int) -> tuple[np.ndarray, np.random.Generator]:
    """Three different items for each question, by name."""
    rng = np.random.default_rng(21)
    first, step = rng.integers(0, ITEMS, count), np.sort(rng.integers(1, ITEMS // 2, (count, 2)), axis=1)
    step[:, 1] += ITEMS // 2 - 1
    places = np.stack([first, first + step[:, 0], first + step[:, 1]], axis=1) % ITEMS
    return np.array([f"item{k:03d}" for k in range(ITEMS)])[places], rng


def named(path: Path, count: int) -> None:
    shown, rng = questions(count)
    odd = shown[np.arange(count), rng.integers(0, 3, count)]
    rater, seconds = rng.integers(0, RATERS, count), 5 * rng.random(count)
    lines = (
        f"P{who:03d},{a},{b},{c},{which},{time_:.3f},{'young' if who % 2 else 'old'}\n"
        for who, (a, b, c), which, time_ in zip(rater, shown.tolist(), odd.tolist(), seconds, strict=True)
    )
    path.write_text("participant,Pic 1,Pic 2,Pic 3,Odd one,RT (s),Group\n" + "".join(lines), encoding="utf-8")


def triplets(path: Path, count: int) -> None:
    shown, rng = questions(count)
    lines = (
        f"{a},{b},{c},P{who:03d}\n"
        for (a, b, c), who in zip(shown.tolist(), rng.integers(0, RATERS, count), strict=True)
    )
    path.write_text("head,winner,loser,participant\n" + "".join(lines), encoding="utf-8")

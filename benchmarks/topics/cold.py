"""Cold start: import and first fit in a new process, with an empty numba cache and with a filled one."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator

from benchmarks.peers import environment, python_of
from benchmarks.problems import Problem
from benchmarks.report import Row, Table
from benchmarks.settings import Settings

LONG = False
PROBLEM = Problem(100, 10_000, 2)
COLUMNS = {
    "library": "",
    "method": "",
    "cache": "",
    "import s": ".3f",
    "first fit s": ".3f",
    "second fit s": ".3f",
    "import and first fit s": ".3f",
}

SCRIPT = """
import json, sys, time, warnings
library, method, path = sys.argv[1:]
import numpy
with numpy.load(path) as data:
    triplets = data["train"]
warnings.simplefilter("ignore")
times = [time.perf_counter()]
if library == "similitude":
    import similitude as home
else:
    from cblearn import embedding as home
times.append(time.perf_counter())
for _ in range(2):
    getattr(home, method)(n_components=2, random_state=1).fit(triplets)
    times.append(time.perf_counter())
print(json.dumps(numpy.diff(times).tolist()))
"""


def run(settings: Settings) -> Iterator[Table]:
    note = f"{settings.threads} thread(s); numpy imported before; filled: best of {settings.repeats}"
    table = Table("cold", f"Cold start, {PROBLEM}", COLUMNS, note=note)
    with tempfile.TemporaryDirectory() as folder:
        path = PROBLEM.save(folder)
        for method in settings.methods:
            with tempfile.TemporaryDirectory() as cache:
                table.rows.append(measure("similitude", method, "empty", path, cache, settings.threads))
                table.rows.append(best("similitude", method, path, cache, settings))
            table.rows.append(best("cblearn", method, path, folder, settings))
    yield table


def best(library: str, method: str, path: str, cache: str, settings: Settings) -> Row:
    request = library, method, "filled", path, cache, settings.threads
    rows = [measure(*request) for _ in range(settings.repeats)]
    return min(rows, key=lambda row: row["import and first fit s"])


def measure(library: str, method: str, state: str, path: str, cache: str, threads: int) -> Row:
    """Time one new process; `cache` is the folder for what numba compiles."""
    ran = subprocess.run(
        [python_of(library), "-c", SCRIPT, library, method, path],
        env=environment(threads) | {"NUMBA_CACHE_DIR": cache},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    imported, first, second = json.loads(ran.stdout.splitlines()[-1])
    return {
        "library": library,
        "method": method,
        "cache": state,
        "import s": imported,
        "first fit s": first,
        "second fit s": second,
        "import and first fit s": imported + first,
    }

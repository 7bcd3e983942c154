"""Cases measured with the similitude of an earlier checkout, by the same code: `measure(FOLDER, function, case)`.

`python -m benchmarks.earlier MODULE FUNCTION` is the other end, with that checkout on the path: it reads a case a line
(JSON) from its input and writes a line with what came out.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from benchmarks.report import Row
from benchmarks.settings import HERE


def measure(folder: str, function: Callable[..., Row], case: Row) -> Row:
    """Return what a function of ours gives for a case with the package of another folder."""
    worker = _worker(folder, function.__module__, function.__name__)
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(json.dumps(case) + "\n")
    worker.stdin.flush()
    found: Row = json.loads(worker.stdout.readline())
    return found


@cache
def _worker(folder: str, module: str, function: str) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(Path(folder, "src").resolve()), str(HERE.parent)])
    command = [sys.executable, "-m", "benchmarks.earlier", module, function]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen(command, text=True, env={**os.environ, "PYTHONPATH": path}, **pipes)


if __name__ == "__main__":
    scored = getattr(importlib.import_module(sys.argv[1]), sys.argv[2])
    for line in sys.stdin:
        print(json.dumps(scored(**json.loads(line)), default=float), flush=True)

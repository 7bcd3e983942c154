"""Libraries that we stand beside: an environment for each, and processes that measure inside it.

A peer lives in its own virtual environment (cblearn 0.4.0 needs numpy 1.26), which is made on first use under
`benchmarks/.environments`. Both sides are measured by the same code (`workers/serve.py`), each in a process
of its own, with the same number of threads.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from benchmarks.settings import HERE

PEERS = {"cblearn": "cblearn==0.4.0", "salmon": "salmon-triplets==1.0.3"}
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def python_of(library: str) -> str:
    """Return the interpreter that has a library, after making its environment if there is none."""
    if library == "similitude":
        return sys.executable
    folder = HERE / ".environments" / library
    installed = folder / "installed.txt"
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not installed.exists() or installed.read_text(encoding="utf-8") != PEERS[library]:
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", PEERS[library]], check=True
        )
        installed.write_text(PEERS[library], encoding="utf-8")
    return str(python)


def environment(threads: int) -> dict[str, str]:
    """Return the variables of a process that is to use so many threads, whichever library counts them."""
    return os.environ | dict.fromkeys(THREADS, str(threads))


class Worker:
    """A process that measures one library; ask it with `worker("fit", method="SOE", ...)`.

    Parameters
    ----------
    library : "similitude" or a name in `PEERS`
    threads : number of threads for everything in it
    """

    def __init__(self, library: str, threads: int) -> None:
        self.library = library
        script = HERE / "workers" / f"{library}_worker.py"
        self.process = subprocess.Popen(
            [python_of(library), script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(threads),
            text=True,
        )

    def __call__(self, operation: str, **arguments: Any) -> Any:
        request = json.dumps({"operation": operation, "arguments": arguments})
        self.process.stdin.write(request + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the {self.library} worker died during {request}")
        reply = json.loads(line)
        if "error" in reply:
            raise RuntimeError(f"the {self.library} worker failed at {request}:\n{reply['error']}")
        return reply["result"]

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *exception: object) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

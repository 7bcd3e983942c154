"""The suite on other machines, simulated on this one: other processors, thread counts, draws, and much else to do.

    python -m tests.machines                 every row of the table, one after the other
    python -m tests.machines nehalem busy    these rows
    python -m tests.machines --list          the rows
    python -m tests.machines haswell -- tests/methods -x      what follows -- goes to pytest
    SIMILITUDE_TEST_SEEDS=50 python -m tests.machines         draws 50 further on in every row

Sums come out differently in their last bits where another processor's kernels do them: OpenBLAS picks them by
OPENBLAS_CORETYPE, numpy by the instructions it finds, numba by the processor it compiles for. A row sets these, makes
sure in a process of its own that they took effect, and runs the tests; a row that this processor cannot play is said.
The rows together hold every pair of settings that could matter, and each has draws of its own; `busy` runs beside six
processes that never rest and with replies that reach a page half a second late.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from tests.rows import PYTEST, chosen_rows, summary

SAME_KERNELS = {"Zen": "Haswell"}  # some builds of OpenBLAS know the first by the name of the second


@dataclass(frozen=True)
class Machine:
    """One row: the kernels of BLAS, numpy's wide instructions, numba's processor, threads, hashes, draws, load."""

    name: str
    blas: str | None = None
    wide: bool = True
    numba: str | None = None
    threads: int = 2
    hashes: int = 0
    seeds: int = 0
    busy: int = 0

    def environment(self) -> dict[str, str]:
        """The variables that make this machine."""
        found = {
            "OPENBLAS_NUM_THREADS": str(self.threads),
            "PYTHONHASHSEED": str(self.hashes),
            "SIMILITUDE_TEST_SEEDS": str(self.seeds + int(os.environ.get("SIMILITUDE_TEST_SEEDS", "0"))),
            "SIMILITUDE_SLOW_PAGES": "500" if self.busy else "0",
        }
        if self.blas is not None:
            found["OPENBLAS_CORETYPE"] = self.blas
        if self.numba is not None:
            found["NUMBA_CPU_NAME"] = self.numba
        if not self.wide:
            found["NPY_DISABLE_CPU_FEATURES"] = " ".join(wide_instructions())
        return found


MACHINES = (
    Machine("nehalem", "Nehalem", wide=False, numba="generic", threads=1, hashes=1, seeds=1),
    Machine("sandybridge", "Sandybridge", wide=True, numba="generic", threads=2, hashes=2, seeds=2),
    Machine("haswell", "Haswell", wide=False, numba=None, threads=2, hashes=3, seeds=6),
    Machine("zen", "Zen", wide=True, numba="generic", threads=1, hashes=4, seeds=3),
    Machine("skylake", "SkylakeX", wide=True, numba=None, threads=1, hashes=5, seeds=4),
    Machine("narrow", None, wide=False, numba="generic", threads=2, hashes=6, seeds=5),
    Machine("busy", None, hashes=7, seeds=7, busy=6),
)


def wide_instructions() -> list[str]:
    """What numpy would choose by looking at the processor, beyond what it was built to need."""
    from numpy._core import _multiarray_umath as core

    return [name for name in core.__cpu_dispatch__ if core.__cpu_features__.get(name)]


def found_here() -> dict[str, object]:
    """What the settings came to, in this process."""
    import numba
    import scipy.linalg  # noqa: F401 - brings its own BLAS
    import threadpoolctl

    blas = [pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]
    return {
        "blas": sorted({pool["architecture"] for pool in blas if pool["internal_api"] == "openblas"}),
        "threads": sorted({pool["num_threads"] for pool in blas}),
        "wide": bool(wide_instructions()),
        "numba": numba.config.CPU_NAME,
    }


def not_as_wanted(machine: Machine) -> str | None:
    """What of a row did not take effect, asked of a fresh process; None where all did."""
    code = "from tests import machines; print(machines.found_here())"
    environment = os.environ | machine.environment()
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    if done.returncode:
        return done.stderr.strip().splitlines()[-1]
    found = eval(done.stdout)
    if machine.blas in SAME_KERNELS and found["blas"] == [SAME_KERNELS[machine.blas]]:
        found["blas"] = [machine.blas]
    wanted = {
        "blas": [machine.blas] if machine.blas else found["blas"],
        "threads": [machine.threads] if found["threads"] else [],
        "wide": machine.wide and bool(wide_instructions()),
        "numba": machine.numba,
    }
    wrong = [f"{key} is {found[key]}, wanted {wanted[key]}" for key in wanted if found[key] != wanted[key]]
    return "; ".join(wrong) or None


@contextlib.contextmanager
def others_at_work(count: int) -> Iterator[None]:
    """So many processes that never rest, for as long as the tests run."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def run(machine: Machine, arguments: list[str]) -> str:
    """Run the tests on a row, and say how it went."""
    print(f"\n--- {machine}", flush=True)
    if (wrong := not_as_wanted(machine)) is not None:
        return f"not to be had here: {wrong}"
    command = [sys.executable, *PYTEST, *arguments]
    began = time.monotonic()
    with others_at_work(machine.busy):
        status = subprocess.run(command, env=os.environ | machine.environment()).returncode
    return f"{'passed' if status == 0 else 'FAILED'} in {time.monotonic() - began:.0f} s"


def main() -> int:
    """Run the rows that were asked for; 0 where every one that could run passed."""
    chosen, arguments = chosen_rows("tests.machines", MACHINES)
    return summary({machine.name: run(machine, arguments) for machine in chosen})


if __name__ == "__main__":
    sys.exit(main())

"""Long runs that can be taken up where they stopped.

What each case gave is kept under `benchmarks/.progress`, in a file whose name holds a digest of the package's sources
and of the topic's: a change of either begins afresh. What does not depend on the package, a peer's fits, goes by the
digest of its own module alone.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from joblib import Parallel, delayed, parallel_config

import similitude
from benchmarks.report import Row
from benchmarks.settings import HERE


def run_cases(
    name: str, function: Callable[..., Row], cases: Sequence[Row], processes: int, *, ours: bool = True
) -> list[Row]:
    """Return case | function(**case) for each case, those already done read from the file, others added to it.

    `ours` says whether what is measured depends on the package.
    """
    path = HERE / ".progress" / f"{name}-{_digest(function, ours)}.jsonl"
    path.parent.mkdir(exist_ok=True)
    done = dict(map(json.loads, path.read_text(encoding="utf-8").splitlines())) if path.exists() else {}
    left = [case for case in cases if json.dumps(case) not in done]
    with parallel_config("loky", n_jobs=processes, inner_max_num_threads=1), path.open("a") as file:
        for case, found in Parallel(return_as="generator_unordered")(delayed(_one)(function, case) for case in left):
            key = json.dumps(case)
            done[key] = found
            file.write(json.dumps([key, found], default=float) + "\n")
            file.flush()
    return [case | done[json.dumps(case)] for case in cases]


def _one(function: Callable[..., Row], case: Row) -> tuple[Row, Row]:
    return case, function(**case)


def _digest(function: Callable[..., Row], ours: bool) -> str:
    """Digest of the function's module, what that imports from here, and the package where it is measured."""
    module = sys.modules[function.__module__]
    near = {
        own.__file__
        for own in vars(module).values()
        if getattr(own, "__name__", "").startswith("benchmarks.") and hasattr(own, "__file__")
    }
    package = Path(similitude.__file__).parent.rglob("*.py") if ours else ()
    sources = [*package, *map(Path, sorted(near | {module.__file__}))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(sources))).hexdigest()[:12]

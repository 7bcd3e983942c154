"""ERKLE's projections: an inverse that is kept beside the kernel, against Lanczos on the kernel itself (and LAPACK).

Both learn the same stream in turn, passive-aggressively with replay, so that the small eigenvalues of long use are
there. Processor time, which a busy machine leaves comparable; `difference` is the largest between the two kernels.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

import similitude as sm
from benchmarks.report import Table
from benchmarks.settings import Settings
from benchmarks.topics.online import Rows, answers
from similitude.engine import stepped_kernel
from similitude.engine.threads import one_blas_thread

LONG = False
COLUMNS = {
    "n": ",d", "answers": ",d", "passes": "d", "eigenpairs": ",d", "Lanczos ms": ".2f", "inverse ms": ".2f",
    "times faster": ".1f", "difference": ".0e",
}  # fmt: skip


def run(settings: Settings) -> Iterator[Table]:
    cases = [(150, 60, 3)] if settings.quick else [(200, 300, 5), (400, 500, 5)]
    table = Table(
        "erkle_projections", "ERKLE: milliseconds of an eigenpair", COLUMNS, note="processor time, one thread"
    )
    with sm.limit_threads(1), one_blas_thread():
        learn(answers(150, 100, 0), 150, 2, 0)  # compiled before anything is timed
        for n, count, passes in cases:
            stream = answers(n, count, 0)
            slow, fast = (learn(stream, n, passes, worth) for worth in (n + 1, 0))
            row = {"n": n, "answers": count, "passes": passes, "eigenpairs": fast[0].n_projections_}
            row |= {name: 1e3 * s / m.n_projections_ for name, (m, s) in (("Lanczos ms", slow), ("inverse ms", fast))}
            difference = float(np.abs(slow[0].kernel_ - fast[0].kernel_).max())
            table.rows.append(row | {"times faster": slow[1] / fast[1], "difference": difference})
    yield table


def learn(stream: Rows, n: int, passes: int, worth_from: int) -> tuple[sm.ERKLE, float]:
    """The model, and the seconds of processor time that it took, with the inverse from so many items on."""
    usual, stepped_kernel.WORTH_FROM = stepped_kernel.WORTH_FROM, worth_from
    try:
        start = time.process_time()
        return sm.ERKLE(n_items=n, passes=passes, random_state=0).fit(stream), time.process_time() - start
    finally:
        stepped_kernel.WORTH_FROM = usual

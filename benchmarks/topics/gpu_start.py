"""The first fit on a GPU in a new process: what torch, its CUDA context, its compilers and we take of it.

Each part is timed where it happens for the first time, one after the other, in a process of its own. None of torch's
optimizers is used: the first of them imports its compiler (`torch._dynamo`), .8 s. Triton keeps what it compiled on
disk: the first process finds an empty folder, the second what the first has left there.
Without a GPU the same is measured on torch's CPU, without Triton.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from benchmarks.peers import environment
from benchmarks.report import Table
from benchmarks.settings import Settings

LONG = False
COLUMNS = {"part": "", "empty caches s": ".2f", "filled caches s": ".2f"}

SCRIPT = """
import json, sys, time
times, started = {}, time.perf_counter()

def part(name):
    global started
    now = time.perf_counter()
    times[name] = now - started
    started = time.perf_counter()

import numpy, scipy.optimize, sklearn.base, pandas
part("numpy, scipy, scikit-learn, pandas")
import similitude as sm
c = sm.simulate(numpy.random.default_rng(0).normal(size=(200, 3)), 20_000, random_state=0)
odd = sm.simulate(numpy.random.default_rng(0).normal(size=(200, 3)), 20_000, "odd_one_out", random_state=0)
sm.STE, sm.ChoiceEmbedding
part("similitude, and answers")
import torch
part("import torch")
device = "cuda" if torch.cuda.is_available() else "torch"
there = torch.zeros(8, 8, device="cpu" if device == "torch" else device)
if device == "cuda":
    torch.cuda.synchronize()
part("CUDA context")
float((there @ there).sum()), float(torch.linalg.vector_norm(there)), there.sort()
part("first products and sums there")
if device == "cuda":
    import triton
part("import triton")
from similitude.engine.gpu import backend, comparisons, solvers, starts
if device == "cuda":
    from similitude.engine.gpu import kernel
part("our modules for it")
for word in ("first", "second"):
    sm.STE(3, device=device, random_state=0).fit(c)
    part(f"{word} fit, STE")
for word in ("first", "second"):
    sm.ChoiceEmbedding(5, device=device, random_state=0).fit(odd)
    part(f"{word} fit, ChoiceEmbedding")
print(json.dumps([device, times]))
"""


def run(settings: Settings) -> Iterator[Table]:
    with tempfile.TemporaryDirectory() as folder:
        device, empty = measure(folder, settings.threads)
        best = [measure(folder, settings.threads)[1] for _ in range(settings.repeats)]
    filled = {name: min(times[name] for times in best) for name in empty}
    note = f"on {device}; filled: best of {settings.repeats}"
    rows = [{"part": name, "empty caches s": empty[name], "filled caches s": filled[name]} for name in empty]
    total = {"part": "everything up to the first fit of STE"}
    names = list(empty)[: list(empty).index("first fit, STE") + 1]
    total |= {f"{state} caches s": sum(times[name] for name in names) for state, times in
              (("empty", empty), ("filled", filled))}  # fmt: skip
    yield Table("gpu_start", "The first fit on a GPU in a new process", COLUMNS, [*rows, total], note=note)


def measure(folder: str, threads: int) -> tuple[str, dict[str, float]]:
    """Time one new process, with what compilers keep in a folder."""
    caches = {name: os.path.join(folder, name) for name in ("NUMBA_CACHE_DIR", "TRITON_CACHE_DIR", "CUDA_CACHE_PATH")}
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment(threads) | caches, stdout=subprocess.PIPE, text=True, check=True
    )
    device, times = json.loads(ran.stdout.splitlines()[-1])
    return device, times

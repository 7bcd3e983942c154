"""A GPU that reads from disk: a folder that fits neither on the device nor in the host's memory, beside one that does.

It needs a machine with a GPU and torch, and is left out elsewhere. The memory that comparisons may take is forced down,
so that a folder of any size streams; all else is as in a fit of a folder that really is larger than memory.
"""

from __future__ import annotations

import resource
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import similitude as sm
from benchmarks.report import Row, Table
from benchmarks.settings import Settings
from benchmarks.topics.gpu import DIMENSIONS, STE, device_name, draw, has_gpu, right, timed
from similitude.engine.devices import blocks_on_device

LONG = True
ITEMS, COMPARISONS, QUICK = 100_000, 100_000_000, 1_000_000
ITERATIONS = 15
PIECE = 10_000_000
ROOMS = {"on the device": None, "half there, half read": 0.5, "read at every pass": 0.0}
COLUMNS = {
    "comparisons": "d",
    "kept": "",
    "parts read": "d",
    "a pass s": ".2f",
    "million a second": ".0f",
    "fit s": ".1f",
    "iterations": "d",
    "accuracy": ".4f",
    "truth": ".4f",
    "GPU GB": ".1f",
    "host GB so far": ".1f",
}


def run(settings: Settings) -> Iterator[Table]:
    if not has_gpu():
        print("gpu_disk: left out, there is no GPU here that torch can use")
        return
    m = QUICK if settings.quick else COMPARISONS
    title = f"A folder read to a GPU (STE, {ITEMS:,} items, {DIMENSIONS} dimensions, {ITERATIONS} iterations)"
    table = Table("gpu_disk", title, COLUMNS, note=f"{device_name()}; a pass: value and gradient, best of 2")
    with tempfile.TemporaryDirectory() as folder:
        test, known = write(f"{folder}/answers", m, settings.seed)
        dataset = sm.ComparisonDataset(f"{folder}/answers")
        size = 8.0 * m
        for kept, share in reversed(ROOMS.items()):  # memory of the host that was used is told as it grows
            row = measure(dataset, None if share is None else share * size, test, settings.seed)
            table.rows.append({"comparisons": m, "kept": kept, "truth": known} | row)
    yield table


def write(folder: str, m: int, seed: int) -> tuple[Any, float]:
    """Write answered triplets piece by piece; return some to test with, and the share that the truth has right."""
    import torch

    chance = torch.Generator(device="cuda").manual_seed(seed)
    truth = 0.5 * torch.randn((ITEMS, DIMENSIONS), device="cuda", generator=chance)
    with sm.ComparisonWriter(Path(folder), n_items=ITEMS) as writer:
        for piece, first in enumerate(range(0, m, PIECE)):
            writer.write(_triplets(truth, min(PIECE, m - first), seed + 2 + piece))
    test = _triplets(truth, 100_000, seed + 1)
    return test, right(truth.double().cpu().numpy(), test)


def _triplets(truth: Any, m: int, seed: int) -> Any:
    import torch

    near, far = draw(truth, m, seed)
    return torch.cat([near, far[:, 1:]], 1).cpu().numpy()


def measure(dataset: sm.ComparisonDataset, room: float | None, test: Any, seed: int) -> Row:
    """One pass and a fit, with so many bytes of the device's memory and none of the host's, or with what there is."""
    import torch

    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    start = np.random.default_rng(seed).normal(size=(dataset.n_items, DIMENSIONS))
    with ExitStack() as limits:
        if room is not None:
            where = "similitude.engine.gpu.comparisons"
            limits.enter_context(mock.patch(f"{where}.device_room", return_value=room))
            limits.enter_context(mock.patch(f"{where}.host_room", return_value=0.0))
        parts, a_pass = one_pass(dataset, start)
        begin = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some iterations are not meant to converge
            model = sm.STE(DIMENSIONS, device="cuda", max_iter=ITERATIONS, random_state=seed).fit(dataset)
    return {
        "parts read": parts, "a pass s": a_pass, "million a second": len(dataset) / a_pass / 1e6,
        "fit s": time.perf_counter() - begin, "iterations": model.n_iter_, "accuracy": model.score(test),
        "GPU GB": torch.cuda.max_memory_allocated() / 1e9,
        "host GB so far": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }  # fmt: skip


def one_pass(dataset: sm.ComparisonDataset, start: Any) -> tuple[int, float]:
    """How many parts are read at every pass, and the seconds of a pass."""
    graph, backend = blocks_on_device(dataset, "cuda")
    X = backend.tensor(start)
    seconds = min(timed(lambda: backend.embedding(STE, X, graph)) for _ in range(2))
    return 0 if graph.from_disk is None else dataset.n_shards - graph.from_disk, seconds

"""A GPU: one gradient of a hundred million comparisons, fused and step by step, and whole fits up to a billion.

It needs a machine with a GPU and torch, and is left out elsewhere. Answers are drawn on the device from a known truth,
with the logistic noise of STE; accuracy is that on a hundred thousand further questions, beside the truth's own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np

import similitude as sm
from benchmarks.report import Row, Table
from benchmarks.settings import Settings
from similitude.engine.backend import CPU
from similitude.engine.terms import ComparisonLoss, Formula, logistic, squared
from similitude.graph.build import SimilarityGraph

LONG = True
ITEMS, DIMENSIONS = 1_000_000, 16
GRADIENT, FITS = 100_000_000, (100_000_000, 1_000_000_000)
CHECKED = 2_000_000
STE = ComparisonLoss(Formula(squared), Formula(logistic))
STEPS = {"way": "", "comparisons": "d", "milliseconds": ".1f", "value, relative": ".1e", "gradient, relative": ".1e"}
WHOLE = {
    "comparisons": "d", "items": "d", "solver": "", "seconds": ".1f", "passes": "d",
    "accuracy": ".4f", "truth": ".4f", "GPU GB": ".1f",
}  # fmt: skip


def run(settings: Settings) -> Iterator[Table]:
    if not has_gpu():
        print("gpu: left out, there is no GPU here that torch can use")
        return
    share = 1000 if settings.quick else 1
    yield gradients(ITEMS // share, GRADIENT // share, settings)
    table = Table("gpu_fits", "Whole fits on one GPU (STE, 16 dimensions)", WHOLE, note=device_name())
    for m in FITS:
        table.rows.extend(fits(ITEMS // share, m // share, settings.seed))
    yield table


def has_gpu() -> bool:
    if find_spec("torch") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())


def device_name() -> str:
    import torch

    return f"{torch.cuda.get_device_name()}, torch {torch.__version__}"


def draw(truth: Any, m: int, seed: int) -> tuple[Any, Any]:
    """m answered triplets as near and far pairs on the device, in pieces."""
    import torch

    chance = torch.Generator(device=truth.device).manual_seed(seed)
    near, far = (torch.empty((m, 2), dtype=torch.int32, device=truth.device) for _ in range(2))
    piece = 20_000_000
    for first in range(0, m, piece):
        rows = slice(first, min(first + piece, m))
        size = rows.stop - rows.start
        q = different_items(len(truth), size, chance)
        d = [(truth[q[:, 0]] - truth[q[:, k]]).square().sum(1) for k in (1, 2)]
        first_nearer = torch.rand(size, device=truth.device, generator=chance) < torch.sigmoid(d[1] - d[0])
        j, k = torch.where(first_nearer, q[:, 1], q[:, 2]), torch.where(first_nearer, q[:, 2], q[:, 1])
        near[rows] = torch.stack([q[:, 0], j], 1).to(torch.int32)
        far[rows] = torch.stack([q[:, 0], k], 1).to(torch.int32)
    return near, far


def different_items(n: int, size: int, chance: Any) -> Any:
    """Rows of three different items."""
    import torch

    draw = {"device": chance.device, "generator": chance}
    head = torch.randint(0, n, (size,), **draw)
    one, other = torch.randint(1, n, (size,), **draw), torch.randint(1, n - 1, (size,), **draw)
    other += other >= one
    return torch.stack([head, (head + one) % n, (head + other) % n], 1)


def gradients(n: int, m: int, settings: Settings) -> Table:
    """One gradient: the kernel and plain torch, each against the CPU engine on the first comparisons."""
    import torch

    from similitude.engine.gpu.backend import TorchBackend
    from similitude.engine.gpu.comparisons import DeviceComparisons

    device = torch.device("cuda")
    X = torch.randn((n, DIMENSIONS), device=device, generator=torch.Generator(device=device).manual_seed(settings.seed))
    near, far = draw(X, m, settings.seed)
    checked = min(CHECKED, m)
    few = SimilarityGraph(n, near[:checked].cpu().numpy(), far[:checked].cpu().numpy(), np.ones(checked), False)
    value, product = CPU().embedding(STE, X.double().cpu().numpy(), few)
    some = DeviceComparisons([(near[:checked], far[:checked], None)], n, device)
    everything = DeviceComparisons([(near, far, None)], n, device)
    title = f"One gradient on a GPU: {n:,} items, {DIMENSIONS} dimensions"
    note = f"{device_name()}; best of 5; beside the CPU engine on the first {checked:,} comparisons"
    table = Table("gpu_gradient", title, STEPS, note=note)
    for way, fused in (("fused kernel", True), ("plain torch", False)):
        backend = TorchBackend(device, fused)
        found, there = backend.embedding(STE, X, some)
        off = np.abs(there.cpu().numpy() - product).max() / np.abs(product).max()
        seconds = min(timed(lambda backend=backend: backend.embedding(STE, X, everything)) for _ in range(5))
        row: Row = {"way": way, "comparisons": m, "milliseconds": 1e3 * seconds}
        table.rows.append(row | {"value, relative": abs(found / value - 1), "gradient, relative": off})
    return table


def timed(work: Any) -> float:
    import torch

    torch.cuda.synchronize()
    begin = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return time.perf_counter() - begin


def fits(n: int, m: int, seed: int) -> Iterator[Row]:
    """Whole fits through the estimator, from comparisons in the host's memory."""
    import torch

    chance = torch.Generator(device="cuda").manual_seed(seed)
    truth = 0.5 * torch.randn((n, DIMENSIONS), device="cuda", generator=chance)
    near, far = draw(truth, m, seed + 1)
    comparisons = sm.Comparisons.from_triplets(torch.cat([near, far[:, 1:]], 1).cpu().numpy(), n_items=n)
    near, far = draw(truth, 100_000, seed + 2)
    test = torch.cat([near, far[:, 1:]], 1).cpu().numpy()
    known = right(truth.double().cpu().numpy(), test)
    del near, far, truth
    for solver in ("lbfgs", "minibatch"):
        yield {"solver": solver, "truth": known} | fit(comparisons, test, solver, seed)


def fit(comparisons: sm.Comparisons, test: Any, solver: str, seed: int) -> Row:
    import torch

    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    begin = time.perf_counter()
    model = sm.STE(DIMENSIONS, device="cuda", solver=solver, random_state=seed, tol=1e-5).fit(comparisons)
    return {
        "comparisons": len(comparisons), "items": comparisons.n_items, "seconds": time.perf_counter() - begin,
        "passes": model.n_iter_, "accuracy": model.score(test), "GPU GB": torch.cuda.max_memory_allocated() / 1e9,
    }  # fmt: skip


def right(X: Any, triplets: Any) -> float:
    i, j, k = triplets.T
    return float((((X[i] - X[j]) ** 2).sum(1) < ((X[i] - X[k]) ** 2).sum(1)).mean())

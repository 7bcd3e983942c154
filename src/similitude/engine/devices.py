"""Where a fit runs: `device="auto" | "cpu" | "cuda"`. The CPU is the engine's own; anything else is torch's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from similitude.engine.backend import CPU, Backend
from similitude.engine.solvers.lbfgs import lbfgs
from similitude.engine.solvers.minibatch import minibatch
from similitude.engine.solvers.result import Result
from similitude.engine.threads import thread_count
from similitude.extras import missing, need
from similitude.feedback.columns import is_constant
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.files.dataset import ComparisonDataset, read_ahead
from similitude.graph.build import build_graph
from similitude.graph.counts import Counts, count_shards
from similitude.types import Array

# The first fit on a GPU waits 15 s for torch and its compiler, in which 16 cores fit five million comparisons; the fits
# after it take a quarter of a second.
_GPU_FROM = 5_000_000
_READ_AHEAD = 6  # shards of up to 150 MB: a GPU is through with one long before a thread has read the next

DEVICES = ("auto", "cpu", "cuda")


def choose_device(device: str, n_comparisons: int) -> str:
    """Return "cpu", or the name of a torch device; "auto" is a GPU where there is one and enough to do.

    "torch" is torch on the CPU: the reference that a GPU is compared with.
    """
    if not isinstance(device, str) or (device not in (*DEVICES, "torch") and not device.startswith("cuda:")):
        raise ValueError(f"device: expected {', '.join(repr(name) for name in DEVICES)}, found {device!r}")
    if device == "cpu":
        return "cpu"
    if device == "auto":
        return "cuda" if n_comparisons >= _GPU_FROM and _has_gpu() else "cpu"
    need("gpu", f"device={device!r}")
    if device.startswith("cuda") and not _has_gpu():
        raise ValueError(f"device: {device!r} needs a GPU that torch can use, and there is none; use device='cpu'")
    return device


def _has_gpu() -> bool:
    if missing("gpu"):
        return False
    import torch

    return bool(torch.cuda.is_available())


def on_device(comparisons: Comparisons, device: str) -> tuple[Any, Any]:
    """Comparisons as a device keeps them, those of weight 0 left out, and the device's functions."""
    if device == "cpu":
        return build_graph(comparisons), CPU()
    near, far, weight = _counting(comparisons.near, comparisons.far, comparisons.weight)
    same = is_constant(weight) and weight[0] == 1
    return _there([(near, far, None if same else weight)], comparisons.n_items, device)


def blocks_on_device(dataset: ComparisonDataset, device: str) -> tuple[Any, Any]:
    """The comparisons of a folder on a device, read block by block.

    What does not fit there stays with the host, and what does not fit there either is read again at every pass.
    """
    source = _Folder(dataset)
    graph, backend = _there(source.chunks(0), dataset.n_items, device, source)
    if not len(graph):
        raise ValueError("comparisons: there are none to learn from (all have weight 0)")
    return graph, backend


@dataclass(frozen=True, eq=False)
class _Folder:
    """A folder as a source of chunks, comparisons of weight 0 left out; several are read ahead, each on a thread."""

    dataset: ComparisonDataset

    def chunks(self, first: int) -> Iterator[Any]:
        """Give the chunks from a shard on."""
        return read_ahead(self._chunk, range(first, self.dataset.n_shards), min(thread_count(), _READ_AHEAD))

    def _chunk(self, shard: int) -> Any:
        block = self.dataset.read(shard)
        near, far, weight = _counting(block.near, block.far, block.weight)
        return near, far, None if (weight == 1).all() else weight

    def counts(self) -> Counts:
        """Count the folder in one pass."""
        return count_shards(self.dataset)


def _counting(near: Array, far: Array, weight: Array) -> tuple[Array, Array, Array]:
    """The comparisons that have a weight."""
    if (weight > 0).all():
        return near, far, weight
    kept = np.flatnonzero(weight > 0)
    return near[kept], far[kept], weight[kept]


def backend_on(device: str) -> Any:
    """The functions of a device, by the name that `choose_device` gave it."""
    if device == "cpu":
        return CPU()
    import torch

    from similitude.engine.gpu.backend import TorchBackend

    return TorchBackend(torch.device("cpu" if device == "torch" else device))


def _there(chunks: Iterable[Any], n_items: int, device: str, source: Any = None) -> tuple[Any, Any]:
    from similitude.engine.gpu.comparisons import DeviceComparisons

    backend = backend_on(device)
    return DeviceComparisons(chunks, n_items, backend.device, source), backend


def solvers_of(backend: Backend) -> tuple[Callable[..., Result], Callable[..., Result]]:
    """L-BFGS and minibatches, where their state stays on the backend's device."""
    if isinstance(backend, CPU):
        return lbfgs, minibatch
    from similitude.engine.gpu import solvers

    return solvers.lbfgs, solvers.minibatch

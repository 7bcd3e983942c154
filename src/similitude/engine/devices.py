"""Where a fit runs: `device="auto" | "cpu" | "cuda"`. The CPU is the engine's own; anything else is torch's."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from similitude.engine.backend import CPU, Backend
from similitude.engine.solvers.lbfgs import lbfgs
from similitude.engine.solvers.minibatch import minibatch
from similitude.engine.solvers.result import Result
from similitude.feedback.columns import is_constant
from similitude.feedback.comparisons import Comparisons
from similitude.graph.build import build_graph

# Below this a CPU is done before a GPU has its data (benchmarks/README.md, gpu).
_GPU_FROM = 2_000_000

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
    if find_spec("torch") is None:
        raise ValueError(f"device: {device!r} needs torch; install it with: pip install 'similitude[gpu]'")
    if device.startswith("cuda") and not _has_gpu():
        raise ValueError(f"device: {device!r} needs a GPU that torch can use, and there is none; use device='cpu'")
    return device


def _has_gpu() -> bool:
    if find_spec("torch") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())


def on_device(comparisons: Comparisons, device: str) -> tuple[Any, Any]:
    """Comparisons as a device keeps them, those of weight 0 left out, and the device's functions."""
    if device == "cpu":
        return build_graph(comparisons), CPU()
    import torch

    from similitude.engine.gpu.backend import TorchBackend
    from similitude.engine.gpu.comparisons import DeviceComparisons

    there = torch.device("cpu" if device == "torch" else device)
    near, far, weight = comparisons.near, comparisons.far, comparisons.weight
    if (weight == 0).any():
        kept = np.flatnonzero(weight > 0)
        near, far, weight = near[kept], far[kept], weight[kept]
    same = is_constant(weight) and weight[0] == 1
    return DeviceComparisons([(near, far, None if same else weight)], comparisons.n_items, there), TorchBackend(there)


def solvers_of(backend: Backend) -> tuple[Callable[..., Result], Callable[..., Result]]:
    """L-BFGS and minibatches, where their state stays on the backend's device."""
    if isinstance(backend, CPU):
        return lbfgs, minibatch
    from similitude.engine.gpu import solvers

    return solvers.lbfgs, solvers.minibatch

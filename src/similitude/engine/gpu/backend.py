"""The functions of the engine's seam on a device of PyTorch's.

On a GPU with Triton positions go through the fused kernel; elsewhere, and for other models, through torch in blocks of
rows. Numbers are 32-bit on a GPU and 64-bit on a CPU; sums of losses are 64-bit everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from similitude.engine.gpu import choices
from similitude.engine.gpu.comparisons import DeviceComparisons, Part
from similitude.engine.gpu.formulas import evaluate
from similitude.engine.terms import ComparisonLoss, Formula
from similitude.types import Floats

_ROWS = 1 << 22
_TABLE = 1 << 28  # entries of the largest table of all pairs
_WORTH = 64  # a table of so many entries for each pair is quicker than gathered rows of it


class TorchBackend:
    """Squared distances, losses, Laplacian products, and all in one pass, on tensors.

    Parameters
    ----------
    device : of torch
    fused : whether positions go through the Triton kernel; None is wherever there is one
    """

    def __init__(self, device: torch.device, fused: bool | None = None) -> None:
        self.device = device
        self.fused = (device.type == "cuda" and _has_triton()) if fused is None else fused

    def sqdist(self, X: torch.Tensor, pairs: torch.Tensor) -> torch.Tensor:
        """Squared distance of each pair."""
        out = X.new_empty(len(pairs))
        for rows in _blocks(len(pairs)):
            i, j = pairs[rows].long().T
            out[rows] = (X[i] - X[j]).square().sum(1)
        return out

    def losses(self, loss: ComparisonLoss, d2: torch.Tensor, graph: Any) -> tuple[float, torch.Tensor]:
        """Weighted mean loss, and its derivative by the squared distance of each pair."""
        near, far, weight = self.indices(graph.near).long(), self.indices(graph.far).long(), self.tensor(graph.weight)
        level, slope = evaluate(loss.scale, d2)
        value, steep = evaluate(loss.shape, level[far] - level[near])
        pull = torch.zeros_like(d2).index_add_(0, far, weight * steep).index_add_(0, near, -weight * steep)
        total = weight.sum(dtype=torch.float64)
        return float((weight * value).sum(dtype=torch.float64) / total), pull * slope / total.to(d2.dtype)

    def laplacian(self, X: torch.Tensor, pairs: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        """The product L X."""
        out = torch.zeros_like(X)
        for rows in _blocks(len(pairs)):
            i, j = pairs[rows].long().T
            step = w[rows, None] * (X[i] - X[j])
            out.index_add_(0, i, step).index_add_(0, j, -step)
        return out

    def embedding(self, loss: ComparisonLoss, X: torch.Tensor, graph: DeviceComparisons) -> tuple[float, torch.Tensor]:
        """Weighted mean loss of positions X and L X for its derivatives w."""
        X = self.tensor(X)
        out = torch.zeros_like(X)
        value = torch.zeros((), dtype=torch.float64, device=self.device)
        for part in graph.parts():
            value += self.add(loss, X, part, out)  # no number is asked for, so that the device need not be waited for
        return float(value) / graph.total_weight, out / graph.total_weight

    def add(self, loss: ComparisonLoss, X: torch.Tensor, part: Part, out: torch.Tensor) -> torch.Tensor:
        """Add L X of some comparisons to `out`; return the sum of their weighted losses, left on the device."""
        if self.fused:
            from similitude.engine.gpu import kernel

            return kernel.embedding(loss, X, part, out)
        part = part.alone()
        items = part.items()
        return torch.stack([_eager(loss, X, items, part.weight, rows, out) for rows in _blocks(len(part))]).sum()

    def products(self, X: torch.Tensor, pairs: torch.Tensor) -> torch.Tensor:
        """Dot product of each pair: out of the table of all, where pairs are many."""
        if _as_table(len(X), len(pairs)):
            return (X @ X.T).view(-1)[_codes(pairs, len(X))]
        out = X.new_empty(len(pairs))
        for rows in _blocks(len(pairs)):
            i, j = pairs[rows].long().T
            out[rows] = (X[i] * X[j]).sum(1)
        return out

    def adjacency(self, X: torch.Tensor, pairs: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        """The product A X: of a matrix, where pairs are many."""
        if _as_table(len(X), len(pairs)):
            half = X.new_zeros(len(X) * len(X)).index_add_(0, _codes(pairs, len(X)), w).view(len(X), -1)
            return half @ X + half.T @ X
        out = torch.zeros_like(X)
        for rows in _blocks(len(pairs)):
            i, j = pairs[rows].long().T
            out.index_add_(0, i, w[rows, None] * X[j]).index_add_(0, j, w[rows, None] * X[i])
        return out

    def choices(
        self, scale: Formula, d2: torch.Tensor, sets: Sequence[Any], sources: Sequence[torch.Tensor]
    ) -> tuple[float, torch.Tensor, torch.Tensor]:
        """Losses of choices, and their derivatives."""
        level, slope = evaluate(scale, d2)
        value = torch.zeros((), dtype=torch.float64, device=self.device)
        pull, by_source = torch.zeros_like(d2), d2.new_zeros(3, len(sources[0]))
        for one in sets:
            value += choices.add(one, level, sources, pull, by_source)
        return float(value), pull * slope, by_source

    def indices(self, pairs: Any) -> torch.Tensor:
        """Items as a tensor on the device."""
        return torch.as_tensor(pairs).to(self.device)

    def tensor(self, X: Any) -> torch.Tensor:
        """Numbers as a tensor on the device, in its precision."""
        return torch.as_tensor(X).to(self.device, torch.float32 if self.device.type == "cuda" else torch.float64)

    def host(self, numbers: Any) -> Floats:
        """Numbers of the device as an array of the host."""
        return torch.as_tensor(numbers).cpu().numpy().astype(float)


def _eager(
    loss: ComparisonLoss,
    X: torch.Tensor,
    items: Sequence[torch.Tensor],
    weight: torch.Tensor | None,
    rows: slice,
    out: torch.Tensor,
) -> torch.Tensor:
    """The fused kernel's work for some rows, step by step."""
    i, j, k, l = (column[rows].long() for column in items)
    a, b = X[i] - X[j], X[k] - X[l]
    level_near, slope_near = evaluate(loss.scale, a.square().sum(1))
    level_far, slope_far = evaluate(loss.scale, b.square().sum(1))
    value, steep = evaluate(loss.shape, level_far - level_near)
    if weight is not None:
        value, steep = value * weight[rows], steep * weight[rows]
    a, b = a * (-steep * slope_near)[:, None], b * (steep * slope_far)[:, None]
    for item, pull in ((i, a), (j, -a), (k, b), (l, -b)):
        out.index_add_(0, item, pull.to(out.dtype))
    return value.sum(dtype=torch.float64)


def _as_table(n_items: int, n_pairs: int) -> bool:
    return n_items * n_items <= min(_TABLE, _WORTH * n_pairs)


def _codes(pairs: torch.Tensor, n_items: int) -> torch.Tensor:
    """Where pairs stand in a table of all."""
    i, j = pairs.long().T
    return i * n_items + j


def _blocks(rows: int) -> list[slice]:
    return [slice(first, min(first + _ROWS, rows)) for first in range(0, rows, _ROWS)]


def _has_triton() -> bool:
    try:
        import triton  # noqa: F401
    except ImportError:
        return False
    return True

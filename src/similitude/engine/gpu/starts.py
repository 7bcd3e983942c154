"""A spectral start on the device: the leading eigenvectors of the vote matrix, by iterating a block of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from similitude.engine.gpu.backend import TorchBackend
from similitude.engine.gpu.comparisons import DeviceComparisons
from similitude.engine.terms import ComparisonLoss, Formula, squared
from similitude.types import Floats

_ITERATIONS = 30


def minus(m: Any, _: float) -> tuple[Any, Any, Any]:
    """shape(m) = -m, whose slopes are the votes themselves: L is then that of the vote matrix."""
    return -m, -1.0 + 0.0 * m, 0.0 * m


def spectral_positions(
    graph: DeviceComparisons, backend: TorchBackend, n_components: int, rng: np.random.Generator
) -> Floats:
    """Positions from the leading eigenvectors of the normalised vote matrix, as `engine.starts.spectral_positions`.

    A X = B X - L X, where B holds the sums of A's rows and L is the Laplacian of the votes, which the engine's pass
    gives. The block is iterated with D^-1 A D^-1 + s, s its largest eigenvalue in size, so that the leading ones are
    the largest, not the most negative.
    """
    total, balance = graph.votes()
    mean = float(total.mean())
    inverse = backend.tensor(1.0 / torch.sqrt(total / mean + 1.0 / max(mean, 1.0)))[:, None]
    balance = backend.tensor(balance)[:, None]
    votes = ComparisonLoss(Formula(squared), Formula(minus))

    def product(X: torch.Tensor) -> torch.Tensor:
        Y = (inverse * X).contiguous()  # a QR on a GPU gives its columns one after the other
        out = torch.zeros_like(Y)
        for part in graph.parts():
            backend.add(votes, Y, part, out)
        return inverse * (balance * Y - out)

    V, _ = torch.linalg.qr(backend.tensor(rng.normal(size=(graph.n_items, n_components))))
    largest = torch.zeros((), device=graph.device)
    for _ in range(_ITERATIONS):
        W = product(V)
        largest = torch.maximum(largest, torch.linalg.norm(W, dim=0).max())
        V, _ = torch.linalg.qr(W + largest * V)
    values, turn = torch.linalg.eigh(V.T @ product(V))
    X = inverse * (V @ turn.flip(1)) * values.flip(0).clamp(min=0.0).sqrt()
    compared = torch.as_tensor(graph.occurrences > 0, device=graph.device)
    X -= X[compared].mean(0)
    spread = float(X[compared].square().sum(1).mean().sqrt())
    found: Floats = (X / spread if spread > 0 else X).double().cpu().numpy()
    empty = (found**2).sum(0) < 1e-12
    found[:, empty] = 0.1 * rng.normal(size=(graph.n_items, int(empty.sum())))
    return found * (graph.occurrences > 0)[:, None]

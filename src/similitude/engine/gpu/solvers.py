"""Solvers whose state stays on the device: L-BFGS over all comparisons, and Adam over parts of them."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import torch

from similitude.engine.comparison_terms import compared
from similitude.engine.gpu.backend import TorchBackend
from similitude.engine.gpu.comparisons import DeviceComparisons, Part
from similitude.engine.gpu.descent import descend
from similitude.engine.problem import Problem
from similitude.engine.solvers.lbfgs import NEEDS
from similitude.engine.solvers.minibatch import free_positions
from similitude.engine.solvers.result import Callback, Result
from similitude.types import Floats


def lbfgs(
    problem: Problem,
    start: Floats,
    *,
    max_iter: int = 500,
    tol: float = 1e-6,
    memory: int = 12,
    units: Floats | float = 1.0,
    callback: Callback | None = None,
) -> Result:
    """Minimise a problem smooth inside its penalty's bounds, until iterations gain less than tol of the objective.

    `units` are what parameters are counted in, one each or one for all.
    """
    NEEDS.check(problem)
    backend = problem.backend
    assert isinstance(backend, TorchBackend)
    unit = backend.tensor(np.asarray(units))
    there = (lambda params: params) if problem.on_device else backend.host  # with terms beside: the host's

    def evaluate(counted: torch.Tensor) -> tuple[float, torch.Tensor]:
        with torch.no_grad():
            value, gradient = problem.value_and_gradient(there(counted * unit))
            return value, backend.tensor(gradient) * unit

    x, bound = backend.tensor(np.ascontiguousarray(start).ravel()) / unit, problem.penalty.lower
    lower = backend.tensor(np.broadcast_to(bound, x.shape).copy()) / unit if np.isfinite(bound).any() else None
    x, status, seen, evaluations = descend(
        evaluate, x, lower, max_iter=max_iter, tol=tol, memory=memory, callback=callback
    )
    params = x * unit
    return Result(backend.host(params), problem.value(there(params)), status, seen, evaluations, f"on {backend.device}")


def minibatch(
    problem: Problem,
    start: Floats,
    *,
    epochs: int = 20,
    steps: int = 100,
    rate: float = 0.05,
    random_state: int | np.random.Generator | None = None,
    callback: Callback | None = None,
) -> Result:
    """Adam over free positions with a ridge: each step sees the comparisons of some heads, drawn anew in each epoch.

    A batch is a share of the segments of one part, so that comparisons which are streamed are copied once in an epoch.
    `steps` are those of an epoch, whatever the size of the data; the largest step falls as a half cosine.
    """
    backend, term = problem.backend, compared(problem, "minibatch")
    graph = term.graph
    model, ridge = free_positions(problem)
    assert isinstance(backend, TorchBackend)
    assert isinstance(graph, DeviceComparisons)
    X = backend.tensor(np.asarray(start).reshape(model.shape)).clone()
    optimizer = torch.optim.Adam([X], lr=rate, betas=(0.9, 0.999), eps=1e-12)
    planned = epochs * steps
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda k: 0.5 + 0.5 * math.cos(math.pi * min(k / planned, 1.0))
    )
    chance = torch.Generator(device=graph.device)
    chance.manual_seed(int(np.random.default_rng(random_state).integers(2**62)))
    for epoch in range(1, epochs + 1):
        total = torch.zeros((), dtype=torch.float64, device=graph.device)
        for batch in batches(graph, steps, chance):
            out = torch.zeros_like(X)
            weight = batch.total_weight
            total += backend.add(term.loss, X, batch, out)
            X.grad = 2.0 * (out / weight + ridge.rate * X)
            optimizer.step()
            schedule.step()
        if callback is not None:
            callback(epoch, float(total) / graph.total_weight + ridge.value(X.ravel()))
    params = X.ravel()
    value = problem.value(params)
    return Result(backend.host(params), value, "planned", epochs, epochs, f"{epochs} passes on {backend.device}")


def batches(graph: DeviceComparisons, steps: int, chance: torch.Generator) -> Iterator[Part]:
    """All comparisons once, in about so many batches of random heads."""
    for part in graph.parts():
        order = torch.randperm(len(part.head), generator=chance, device=graph.device)
        here = max(1, round(steps * len(part) / len(graph)))
        for chosen in order.tensor_split(min(here, len(order))):
            yield part.segments(chosen)

"""Solvers whose state stays on the device: torch's L-BFGS over all comparisons, and Adam over parts of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from similitude.engine.comparison_terms import compared
from similitude.engine.gpu.backend import TorchBackend
from similitude.engine.gpu.bounded import descend
from similitude.engine.gpu.comparisons import DeviceComparisons, Part
from similitude.engine.problem import Problem
from similitude.engine.solvers.lbfgs import NEEDS
from similitude.engine.solvers.minibatch import free_positions
from similitude.engine.solvers.result import Callback, Result
from similitude.types import Floats

_ITERATIONS_PER_LOOK = 5


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
    """Minimise a smooth problem, until an iteration gains less than tol of the objective, looked at every few.

    `units` are what parameters are counted in, one each or one for all. Within bounds the steps are those of
    `engine.gpu.bounded`, where convergence is looked at in every iteration.
    """
    NEEDS.check(problem)
    backend = problem.backend
    assert isinstance(backend, TorchBackend)
    unit = backend.tensor(np.asarray(units))
    if np.isfinite(problem.penalty.lower).any():
        return _bounded(problem, start, unit, backend, max_iter=max_iter, tol=tol, memory=memory, callback=callback)
    x = (backend.tensor(np.ascontiguousarray(start).ravel()) / unit).requires_grad_()
    # torch's own tests of convergence are off: each would wait for the device in every iteration, as does a look here.
    optimizer = torch.optim.LBFGS(
        [x], max_iter=_ITERATIONS_PER_LOOK, max_eval=20 * _ITERATIONS_PER_LOOK, history_size=memory,
        tolerance_grad=0.0, tolerance_change=0.0, line_search_fn="strong_wolfe",
    )  # fmt: skip
    there = (lambda params: params) if problem.on_device else backend.host  # with terms beside: the host's
    evaluations = 0

    def closure() -> float:
        nonlocal evaluations
        evaluations += 1
        with torch.no_grad():
            value, gradient = problem.value_and_gradient(there(x.detach() * unit))
            x.grad = backend.tensor(gradient) * unit
        return value

    seen, value, status = 0, np.inf, "max_iter"
    while seen < max_iter:
        before, value = value, float(optimizer.step(closure))  # of the point where the step began
        seen += _ITERATIONS_PER_LOOK
        if callback is not None:
            callback(seen, value)
        if before - value <= tol * _ITERATIONS_PER_LOOK * max(abs(before), abs(value), 1e-12) and np.isfinite(before):
            status = "converged"
            break
    params = x.detach() * unit
    return Result(backend.host(params), problem.value(there(params)), status, seen, evaluations, f"on {backend.device}")


def _bounded(problem: Problem, start: Floats, unit: torch.Tensor, backend: TorchBackend, **settings: Any) -> Result:
    """The same within lower bounds."""
    there = (lambda params: params) if problem.on_device else backend.host

    def evaluate(counted: torch.Tensor) -> tuple[float, torch.Tensor]:
        with torch.no_grad():
            value, gradient = problem.value_and_gradient(there(counted * unit))
            return value, backend.tensor(gradient) * unit

    x = backend.tensor(np.ascontiguousarray(start).ravel()) / unit
    lower = backend.tensor(np.broadcast_to(problem.penalty.lower, x.shape).copy()) / unit
    x, status, seen, evaluations = descend(evaluate, x, lower, **settings)
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

"""The least parameters that meet every margin, by active sets: hard margins of a linear model with a ridge.

    min |p|²   subject to   z_t' p >= 1 for every comparison t

Lawson & Hanson (1974, chapter 23) reduce it to least squares with u >= 0: with E = [Z'; h'] over rows of length 1,
h_t = 1 / |z_t|, the residual r of min |E u - e| (e the last unit vector) gives p = -r[:-1] / r[-1], and where r = 0 no
p meets them all: u is then a sum of comparisons that cancels. Chains of ranks have margins whose sizes differ by many
orders: first-order methods crawl there and cannot tell "not yet" from "never", whereas active sets end. A second pass
with h rescaled by |p| keeps the digits; the equations of the active set, solved once more, restore the margins.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import linalg, optimize

from similitude.engine.backend import CPU
from similitude.engine.problem import Problem
from similitude.engine.solvers.certificate import Certificate, Certified
from similitude.engine.solvers.convex import Convex, Point
from similitude.engine.solvers.result import Callback
from similitude.engine.threads import one_blas_thread
from similitude.types import Floats

_MOST_NUMBERS = 10_000_000  # of Z: 80 MB
_PASSES = 3
_LEAST = 1e-300
_ROUNDING = float(np.finfo(float).eps)


def fits(problem: Problem) -> bool:
    """Whether Z of a problem over comparisons is small enough to be written down."""
    return problem.model.size * len(problem.terms[0].graph) <= _MOST_NUMBERS  # type: ignore[attr-defined]


def least_norm(
    problem: Problem, *, most: float = np.inf, tol: float = 1e-3, callback: Callback | None = None
) -> Certified[Point]:
    """Minimise a ridge over parameters that meet every margin; "stalled" where rounding leaves the proof open.

    Parameters
    ----------
    problem : comparisons, a model that is linear in its parameters, and a ridge; see `fits`
    most : give up when every point that meets the margins is proven to cost more
    tol : stop at a gap of this share of the objective
    callback : called with the number of passes so far and the objective
    """
    convex = Convex(problem, hard=True)
    proof = Certificate(convex.zero(), tol, callback, lower=0.0, most=most)
    with one_blas_thread():
        return proof.over(_passes(convex, proof))


def _passes(convex: Convex, proof: Certificate[Point]) -> Iterator[float]:
    """Least squares, then again at the scale of what was found; a bound for each pass."""
    Z = _design(convex)
    size = np.linalg.norm(Z, axis=1)
    unit, scale = Z / size[:, None], 1.0
    short = np.linalg.qr(unit.T, mode="r") if Z.shape[1] > len(Z) else unit.T  # u is the same, and so are lengths
    for _ in range(_PASSES):
        E = np.vstack([short, scale / size])
        u = optimize.nnls(E, np.eye(1, len(E), len(E) - 1)[0], maxiter=30 * E.shape[1])[0]
        proof.count(1, "stalled")
        left = max(1.0 - scale * float((u / size).sum()), _ROUNDING)  # nothing but rounding where no p meets them all
        found, active = unit.T @ u / left, u > 0
        for params in (found, linalg.lstsq(Z[active], np.ones(active.sum()))[0]):
            point = Point((params,))
            proof.offer(*convex.valued(point, convex.sqdist(point)))
        yield convex.bound(convex.zero(), convex.term, u / size).lower
        scale /= max(float(np.linalg.norm(found)), _LEAST)


def _design(convex: Convex) -> Floats:
    """(m, size) rows z_t: margins are linear in the parameters, so a column is what a unit of one parameter gives."""
    model, graph = convex.blocks[0].model, convex.graph
    columns = np.empty((model.size, len(graph)))
    for k, unit in enumerate(np.eye(model.size)):
        d2 = model.sqdist(unit, graph.pairs, CPU())
        columns[k] = d2[graph.far] - d2[graph.near]
    return columns.T

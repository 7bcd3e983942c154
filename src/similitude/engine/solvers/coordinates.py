"""The dual of a hinge with a ridge, a coordinate at a time: for features of any number and some thousand pairs.

    max over 0 <= a of   sum(a) - rate · |p(a)|²,   p(a) = Z'a / (2 rate),   a_t <= w_t / W (soft), or no cap (hard)

is the support vector problem of ranking pairs. Given the kernel matrix over distinct pairs, the function's value on
every pair is kept, so that looking at a comparison costs nothing and moving its a_t costs one row. For many comparisons
of few features `solvers.rounds` is quicker: there a pass costs no more than the distances of all pairs.

Since Σ a <= Σ a_t margin_t = (Z'a)'p <= |Z'a| |p| for any p that meets every margin, such a p is at least
sum(a) / |Z'a| long: where that has no end, no p meets them all.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from similitude.engine.comparison_terms import Hinges, pulled
from similitude.engine.problem import Problem
from similitude.engine.solvers.blocks import Ridged
from similitude.engine.solvers.certificate import Certificate, Certified
from similitude.engine.solvers.convex import Convex, Point, lower_bound
from similitude.engine.solvers.result import Callback
from similitude.engine.terms import hinge
from similitude.types import Floats

_SWEEPS = 10  # between two looks at the gap


def coordinate_descent(
    problem: Problem,
    gram: Floats,
    *,
    hard: bool = False,
    most: float = np.inf,
    max_iter: int = 1000,
    tol: float = 1e-3,
    callback: Callback | None = None,
) -> Certified[Point]:
    """Minimise a hinge with a ridge over a model that is linear in its parameters.

    Parameters
    ----------
    problem : comparisons over distinct pairs, with a hinge, a linear model and a ridge
    gram : (P, P) kernel over those pairs
    hard, most, tol, callback : as for `solvers.rounds.certified`
    max_iter : most sweeps, in tens
    """
    convex = Convex(problem, hard)
    ridged = convex.blocks[0]
    if len(convex.blocks) > 1 or not isinstance(ridged, Ridged) or convex.loss.shape.expression is not hinge:
        raise TypeError("coordinate_descent needs a hinge and a ridge; use certified")
    proof = Certificate(np.zeros(len(convex.graph)), tol, callback, lower=0.0, most=most)
    found = proof.over(_sweeps(convex, ridged.penalty.rate, gram, proof, max_iter))
    params = ridged.best(convex.graph.pairs, -pulled(convex.graph, found.point))
    return Certified(Point((params,)), found.value, found.lower, found.status, found.n_iter)


def _sweeps(convex: Convex, rate: float, gram: Floats, proof: Certificate[Floats], max_iter: int) -> Iterator[float]:
    """Go over all multipliers ten times, in random order; a bound for each ten."""
    from similitude.engine import compiled

    graph, scale, rng = convex.graph, 0.5 / rate, np.random.default_rng(0)
    a, values = np.zeros(len(graph)), np.zeros(len(gram))
    hinges = Hinges.around(graph, a, 1.0, convex.hard)
    for _ in range(max_iter):
        for _ in range(_SWEEPS):
            order = rng.permutation(len(graph))
            compiled.coordinate_sweep(gram, graph.near, graph.far, hinges.caps, scale, order, a, values)
        pull = pulled(graph, a)
        values = scale * (gram @ pull)  # afresh: rounding adds up
        cost, growth = 0.5 * float(pull @ values), convex.growth(values)
        proof.count(_SWEEPS)
        if np.isfinite(growth):
            proof.offer(growth * a, convex.mean_loss(values) + growth**2 * cost)
        yield lower_bound(hinges, a, np.inf if convex.hard else 1.0, cost)

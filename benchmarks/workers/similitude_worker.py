"""similitude as its users call it: default parameters."""

from __future__ import annotations

import sys

from serve import serve

import similitude as sm
from similitude.active.head_gain import CrowdKernelGain
from similitude.active.posterior import Posterior
from similitude.active.scores import InformationGain
from similitude.engine.comparison_terms import Compared
from similitude.engine.models import Positions
from similitude.engine.penalties import Ridge
from similitude.engine.problem import Problem
from similitude.graph.build import build_graph

# With these, the objectives are cblearn's (ours differ by default, where that fits better).
SAME_LOSS = {"SOE": {"delta": 0.1}, "CKL": {"mu": 1e-9}}


def fit(method, triplets, n, d, seed, **parameters):
    estimator = getattr(sm, method)(n_components=d, n_items=n, random_state=seed, **parameters)
    estimator.fit(triplets)
    return estimator.embedding_, estimator.n_iter_


def objective(method, triplets, n, d):
    """Return what our solvers are given."""
    graph = build_graph(sm.Comparisons.from_triplets(triplets, n_items=n))
    loss = getattr(sm, method)(n_components=d, **SAME_LOSS.get(method, {})).comparison_loss()
    problem = Problem(Positions(n, d), Compared(graph, loss), Ridge(0.0, n))
    return lambda position: problem.value_and_gradient(position.ravel())


def scorer(embedding, history, strategy):
    """Return a function that scores rows (head, b, c) by a t-STE of one degree of freedom, which is salmon's model."""
    similarity = sm.Similarity(embedding, sm.TSTE(embedding.shape[1], alpha=1.0).comparison_loss())
    asked = sm.Comparisons.from_triplets(history, n_items=len(embedding))
    found = {
        "information_gain": lambda: InformationGain(Posterior.of(similarity, asked)),
        "ackl": lambda: CrowdKernelGain(similarity, asked),
    }[strategy]()
    return lambda questions: found.of(questions[:, :2], questions[:, [0, 2]])


if __name__ == "__main__":
    serve(sys.modules[__name__])

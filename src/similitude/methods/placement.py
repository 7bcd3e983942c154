"""Placing new items among fixed ones from a few comparisons."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from similitude.engine.models import Positions
from similitude.engine.penalties import Ridge
from similitude.engine.problem import Problem
from similitude.engine.solvers.lbfgs import lbfgs
from similitude.feedback.columns import Floats
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import as_comparisons
from similitude.graph.build import SimilarityGraph
from similitude.methods.similarity import Similarity


def place_items(similarity: Similarity, comparisons: Any, n_init: int, random_state: Any) -> Similarity:
    """Return the similarity with the new items of the comparisons added, the others kept where they are.

    Minimises over the new rows x the sum of the losses of the comparisons that name them, plus |x - c|²/(2 s²): a
    normal prior with the centre c and the variance s² of the items already placed.
    """
    if n_init < 1:
        raise ValueError(f"n_init: expected at least 1 start, found {n_init}")
    c = over_all_items(similarity, as_comparisons(comparisons))
    n_old = similarity.n_items
    rows = np.flatnonzero(((c.quadruplets >= n_old).any(1)) & (c.weight > 0))
    absent = sorted(set(range(n_old, c.n_items)) - set(c.quadruplets[rows].ravel().tolist()))
    if not len(rows) or absent:
        missing = f"no comparison names {c.label(absent[0])}" if absent else "they name no new item"
        raise ValueError(f"comparisons: {missing}; a new item is placed by comparisons that name it")
    weight = np.ascontiguousarray(c.weight[rows])
    graph = SimilarityGraph(c.n_items, c.near[rows], c.far[rows], weight, merged=False)
    centre = similarity.embedding.mean(0)
    fixed = similarity.embedding - centre
    variance = max(float((fixed**2).mean()), 1e-12)
    model = Positions(c.n_items - n_old, fixed.shape[1], fixed=fixed)
    problem = Problem(model, graph, similarity.loss, Ridge(0.5 / variance / weight.sum()))
    starts = _starts(graph, fixed, n_init, np.random.default_rng(random_state))
    best = min((lbfgs(problem, start, tol=1e-9) for start in starts), key=lambda result: result.value)
    embedding = np.concatenate([similarity.embedding, best.params.reshape(model.shape) + centre])
    embedding.flags.writeable = False
    return replace(similarity, embedding=embedding, names=c.names)


def over_all_items(similarity: Similarity, c: Comparisons) -> Comparisons:
    """Renumber comparisons: the model's items first, new ones after them."""
    if (c.names is None) != (similarity.names is None):
        known, given = ("position", "name") if similarity.names is None else ("name", "position")
        raise ValueError(f"comparisons: the model knows its items by {known}, the comparisons theirs by {given}")
    if c.names is None or similarity.names is None:
        return c.with_items(n_items=max(c.n_items, similarity.n_items))
    known_names = set(similarity.names)
    return c.with_items([*similarity.names, *(name for name in c.names if name not in known_names)])


def _starts(graph: SimilarityGraph, fixed: Floats, n_init: int, rng: np.random.Generator) -> list[Floats]:
    """First the mean of the items that each new one is near to, then positions of random items."""
    n_old, n_new = len(fixed), graph.n_items - len(fixed)
    mean = np.empty((n_new, fixed.shape[1]))
    for k in range(n_new):
        near = graph.near_pairs[(graph.near_pairs == n_old + k).any(1)].ravel()
        near = near[near < n_old]
        mean[k] = fixed[near].mean(0) if len(near) else fixed.mean(0)
    return [mean, *(fixed[rng.integers(0, n_old, n_new)] for _ in range(n_init - 1))]

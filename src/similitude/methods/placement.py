"""Placing new items among fixed ones from a few comparisons."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from similitude.engine.comparison_terms import Compared
from similitude.engine.group_models import PlacedInViews, seen_by_groups
from similitude.engine.models import Positions
from similitude.engine.penalties import Ridge
from similitude.engine.problem import Problem
from similitude.engine.solvers.lbfgs import lbfgs
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.feedback.items import Names
from similitude.feedback.spelling import nearly
from similitude.graph.build import SimilarityGraph
from similitude.kernels.modalities import in_order
from similitude.methods.known_items import called_alike
from similitude.methods.new_names import warn_of_spellings
from similitude.methods.similarity import Similarity
from similitude.types import Array, Floats, Seed


def place_items(
    similarity: Similarity,
    comparisons: ComparisonsLike,
    n_init: int,
    random_state: Seed,
    *,
    expected: Floats | None = None,
    variance: float | None = None,
) -> Similarity:
    """Return the similarity with the new items of the comparisons added, the others kept where they are.

    Minimises over the new rows x the sum of the losses of the comparisons that name them, plus |x - c|²/(2 s²): a
    normal prior. Its centre c is where each new item is `expected` (m × d), else the centre of the items already
    placed; its `variance` s² is theirs unless it is given. Where raters see the map differently, by weights of
    their own or in groups, a comparison counts in each view by the chance that it was made there.
    """
    if n_init < 1:
        raise ValueError(f"n_init: expected at least 1 start, found {n_init}")
    if similarity.form is not None:
        raise ValueError(
            f"comparisons: {similarity.about.get('method')} learned a {similarity.kind} and no map, in which answers "
            "could place new items; ask for `distances` or `transform` of their features, where it knows features"
        )
    c = over_known_items(as_comparisons(comparisons), similarity.names, similarity.n_items)
    n_old = similarity.n_items
    rows = np.flatnonzero(((c.quadruplets >= n_old).any(1)) & (c.weight > 0))
    refuse_unnamed(c, n_old, c.quadruplets[rows])
    centre = similarity.embedding.mean(0)
    fixed = similarity.embedding - centre
    model, graph = _as_seen(similarity, c, rows, fixed)
    prior = np.zeros(model.shape) if expected is None else rows_of_new(expected, model.shape) - centre
    strength = 0.5 / max(float((fixed**2).mean()) if variance is None else variance, 1e-12)
    problem = Problem(
        model, Compared(graph, similarity.loss), Ridge(strength / graph.total_weight, centre=prior.ravel())
    )
    starts = _starts(c.near[rows], fixed, model.shape[0], n_init, np.random.default_rng(random_state))
    if expected is not None:
        starts.append(prior)
    best = min((lbfgs(problem, start, tol=1e-9) for start in starts), key=lambda result: result.value)
    embedding = np.concatenate([similarity.embedding, best.params.reshape(model.shape) + centre])
    embedding.flags.writeable = False
    unknown = (None,) * (c.n_items - n_old)
    attributes = {name: (*values, *unknown) for name, values in similarity.attributes.items()}
    return replace(similarity, embedding=embedding, names=c.names, attributes=attributes)


def _as_seen(similarity: Similarity, c: Comparisons, rows: Array, fixed: Floats) -> tuple[Positions, SimilarityGraph]:
    """Return the model of new items, and these comparisons in it: once, or once for each view of the map."""
    near, far, weight, n_new = c.near[rows], c.far[rows], c.weight[rows], c.n_items - len(fixed)
    seen = None if similarity.answering is None else similarity.answering.views_of(c)
    if seen is None:
        graph = SimilarityGraph(c.n_items, near, far, np.ascontiguousarray(weight), merged=False)
        return Positions(n_new, fixed.shape[1], fixed=fixed), graph
    views, chance = seen
    graph = seen_by_groups(c.n_items, near, far, chance[rows].T * weight, merged=False)
    return PlacedInViews(n_new, fixed, views), graph


def refuse_unnamed(c: Comparisons, n_old: int, named: Array) -> None:
    """Refuse comparisons without new items, or with one that none of those that count names."""
    absent = sorted(set(range(n_old, c.n_items)) - set(named.ravel().tolist()))
    if c.n_items == n_old or absent:
        missing = f"no comparison names {c.label(absent[0])}" if absent else "they name no new item"
        raise ValueError(f"comparisons: {missing}; a new item is placed by comparisons that name it")
    if named.min() >= n_old:
        raise ValueError(
            f"comparisons: they name none of the {n_old} items that the model knows; a new item is placed by "
            "comparisons with these"
        )


def rows_of_new(expected: Floats, shape: tuple[int, int]) -> Floats:
    """Return what is expected of the new items, where there is a row for each."""
    if len(expected) != shape[0]:
        raise ValueError(
            f"features: found {len(expected)} rows, expected {shape[0]}, one per new item of the comparisons, in their "
            "order"
        )
    return expected


def features_by_name(features: Any, comparisons: ComparisonsLike, similarity: Similarity) -> Any:
    """Return features of new items in the order in which they are placed: a table by its index."""
    c = over_known_items(as_comparisons(comparisons), similarity.names, similarity.n_items)
    return in_order(features, c.names, c.n_items, known=similarity.n_items)


def over_known_items(c: Comparisons, names: Names | None, n_items: int) -> Comparisons:
    """Renumber comparisons: the items that a model knows first, new ones after them."""
    c = called_alike(c, names, n_items)
    if c.names is None or names is None:
        return c.with_items(n_items=max(c.n_items, n_items))
    known_names = set(names)
    new = [name for name in c.names if name not in known_names]
    if new:
        warn_of_spellings({nearly(name): name for name in names}, new)
    return c.with_items([*names, *new])


def _starts(near_pairs: Array, fixed: Floats, n_new: int, n_init: int, rng: np.random.Generator) -> list[Floats]:
    """First the mean of the items that each new one is near to, then positions of random items."""
    n_old = len(fixed)
    mean = np.empty((n_new, fixed.shape[1]))
    for k in range(n_new):
        near = near_pairs[(near_pairs == n_old + k).any(1)].ravel()
        near = near[near < n_old]
        mean[k] = fixed[near].mean(0) if len(near) else fixed.mean(0)
    return [mean, *(fixed[rng.integers(0, n_old, n_new)] for _ in range(n_init - 1))]

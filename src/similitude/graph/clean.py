"""Cleaning: feedback that does not contradict itself, step by step, with a record of what was taken away.

`clean` is majority, then acyclic, then (if asked) reduce; each step stands on its own. Every step returns new
`Comparisons` whose `removed` says what is gone and why. Clean what a model learns from, never what it is scored on:
cleaning takes away the hard answers.

Examples
--------
>>> import similitude as sm
>>> c = sm.Comparisons.from_triplets([(0, 1, 2), (0, 1, 2), (0, 2, 1)])
>>> cleaned = sm.clean(c)
>>> len(cleaned), cleaned.weight.tolist(), cleaned.removed[0].why
(2, [0.5, 0.5], '1 comparison was outvoted')
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from similitude.feedback.comparisons import Comparisons, Removed
from similitude.graph.acyclic import greedy_edges, ordered_edges, transitive_reduction
from similitude.graph.votes import count_votes, directed
from similitude.types import Bools, Floats, Seed


def majority(comparisons: Comparisons) -> Comparisons:
    """Return what the weighted majority says where answers contradict each other directly; ties are dropped.

    Of an edge with weights a > b on its two sides, the comparisons of the heavier side stay, with a - b of weight
    among them.

    Parameters
    ----------
    comparisons : the feedback

    Examples
    --------
    >>> import similitude as sm
    >>> c = sm.Comparisons.from_triplets([(0, 1, 2), (0, 1, 2), (0, 2, 1), (1, 2, 0)])
    >>> left = sm.majority(c)
    >>> left.triplets.tolist(), left.weight.tolist(), left.removed[0].why
    ([[0, 1, 2], [0, 1, 2], [1, 2, 0]], [0.5, 0.5, 1.0], '1 comparison was outvoted')
    """
    votes = count_votes(comparisons)
    side, other = votes.side, votes.other_side
    kept = side > other
    share = np.divide(side - other, side, out=np.zeros(len(side)), where=kept)
    if (other[kept] == 0).all():
        return _without(comparisons, kept, "majority", "outvoted")
    return _without(comparisons, kept, "majority", "outvoted", comparisons.weight * share)


def drop_contradictions(comparisons: Comparisons) -> Comparisons:
    """Return the feedback without comparisons that another contradicts directly: both sides go (McFee & Lanckriet).

    Parameters
    ----------
    comparisons : the feedback

    Examples
    --------
    >>> import similitude as sm
    >>> c = sm.Comparisons.from_triplets([(0, 1, 2), (0, 1, 2), (0, 2, 1), (1, 2, 0)])
    >>> sm.drop_contradictions(c).triplets.tolist()
    [[1, 2, 0]]
    """
    votes = count_votes(comparisons)
    return _without(comparisons, ~votes.contradicted[votes.edge], "drop_contradictions", "contradicted")


def acyclic(
    comparisons: Comparisons, method: Literal["ordered", "greedy"] = "ordered", random_state: Seed = None
) -> Comparisons:
    """Return a maximal part of the feedback that holds together: no cycle, and nothing more can be added.

    Parameters
    ----------
    comparisons : the feedback
    method : "ordered" keeps much weight (see `similitude.graph.acyclic`); "greedy" takes edges in random order, as in
        Algorithm 1 of McFee & Lanckriet (2011), with the repair that guarantees half of the best weight
    random_state : seed of "greedy"

    Examples
    --------
    >>> import similitude as sm
    >>> c = sm.Comparisons.from_triplets([(0, 1, 2), (2, 0, 1), (1, 2, 0)])  # a circle
    >>> len(sm.acyclic(c)), sm.check(sm.acyclic(c)).cycles.groups
    (2, 0)
    """
    if method not in ("ordered", "greedy"):
        raise ValueError(f"method: expected 'ordered' or 'greedy', found {method!r}")
    votes = count_votes(comparisons)
    tail, head, weight, edge_of_row = directed(votes)
    if method == "ordered":
        kept = ordered_edges(len(votes.pairs), tail, head, weight)
    else:
        kept = greedy_edges(len(votes.pairs), tail, head, weight, random_state)
    return _without(comparisons, kept[edge_of_row], "acyclic", "part of a cycle")


def reduce(comparisons: Comparisons) -> Comparisons:
    """Return acyclic feedback without the comparisons that the others imply; what stays keeps all its weight.

    Parameters
    ----------
    comparisons : feedback without circles (`acyclic`)

    Examples
    --------
    >>> import similitude as sm
    >>> c = sm.Comparisons.from_quadruplets([(0, 1, 0, 2), (0, 2, 1, 2), (0, 1, 1, 2)])
    >>> len(sm.reduce(c))  # the third follows from the first two
    2
    """
    votes = count_votes(comparisons)
    tail, head, _, edge_of_row = directed(votes)
    kept = transitive_reduction(len(votes.pairs), tail, head)
    return _without(comparisons, kept[edge_of_row], "reduce", "implied by others")


_reduce = reduce  # `clean` has a parameter of that name


def clean(comparisons: Comparisons, reduce: bool = False) -> Comparisons:
    """Return feedback without contradictions: majority of the votes, then the largest acyclic part that we find.

    Parameters
    ----------
    comparisons : the feedback
    reduce : whether to drop, too, what the rest implies. It keeps the order but not what a margin loss learns from
        (its optimum changes), so it is off by default.

    Examples
    --------
    >>> import similitude as sm
    >>> c = sm.Comparisons.from_triplets([(0, 1, 2), (0, 1, 2), (0, 2, 1), (1, 2, 0)])
    >>> cleaned = sm.clean(c)
    >>> [step.step for step in cleaned.removed], sm.check(cleaned).contradicted
    (['majority', 'acyclic'], 0)
    """
    cleaned = acyclic(majority(comparisons))
    return _reduce(cleaned) if reduce else cleaned


def _without(comparisons: Comparisons, kept: Bools, step: str, why: str, weight: Floats | None = None) -> Comparisons:
    """Return the kept rows, with other weights where given, and a record of the rest; answers stay as they were."""
    gone = comparisons.rows(~kept)
    after = comparisons if weight is None else comparisons.reweight(weight)
    result = after.rows(kept)
    count = len(gone)
    said = f"{count} comparison{'s were' if count != 1 else ' was'} {why}"
    lost = float(comparisons.weight.sum() - result.weight.sum())
    return replace(result, removed=(*comparisons.removed, Removed(step, said, gone, lost)))

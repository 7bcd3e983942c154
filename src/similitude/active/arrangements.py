"""Which items to lay out next: those about whose pairs the arrangements so far say least.

An arrangement fills the table, so a pair that lies close together in it was measured badly: hands err by as much for
close items as for distant ones. Laid out again among fewer or other items, the pair is stretched, and its distance is
seen better. Kriegeskorte & Mur (2012) choose subsets so ("lift the weakest"):

    evidence of a pair       w = sum over arrangements of (distance on the table / the largest there)²
    utility of evidence      u(w) = 1 - exp(-10 w)
    a subset                 begins with the pair of least evidence, and grows by the item that adds most utility,
                             with the distances that are expected on the table once the subset fills it.

Departures from print. The evidence is that of all raters together, since the study's model is: theirs is of one person,
who lays out until each pair is known. All subsets have the size that the study says, where theirs grow as long as
utility by time grows. Expected distances are those of the fitted model, where theirs are of inverse MDS.
"""

from __future__ import annotations

import numpy as np

from similitude.feedback.columns import Rows
from similitude.feedback.forms.placement import PLACEMENT
from similitude.types import Bools, Floats

WEAKEST = "weakest_evidence"  # the strategy, as answers name it
_STEEP = 10.0  # how soon evidence is enough, as in the paper


def evidence(n_items: int, shown: Rows, response: Rows) -> Floats:
    """Return what arrangements say about each pair of items, (n, n): squared distances as shares of the largest."""
    found = np.zeros((n_items, n_items))
    for row in range(len(shown)):
        if not len(response[row]):
            continue
        pairs, distance = PLACEMENT.distances(shown[row][None], response[row][None])
        largest = max(float(distance.max()), np.finfo(float).tiny)
        np.add.at(found, tuple(pairs[0].T), (distance[0] / largest) ** 2)
    return found + found.T


def weakest_subsets(
    distance: Floats, known: Floats, size: int, number: int, rng: np.random.Generator
) -> list[tuple[list[int], float]]:
    """Choose subsets of items to lay out, each with the utility that it is expected to add.

    Parameters
    ----------
    distance : (n, n) distances that are expected
    known : (n, n) evidence so far; each subset is added to it as if it were laid out, so that the next is another
    size : items of a subset
    number : how many subsets
    rng : decides between pairs of equal evidence
    """
    known = known.copy()
    chosen = []
    for _ in range(number):
        subset = _weakest_pair(known, rng)
        while len(subset) < size:
            subset.append(_best_item(distance, known, subset))
        at = np.ix_(subset, subset)
        expected = on_table(distance[at])
        gain = float(np.triu(_utility(known[at] + expected) - _utility(known[at]), 1).sum())
        known[at] += expected
        chosen.append((subset, gain))
    return chosen


def _weakest_pair(known: Floats, rng: np.random.Generator) -> list[int]:
    first, second = np.triu_indices(len(known), 1)
    order = rng.permutation(len(first))
    weakest = order[known[first, second][order].argmin()]
    return [int(first[weakest]), int(second[weakest])]


def _best_item(distance: Floats, known: Floats, subset: list[int]) -> int:
    """The item with which a subset adds most utility, over all pairs in it: a distant one presses them together."""
    inside = np.triu_indices(len(subset), 1)
    pairs = np.asarray(subset)[inside[0]], np.asarray(subset)[inside[1]]
    largest = np.maximum(distance[subset].max(axis=0), distance[pairs].max())  # with each item, (n,)
    largest = np.maximum(largest, np.finfo(float).tiny)
    within = _gain(known[pairs][:, None], distance[pairs][:, None] / largest)
    beside = _gain(known[subset], distance[subset] / largest)
    gain = within.sum(axis=0) + beside.sum(axis=0)
    taken: Bools = np.isin(np.arange(len(distance)), subset)
    return int(np.where(taken, -np.inf, gain).argmax())


def _gain(known: Floats, share: Floats) -> Floats:
    return _utility(known + share**2) - _utility(known)


def on_table(distance: Floats) -> Floats:
    """Return the evidence that a layout of these items is expected to give, once it fills the table."""
    return (distance / max(float(distance.max()), np.finfo(float).tiny)) ** 2


def _utility(weight: Floats) -> Floats:
    return -np.expm1(-_STEEP * weight)

"""Counting comparisons in one pass over shards: who was compared how often, and who is linked with whom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from similitude.feedback.shards import Block, Shards
from similitude.graph.build import SimilarityGraph
from similitude.types import Ints


@dataclass(frozen=True, eq=False)
class Counts:
    """What one pass finds.

    Attributes
    ----------
    comparisons : how many, those of weight 0 left out
    weight : their total weight
    occurrences : (n,) how many comparisons' pairs each item stands in
    group : (n,) for each item the first item of its group, items being linked by the pairs compared
    degenerate : rows that compare an item, or a pair, with itself
    """

    comparisons: int
    weight: float
    occurrences: npt.NDArray[np.int64]
    group: Ints
    degenerate: int

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.occurrences)

    @property
    def components(self) -> Ints:
        """Connected component of each item; -1 for an item never compared."""
        found = np.full(self.n_items, -1, np.int32)
        compared = self.occurrences > 0
        found[compared] = np.unique(self.group[compared], return_inverse=True)[1]
        return found


def count_shards(shards: Shards) -> Counts:
    """Count all comparisons; memory is needed for one shard and two numbers per item."""
    counts = shards.reduce(_count, _together)
    if counts.degenerate:
        raise ValueError(
            f"comparisons: {counts.degenerate:,} rows compare an item or a pair with itself; write the folder anew "
            "without them"
        )
    if not counts.comparisons:
        raise ValueError("comparisons: there are none to learn from (all have weight 0)")
    return counts


def _count(block: Block) -> Counts:
    from similitude.graph.compiled_passes import first_of_group, note_items

    occurrences, group = np.zeros(block.n_items, np.int64), np.arange(block.n_items, dtype=np.int32)
    degenerate = note_items(block.near, block.far, block.weight, occurrences, group)
    first_of_group(group)
    return Counts(int(np.count_nonzero(block.weight)), float(block.weight.sum()), occurrences, group, int(degenerate))


def _together(one: Counts, two: Counts) -> Counts:
    from similitude.graph.compiled_passes import first_of_group, join_groups

    group = one.group.copy()
    join_groups(group, two.group)
    first_of_group(group)
    return Counts(
        one.comparisons + two.comparisons,
        one.weight + two.weight,
        one.occurrences + two.occurrences,
        group,
        one.degenerate + two.degenerate,
    )


def block_graph(block: Block) -> SimilarityGraph:
    """Return a block as a graph whose comparisons have two vertices of their own: nothing is indexed."""
    return SimilarityGraph(block.n_items, block.near, block.far, block.weight, merged=False)

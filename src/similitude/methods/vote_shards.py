"""The features of k1 and k2 from comparisons that do not fit in memory: votes are summed shard by shard."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from similitude.feedback.shards import Block, Shards, add
from similitude.graph.keyed import Keyed, by_key, merge_keyed
from similitude.methods.compiled import share_votes
from similitude.methods.vote_features import Codes, TripletVotes, landmark_votes
from similitude.types import Array, Floats, Ints


def shard_features(shards: Shards, kind: str) -> tuple[sparse.csr_matrix, Codes]:
    """Return what `sparse_features` does; memory is needed for the cells that have votes, 28 bytes each, twice."""
    _need_triplets(shards)
    row, code, votes = shards.reduce(_cells, merge_keyed, kind)
    columns = np.unique(code)
    share = votes[:, 0] / votes[:, 1]
    kept = share != 0.0
    row, column, share = row[kept], np.searchsorted(columns, code[kept]).astype(np.int32), share[kept]
    length = np.sqrt(np.bincount(row, share**2, shards.n_items))
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=shards.n_items))])
    parts = (share / length[row], column, start)
    return sparse.csr_matrix(parts, shape=(shards.n_items, len(columns))), columns


def shard_landmark_features(shards: Shards, kind: str, landmarks: Ints) -> Floats:
    """Return what `landmark_features` does: dense features of every item over the landmarks' columns."""
    _need_triplets(shards)
    among = np.zeros(shards.n_items, bool)
    among[landmarks] = True
    (strays,) = shards.reduce(_strays, add, kind, among)
    if strays:
        raise ValueError(
            f"landmarks: {strays:,} comparisons do not follow the design of {kind}; leave landmarks out for features "
            "of any triplets"
        )
    net, total = shards.reduce(_landmark_votes, add, kind, landmarks)
    share_votes(net, total)
    return net


def _need_triplets(shards: Shards) -> None:
    (headless,) = shards.reduce(_headless, add)
    if headless:
        raise ValueError(
            f"comparisons: expected triplets, whose two pairs share an item, found {headless:,} that share none; use "
            "an embedding for these"
        )


def _headless(block: Block) -> tuple[Any, ...]:
    return (int(np.count_nonzero(block.near[:, 0] != block.far[:, 0])),)


def _strays(block: Block, kind: str, among: Array) -> tuple[Any, ...]:
    near, far = among[block.near[:, 1]], among[block.far[:, 1]]
    follows = near & far if kind == "k1" else among[block.near[:, 0]] & (near | far)
    return (int(np.count_nonzero(~follows)),)


def _landmark_votes(block: Block, kind: str, landmarks: Ints) -> tuple[Any, ...]:
    return landmark_votes(TripletVotes(block, kind), landmarks)


def _cells(block: Block, kind: str) -> Keyed:
    """Row and code of each cell with votes, and of it: the sum of votes and of their absolute values."""
    parts = [  # the arrays of a chunk are used again
        (row.copy(), first.astype(np.int64) * block.n_items + second, np.column_stack([vote, np.abs(vote)]))
        for row, first, second, vote in TripletVotes(block, kind).chunks()
    ]
    row, code, votes = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return by_key(row, code, votes)

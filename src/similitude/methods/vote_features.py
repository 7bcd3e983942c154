"""Items as votes: the features of k1 and k2, sparse for any triplets, dense where they follow a landmark design.

A triplet (head, near, far) votes on a cell of a table that has a row per item. For k1 the row is the head and the
column the unordered pair {near, far}: +1 where the item of lower number is the nearer, -1 otherwise. For k2 it votes on
two cells: +1 in row near, column (head, far), and -1 in row far, column (head, near). A cell's value is the weighted
(votes for - votes against)/votes, and rows are made unit vectors; a row without votes stays zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from similitude.feedback.comparisons import Comparisons
from similitude.feedback.shards import Block, Shards, add
from similitude.graph.keyed import Keyed, by_key, merge_keyed
from similitude.methods.compiled import cast_votes, merge_votes, place_votes, scatter_votes, share_votes
from similitude.types import Array, Floats, Ints

KINDS = ("k1", "k2")
_CHUNK = 1 << 18
_TABLE_SHARE = 16  # columns are looked up in a table if it has at most so many places per vote

Codes = npt.NDArray[np.int64]
Cells = tuple[Array, Array, Array, Floats]


@dataclass(frozen=True)
class TripletVotes:
    """The votes of triplets: for each its row, the two items of its column, and its signed weight."""

    comparisons: Comparisons | Block
    kind: str

    @property
    def most(self) -> int:
        """The number of votes, those of weight 0 included."""
        return len(self.comparisons) * (1 if self.kind == "k1" else 2)

    def chunks(self) -> Iterator[Cells]:
        """Give the votes some at a time, in arrays used again: all at once would outweigh the features."""
        c, both = self.comparisons, self.kind == "k2"
        row, first, second = np.empty((3, min(_CHUNK * (1 + both), self.most)), np.int32)
        vote = np.empty(row.shape)
        for start in range(0, len(c), _CHUNK):
            part = slice(start, start + _CHUNK)
            near, far, weight = (np.array(own[part]) for own in (c.near, c.far, c.weight))  # one layout to compile for
            count = cast_votes(near, far, weight, both, row, first, second, vote)
            yield row[:count], first[:count], second[:count], vote[:count]


def sparse_features(votes: TripletVotes) -> tuple[sparse.csr_matrix, Codes]:
    """Return features over the columns that have votes, and the codes (first · n + second) of those, ascending."""
    n = votes.comparisons.n_items
    columns, sizes = _columns(votes)
    start = np.concatenate([[0], np.cumsum(sizes)])
    indices, data = np.empty(start[-1], np.int32), np.empty(start[-1])
    cursor = start[:-1].copy()
    position = _positions(columns, n * n, votes.most)
    for row, first, second, vote in votes.chunks():
        column = position(_code(first, second, n)).astype(np.int32, copy=False)
        place_votes(row, column, vote, cursor, indices, data)
    end = merge_votes(start, indices, data, len(columns))
    parts = (data[: end[-1]], indices[: end[-1]], end)
    return sparse.csr_matrix(parts, shape=(n, len(columns))), columns


def landmark_features(votes: TripletVotes, landmarks: Ints) -> Floats:
    """Return dense features over the columns of `landmark_pairs`; votes that name another item are left out."""
    net, total = landmark_votes(votes, landmarks)
    share_votes(net, total)
    return net


def landmark_votes(votes: TripletVotes, landmarks: Ints) -> tuple[Floats, Floats]:
    """Return the sums of votes and of their absolute values over the columns of `landmark_pairs`."""
    n, width = votes.comparisons.n_items, len(landmarks)
    place = np.full(n, width)
    place[landmarks] = np.arange(width)
    first, second = landmark_pairs(width, votes.kind)
    column = np.full((width + 1, width + 1), -1, np.int32)
    column[first, second] = np.arange(len(first))
    net, total = np.zeros((n, len(first))), np.zeros((n, len(first)))
    for row, one, two, vote in votes.chunks():
        scatter_votes(row, column[place[one], place[two]], vote, net, total)
    return net, total


def landmark_pairs(width: int, kind: str) -> tuple[Array, Array]:
    """Return the places among the landmarks of the two items of each column: i < j for k1, all i, j for k2."""
    if kind == "k1":
        return np.triu_indices(width, 1)
    return np.repeat(np.arange(width), width), np.tile(np.arange(width), width)


def only_columns(features: sparse.csr_matrix, codes: Codes, kept: Codes) -> sparse.csr_matrix:
    """Return features over the columns `kept` instead of `codes` (both ascending); others are left out."""
    place = np.minimum(np.searchsorted(kept, codes), len(kept) - 1)
    inside = (kept[place] == codes)[features.indices]
    count = np.concatenate([[0], np.cumsum(inside)])
    parts = (features.data[inside], place[features.indices[inside]].astype(np.int32), count[features.indptr])
    return sparse.csr_matrix(parts, shape=(features.shape[0], len(kept)))


def _columns(votes: TripletVotes) -> tuple[Codes, Codes]:
    """Return the codes of all columns with votes, ascending, and the number of votes in each row."""
    n = votes.comparisons.n_items
    sizes = np.zeros(n, np.int64)
    used = np.zeros(n * n if _tabled(n * n, votes.most) else 0, bool)
    distinct: list[Codes] = []
    for row, first, second, _ in votes.chunks():
        sizes += np.bincount(row, minlength=n)
        if len(used):
            used[_code(first, second, n)] = True
        else:
            distinct.append(np.unique(_code(first, second, n)))
    return (np.flatnonzero(used) if len(used) else np.unique(np.concatenate(distinct))), sizes


def _code(first: Array, second: Array, n: int) -> Codes:
    return first.astype(np.int64) * n + second


def _tabled(n_codes: int, n_votes: int) -> bool:
    return n_codes <= _TABLE_SHARE * n_votes


def _positions(columns: Codes, n_codes: int, n_votes: int) -> Callable[[Codes], Array]:
    """Return a function that finds the positions of codes in the columns, by a table where that is small."""
    if not _tabled(n_codes, n_votes):
        return lambda code: np.searchsorted(columns, code)
    table = np.empty(n_codes, np.int32)
    table[columns] = np.arange(len(columns))
    return table.__getitem__


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

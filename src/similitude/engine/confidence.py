"""The objective of CAMEL: how similar items are to their own class and to the others, and its derivative.

k_ij = exp(-|L x_i - L x_j|²); S_i is the mean of k_ij over the other items of i's class, N_i over the items of all
other classes; the score of i is S_i - N_i, and its loss s_i = N_i - S_i. Nothing here is n × n: k is made a square tile
at a time, small enough for a core's cache, and since it is symmetric each tile serves its rows and its columns. It is
made twice where there is a ranking, which needs all scores before any slope is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from similitude.engine.confidence_ranking import ConfidenceRanking
from similitude.engine.penalties import NonNegative
from similitude.engine.problem import Objective
from similitude.engine.threads import over_chunks
from similitude.types import Array, Floats

Tile = tuple[slice, slice]

_TILE = 256  # items in a side of a tile: half a megabyte of similarities
_CHUNKS = 16  # parts of the tiles, so that threads can share them; each has sums of its own


@dataclass(frozen=True)
class Classes:
    """Items sorted by class.

    Attributes
    ----------
    code : (n,) the class of each item, ascending
    start : (c + 1,) where each class begins
    """

    code: Array
    start: Array

    @classmethod
    def of(cls, code: Array) -> Classes:
        """Make it from ascending codes."""
        return cls(code, np.concatenate([[0], np.cumsum(np.bincount(code))]))

    @cached_property
    def size(self) -> Array:
        """Number of items of each class."""
        return np.diff(self.start)

    @cached_property
    def members(self) -> Floats:
        """(n, c) 1 where an item is of a class."""
        return np.asarray(self.code[:, None] == np.arange(len(self.size)), float)

    @cached_property
    def shares(self) -> Floats:
        """(n, c) how much k_ij with j of each class counts in s_i: -1/same for i's own class, 1/other for others."""
        same = self.size - 1
        inner = np.where(same > 0, -1.0 / np.maximum(same, 1), 0.0)  # an item alone in its class has none to be like
        outer = 1.0 / (len(self.code) - self.size)
        return np.where(np.eye(len(same), dtype=bool), inner[:, None], outer[:, None])[self.code]


@dataclass(frozen=True)
class ConfidenceProblem(Objective):
    """Minimise over L = P - N, both at least 0: mean weight_i s_i + ranking · hinges + l1 · sum (P + N).

    Attributes
    ----------
    X : (n, m) features, sorted by class
    classes : the items by class
    weight : (n,) how much each item counts, of mean 1
    l1 : price of the size of an entry
    ranking : weight of the ranking, and its pairs; None without confidence
    """

    X: Floats
    classes: Classes
    weight: Floats
    l1: float
    ranking: tuple[float, ConfidenceRanking] | None = None

    @property
    def penalty(self) -> NonNegative:
        """The price of P and N."""
        return NonNegative(self.l1)

    def data(self, params: Floats) -> tuple[float, Floats]:
        """Objective without the price of L, and its gradient by P and N, one after the other."""
        value, slope = self.smooth(self.unsplit(params))
        return value, np.concatenate([slope.ravel(), -slope.ravel()])

    def value(self, params: Floats) -> float:
        """Objective alone."""
        L = self.unsplit(params)
        return self._charged(self.losses(self.X @ L.T))[0] + self.penalty.value(params)

    def unsplit(self, params: Floats) -> Floats:
        """L = P - N."""
        half = len(params) // 2
        return (params[:half] - params[half:]).reshape(-1, self.X.shape[1])

    def smooth(self, L: Floats) -> tuple[float, Floats]:
        """mean weight_i s_i + ranking · hinges, and its derivative by L: -2 L X' (diag(B1) - B) X.

        B_ij = (r_i c_ij + r_j c_ji) k_ij, with r_i the derivative by s_i and c_ij the share of k_ij in s_i. Without a
        ranking r is known beforehand, and B adds up to twice the objective: one pass does both.
        """
        Z = self.X @ L.T
        if self.ranking is None:
            by_loss = self.weight / len(Z)
            degree, moved = self._laplacian(Z, by_loss)
            own = self.classes.shares[np.arange(len(Z)), self.classes.code]  # an item is not like itself
            return float(0.5 * degree.sum() - by_loss @ own), -2.0 * moved.T @ self.X
        value, by_loss = self._charged(self.losses(Z))
        return value, -2.0 * self._laplacian(Z, by_loss)[1].T @ self.X

    def breach(self, L: Floats) -> float:
        """Largest breach of the conditions of a minimum: slopes within l1 where L is 0, -l1 sign(L) elsewhere."""
        slope = self.smooth(L)[1]
        gaps = np.where(L == 0, np.maximum(np.abs(slope) - self.l1, 0.0), np.abs(slope + self.l1 * np.sign(L)))
        return float(gaps.max())

    def _charged(self, s: Floats) -> tuple[float, Floats]:
        """mean weight_i s_i + ranking · hinges, and its derivative by every s_i."""
        value, by_loss = float(self.weight @ s) / len(s), self.weight / len(s)
        if self.ranking is None:
            return value, by_loss
        cost, slope = self.ranking[1](s)
        return value + self.ranking[0] * cost, by_loss + self.ranking[0] * slope

    def losses(self, Z: Floats) -> Floats:
        """s_i of items at Z."""
        members, shares = self.classes.members, self.classes.shares

        def some(K: Floats, tile: Tile) -> tuple[Floats, Floats]:
            rows, columns = tile
            return K @ members[columns], K.T @ members[rows]

        sums = _over_tiles(some, Z, members.shape[1])
        sums -= members  # an item is not like itself: left out by position
        return np.asarray(np.einsum("ij,ij->i", sums, shares))

    def _laplacian(self, Z: Floats, by_loss: Floats) -> tuple[Floats, Floats]:
        """Return B1 and (diag(B1) - B) Z."""
        drawn = np.concatenate([np.ones((len(Z), 1)), Z], 1)
        share, members = by_loss[:, None] * self.classes.shares, self.classes.members
        by_row, by_column = np.concatenate([share, members], 1), np.concatenate([members, share], 1)

        def some(K: Floats, tile: Tile) -> tuple[Floats, Floats]:
            rows, columns = tile
            K *= by_row[rows] @ by_column[columns].T
            return K @ drawn[columns], K.T @ drawn[rows]

        sums = _over_tiles(some, Z, drawn.shape[1])
        degree = sums[:, 0]
        return degree, degree[:, None] * Z - sums[:, 1:]


def split(L: Floats) -> Floats:
    """Return the positive and the negative part of L, one after the other: the parameters of a problem."""
    return np.concatenate([np.maximum(L, 0.0).ravel(), np.maximum(-L, 0.0).ravel()])


def _over_tiles(work: Callable[[Floats, Tile], tuple[Floats, Floats]], Z: Floats, width: int) -> Floats:
    """Sum over tiles of k what the work gives for a tile's rows and, where they are others, its columns: (n, width)."""
    squares, ones = np.einsum("ij,ij->i", Z, Z)[:, None], np.ones((len(Z), 1))
    left, right = np.concatenate([2.0 * Z, -squares, ones], 1), np.concatenate([Z, ones, -squares], 1)
    sides = [slice(start, min(start + _TILE, len(Z))) for start in range(0, len(Z), _TILE)]
    tiles = [(rows, columns) for k, rows in enumerate(sides) for columns in sides[k:]]
    n_chunks = min(_CHUNKS, len(tiles))

    def some(chunk: int) -> Floats:
        total = np.zeros((len(Z), width))
        for rows, columns in tiles[chunk::n_chunks]:
            K = left[rows] @ right[columns].T  # minus the squared distances, but for rounding
            np.exp(np.minimum(K, 0.0, out=K), out=K)
            for_rows, for_columns = work(K, (rows, columns))
            total[rows] += for_rows
            if rows != columns:
                total[columns] += for_columns
        return total

    return np.asarray(sum(over_chunks(some, n_chunks)))

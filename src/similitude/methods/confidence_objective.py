"""The objective of CAMEL: how similar items are to their own class and to the others, and its derivative.

k_ij = exp(-|L x_i - L x_j|²); S_i is the mean of k_ij over the other items of i's class, N_i over the items of all
other classes; the score of i is S_i - N_i, and its loss s_i = N_i - S_i. Nothing here is n × n: rows of k are made
some at a time; twice where there is a ranking, since it needs all scores before any slope is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

import numpy as np

from similitude.engine.penalties import NonNegative
from similitude.engine.terms import Formula, hinge
from similitude.engine.threads import over_chunks
from similitude.feedback.columns import Array, Floats

T = TypeVar("T")

_BLOCK_NUMBERS = 2_000_000  # numbers in a block of similarities: 16 MB
_ROUNDING = 0.5  # of the margin: the width over which the hinge of the ranking is rounded


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

    def sums(self, rows: Floats) -> Floats:
        """Sum columns by class."""
        return np.add.reduceat(rows, self.start[:-1], axis=1)

    @cached_property
    def shares(self) -> Floats:
        """(n, c) how much k_ij with j of each class counts in s_i: -1/same for i's own class, 1/other for others."""
        same = np.maximum(self.size - 1, 0)[self.code]
        other = len(self.code) - self.size[self.code]
        own = self.code[:, None] == np.arange(len(self.size))
        inner = np.where(same > 0, -1.0 / np.maximum(same, 1), 0.0)  # an item alone in its class has none to be like
        return np.where(own, inner[:, None], 1.0 / other[:, None])


@dataclass(frozen=True)
class Ranking:
    """mean over pairs (a, b) of one class with c_a > c_b of [s_a - s_b + margin]_+, rounded.

    As printed there is no margin: then equal scores cost nothing, and an empty L is a perfect ranking.

    Attributes
    ----------
    confidence : (n,) how sure the rater was of the item's own label
    classes : the items by class
    margin : by how much scores should differ
    """

    confidence: Floats
    classes: Classes
    margin: float

    @cached_property
    def n_pairs(self) -> int:
        """Number of ranked pairs."""
        total = 0
        for start, stop in pairwise(self.classes.start):
            own = self.confidence[start:stop]
            ties = np.unique(own, return_counts=True)[1]
            total += (len(own) * (len(own) - 1) - int((ties * (ties - 1)).sum())) // 2
        return total

    def __call__(self, s: Floats) -> tuple[float, Floats]:
        """Return the mean hinge and its derivative by every s."""
        shape = Formula(hinge, _ROUNDING)
        value, slope = 0.0, np.zeros(len(s))
        for start, stop in pairwise(self.classes.start):
            own, sure = s[start:stop], self.confidence[start:stop]
            step = max(1, _BLOCK_NUMBERS // max(len(own), 1))
            for first in range(0, len(own), step):
                some = slice(first, first + step)
                loss, steep, _ = shape((own - own[some, None]) / self.margin)
                ranked = sure[some, None] > sure
                value += self.margin * float(loss[ranked].sum())
                pull = np.where(ranked, steep, 0.0)
                slope[start:stop] += pull.sum(0)
                slope[start + first : start + first + len(pull)] -= pull.sum(1)
        count = max(self.n_pairs, 1)
        return value / count, slope / count


@dataclass(frozen=True)
class ConfidenceProblem:
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
    ranking: tuple[float, Ranking] | None = None

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

    def value_and_gradient(self, params: Floats) -> tuple[float, Floats]:
        """Objective and its gradient."""
        value, slope = self.data(params)
        return value + self.penalty.value(params), slope + self.penalty.gradient(params)

    def unsplit(self, params: Floats) -> Floats:
        """L = P - N."""
        half = len(params) // 2
        return (params[:half] - params[half:]).reshape(-1, self.X.shape[1])

    def smooth(self, L: Floats) -> tuple[float, Floats]:
        """mean weight_i s_i + ranking · hinges, and its derivative by L: -2 L X' (diag(A1 + A'1) - A - A') X.

        A_ij = r_i c_ij k_ij, with r the derivative by s_i and c_ij the share of k_ij in s_i.
        """
        Z = self.X @ L.T
        if self.ranking is None:
            by_loss = self.weight / len(Z)
            s, laplacian = self._sweep(Z, by_loss)
            return float(by_loss @ s), -2.0 * L @ laplacian
        value, by_loss = self._charged(self.losses(Z))
        return value, -2.0 * L @ self._sweep(Z, by_loss)[1]

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
        return np.concatenate(_over_rows(lambda rows: self._losses(_similarities(Z, rows), rows), len(Z)))

    def _losses(self, K: Floats, rows: slice) -> Floats:
        sums = self.classes.sums(K)
        sums[np.arange(len(sums)), self.classes.code[rows]] -= 1.0  # an item is not like itself: left out by position
        return (sums * self.classes.shares[rows]).sum(1)

    def _sweep(self, Z: Floats, by_loss: Floats) -> tuple[Floats, Floats]:
        """Return s, and X' (diag(A1 + A'1) - A - A') X."""
        share, X = self.classes.shares * by_loss[:, None], self.X

        def some(rows: slice) -> tuple[Floats, Floats, Floats, Floats]:
            A = _similarities(Z, rows)
            s = self._losses(A, rows)
            for code, (start, stop) in enumerate(pairwise(self.classes.start)):
                A[:, start:stop] *= share[rows, code, None]
            return s, A.sum(1), A.sum(0), X[rows].T @ (A @ X)

        parts = _over_rows(some, len(Z))
        degree = np.concatenate([part[1] for part in parts]) + np.sum([part[2] for part in parts], axis=0)
        product = np.sum([part[3] for part in parts], axis=0)
        return np.concatenate([part[0] for part in parts]), (X.T * degree) @ X - product - product.T


def split(L: Floats) -> Floats:
    """Return the positive and the negative part of L, one after the other: the parameters of a problem."""
    return np.concatenate([np.maximum(L, 0.0).ravel(), np.maximum(-L, 0.0).ravel()])


def _similarities(Z: Floats, rows: slice) -> Floats:
    """exp(-|z_i - z_j|²) of some rows with all."""
    own = np.einsum("ij,ij->i", Z, Z)
    K = Z[rows] @ Z.T
    K *= 2.0
    K -= own
    K -= own[rows, None]
    np.minimum(K, 0.0, out=K)
    return np.exp(K, out=K)


def _over_rows(work: Callable[[slice], T], count: int) -> list[T]:
    """Return what the work gives for some rows at a time, on several threads where there are many."""
    step = max(1, _BLOCK_NUMBERS // count)
    starts = range(0, count, step)
    return over_chunks(lambda chunk: work(slice(starts[chunk], min(starts[chunk] + step, count))), len(starts))

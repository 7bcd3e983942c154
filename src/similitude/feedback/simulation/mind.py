"""The mind of a simulated rater: what is true, how clearly it sees, how it errs; what it says, the form knows.

What is said is the response in the code of the form, the side of the screen of (the first of) what was chosen, and how
clear the answer was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from similitude.types import Array, Floats

Said = tuple[Array, Array, Array]


@dataclass(frozen=True, eq=False)
class Mind:
    """What decides the answers: the truth, each answer's sharpness and lapse rate, and chance."""

    truth: Truth
    sharpness: Floats
    lapse: Floats
    flip: float
    n_chosen: int | None
    levels: int | None
    rng: np.random.Generator
    classes: Sequence[str] = ()

    def value(self, score: Floats) -> Floats:
        """Return the noisy value of each alternative (answers × alternatives): highest is said first.

        `sharpness · score + Gumbel`; the score alone where sharpness is infinite; noise alone in a lapse.
        """
        exact = np.isinf(self.sharpness)
        lapsed = self.rng.random(len(score)) < self.lapse
        scale = np.where(lapsed, 0.0, np.where(exact, 1.0, self.sharpness))
        noise = np.where(lapsed | ~exact, 1.0, 0.0)
        sign = np.where(self.rng.random(len(score)) < self.flip, -1.0, 1.0)
        value = scale[:, None] * score
        if noise.any():
            value = value + noise[:, None] * self.rng.gumbel(size=score.shape)
        return sign[:, None] * value

    def rate(self, squared: Floats) -> Floats:
        """Return noisy distances (answers × pairs): noise, lapses and flips strike each rating by itself."""
        exact = np.isinf(self.sharpness)
        noise = np.where(exact, 0.0, 1.0 / np.where(exact, 1.0, np.maximum(self.sharpness, 1e-12)))
        rating = squared - noise[:, None] * self.rng.gumbel(size=squared.shape)
        other = np.take_along_axis(rating, self.rng.integers(0, rating.shape[1], rating.shape), axis=1)
        rating = np.where(self.rng.random(rating.shape) < self.lapse[:, None], other, rating)
        low, high = rating.min(1, keepdims=True), rating.max(1, keepdims=True)
        rating = np.where(self.rng.random(rating.shape) < self.flip, low + high - rating, rating)
        return rating if self.levels is None else _steps(rating, self.levels)

    def pick(self, score: Floats) -> Said:
        """Take the alternative of the highest value."""
        chosen = self.value(score).argmax(1)
        return chosen[:, None].astype(np.int8), chosen.astype(np.int32), self.clarity(score)

    def clarity(self, score: Floats) -> Floats:
        """Return how far the best alternative lies above the second, as the rater sees it."""
        if score.shape[1] < 2:
            return np.zeros(len(score))
        best = np.partition(score, -2, axis=1)[:, -2:]
        return np.minimum(self.sharpness, 1e6) * (best[:, 1] - best[:, 0])

    def whole_sheet(self, length: int) -> tuple[Array, Array]:
        """Return side and clarity of answers that are no place on the screen."""
        return np.full(length, -1, np.int32), np.zeros(length)


def _steps(rating: Floats, levels: int) -> Floats:
    """Cut each sheet into steps 1 to `levels` of equal width."""
    if levels < 2:
        raise ValueError(f"levels: expected at least 2 steps of the scale, found {levels}")
    low, high = rating.min(1, keepdims=True), rating.max(1, keepdims=True)
    place = (rating - low) / np.maximum(high - low, np.finfo(float).tiny)
    return 1.0 + np.minimum(np.floor(place * levels), levels - 1)


@dataclass(frozen=True, eq=False)
class Truth:
    """Squared distances of pairs of items that are known.

    Attributes
    ----------
    n_items : number of items
    positions : (n, d) where the items stand, or None
    table : (n, n) squared distances, or None
    function : distance of each row of an array of pairs, or None
    """

    n_items: int
    positions: Floats | None = None
    table: Floats | None = None
    function: Callable[[Array], Array] | None = None

    @classmethod
    def of(cls, truth: Any, metric: str, n_items: int | None) -> Truth:
        """Read positions ("euclidean"), vectors ("dot"), a table of distances ("precomputed"), or a function of pairs.

        With vectors, what the largest product is above each product takes the place of the squared distance.
        """
        if metric not in ("euclidean", "dot", "precomputed"):
            raise ValueError(f"metric: expected 'euclidean', 'dot' or 'precomputed', found {metric!r}")
        if callable(truth):
            if n_items is None:
                raise ValueError("n_items: expected the number of items where truth is a function, found None")
            return cls(n_items, function=truth)
        values = np.asarray(truth, float)
        values = values[:, None] if values.ndim == 1 else values
        if values.ndim != 2 or not np.isfinite(values).all():
            raise ValueError(f"truth: expected a matrix of finite numbers, found shape {values.shape} or NaN")
        if n_items not in (None, len(values)):
            raise ValueError(f"n_items: truth holds {len(values)} items, found {n_items}")
        if metric == "euclidean":
            return cls(len(values), positions=values)
        if metric == "dot":
            products = values @ values.T
            return cls(len(values), table=products.max() - products)
        if values.shape[0] != values.shape[1]:
            raise ValueError(f"truth: expected a square table of distances, found shape {values.shape}")
        return cls(len(values), table=values**2)

    def squared(self, first: Array, second: Array) -> Floats:
        """Return the squared distance of `first[...]` and `second[...]`, in their common shape."""
        if self.table is not None:
            return self.table[first, second]
        first, second = np.broadcast_arrays(first, second)
        if self.positions is not None:
            return sum((column[first] - column[second]) ** 2 for column in self.positions.T)
        assert self.function is not None  # one of the three is set
        pairs = np.stack([first.ravel(), second.ravel()], axis=1)
        return np.asarray(self.function(pairs), float).reshape(first.shape) ** 2

    def layout(self) -> Floats:
        """Return the best two coordinates of the items: principal ones, or classical scaling of a table."""
        every = np.arange(self.n_items)
        gram = -0.5 * self.squared(every[:, None], every[None, :])
        gram = gram - gram.mean(0) - gram.mean(1)[:, None] + gram.mean()
        value, vector = np.linalg.eigh(gram)
        vector = vector * np.where(vector[np.abs(vector).argmax(0), every] < 0, -1, 1)  # same bits everywhere
        axes = np.sqrt(np.maximum(value[::-1][:2], 0)) * vector[:, ::-1][:, :2]
        return np.pad(axes, ((0, 0), (0, 2 - axes.shape[1])))

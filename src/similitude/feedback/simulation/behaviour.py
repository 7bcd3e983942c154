"""How a simulated rater answers each form of question.

Each behaviour takes the rater's mind and the questions shown, and returns the response in the code of the
form, the side of the screen of (the first of) what was chosen, and how clear the answer was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from similitude.feedback.columns import Array, Floats
from similitude.feedback.simulation.truth import Truth

Said = tuple[Array, Array, Array]
_OTHERS = np.array([[1, 2], [0, 2], [0, 1]])


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


def _steps(rating: Floats, levels: int) -> Floats:
    """Cut each sheet into steps 1 to `levels` of equal width."""
    if levels < 2:
        raise ValueError(f"levels: expected at least 2 steps of the scale, found {levels}")
    low, high = rating.min(1, keepdims=True), rating.max(1, keepdims=True)
    place = (rating - low) / np.maximum(high - low, np.finfo(float).tiny)
    return 1.0 + np.minimum(np.floor(place * levels), levels - 1)


def _pick(mind: Mind, score: Floats) -> Said:
    """The alternative of the highest value."""
    chosen = mind.value(score).argmax(1)
    return chosen[:, None].astype(np.int8), chosen.astype(np.int32), _clarity(mind, score)


def _clarity(mind: Mind, score: Floats) -> Floats:
    """How far the best alternative lies above the second, as the rater sees it."""
    if score.shape[1] < 2:
        return np.zeros(len(score))
    best = np.partition(score, -2, axis=1)[:, -2:]
    return np.minimum(mind.sharpness, 1e6) * (best[:, 1] - best[:, 0])


def _to_head(mind: Mind, shown: Array) -> Floats:
    return -mind.truth.squared(shown[:, :1], shown[:, 1:])


def triplet(mind: Mind, shown: Array) -> Said:
    """Say which of two is nearer to the head."""
    chosen, side, clear = _pick(mind, _to_head(mind, shown))
    return chosen + np.int8(1), side, clear


def quadruplet(mind: Mind, shown: Array) -> Said:
    """Say which pair is more alike."""
    return _pick(mind, -mind.truth.squared(shown[:, [0, 2]], shown[:, [1, 3]]))


def odd_one_out(mind: Mind, shown: Array) -> Said:
    """Leave out the one whose two others are most alike."""
    return _pick(mind, -mind.truth.squared(*np.moveaxis(shown[:, _OTHERS], 2, 0)))


def most_central(mind: Mind, shown: Array) -> Said:
    """Take the one whose two others are least alike."""
    return _pick(mind, mind.truth.squared(*np.moveaxis(shown[:, _OTHERS], 2, 0)))


def choice(mind: Mind, shown: Array) -> Said:
    """Pick the items of the grid that are nearest to the head."""
    size = shown.shape[1] - 1
    count = max(1, size // 3) if mind.n_chosen is None else mind.n_chosen
    if not 1 <= count < size:
        raise ValueError(f"n_chosen: expected 1 to {size - 1} picks from {size} items, found {count}")
    return _rank(mind, shown, count)


def ranking(mind: Mind, shown: Array) -> Said:
    """Rank the items by nearness to the head."""
    size = shown.shape[1] - 1
    count = size if mind.n_chosen is None else mind.n_chosen
    if not 1 <= count <= size:
        raise ValueError(f"n_chosen: expected 1 to {size} ranks for {size} items, found {count}")
    return _rank(mind, shown, count)


def _rank(mind: Mind, shown: Array, count: int) -> Said:
    score = _to_head(mind, shown)
    order = np.argsort(-mind.value(score), axis=1, kind="stable")[:, :count]
    return (1 + order).astype(np.int32), order[:, 0].astype(np.int32), _clarity(mind, score)


def difference_rating(mind: Mind, shown: Array) -> Said:
    """Rate pairs, more for more different."""
    rating = mind.rate(mind.truth.squared(shown[:, ::2], shown[:, 1::2]))
    return rating, *_sheet(len(shown))


def similarity_rating(mind: Mind, shown: Array) -> Said:
    """Rate pairs, more for more alike."""
    rating, side, clear = difference_rating(mind, shown)
    return (-rating if mind.levels is None else mind.levels + 1 - rating), side, clear


def placement(mind: Mind, shown: Array) -> Said:
    """Lay the items on a table as they stand in truth, each with Gaussian noise of variance 1 / sharpness."""
    if mind.flip:
        raise ValueError("flip: a placement has no contrary; use sharpness and lapse")
    place = mind.truth.layout()[shown]
    lapsed = mind.rng.random(shown.shape) < mind.lapse[:, None]
    other = np.take_along_axis(place, mind.rng.integers(0, shown.shape[1], shown.shape)[:, :, None], axis=1)
    noise = np.maximum(mind.sharpness, 1e-12) ** -0.5
    place = np.where(lapsed[:, :, None], other, place)
    place = place + noise[:, None, None] * mind.rng.standard_normal(place.shape)
    return place.reshape(len(shown), -1), *_sheet(len(shown))


def grouping(mind: Mind, shown: Array) -> Said:
    """Sort the items into groups: each joins the most alike of the first few."""
    size = shown.shape[1]
    starts = shown[:, : max(2, round(size**0.5))]
    group = np.empty(shown.shape, np.int32)
    for k in range(size):
        group[:, k] = mind.value(-mind.truth.squared(shown[:, k : k + 1], starts)).argmax(1)
    group[:, : starts.shape[1]] = np.arange(starts.shape[1])
    return group, *_sheet(len(shown))


def _sheet(length: int) -> tuple[Array, Array]:
    return np.full(length, -1, np.int32), np.zeros(length)


BEHAVIOUR: dict[str, Callable[[Mind, Array], Said]] = {
    behaviour.__name__: behaviour
    for behaviour in (
        triplet,
        quadruplet,
        odd_one_out,
        most_central,
        choice,
        ranking,
        similarity_rating,
        difference_rating,
        placement,
        grouping,
    )
}

"""Ratings: how alike, or how different, two items are; a rater's whole sheet of pairs is one answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from similitude.feedback.columns import Rows
from similitude.feedback.forms.base import Edges, FileColumns, Form, Setup, distinct
from similitude.feedback.forms.pieces import Piece
from similitude.feedback.pairs import draw_two
from similitude.types import Array, Ints

if TYPE_CHECKING:
    from similitude.feedback.simulation.mind import Mind, Said

Larger = Literal["similar", "different"]
_COLUMNS = (FileColumns((("i",), ("j",), ("rating",)), "ratings"),)


class RatedPairs(Form):
    """A sheet of pairs with a number each."""

    shows = "i, j (repeated)"
    columns = _COLUMNS
    larger: ClassVar[Larger]

    @property
    def sign(self) -> float:
        """What makes a larger number mean more different."""
        return -1.0 if self.larger == "similar" else 1.0

    def draw(self, n_items: int, n_questions: int, grid_size: int | None, rng: np.random.Generator) -> Ints:
        """Draw sheets of different pairs, the pairs in random order and each either way round."""
        first, second = np.triu_indices(n_items, 1)
        count = len(first) if grid_size is None else grid_size
        if not 1 <= count <= len(first):
            raise ValueError(f"grid_size: expected 1 to {len(first)} pairs of {n_items} items, found {count}")
        chosen = distinct(len(first), n_questions, count, rng)
        pairs: Array = np.stack([first[chosen], second[chosen]], axis=2)
        turned = rng.random(chosen.shape) < 0.5
        pairs[turned] = pairs[turned][:, ::-1]
        return pairs.reshape(n_questions, 2 * count).astype(np.int32)

    def in_words(self, shown: Sequence[str], response: Sequence[float]) -> str:
        """The first pairs with their ratings."""
        pairs = list(zip(shown[::2], shown[1::2], response, strict=True))
        some = "; ".join(f"{a} and {b} {value:g}" for a, b, value in pairs[:3])
        return f"rated {some}" + (f" and {len(pairs) - 3:,} more pairs" if len(pairs) > 3 else "")

    def comparisons(self, shown: Array, response: Array) -> Edges:
        """A pair rated more alike, or less different, than another; ties give nothing."""
        self.check_size(shown.shape[1] == 2 * response.shape[1], shown, response)
        return ordered_pairs(shown.reshape(len(shown), -1, 2), self.sign * response)

    def count(self, shown: Rows, response: Rows) -> Array:
        """Pairs of known, unequal ratings."""
        return np.array([unequal(response[row].astype(float)) for row in range(len(response))], np.int64)

    def answer(self, mind: Mind, shown: Array) -> Said:
        """Rate pairs by their distances."""
        rating = mind.rate(mind.truth.squared(shown[:, ::2], shown[:, 1::2]))
        if self.larger == "similar":
            rating = -rating if mind.levels is None else mind.levels + 1 - rating
        return rating, *mind.whole_sheet(len(shown))


class SimilarityRating(RatedPairs):
    """Pairs with a number each, larger for more alike."""

    name = "similarity_rating"
    words = "ratings of the similarity of pairs"
    says = "a number per pair, larger is more alike, NaN is no rating"
    larger = "similar"


class DifferenceRating(RatedPairs):
    """Pairs with a number each, larger for more different."""

    name = "difference_rating"
    words = "ratings of the difference of pairs"
    says = "a number per pair, larger is more different, NaN is no rating"
    larger = "different"


SIMILARITY, DIFFERENCE = SimilarityRating(), DifferenceRating()


class RatedPair(Piece):
    """One pair to rate on a scale; a rater's are a sheet of similarity ratings."""

    name = "rated_pair"
    page = "similarity_rating"
    words = SIMILARITY.words
    shows, says = "i, j", "a number, larger is more alike"
    ask = "How alike are these two?"
    n_shown = 2
    settings = ("scale",)
    shows_also = ("low", "high")
    sheet = SIMILARITY
    compares = "ratings of one rater that differ"

    def expected(self, setup: Setup) -> tuple[range, int]:
        """A step of the scale."""
        return range(1, setup.scale + 1), 1

    def thinned(self, shown: Array, response: Array, most: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """All comparisons, or a draw that lists no more than it needs."""
        pairs = shown.reshape(-1, 2)
        near, far = draw_two(np.arange(len(pairs)), -response, most, rng)
        return pairs[near], pairs[far]

    def answer(self, mind: Mind, shown: Array) -> Said:
        """Say a step of equal width of exp(-d²/4), blurred by noise; any step at random without sharpness."""
        scale = mind.levels or 7
        alike = np.exp(-mind.truth.squared(shown[:, 0], shown[:, 1]) / 4)
        alike = alike + mind.rng.normal(size=len(shown)) * 0.25 / (1 + mind.sharpness)
        step = np.clip(np.floor(scale * alike), 0, scale - 1)
        at_random = mind.rng.integers(0, scale, len(shown))
        return 1.0 + np.where(mind.sharpness == 0, at_random, step)[:, None], *mind.whole_sheet(len(shown))


def ordered_pairs(pairs: Array, difference: Array) -> Edges:
    """Return all comparisons among the pairs of each row whose differences are known and not equal."""
    row, near, far = np.nonzero(difference[:, :, None] < difference[:, None, :])  # NaN is never smaller
    return pairs[row, near], pairs[row, far], row


def unequal(values: Array) -> int:
    """Return the number of pairs of known, unequal values."""
    known = values[~np.isnan(values)]
    ties = np.unique(known, return_counts=True)[1]
    return int((len(known) ** 2 - (ties**2).sum()) // 2)

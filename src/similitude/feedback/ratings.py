"""Ratings: how alike or how different two items are, on a scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from similitude.display.words import counted
from similitude.feedback.cards import ratings_card
from similitude.feedback.checks import check_two_items, check_weight
from similitude.feedback.columns import Categories, Rowwise, frozen, take
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.forms import FORMS
from similitude.feedback.forms.ratings import Larger, RatedPairs
from similitude.feedback.items import Names
from similitude.feedback.sheets import item_rows
from similitude.types import Array, Column, Floats, Ints, ItemRows, Seed

_FORMS = {form.name: form.larger for form in FORMS.values() if isinstance(form, RatedPairs)}


@dataclass(frozen=True, eq=False, repr=False)
class Ratings(Rowwise):
    """Pairs of items with a number each: how alike they are, or how different.

    Build one with `of` or `from_comparisons`, which check what they are given. As comparisons they lose how far apart
    two ratings are, and what was rated by different people; `MixedEmbedding` learns from them as they are.

    Attributes
    ----------
    pairs : (k, 2) item indices
    value : (k,) the ratings
    larger : whether a larger number means more "similar" or more "different"
    weight : (k,) how much each rating counts
    n_items : number of items
    names : the items' names, or None where items are known by position
    rater : who said it

    Examples
    --------
    >>> import similitude as sm
    >>> ratings = sm.Ratings.of([("cat", "dog"), ("cat", "bus"), ("dog", "bus")], [5, 1, 2], larger="similar")
    >>> ratings
    <3 ratings from 1 to 5 (larger is more similar) of 3 items>
    """

    pairs: Ints
    value: Floats
    larger: Larger
    weight: Floats
    n_items: int
    names: Names | None
    rater: Categories
    _columns = ("pairs", "value", "weight", "rater")

    @classmethod
    def of(
        cls,
        pairs: ItemRows,
        value: Column,
        *,
        larger: Larger,
        rater: Any = None,
        missing: float | None = None,
        weight: npt.ArrayLike | None = None,
        names: Sequence[str] | None = None,
        n_items: int | None = None,
    ) -> Ratings:
        """Make ratings from pairs and a number for each; those without a number are left out.

        Parameters
        ----------
        pairs : (k, 2) items by name or position
        value : (k,) the ratings
        larger : whether a larger number means more "similar" or more "different": there is no default
        rater : who said it, one for all ratings or one per rating
        missing : a number that stands for "no rating" (NaN always does)
        weight : one number for all ratings, or one per rating
        names, n_items : the items, as in `Comparisons`
        """
        if larger not in ("similar", "different"):
            raise ValueError(f"larger: expected 'similar' or 'different', found {larger!r}")
        codes, known, count = item_rows(pairs, 2, "pairs", names, n_items)
        numbers = np.array(value, float)
        if numbers.shape != (len(codes),):
            raise ValueError(f"value: expected one number per pair ({len(codes)}), found shape {numbers.shape}")
        check_two_items(codes, known, "rating")
        said = np.flatnonzero(np.isfinite(numbers) & (numbers != missing))
        weights, who = check_weight(weight, len(codes)), Categories.of(rater, len(codes))
        return cls(codes[said], frozen(numbers[said]), larger, take(weights, said), count, known, who.take(said))

    @classmethod
    def from_comparisons(cls, comparisons: Comparisons) -> Ratings:
        """Take the ratings out of comparisons that were made from them (a file of ratings that was read, say)."""
        answers = comparisons.answers
        sheets = [(form, rows) for form, rows in answers.by_form() if form in _FORMS and len(rows)]
        if len(sheets) != 1:
            found = ", ".join(form for form, rows in answers.by_form() if len(rows)) or "nothing"
            raise ValueError(f"comparisons: expected answers of one form of rating, found {found}")
        form, rows = sheets[0]
        said = answers.take(rows)
        who = said.rater.values[said.response.owner] if said.rater.recorded else None
        return cls.of(
            said.shown.values.reshape(-1, 2), said.response.values, larger=_FORMS[form], rater=who,
            names=comparisons.names, n_items=None if comparisons.names else comparisons.n_items,
        )  # fmt: skip

    @property
    def difference(self) -> Floats:
        """The ratings with a sign such that larger is more different."""
        return self.value if self.larger == "different" else -self.value

    def steps(self) -> tuple[Array, int]:
        """Return each rating as a step of the scale from 0, the most alike, and the number of steps that were used."""
        values, step = np.unique(self.difference, return_inverse=True)
        return step, len(values)

    def to_comparisons(self, max_per_rater: int | None = None, random_state: Seed = None) -> Comparisons:
        """Compare the pairs of each rater by their ratings (see `Comparisons.from_ratings`).

        Where a rater rated a pair more than once, the mean of the ratings counts.
        """
        ends = np.sort(self.pairs, axis=1).astype(np.int64)
        code = (self.rater.codes.astype(np.int64) * self.n_items + ends[:, 0]) * self.n_items + ends[:, 1]
        _, first, place, count = np.unique(code, return_index=True, return_inverse=True, return_counts=True)
        value = np.bincount(place, self.value) / count
        kept = np.sort(first)
        who = self.rater.values[kept] if self.rater.recorded else None
        return Comparisons.from_ratings(
            self.pairs[kept], value[place[kept]], who, larger=self.larger,
            max_per_rater=max_per_rater, random_state=random_state, names=self.names,
            n_items=None if self.names else self.n_items,
        )  # fmt: skip

    def __repr__(self) -> str:
        span = f" from {self.value.min():g} to {self.value.max():g}" if len(self) else ""
        about = f"(larger is more {self.larger}) of {counted(self.n_items, 'item')}"
        return f"<{counted(len(self), 'rating')}{span} {about}>"

    def _repr_html_(self) -> str:
        return ratings_card(self)

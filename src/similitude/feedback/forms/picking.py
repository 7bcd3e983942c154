"""Forms that pick among alternatives: items or pairs of which one, or some, are chosen.

The code of an alternative is its place: the position in `shown` where alternatives are items (so 1 is the first where
there is a head), 0 and 1 for the first and the second pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from similitude.feedback.checks import head_first
from similitude.feedback.columns import Rows
from similitude.feedback.forms.alternatives import Alternatives, chosen_first
from similitude.feedback.forms.arrangement import Arrangement
from similitude.feedback.forms.base import Edges, Form, Setup
from similitude.feedback.spelling import folded
from similitude.types import Array, Floats

if TYPE_CHECKING:
    from similitude.feedback.simulation.mind import Mind, Said, Truth

OTHERS = np.array([[1, 2], [0, 2], [0, 1]])  # of three, those that are not chosen


class Picking(Form):
    """A form whose answer picks alternatives.

    A simulated rater gives every alternative the value of the pairs that speak for it (`alternatives`) and picks the
    highest; the same two say how likely an answer is, where a loss asks for that.
    """

    prefers: ClassVar[float] = -1.0  # a pair speaks for its alternative by being near; +1: by being far apart

    def codes(self, width: int) -> range:
        """Return the codes of the alternatives of a question of so many items."""
        first = int(self.arrangement.head)
        return range(first, first + self.arrangement.n_alternatives(width))

    @property
    def n_alternatives(self) -> int | None:
        """All alternatives of a question, where every question has as many."""
        return None if self.n_shown is None else self.arrangement.n_alternatives(self.n_shown)

    def every_response(self, width: int) -> Array:
        """Return responses, one a row, that together settle all that an answer can: each alternative picked alone."""
        return np.array(self.codes(width))[:, None]

    def alternatives(self, shown: Array) -> Array:
        """Return the pairs that speak for each alternative, (questions, alternatives, pairs, 2).

        An alternative that is a pair speaks for itself; beside a head, an item's pair with the head does.
        """
        if self.arrangement.unit == 2:
            return shown[:, int(self.arrangement.head) :].reshape(len(shown), -1, 1, 2)
        if not self.arrangement.head:
            raise NotImplementedError(f"{self.name} does not say which pairs speak for its alternatives")
        heads = np.broadcast_to(shown[:, :1], shown[:, 1:].shape)
        return np.stack([heads, shown[:, 1:]], axis=-1)[:, :, None, :]

    def value(self, truth: Truth, shown: Array) -> Floats:
        """Return the value of each alternative, (questions, alternatives): minus the squared distances of its pairs."""
        pairs = self.alternatives(shown)
        squared: Floats = truth.squared(pairs[..., 0], pairs[..., 1]).sum(axis=2)
        return self.prefers * squared

    def n_picked(self, setup: Setup) -> int:
        """How many are picked on a study's page."""
        return 1

    def picks(self, n_alternatives: int, wanted: int | None = None) -> int | None:
        """How many of so many alternatives an answer picks as one set; None where it is no such choice.

        `wanted` is how many a person is asked for, where the form leaves that open.
        """
        return 1

    def expected(self, setup: Setup) -> tuple[range, int]:
        """The codes of all alternatives, as many as are picked."""
        return self.codes(self.width(grid_size=setup.grid_size)), self.n_picked(setup)

    def same_response(self, one: Sequence[float], other: Sequence[float]) -> bool:
        """Whether the same were picked, in any order."""
        return sorted(one) == sorted(other)

    def rearranged(self, response: Sequence[float], shown: Sequence[str], other: Sequence[str]) -> list[float]:
        """The same alternatives where they stand now."""
        first, unit = int(self.arrangement.head), self.arrangement.unit
        now = [set(other[start : start + unit]) for start in range(first, len(other), unit)]
        then = [set(shown[start : start + unit]) for start in range(first, len(shown), unit)]
        return [float(first + now.index(then[int(code) - first])) for code in response]

    def said(self, shown: Sequence[str], response: Sequence[float]) -> list[str]:
        """What was picked, by name; of alternatives with several items, these together."""
        return [" + ".join(self._items_of(int(code), shown)) for code in response]

    def _items_of(self, code: int, shown: Sequence[str]) -> Sequence[str]:
        """The items of an alternative, by name."""
        first, unit = int(self.arrangement.head), self.arrangement.unit
        place = first + (code - first) * unit
        return shown[place : place + unit]

    def code_of(self, word: str, shown: Sequence[str]) -> float:
        """The code of the alternative that is called so; a number is one behind a head alone, where 1 is the first.

        The items of a pair stand in any order.
        """
        codes = self.codes(len(shown)) if self.n_shown in (None, len(shown)) else range(0)
        items = {code: self._items_of(code, shown) for code in codes}
        called = {code: {" + ".join(some), " + ".join(some[::-1])} for code, some in items.items()}
        exact = {code for code in codes if word in called[code]}
        found = exact or {code for code in codes if folded(word) in set(map(folded, called[code]))}
        if self.arrangement.head:
            found |= {code for code in codes if word == str(code)}
        if len(found) != 1:
            raise ValueError(f"expected {self.how_to_fill_in()}; found {word!r}, shown were {', '.join(shown)}")
        return float(found.pop())

    def codes_of(self, said: Sequence[Any], shown: Sequence[str]) -> list[Any]:
        """The numbers of what was picked; an alternative that is a pair may stand as the list of its two names."""
        if len(said) == self.arrangement.unit > 1 and set(map(type, said)) == {str}:
            return [self.code_of(" + ".join(said), shown)]
        return super().codes_of(said, shown)

    def side_of(self, response: Sequence[float]) -> int:
        """The place of (the first of) what was picked."""
        return int(response[0]) - self.arrangement.head if response else -1

    def chosen(self, shown: Array, response: Array) -> list[Alternatives]:
        """One set of so many among all such sets; to have picked all says nothing.

        For the most central of three it is the softmax of the sums of its similarities with the two others, since all
        three similarities together are the same for every alternative.
        """
        codes = self.codes(shown.shape[1])
        place = self.places(response, codes) - codes[0]
        if place.shape[1] == len(codes):
            return []
        pairs = chosen_first(self.alternatives(shown), place)
        return [Alternatives(pairs, place.shape[1], np.arange(len(shown)), self.prefers)]

    def undecided(self, shown: Array, picked: int) -> list[Alternatives]:
        """All alternatives, in the order in which they were shown."""
        return [Alternatives(self.alternatives(shown), picked, np.arange(len(shown)), self.prefers, tied=True)]

    def answer(self, mind: Mind, shown: Array) -> Said:
        """Pick the alternative of the highest value."""
        chosen, side, clear = mind.pick(self.value(mind.truth, shown))
        return chosen + np.int8(self.arrangement.head), side, clear

    def at_stake(self, shown: Array) -> tuple[Array, Array]:
        """Return the comparisons that an answer may settle, (questions · k, 2) near and far pairs, k for each question.

        Which of the two is near is open. Where several may be picked, what one pick can settle is all that can be.
        """
        template = _at_stake(self, shown.shape[1])
        rows = shown[:, template].reshape(-1, 4)
        return rows[:, :2], rows[:, 2:]

    @property
    def is_about_heads(self) -> bool:
        """Whether an answer compares two items with a third, as a strategy about the position of a head needs it."""
        near, far = self.at_stake(np.arange(self.width(4))[None])
        return bool((near[:, 0] == far[:, 0]).all())


@lru_cache(maxsize=256)
def _at_stake(form: Picking, width: int) -> Array:
    """Places (near, near, far, far) of the comparisons that answers to a question give, either way round once."""
    shown = np.arange(width)[None]
    edges = [form.comparisons(shown, said[None]) for said in form.every_response(width)]
    near, far = head_first(*(np.sort(np.concatenate([edge[side] for edge in edges]), axis=1) for side in (0, 1)))
    one, other = np.concatenate([near, far], axis=1), np.concatenate([far, near], axis=1)
    rows = np.where(_is_before(one, other)[:, None], one, other)
    return np.unique(rows, axis=0)


def _is_before(one: Array, other: Array) -> Array:
    """Which rows come first in the order of words."""
    differ = one != other
    first = differ.argmax(1)
    line = np.arange(len(one))
    return one[line, first] < other[line, first]


class Single(Picking):
    """One comparison, said one way or the other; one answer may hold several such questions."""

    repeats = True
    chosen = Form.chosen  # each question is one comparison, and one choice of two

    def picks(self, n_alternatives: int, wanted: int | None = None) -> int | None:
        """None: it is a comparison."""
        return None

    def picked(self, shown: Array, response: Array) -> tuple[Array, Array]:
        """Return the questions one by one, and what was picked in each."""
        assert self.n_shown is not None
        self.check_size(shown.shape[1] == self.n_shown * response.shape[1], shown, response)
        return shown.reshape(-1, self.n_shown), self.places(response.reshape(-1), self.codes(self.n_shown))

    def undecided(self, shown: Array, picked: int) -> list[Alternatives]:
        """Two alternatives in each question."""
        assert self.n_shown is not None
        questions = shown.reshape(-1, self.n_shown)
        row = np.arange(len(questions)) // (shown.shape[1] // self.n_shown)
        return [Alternatives(self.alternatives(questions), 1, row, self.prefers, tied=True)]

    def count(self, shown: Rows, response: Rows) -> Array:
        """One for each question."""
        return np.array(response.lengths)


class OneOfThree(Picking):
    """Three items, of which one is unlike the two others taken together.

    Attributes
    ----------
    near, far : the pairs of its two comparisons, by places: 0 the item that was picked, 1 and 2 the others
    """

    near: ClassVar[list[list[int]]]
    far: ClassVar[list[list[int]]]
    shows = "a, b, c"
    n_shown = 3
    search = "threesome"

    def alternatives(self, shown: Array) -> Array:
        """Each item is spoken for by the pair of the two others."""
        return shown[:, OTHERS][:, :, None, :]

    def comparisons(self, shown: Array, response: Array) -> Edges:
        """Both of the others against the one that was picked, by `near` and `far`."""
        self.check_size(shown.shape[1] == 3 and response.shape[1] == 1, shown, response)
        place = self.places(response[:, 0], self.codes(3))
        places = np.column_stack([place, OTHERS[place]])
        items = np.take_along_axis(shown, places, axis=1)
        near, far = items[:, self.near].reshape(-1, 2), items[:, self.far].reshape(-1, 2)
        return near, far, np.repeat(np.arange(len(shown)), 2)

    def count(self, shown: Rows, response: Rows) -> Array:
        """Two for each answer."""
        return np.full(len(shown), 2)


class FromGrid(Picking):
    """A head and a grid of items, of which some are picked or ranked."""

    arrangement = Arrangement(head=True)
    search = "grid"

    def rank(self, mind: Mind, shown: Array, count: int) -> Said:
        """Return the best so many of the grid, the best first."""
        value = self.value(mind.truth, shown)
        order = np.argsort(-mind.value(value), axis=1, kind="stable")[:, :count]
        return (1 + order).astype(np.int32), order[:, 0].astype(np.int32), mind.clarity(value)


def with_head(shown: Array, row: Array, near: Array, far: Array) -> Edges:
    """Return comparisons of the heads (first items) of rows with items at the places near and far."""
    head = shown[row, 0]
    return np.stack([head, shown[row, near]], 1), np.stack([head, shown[row, far]], 1), row

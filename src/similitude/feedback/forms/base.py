"""What every form of question knows of itself; a form overrides what is its own.

A class with methods rather than a record of functions: most of what a form knows follows from a few facts about it
(how many items it shows, whether there is a head, what is chosen), so that the defaults are methods over those facts
and a simple form is some attributes and one method, `comparisons`. Forms have no state: one object each, in `FORMS`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

import numpy as np

from similitude.feedback.columns import Rows, is_constant
from similitude.feedback.forms.alternatives import Alternatives
from similitude.feedback.forms.arrangement import Arrangement
from similitude.feedback.items import as_integers
from similitude.types import Array, Bools, Ints

if TYPE_CHECKING:
    from similitude.feedback.simulation.mind import Mind, Said

Edges = tuple[Array, Array, Array]
"""Comparisons: near pairs, far pairs, and the row of the answer that each came from."""


class Setup(Protocol):
    """What a study decides about its questions, as far as forms need it: keys of `[question]` in `study.toml`."""

    @property
    def grid_size(self) -> int:
        """Items beside the head, or in all where there is none."""

    @property
    def pick(self) -> int:
        """How many are picked."""

    @property
    def scale(self) -> int:
        """Steps of a scale."""

    @property
    def low(self) -> str | None:
        """What the lower end of a scale or an order is called."""

    @property
    def high(self) -> str | None:
        """What the upper end is called."""

    @property
    def classes(self) -> Sequence[str]:
        """Names of classes."""


@dataclass(frozen=True)
class FileColumns:
    """Columns of another tool's files that hold a form.

    Attributes
    ----------
    names : for each column the names that it may have, in the order in which the form shows its items
    how : what a row holds: "items", in the order that says `said`; "judged" items, with a response whether the order
        holds; "named" items and which of them was picked; "scale", MLDS' two intervals and which is larger; "lists" of
        the chosen and the others; one of the items of a question ("long"), with its trial and whether it was picked;
        or a line of a sheet: "ratings", "places", "groups"
    said : the response that such an order of the items says
    """

    names: tuple[tuple[str, ...], ...]
    how: Literal["items", "judged", "named", "scale", "lists", "long", "ratings", "places", "groups"] = "items"
    said: int = 0


class Form:
    """A form of question.

    Attributes
    ----------
    name : what a column `form` says
    words : the questions in the words of a report: "so many answers to ..."
    shows, says : what `shown` and `response` hold, in words for the documentation
    fill_in : what a person writes as the answer to a question in a table; where it is empty, `says` tells
    n_shown : how many items a question shows; None where that can be chosen (`grid_size`)
    grid : items beside the head where nothing is chosen; None is all items
    arrangement : whether there is a head, and which places may be exchanged
    repeats : whether one answer may hold several questions, one after the other
    also_called : other names that `next_questions` knows it by
    page : the name under which a study asks it, which is that of its script; None where no page can
    ask : what the page asks; the study's texts call it `ask_` and the page
    script : the file of its script, where that does not stand in `study/web/static/forms`
    settings : keys of `[question]` in `study.toml` that decide what answers mean, beside the form itself
    shows_also : keys of it that the page shows without a change of what answers mean; others of `Setup` are not used
    columns : how other tools write it down; the last is what rows without a header are taken for
    search : how the best question of a head is found in active choice (`active/proposals.py`)
    """

    name: ClassVar[str]
    words: ClassVar[str]
    shows: ClassVar[str] = "items"
    says: ClassVar[str]
    fill_in: ClassVar[str] = ""
    n_shown: ClassVar[int | None] = None
    grid: ClassVar[int | None] = None
    arrangement: ClassVar[Arrangement] = Arrangement()
    repeats: ClassVar[bool] = False
    also_called: ClassVar[tuple[str, ...]] = ()
    page: ClassVar[str | None] = None
    ask: ClassVar[str] = ""
    script: ClassVar[Path | None] = None
    settings: ClassVar[tuple[str, ...]] = ()
    shows_also: ClassVar[tuple[str, ...]] = ()
    columns: ClassVar[tuple[FileColumns, ...]] = ()
    search: ClassVar[Literal["pair", "threesome", "grid", "drawn"]] = "drawn"

    def unused_settings(self) -> list[str]:
        """Return the keys of `Setup` that this form does not look at."""
        keys = [name for name, found in vars(Setup).items() if isinstance(found, property)]
        return [key for key in keys if key not in (*self.settings, *self.shows_also)]

    # --- what is shown

    def width(self, n_items: int = 0, grid_size: int | None = None) -> int:
        """Return how many items a question shows."""
        if self.n_shown is not None:
            return self.n_shown
        head = int(self.arrangement.head)
        if grid_size is not None:
            return head + grid_size
        return n_items if self.grid is None else head + min(self.grid, n_items - head)

    @property
    def n_alternatives(self) -> int | None:
        """Among how many alternatives every question has one picked; None where that differs, or nothing is picked."""
        return None

    def draw(self, n_items: int, n_questions: int, grid_size: int | None, rng: np.random.Generator) -> Ints:
        """Draw questions at random, (questions, width); no item stands twice in one."""
        return distinct(n_items, n_questions, self.width(n_items, grid_size), rng)

    def is_degenerate(self, shown: Array) -> Bools:
        """Which questions compare something with itself."""
        ordered = np.sort(shown if shown.dtype.kind in "iu" else shown.astype(str), axis=1)
        return (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)

    # --- what is said

    def expected(self, setup: Setup) -> tuple[range, int]:
        """Return the codes of a response on a study's page, and how many different ones there are in it."""
        raise NotImplementedError(f"{self.name} is asked on no page")

    def check_setup(self, setup: Setup) -> None:
        """Refuse settings of a study that this form cannot be asked with: ValueError that begins with the key."""

    def check_response(self, response: Sequence[float], setup: Setup) -> list[float]:
        """Return what was said to one question of a study, or raise ValueError that says what was expected."""
        said = finite(response)
        whole = [int(value) for value in said if value == int(value)]
        if len(whole) != len(said):
            raise ValueError(f"response: expected whole numbers, found {said}")
        codes, number = self.expected(setup)
        if len(whole) != number or len(set(whole)) != number or not all(value in codes for value in whole):
            low, high = codes[0], codes[-1]
            raise ValueError(f"response: expected {number} different from {low} to {high}, found {whole}")
        return [float(value) for value in whole]

    def same_response(self, one: Sequence[float], other: Sequence[float]) -> bool:
        """Whether two responses to a question say the same."""
        return list(one) == list(other)

    def rearranged(self, response: Sequence[float], shown: Sequence[str], other: Sequence[str]) -> list[float]:
        """Return the same response to the same question whose items stand in another order."""
        return list(response)

    def side_of(self, response: Sequence[float]) -> int:
        """Return the position on the screen of what was chosen, counted from 0; -1 where a response is no position."""
        return -1

    def ask_as(self, setup: Setup) -> str:
        """Return the name of the text that a page asks with these settings."""
        return f"ask_{self.page}"

    @property
    def asks(self) -> dict[str, str]:
        """What its page may ask, by the names of the texts."""
        return {f"ask_{self.page}": self.ask}

    def said(self, shown: Sequence[str], response: Sequence[float]) -> list[str]:
        """What was said to one question, a word or number each: items by name where items were picked."""
        return [f"{value:g}" for value in response]

    def in_words(self, shown: Sequence[str], response: Sequence[float]) -> str:
        """Say one answer in a sentence; of a long one, its beginning."""
        said = ", ".join(f"{value:g}" for value in response[:6])
        return f"of {_some(shown)}, said {said}{', ...' if len(response) > 6 else ''}"

    def how_to_fill_in(self) -> str:
        """Say what a person writes as the answer to a question in a table."""
        return self.fill_in or f"{self.says}; several numbers as a list such as [0, 3]"

    def code_of(self, word: str, shown: Sequence[str]) -> float:
        """Return the number of a response that a word in a table stands for, or raise ValueError."""
        try:
            return finite([float(word)])[0]
        except ValueError:
            raise ValueError(f"expected {self.how_to_fill_in()}; found {word!r}") from None

    def codes_of(self, said: Sequence[Any], shown: Sequence[str]) -> list[Any]:
        """Return a response as numbers where a table has words for some of them."""
        return [self.code_of(one, shown) if isinstance(one, str) else one for one in said]

    # --- what follows from it

    def comparisons(self, shown: Array, response: Array) -> Edges:
        """Return the comparisons of answers of one size: matrices of items shown and of numbers said."""
        raise NotImplementedError

    def count(self, shown: Rows, response: Rows) -> Array:
        """Return how many comparisons each answer gives; by deriving them, unless a form knows a shorter way."""
        found = np.zeros(len(shown), np.int64)
        for rows in of_one_kind(shown.lengths, response.lengths):
            owner = self.comparisons(shown.matrix(rows), response.matrix(rows))[2]
            found[rows] = np.bincount(owner, minlength=len(rows))
        return found

    def chosen(self, shown: Array, response: Array) -> list[Alternatives]:
        """Return what answers of one size chose, and from what; each comparison is a choice of two unless a form knows.

        Where a form knows, an answer has a probability that is not the product of those of its comparisons.
        """
        return [Alternatives.of_two(*self.comparisons(shown, response))]

    def undecided(self, shown: Array, picked: int) -> list[Alternatives]:
        """Return what there was to pick so many from, where the answers to questions of one size were "can't tell"."""
        return []

    @property
    def has_own_chances(self) -> bool:
        """Whether an answer is more than its comparisons taken one by one."""
        return type(self).chosen is not Form.chosen

    def asked_by(self, near: Array, far: Array) -> Array:
        """Return the questions of this form that comparisons answer, whichever form those came from."""
        return np.empty((0, self.n_shown or 0), np.int32)

    # --- who answers

    @property
    def is_simulated(self) -> bool:
        """Whether simulated raters can answer it."""
        return type(self).answer is not Form.answer

    def answer(self, mind: Mind, shown: Array) -> Said:
        """Return what simulated raters say, the place of the first thing chosen (-1: none), how clear it was."""
        raise NotImplementedError(f"{self.name} has no simulated raters")

    # --- checks

    def check_size(self, fits: bool, shown: Array, response: Array) -> None:
        """Refuse a response whose length does not answer what was shown."""
        if not fits:
            raise ValueError(
                f"response: {response.shape[1]} numbers do not answer {self.name} of {shown.shape[1]} items; it shows "
                f"{self.shows} and is answered by {self.says}"
            )

    def places(self, response: Array, codes: range) -> Array:
        """Return codes as integers, checked to be whole, in range, and none of them twice in a row."""
        place = as_integers(response, "response")
        if place.size and (place.min() < codes[0] or place.max() > codes[-1]):
            wrong = place.min() if place.min() < codes[0] else place.max()
            raise ValueError(f"response: found {wrong}, but an answer of form {self.name} is {codes[0]} to {codes[-1]}")
        place = place.astype(np.intp)
        if place.ndim == 2 and (np.diff(np.sort(place, axis=1), axis=1) == 0).any():
            raise ValueError(
                f"response: an answer of form {self.name} names a position twice; every item is picked once"
            )
        return place


def finite(response: Sequence[float]) -> list[float]:
    """Return a response as floats, checked to be finite."""
    said = [float(value) for value in response]
    if not all(math.isfinite(value) for value in said):
        raise ValueError("response: expected finite numbers")
    return said


def check_three(setup: Setup) -> None:
    """Refuse a study whose answers would compare nothing: pairs of two items are one."""
    if setup.grid_size < 3:
        raise ValueError(f"grid_size: expected at least 3 items, of which some are more alike, found {setup.grid_size}")


def item_by_item(response: Sequence[float], shown: Sequence[str], other: Sequence[str]) -> list[float]:
    """Return a response that says so many numbers of each item in turn, for the same items in another order."""
    each = len(response) // len(shown)
    starts = [each * list(shown).index(name) for name in other]
    return [value for start in starts for value in response[start : start + each]]


def of_one_kind(*columns: Array) -> Iterator[Array]:
    """Yield the rows that are equal in all columns; the last says how much was said: "can't tell" (0) is in none."""
    if all(is_constant(column) for column in columns):
        if len(columns[-1]) and columns[-1][0] > 0:
            yield np.arange(len(columns[-1]))
        return
    kinds, group = np.unique(np.stack(columns), axis=1, return_inverse=True)
    yield from (np.flatnonzero(group == k) for k, kind in enumerate(kinds.T) if kind[-1] > 0)


def distinct(n_values: int, n_rows: int, width: int, rng: np.random.Generator) -> Ints:
    """Draw rows of `width` distinct numbers below `n_values`, in random order."""
    if not 1 <= width <= n_values:
        raise ValueError(f"n_items: a question shows {width} different items, but there are {n_values}")
    if width > 16:
        tickets = np.broadcast_to(np.arange(n_values, dtype=np.int32), (n_rows, n_values))
        return np.ascontiguousarray(rng.permuted(tickets, axis=1)[:, :width])
    drawn = np.empty((n_rows, width), np.int32)
    taken = np.empty((n_rows, 0), np.int32)
    for k in range(width):  # a number among the n_values - k not yet taken, then step over those taken
        value = rng.integers(0, n_values - k, n_rows, dtype=np.int32)
        for column in taken.T:
            value += value >= column
        drawn[:, k] = value
        taken = np.sort(drawn[:, : k + 1], axis=1)
    return drawn


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")

"""Questions at random: which items to show, by form."""

from __future__ import annotations

import numpy as np

from similitude.feedback.columns import Array, Ints, Seed
from similitude.feedback.forms import FORMS

FIXED_WIDTH = {"triplet": 3, "quadruplet": 4, "odd_one_out": 3, "most_central": 3}
_WITH_HEAD = ("choice", "ranking")
_PAIRS = ("similarity_rating", "difference_rating")


def random_questions(
    n_items: int,
    n_questions: int,
    form: str = "triplet",
    random_state: Seed = None,
    *,
    grid_size: int | None = None,
) -> Ints:
    """Draw questions at random; no item stands twice in a question.

    Parameters
    ----------
    n_items : number of items to draw from
    n_questions : number of questions
    form : the form of question, a name of `similitude.feedback.forms.FORMS`
    random_state : seed or generator
    grid_size : how much a question shows: items beside the head in a choice (12) or a ranking (4); items of a
        placement, a grouping or an attribute (all); pairs of a rating sheet (all)

    Returns
    -------
    shown : (n_questions, width) the items of each question, in the order that the form defines

    Examples
    --------
    >>> from similitude import random_questions
    >>> random_questions(10, 2, "choice", random_state=0, grid_size=5).shape
    (2, 6)
    """
    if form not in FORMS:
        raise ValueError(f"form: {form!r} is unknown; the forms are {', '.join(sorted(FORMS))}")
    if n_questions < 0:
        raise ValueError(f"n_questions: expected 0 or more, found {n_questions}")
    rng = np.random.default_rng(random_state)
    if form in _PAIRS:
        return _rating_sheets(n_items, n_questions, grid_size, rng)
    return distinct(n_items, n_questions, question_width(form, n_items, grid_size), rng)


def question_width(form: str, n_items: int, grid_size: int | None) -> int:
    """Return how many items a question of the form shows, where it does not show pairs."""
    if form in FIXED_WIDTH:
        return FIXED_WIDTH[form]
    if form in _WITH_HEAD:
        default = 12 if form == "choice" else 4
        return 1 + (min(default, n_items - 1) if grid_size is None else grid_size)
    return n_items if grid_size is None else grid_size


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


def _rating_sheets(n_items: int, n_sheets: int, n_pairs: int | None, rng: np.random.Generator) -> Ints:
    """Draw sheets of different pairs, the pairs in random order and each either way round."""
    first, second = np.triu_indices(n_items, 1)
    count = len(first) if n_pairs is None else n_pairs
    if not 1 <= count <= len(first):
        raise ValueError(f"grid_size: expected 1 to {len(first)} pairs of {n_items} items, found {count}")
    chosen = distinct(len(first), n_sheets, count, rng)
    pairs: Array = np.stack([first[chosen], second[chosen]], axis=2)
    turned = rng.random(chosen.shape) < 0.5
    pairs[turned] = pairs[turned][:, ::-1]
    return pairs.reshape(n_sheets, 2 * count).astype(np.int32)

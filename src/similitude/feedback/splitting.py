"""What is held out: answers, raters or items, and never part of an answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from similitude.types import Array, Bools, Ints

if TYPE_CHECKING:
    from similitude.feedback.comparisons import Comparisons


def groups(comparisons: Comparisons, by: Literal["answer", "rater"]) -> Ints:
    """Return for each answer the group that must not be split: the answer itself, or its rater."""
    if by == "answer":
        return np.arange(comparisons.n_answers, dtype=np.int32)
    if by != "rater":
        raise ValueError(f"by: expected 'answer', 'rater' or 'item', found {by!r}")
    codes = comparisons.answers.rater.codes
    if (codes < 0).any():
        raise ValueError("by='rater': some answers have no rater; give rater= when you build the comparisons")
    return codes


def hold_out_items(comparisons: Comparisons, items: npt.ArrayLike) -> tuple[Array, Array]:
    """Return the rows among the other items, and the rows with one new item (the head where there is one)."""
    new = np.zeros(comparisons.n_items, bool)
    new[np.asarray(items)] = True
    among = new[comparisons.quadruplets]
    train = np.flatnonzero(~among.any(1))
    head = comparisons.is_triplet & among[:, 0] & ~among[:, 1] & ~among[:, 3]
    single = ~comparisons.is_triplet & (among.sum(1) == 1)
    return train, np.flatnonzero(head | single)


def among(comparisons: Comparisons, place: Array, n_items: int) -> Comparisons:
    """Return the comparisons all of whose items have a place, with items numbered by their places.

    Parameters
    ----------
    comparisons : the comparisons
    place : the new number of each item; -1 where it has none
    n_items : how many numbers there are
    """
    kept = comparisons.rows(np.flatnonzero((place[comparisons.quadruplets] >= 0).all(1)))
    near, far = (place[pairs].astype(np.int32) for pairs in (kept.near, kept.far))
    return replace(kept, near=near, far=far, n_items=n_items, names=None)


def held_out_answers(
    comparisons: Comparisons, test_size: float, by: Literal["answer", "rater"], rng: np.random.Generator
) -> Bools:
    """Return which answers are held out when a share of the answers or raters is."""
    group = groups(comparisons, by)
    return np.isin(group, draw(np.unique(group), test_size, rng))


def draw(values: Array, test_size: float, rng: np.random.Generator) -> Array:
    """Draw a share of some values: at least one, and not all."""
    if not 0 < test_size < 1:
        raise ValueError(f"test_size: expected a share between 0 and 1, found {test_size}")
    count = len(values)
    if count < 2:
        raise ValueError(f"test_size: at least 2 groups are needed to hold some out, found {count}")
    return rng.permutation(values)[: min(max(1, round(test_size * count)), count - 1)]

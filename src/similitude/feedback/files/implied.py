"""How many comparisons answers imply, and whether some comparisons are just those."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from similitude.feedback import forms
from similitude.feedback.answers import Answers
from similitude.feedback.checks import head_first
from similitude.feedback.columns import Array
from similitude.feedback.pairs import distances_within

if TYPE_CHECKING:
    from similitude.feedback.comparisons import Comparisons


def is_implied(comparisons: Comparisons) -> bool:
    """Whether comparisons are just what their answers imply, in order: not cleaned, sampled or flipped.

    Numbers are compared first: a sheet of 60,000 rated pairs implies two thousand million comparisons.
    """
    counts = implied_counts(comparisons.answers)
    if (counts != np.bincount(comparisons.answer, minlength=comparisons.n_answers)).any():
        return False
    near, far, answer = forms.derive(comparisons.answers)
    near, far = head_first(near, far)
    same = (near, comparisons.near), (far, comparisons.far), (answer, comparisons.answer)
    return all(np.array_equal(one, other) for one, other in same)


def implied_counts(answers: Answers) -> Array:
    """Return the number of comparisons that each answer implies, without deriving them."""
    shown, said = answers.shown.lengths, answers.response.lengths
    counts = np.zeros(len(answers), np.int64)
    for form, rows in answers.by_form():
        items, numbers = shown[rows], said[rows]
        if form in ("triplet", "quadruplet"):
            counts[rows] = numbers
        elif form in ("odd_one_out", "most_central"):
            counts[rows] = 2
        elif form == "choice":
            counts[rows] = numbers * (items - 1 - numbers)
        elif form == "ranking":
            counts[rows] = numbers * (items - 1 - numbers) + numbers * (numbers - 1) // 2
        elif form == "attribute":
            counts[rows] = numbers * (numbers - 1) * (numbers - 2) // 3
        else:
            counts[rows] = [_SHEETS[form](answers, row) for row in rows]
    return counts


def _unequal(values: Array) -> int:
    """Number of pairs of known, unequal values."""
    known = values[~np.isnan(values)]
    ties = np.unique(known, return_counts=True)[1]
    return int((len(known) ** 2 - (ties**2).sum()) // 2)


def _rating(answers: Answers, row: int) -> int:
    return _unequal(answers.response[row].astype(float))


def _placement(answers: Answers, row: int) -> int:
    one = answers.take(np.array([row]))
    coordinates = one.response.width // max(one.shown.width, 1)
    return _unequal(distances_within(one.shown, one.response, coordinates)[1].values)


def _grouping(answers: Answers, row: int) -> int:
    size = np.unique(answers.response[row], return_counts=True)[1]
    return int((size * (size - 1) * (size.sum() - size)).sum())


def _labelling(answers: Answers, row: int) -> int:
    label, sure = answers.response[row].reshape(-1, 2).T
    size = np.unique(label, return_counts=True)[1]
    surer = sum(_unequal(sure[label == k]) * (int((label == k).sum()) - 2) for k in np.unique(label))
    return int((size * (size - 1) * (size.sum() - size)).sum()) + surer


_SHEETS = {
    "similarity_rating": _rating,
    "difference_rating": _rating,
    "placement": _placement,
    "grouping": _grouping,
    "labelling": _labelling,
}

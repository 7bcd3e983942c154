"""How many comparisons answers imply, and whether some comparisons are just those."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from similitude.feedback import forms
from similitude.feedback.answers import Answers
from similitude.feedback.checks import head_first
from similitude.types import Array

if TYPE_CHECKING:
    from similitude.feedback.comparisons import Comparisons


def is_implied(comparisons: Comparisons) -> bool:
    """Whether comparisons are just what their answers imply, in order: not cleaned, sampled or flipped.

    Numbers are compared first: a sheet of 60,000 rated pairs implies two thousand million comparisons.
    """
    if not forms.FORMS.keys() >= set(comparisons.answers.form.labels):
        return False  # a form that a package brought which is not here: only its comparisons are known
    counts = implied_counts(comparisons.answers)
    if (counts != np.bincount(comparisons.answer, minlength=comparisons.n_answers)).any():
        return False
    near, far, answer = forms.derive(comparisons.answers)
    near, far = head_first(near, far)
    same = (near, comparisons.near), (far, comparisons.far), (answer, comparisons.answer)
    return all(np.array_equal(one, other) for one, other in same)


def implied_counts(answers: Answers) -> Array:
    """Return the number of comparisons that each answer implies, without deriving them."""
    counts = np.zeros(len(answers), np.int64)
    for form, rows in answers.by_form():
        if len(rows):
            some = answers if len(rows) == len(answers) else answers.take(rows)
            counts[rows] = forms.find(form).count(some.shown, some.response)
    return counts

"""Answers as choices, where they are whole: what each chose, and from what."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from similitude.feedback.columns import take
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.forms import FORMS
from similitude.feedback.forms.alternatives import Alternatives
from similitude.feedback.forms.base import Form, of_one_kind
from similitude.feedback.whole_shards import AnswerKind
from similitude.types import Array, Bools


def choices_of(comparisons: Comparisons, *, cant_tell: bool = False) -> list[Alternatives]:
    """Return what was chosen, each answer once.

    An answer counts as one choice where all its comparisons are there, with one weight. What cleaning or a slice left
    of another, and what has no choice of its own (ratings, groups), is taken comparison by comparison. With
    `cant_tell`, answers of "can't tell" follow (`undecided_of`).
    """
    c = comparisons
    whole = _is_whole(c, _forms_with_chances(c))
    found = [part for form in _forms_with_chances(c) for part in _of_form(c, form, whole)]
    loose = ~whole[c.answer] & (c.weight > 0)
    asked = _is_a_comparison(c)[c.answer]  # the whole question, and not a part of what was said
    for rows in (np.flatnonzero(loose & asked), np.flatnonzero(loose & ~asked)):
        if len(rows):
            two = Alternatives.of_two(c.near[rows], c.far[rows], c.answer[rows], c.weight[rows])
            found.append(replace(two, can_tie=bool(asked[rows[0]])))
    return found + undecided_of(c) if cant_tell else found


def undecided_of(comparisons: Comparisons) -> list[Alternatives]:
    """Return what there was to pick from where the answer was "can't tell", which counts 1.

    How many would have been picked is what most answers to such questions picked, and 1 where there are none.
    """
    answers, found = comparisons.answers, []
    width, said = np.asarray(answers.shown.lengths), np.asarray(answers.response.lengths)
    for code, name in enumerate(answers.form.labels):
        asked = (answers.form.codes == code) & (name in FORMS)
        for shown in np.unique(width[asked & (said == 0)]):
            alike = asked & (width == shown)
            rows, picks = np.flatnonzero(alike & (said == 0)), np.bincount(said[alike & (said > 0)], minlength=2)
            parts = _undecided(FORMS[name], answers.shown.matrix(rows), int(picks.argmax()) or 1)
            found += [replace(part, row=rows[part.row], weight=np.ones(len(part))) for part in parts]
    return found


def whole_kinds(comparisons: Comparisons) -> list[tuple[AnswerKind, Array]]:
    """Return the kinds of the answers that are whole, "can't tell" included, with the rows of each."""
    answers, found = comparisons.answers, []
    width, said = np.asarray(answers.shown.lengths), np.asarray(answers.response.lengths)
    whole = _is_whole(comparisons, [code for code, name in enumerate(answers.form.labels) if _picks(name)])
    for code, name in enumerate(answers.form.labels):
        rows = np.flatnonzero(whole & (answers.form.codes == code))
        for chosen in of_one_kind(width[rows], said[rows]):
            kind = rows[chosen]
            found.append((AnswerKind(name, int(width[kind[0]]), int(said[kind[0]])), kind))
    ties = [(one.row, one.picked) for one in undecided_of(comparisons)]
    for rows, picked in ties:
        unique = np.unique(rows)
        form = answers.form.labels[answers.form.codes[unique[0]]]
        found.append((AnswerKind(form, int(width[unique[0]]), picked, tied=True), unique))
    return found


def _picks(name: str) -> bool:
    """Whether answers of a form are choices of their own, of two or more."""
    return name in FORMS and (FORMS[name].has_own_chances or FORMS[name].n_alternatives == 2)


def _undecided(form: Form, shown: Array, picked: int) -> list[Alternatives]:
    """What there was to pick from; of one thing, or of all, nothing can be picked."""
    return [one for one in form.undecided(shown, picked) if one.picked < one.n_alternatives]


def has_wide_choices(comparisons: Comparisons) -> bool:
    """Whether some answer chose from more than two: then it is more than a comparison, and is scored as a whole."""
    c = comparisons
    whole = _is_whole(c, _forms_with_chances(c))
    return any(one.n_alternatives > 2 for form in _forms_with_chances(c) for one in _of_form(c, form, whole))


def _forms_with_chances(c: Comparisons) -> list[int]:
    """Codes of the forms whose answers are more than their comparisons."""
    return [code for code, name in enumerate(c.answers.form.labels) if name in FORMS and FORMS[name].has_own_chances]


def _is_a_comparison(c: Comparisons) -> Bools:
    """Which answers are to questions that ask for one comparison, and nothing else."""
    two = [name in FORMS and FORMS[name].n_alternatives == 2 for name in c.answers.form.labels]
    return np.array([*two, False], bool)[c.answers.form.codes]


def _is_whole(c: Comparisons, forms: list[int]) -> Bools:
    """Which answers of some forms are there with all their comparisons, equally weighted and at all."""
    answers, found = c.answers, np.zeros(c.n_answers, bool)
    there = np.bincount(c.answer, minlength=c.n_answers)
    low, high = np.full(c.n_answers, np.inf), np.zeros(c.n_answers)
    np.minimum.at(low, c.answer, c.weight)
    np.maximum.at(high, c.answer, c.weight)
    for code in forms:
        rows = np.flatnonzero((answers.form.codes == code) & (there > 0))
        expected = FORMS[answers.form.labels[code]].count(answers.shown.take(rows), answers.response.take(rows))
        found[rows] = (there[rows] == expected) & (low[rows] == high[rows]) & (high[rows] > 0)
    return found


def _of_form(c: Comparisons, code: int, whole: Bools) -> list[Alternatives]:
    """The choices of the whole answers of a form, by how much was shown and said."""
    answers, form = c.answers, FORMS[c.answers.form.labels[code]]
    rows = np.flatnonzero(whole & (answers.form.codes == code))
    weight = np.zeros(c.n_answers)
    weight[c.answer] = c.weight
    found = []
    for chosen in of_one_kind(take(answers.shown.lengths, rows), take(answers.response.lengths, rows)):
        kind = rows[chosen]
        parts = form.chosen(answers.shown.matrix(kind), answers.response.matrix(kind))
        found += [_owned(part, kind, weight) for part in parts]
    return found


def _owned(part: Alternatives, rows: Array, weight: Array) -> Alternatives:
    """Choices with the answers that they come from, and their weights."""
    return replace(part, row=rows[part.row], weight=weight[rows[part.row]])

"""Forms of question: everything that is known of each, in one object; the registry, and what answers compare.

A form is a class in a file of its own and a line of `_OURS` below. Files, simulated raters, active choice, the study
and its pages, the command line, the reports and the documentation find it here, by its name. A package of your own adds
one without touching this file, by an entry point of the group `similitude.forms` that names the class.

What a form shows and how it is answered stands in its `shows` and `says`; the reference has a table of them. Pieces
(`pieces.py`) are asked one by one, and the pieces of one rater are gathered into a sheet of another form.

Examples
--------
>>> from similitude.feedback.forms import FORMS, PIECES
>>> FORMS["odd_one_out"].says
'position of the odd one'
>>> PIECES["same_different"].sheet.name
'similarity_rating'
"""

from __future__ import annotations

import warnings
from importlib.metadata import entry_points
from typing import Any

import numpy as np

from similitude.feedback.answers import Answers
from similitude.feedback.forms.attribute import Attribute
from similitude.feedback.forms.base import Form, of_one_kind
from similitude.feedback.forms.best_worst import BestWorst
from similitude.feedback.forms.choice import Choice
from similitude.feedback.forms.grouping import Grouping
from similitude.feedback.forms.labelling import LabelledItem
from similitude.feedback.forms.most_central import MostCentral
from similitude.feedback.forms.odd_one_out import OddOneOut
from similitude.feedback.forms.picking import Picking
from similitude.feedback.forms.pieces import Piece, edges_of, gathered, shared_weight
from similitude.feedback.forms.placement import PLACEMENT
from similitude.feedback.forms.quadruplet import Quadruplet
from similitude.feedback.forms.ranking import Ranking
from similitude.feedback.forms.ratings import DIFFERENCE, SIMILARITY, RatedPair
from similitude.feedback.forms.same_different import SameDifferent
from similitude.feedback.forms.triplet import Triplet
from similitude.types import Array, Floats, Ints

FORMS: dict[str, Form] = {}
"""The forms of the answers in `Answers`, by name."""

PIECES: dict[str, Piece] = {}
"""The forms whose answers are gathered into sheets first, by name."""

PAGES: dict[str, Form] = {}
"""The forms that a study can ask, by the names that studies have for them."""

_OURS = (
    Triplet(), OddOneOut(), Choice(), Quadruplet(), MostCentral(), Ranking(), BestWorst(), SIMILARITY, RatedPair(),
    SameDifferent(), DIFFERENCE, PLACEMENT, Grouping(), LabelledItem.sheet, LabelledItem(), Attribute(),
)  # fmt: skip


def register(form: Form) -> Form:
    """Make a form known under its name; another form of that name is refused."""
    if not isinstance(form, Form):
        hint = f"; register {form.__name__}()" if isinstance(form, type) else ""
        raise TypeError(f"form: expected an object of a class that extends Form, found {form!r}{hint}")
    lacking = [fact for fact in ("name", "words", "says") if not hasattr(form, fact)]
    if lacking:
        raise ValueError(f"form: {type(form).__name__} does not say its {lacking[0]!r}; see `Form` for what that is")
    for fact, word in (("name", form.name), ("page", form.page)):
        if not (isinstance(word, str) and word.isidentifier()) and not (fact == "page" and word is None):
            raise ValueError(f"form: expected a {fact} of letters, digits and _, found {word!r}")
    known: dict[str, Any] = PIECES if isinstance(form, Piece) else FORMS
    before = FORMS.get(form.name) or PIECES.get(form.name) or PAGES.get(form.page or "")
    if before is not None and _class_of(before) != _class_of(form):  # a notebook may run its cell again
        taken = f"the name {form.name!r}" if before.name == form.name else f"the page {form.page!r}"
        raise ValueError(f"form: {taken} is that of {type(before).__name__}; take another")
    known[form.name] = form
    if form.page is not None:
        PAGES[form.page] = form
    return form


def _class_of(form: Form) -> tuple[str, str]:
    return type(form).__module__, type(form).__qualname__


def unregister(form: Form) -> None:
    """Forget a form, where a test or a notebook registered it."""
    FORMS.pop(form.name, None)
    PIECES.pop(form.name, None)
    PAGES.pop(form.page or "", None)


def load_entry_points() -> None:
    """Register the forms of other packages; one that cannot be loaded is left out, with a warning."""
    for point in entry_points(group="similitude.forms"):
        try:
            register(point.load()())
        except Exception as error:  # whatever a stranger's module raises must not keep similitude from starting
            brought = point.dist.name if point.dist is not None else "a package"
            warnings.warn(f"the form {point.name!r} of {brought} could not be loaded: {error}", stacklevel=2)


def find(name: str) -> Form:
    """Return the form of that name, a piece of a sheet included; ValueError where there is none."""
    found = FORMS.get(name) or PIECES.get(name)
    if found is None:
        raise ValueError(f"form: {name!r} is unknown; the forms are {', '.join(sorted(FORMS))}")
    return found


def picking_forms() -> dict[str, Picking]:
    """Return the forms that pick among alternatives: those whose next questions can be chosen."""
    return {name: form for name, form in FORMS.items() if isinstance(form, Picking)}


def derive(answers: Answers) -> tuple[Ints, Ints, Ints]:
    """Return the comparisons of answers: near pairs, far pairs, the answer of each; in order of answers."""
    return _derive(answers, {})


def compare(answers: Answers, weight: Floats) -> tuple[Answers, Floats, tuple[Ints, Ints, Ints]]:
    """Return answers with the pieces of each rater gathered, one weight for each, and their comparisons."""
    if not any(label in PIECES for label in answers.form.labels):
        return answers, weight, derive(answers)
    whole, sheets, sheet = gathered(answers, PIECES)
    return whole, shared_weight(weight, sheet), _derive(whole, sheets)


def _derive(answers: Answers, sheets: dict[int, Piece]) -> tuple[Ints, Ints, Ints]:
    """The comparisons of answers, of which some are sheets made of pieces."""
    parts = [
        _of_form(answers, rows if not sheets else rows[~np.isin(rows, list(sheets))])
        for rows in of_one_kind(answers.form.codes, answers.shown.lengths, answers.response.lengths)
    ]
    for row, piece in sheets.items():
        if len(answers.response[row]):
            near, far = edges_of(piece, answers.shown[row], answers.response[row])
            parts.append((near, far, np.full(len(near), row)))
    if not parts:
        empty = np.empty((0, 2), np.int32)
        return empty, empty, np.empty(0, np.int32)
    near, far, answer = (np.concatenate(column).astype(np.int32) for column in zip(*parts, strict=True))
    if len(parts) == 1:
        return near, far, answer
    order = np.argsort(answer, kind="stable")
    return near[order], far[order], answer[order]


def _of_form(answers: Answers, rows: Array) -> tuple[Array, Array, Array]:
    """The comparisons of answers of one form and size."""
    if not len(rows):
        return np.empty((0, 2), np.int32), np.empty((0, 2), np.int32), rows
    form = find(answers.form.labels[answers.form.codes[rows[0]]])
    near, far, owner = form.comparisons(answers.shown.matrix(rows), answers.response.matrix(rows))
    return near, far, rows[owner]


for _form in _OURS:
    register(_form)
load_entry_points()

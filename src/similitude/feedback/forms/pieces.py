"""Pieces of sheets: one rated pair, one linked pair, one labelled item, as a study asks them one by one.

A piece compares nothing by itself. The pieces of one rater are brought together into the sheet that is one answer, here
and nowhere else, so that the live model of a study and the file that it exports compare the same.

A sheet of k answers gives up to k²/2 comparisons (labels: k³), but they hold what k answers hold: all of them together
would make a model ever surer of nothing new, and a rater of twice the patience would count four times. So a sheet that
is made of pieces gives at most `PER_PIECE` comparisons for each piece, drawn from all, always the same ones; then
influence grows as the number of answers does. The number is that of `Links` and `Labels`. Of maps of 30 items learned
from simulated sheets, those from 20 per piece order new triplets nearly as well as those from all comparisons (ratings
97.7% and 97.9%, 98.4% and 98.6%; same or different 90.4% and 90.6%; labels 73.5% and 74.1%), those from 5 clearly less
well (97.2%, 98.1%, 88.8%, 71.9%).

A piece without a response is left out of its sheet: "can't tell" about one pair says nothing about the others.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from similitude.feedback.answers import Answers
from similitude.feedback.columns import Categories, Rows, is_constant
from similitude.feedback.extra import as_cells, shared_extra
from similitude.feedback.forms.base import Form
from similitude.types import Array, Bools, Floats

PER_PIECE = 20
SHEET = "sheet"  # a column that tells sheets of one rater apart: what was asked in another way is another sheet
_SEED = 0  # of the draw of each sheet, so that nothing but its own pieces decides what it compares
_LISTED = 200_000  # comparisons that are listed before some are drawn; of more, forms draw without listing them


class Piece(Form):
    """A form that is asked one by one and learned as a sheet.

    Attributes
    ----------
    sheet : the form that its answers make up together
    compares : what a sheet must hold so that it compares anything
    """

    sheet: ClassVar[Form]
    compares: ClassVar[str]

    def thinned(self, shown: Array, response: Array, most: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return near and far pairs of one sheet: all that it implies, or `most` of them at random."""
        near, far, _ = self.sheet.comparisons(shown[None], response[None])
        if len(near) <= most:
            return near, far
        chosen = np.sort(rng.choice(len(near), most, replace=False))
        return near[chosen], far[chosen]

    def is_long(self, shown: Array, response: Array) -> bool:
        """Whether a sheet implies so many comparisons that they are not listed before some are drawn."""
        return bool(self.sheet.count(Rows.uniform(shown[None]), Rows.uniform(response[None]))[0] > _LISTED)


def edges_of(piece: Piece, shown: Array, response: Array) -> tuple[Array, Array]:
    """Return the comparisons of one sheet of pieces.

    Items are numbered as they come while comparisons are drawn, so that other numbers of the same items (those of a
    file, say) give the same. What compares an item or a pair with itself is left out: a pair that was asked twice.
    """
    items, first, local = np.unique(shown, return_index=True, return_inverse=True)
    place = np.argsort(np.argsort(first))[local.reshape(-1)]
    assert piece.n_shown is not None
    most = PER_PIECE * (len(shown) // piece.n_shown)
    near, far = piece.thinned(place, response, most, np.random.default_rng(_SEED))
    named = items[np.argsort(first)]
    low, high = np.sort(near, axis=1), np.sort(far, axis=1)
    proper = (near[:, 0] != near[:, 1]) & (far[:, 0] != far[:, 1]) & (low != high).any(axis=1)
    return named[near[proper]], named[far[proper]]


def gathered(answers: Answers, pieces: dict[str, Piece]) -> tuple[Answers, dict[int, Piece], Array]:
    """Bring the pieces of each rater together, by sheet where a column tells it; other answers stay as they are.

    Returns the answers, the kind of piece of those that are such sheets, and for each answer given the one it is in.
    Sheets stand where their first piece stood. What is said about answers is kept where all of a sheet share it.
    """
    kind = [pieces.get(label) for label in answers.form.labels]
    is_piece = np.array([one is not None for one in kind] + [False])[answers.form.codes]
    sheet = _sheets(answers, is_piece)
    first = np.unique(sheet, return_index=True)[1]
    order = np.argsort(sheet, kind="stable")
    kept = order[_is_kept(answers, sheet)[order]]
    said = _join(answers.response.take(kept), sheet[kept], len(first))
    shown = _join(answers.shown.take(kept), sheet[kept], len(first))
    forms = [label if one is None else one.sheet.name for label, one in zip(answers.form.labels, kind, strict=True)]
    found = Answers(
        Categories.of(np.array([*forms, None], object)[answers.form.codes[first]], len(first)),
        shown,
        said,
        answers.rater.take(first),
        _shared_label(answers.strategy, sheet, first),
        None if answers.time is None else shared(answers.time, sheet, first, np.nan),
        None if answers.side is None else shared(answers.side, sheet, first, -1),
        shared_extra(answers.extra, sheet, first),
    )
    made = np.flatnonzero(is_piece[first])
    return found, {int(row): kind[answers.form.codes[first[row]]] for row in made}, sheet


def _sheets(answers: Answers, is_piece: Bools) -> Array:
    """For each answer the number of its sheet; an answer that is no piece has one of its own."""
    rater = answers.rater.codes.astype(np.int64) + 1
    asked = answers.form.codes.astype(np.int64)
    if SHEET in answers.extra:
        named = Categories.of(as_cells(answers.extra[SHEET]), len(answers))
        asked = asked * (len(named.labels) + 1) + named.codes + 1
    together = -1 - (asked * (len(answers.rater.labels) + 1) + rater)
    key = np.where(is_piece, together, np.arange(len(answers)))
    _, first, sheet = np.unique(key, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[sheet]


def _is_kept(answers: Answers, sheet: Array) -> Bools:
    """Which answers go into their sheets: those with a response, and all of a sheet that has none."""
    said = ~answers.cant_tell
    return said | (np.bincount(sheet, said) == 0)[sheet]


def _join(rows: Rows, sheet: Array, n_sheets: int) -> Rows:
    lengths = np.bincount(sheet, rows.lengths, n_sheets).astype(np.int64)
    return Rows.ragged(rows.values, lengths)


def shared(column: Array, sheet: Array, first: Array, unknown: Any) -> Array:
    """Return for each sheet the value that all its answers share, `unknown` where they differ."""
    if is_constant(column):
        return column[first]
    value = column[first]
    same = (column == value[sheet]) | ((column != column) & (value != value)[sheet])
    return np.where(np.bincount(sheet, ~same) > 0, unknown, value)


def _shared_label(column: Categories, sheet: Array, first: Array) -> Categories:
    codes = shared(column.codes, sheet, first, -1)
    return Categories(codes.astype(np.int32), column.labels).take(np.arange(len(first)))


def shared_weight(weight: Floats, sheet: Array) -> Floats:
    """Return one weight per sheet: that of its pieces where they share one, else 1."""
    return shared(weight, sheet, np.unique(sheet, return_index=True)[1], 1.0)

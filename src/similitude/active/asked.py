"""What has been asked: a number per question, so that none is asked twice."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from similitude.feedback.columns import Array, Bools, Ints
from similitude.feedback.comparisons import Comparisons

Codes = npt.NDArray[np.int64]

_HASH = 1_000_003


def same_question(form: str, shown: Array) -> Array:
    """Return questions in one order each, so that the same question is the same row.

    Triplet, choice: the head, then the others sorted. Odd-one-out: sorted. Quadruplet: pairs sorted, in and out.
    """
    if form == "quadruplet":
        pairs = np.sort(shown.reshape(len(shown), 2, 2), axis=2)
        (low, high), (other_low, other_high) = pairs[:, 0].T, pairs[:, 1].T
        later = (low > other_low) | ((low == other_low) & (high > other_high))
        return np.where(later[:, None, None], pairs[:, ::-1], pairs).reshape(len(shown), 4)
    if form == "odd_one_out":
        return np.sort(shown, axis=1)
    return np.concatenate([shown[:, :1], np.sort(shown[:, 1:], axis=1)], axis=1)


def codes_of(form: str, shown: Array, n_items: int) -> Codes:
    """Number questions: (a · n + b) · n + c ...; wide ones are hashed, so that two may share a number by chance."""
    rows = same_question(form, shown).astype(np.int64)
    exact = rows.shape[1] * np.log2(max(n_items, 2)) < 62
    code = np.zeros(len(rows), np.int64)
    for column in rows.T:
        code = code * (n_items if exact else _HASH) + column  # int64 wraps around, which is what a hash may do
    return code


def number_of_questions(form: str, width: int, n_items: int) -> int:
    """Return how many different questions there are; items of one question differ."""
    if form == "quadruplet":
        return 3 * comb(n_items, 4)
    if form == "odd_one_out":
        return comb(n_items, 3)
    return n_items * comb(n_items - 1, width - 1)


class Asked:
    """The questions of one form that were asked, in answers or since.

    Parameters
    ----------
    form : the form of question
    width : items that a question shows
    n_items : number of items
    comparisons : the answers so far; a triplet counts as asked, too, where another form implied its answer
    """

    def __init__(self, form: str, width: int, n_items: int, comparisons: Comparisons | None) -> None:
        self.form, self.width, self.n_items = form, width, n_items
        found = [] if comparisons is None else _shown(form, width, comparisons)
        codes = np.concatenate([codes_of(form, rows, n_items) for rows in found]) if found else np.empty(0, np.int64)
        self._codes: Codes = np.unique(codes)
        self._since: set[int] = set()
        self._since_of_head: dict[int, list[int]] = {}

    def __len__(self) -> int:
        return len(self._codes) + len(self._since)

    def add(self, shown: Ints) -> None:
        """Count questions as asked."""
        new = codes_of(self.form, shown, self.n_items)
        for code, head in zip(new.tolist(), shown[:, 0].tolist(), strict=True):
            if code not in self._since and not _among(self._codes, np.array([code]))[0]:
                self._since.add(code)
                self._since_of_head.setdefault(head, []).append(code)

    def __contains__(self, question: Any) -> bool:
        return bool(self.contains(np.asarray(question)[None])[0])

    def contains(self, shown: Array) -> Bools:
        """Which questions were asked."""
        codes = codes_of(self.form, shown, self.n_items)
        found = _among(self._codes, codes)
        if self._since:
            found |= np.fromiter((code in self._since for code in codes.tolist()), bool, len(codes))
        return found

    def pairs_of_head(self, head: int) -> Codes:
        """Sorted codes low · n + high of the pairs that were asked of a head; for triplets."""
        size = self.n_items**2
        low, high = np.searchsorted(self._codes, [head * size, (head + 1) * size])
        since = np.array(self._since_of_head.get(head, []), np.int64)
        return np.sort(np.concatenate([self._codes[low:high], since]) - head * size)


def _shown(form: str, width: int, c: Comparisons) -> list[Array]:
    """Rows of the questions of a form in answers; an answer may hold several triplets or quadruplets."""
    same = np.flatnonzero(c.answers.form.values == form)
    several = form in ("triplet", "quadruplet")
    lengths = c.answers.shown.lengths[same]
    fits = same[(lengths % width == 0) & (lengths > 0)] if several else same[lengths == width]
    rows = [c.answers.shown.take(fits).values.reshape(-1, width)] if len(fits) else []
    if form == "triplet" and c.is_triplet.any():
        rows.append(np.column_stack([c.near, c.far[:, 1]])[c.is_triplet])
    return rows


def _among(codes: Codes, wanted: Codes) -> Bools:
    if not len(codes):
        return np.zeros(len(wanted), bool)
    place = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
    return codes[place] == wanted

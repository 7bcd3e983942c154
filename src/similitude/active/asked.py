"""What has been asked: a number per question, so that none is asked twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from similitude.feedback.comparisons import Comparisons
from similitude.feedback.forms import find
from similitude.types import Array, Bools, Ints

Codes = npt.NDArray[np.int64]

_HASH = 1_000_003


def codes_of(form: str, shown: Array, n_items: int) -> Codes:
    """Number questions: (a · n + b) · n + c ...; wide ones are hashed, so that two may share a number by chance."""
    rows = find(form).arrangement.canonical(shown).astype(np.int64)
    exact = rows.shape[1] * np.log2(max(n_items, 2)) < 62
    code = np.zeros(len(rows), np.int64)
    for column in rows.T:
        code = code * (n_items if exact else _HASH) + column  # int64 wraps around, which is what a hash may do
    return code


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
    """Rows of the questions of a form in answers; of some forms an answer may hold several."""
    same = np.flatnonzero(c.answers.form.values == form)
    lengths = c.answers.shown.lengths[same]
    fits = same[(lengths % width == 0) & (lengths > 0)] if find(form).repeats else same[lengths == width]
    rows = [c.answers.shown.take(fits).values.reshape(-1, width)] if len(fits) else []
    implied = find(form).asked_by(c.near, c.far)
    return [*rows, implied] if len(implied) else rows


def _among(codes: Codes, wanted: Codes) -> Bools:
    if not len(codes):
        return np.zeros(len(wanted), bool)
    place = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
    return codes[place] == wanted

"""Quadruplets: which of two pairs is more alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from similitude.feedback.forms.arrangement import Arrangement
from similitude.feedback.forms.base import Edges, FileColumns
from similitude.feedback.forms.picking import Single
from similitude.types import Array, Bools


class Quadruplet(Single):
    """Which pair is more alike."""

    name = page = "quadruplet"
    words = "comparisons of two pairs"
    shows = "i, j, k, l (repeated)"
    says = "0: the first pair is more alike, 1: the second (one per quadruplet)"
    fill_in = "the pair that is more alike, such as cat + dog, or [0] for the first pair and [1] for the second"
    ask = "Which pair is more alike?"
    n_shown = 4
    arrangement = Arrangement(unit=2)
    columns = (
        FileColumns((("resp",), ("s1",), ("s2",), ("s3",), ("s4",)), "scale"),
        FileColumns((("resp",), ("s1",), ("s2",), ("s3",)), "scale"),
        FileColumns((("i",), ("j",), ("k",), ("l",)), "judged"),
    )

    def is_degenerate(self, shown: Array) -> Bools:
        """Which compare an item with itself, or a pair with itself; the pairs may share an item."""
        i, j, k, l = shown.T
        return (i == j) | (k == l) | ((i == k) & (j == l)) | ((i == l) & (j == k))

    def in_words(self, shown: Sequence[str], response: Sequence[float]) -> str:
        """Which pair is more alike."""
        a, b, c, d = shown[:4] if response[0] == 0 else (*shown[2:4], *shown[:2])
        return f"{a} and {b} are more alike than {c} and {d}"

    def comparisons(self, shown: Array, response: Array) -> Edges:
        """One pair is more alike than the other."""
        questions, chosen = self.picked(shown, response)
        pairs, line = questions.reshape(-1, 2, 2), np.arange(len(questions))
        return pairs[line, chosen], pairs[line, 1 - chosen], np.repeat(np.arange(len(response)), response.shape[1])

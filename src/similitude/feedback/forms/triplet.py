"""Triplets: whether the head is more like b or like c."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from similitude.feedback.forms.arrangement import Arrangement
from similitude.feedback.forms.base import Edges, FileColumns
from similitude.feedback.forms.picking import Single
from similitude.types import Array

HEAD_COLUMN = ("head", "probe", "anchor")


class Triplet(Single):
    """Which of two is more like the head."""

    name = page = "triplet"
    words = "triplet questions (is A more like B or like C?)"
    shows, says = "head, b, c (repeated)", "1: b is nearer, 2: c is nearer (one per triplet)"
    fill_in = (
        "the name of the one that is more like the first, or 1 or 2 (in brackets where a number is a name, too: [1])"
    )
    ask = "Which of the two is more like the one on top?"
    n_shown = 3
    arrangement = Arrangement(head=True)
    search = "pair"
    columns = (
        FileColumns((HEAD_COLUMN, ("winner", "near"), ("loser", "far")), said=1),
        FileColumns((("i",), ("j",), ("k",)), "judged", said=1),
        FileColumns((HEAD_COLUMN, ("b", "left"), ("c", "right"), ("chosen",)), "named"),
    )

    def in_words(self, shown: Sequence[str], response: Sequence[float]) -> str:
        """What the head is more like."""
        head, b, c = shown[:3] if response[0] == 1 else (shown[0], shown[2], shown[1])
        return f"{head} is more like {b} than like {c}"

    def comparisons(self, shown: Array, response: Array) -> Edges:
        """`head` is more like the one chosen than like the other."""
        questions, chosen = self.picked(shown, response)
        line = np.arange(len(questions))
        near = np.stack([questions[:, 0], questions[line, chosen]], axis=1)
        far = np.stack([questions[:, 0], questions[line, 3 - chosen]], axis=1)
        return near, far, np.repeat(np.arange(len(response)), response.shape[1])

    def asked_by(self, near: Array, far: Array) -> Array:
        """Comparisons with a head."""
        has_head = near[:, 0] == far[:, 0]
        return np.column_stack([near, far[:, 1]])[has_head]

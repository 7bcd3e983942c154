"""Odd-one-out: which of three does not belong."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from similitude.feedback.forms.base import Edges, FileColumns
from similitude.feedback.forms.picking import OneOfThree
from similitude.types import Array


class OddOneOut(OneOfThree):
    """The one whose two others are most alike."""

    name = page = "odd_one_out"
    words = "odd-one-out questions of three items"
    says = "position of the odd one"
    ask = "Which one is the odd one out?"
    columns = (
        FileColumns((("a",), ("b",), ("odd",)), said=2),
        FileColumns((("a",), ("b",), ("c",), ("odd",)), "named"),
        FileColumns((("trial",), ("item",), ("odd",)), "long"),
    )

    def in_words(self, shown: Sequence[str], response: Sequence[float]) -> str:
        """Which does not belong."""
        return f"of {', '.join(shown)}, {shown[int(response[0])]} does not belong"

    def comparisons(self, shown: Array, response: Array) -> Edges:
        """The two others are more alike than either is with the odd one: d(b,c) < d(b,a) and d(c,b) < d(c,a)."""
        odd, b, c = self.parts(shown, response)
        near = np.stack([np.stack([b, c], 1), np.stack([c, b], 1)], 1)
        far = np.stack([np.stack([b, odd], 1), np.stack([c, odd], 1)], 1)
        return near.reshape(-1, 2), far.reshape(-1, 2), np.repeat(np.arange(len(shown)), 2)

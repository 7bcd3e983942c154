"""Odd-one-out: which of three does not belong."""

from __future__ import annotations

from collections.abc import Sequence

from similitude.feedback.forms.base import FileColumns
from similitude.feedback.forms.picking import OneOfThree


class OddOneOut(OneOfThree):
    """The two others are more alike than either is with the odd one, a: d(b,c) < d(b,a) and d(c,b) < d(c,a)."""

    name = page = "odd_one_out"
    words = "odd-one-out questions of three items"
    says = "position of the odd one"
    fill_in = "the name of the odd one, or its place counted from 0, in brackets: [0], [1] or [2]"
    ask = "Which one is the odd one out?"
    columns = (
        FileColumns((("a",), ("b",), ("odd",)), said=2),
        FileColumns((("a",), ("b",), ("c",), ("odd",)), "named"),
        FileColumns((("trial",), ("item",), ("odd",)), "long"),
    )
    near, far = [[1, 2], [2, 1]], [[1, 0], [2, 0]]

    def in_words(self, shown: Sequence[str], response: Sequence[float]) -> str:
        """Which does not belong."""
        return f"of {', '.join(shown)}, {shown[int(response[0])]} does not belong"

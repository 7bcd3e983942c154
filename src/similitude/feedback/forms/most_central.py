"""Most central: which of three stands between the others."""

from __future__ import annotations

from collections.abc import Sequence

from similitude.feedback.forms.base import FileColumns
from similitude.feedback.forms.picking import OneOfThree


class MostCentral(OneOfThree):
    """Each other is more like the central one, a, than like the third: d(b,a) < d(b,c) and d(c,a) < d(c,b)."""

    name = page = "most_central"
    words = "questions for the most central of three items"
    says = "position of the central one"
    fill_in = "the name of the central one, or its place counted from 0, in brackets: [0], [1] or [2]"
    ask = "Which one is most like the two others?"
    columns = (
        FileColumns((("central",), ("other1",), ("other2",)), said=0),
        FileColumns((("a",), ("b",), ("c",), ("central",)), "named"),
    )
    near, far = [[1, 0], [2, 0]], [[1, 2], [2, 1]]
    prefers = 1.0

    def in_words(self, shown: Sequence[str], response: Sequence[float]) -> str:
        """Which is most like the two others."""
        return f"of {', '.join(shown)}, {shown[int(response[0])]} is the most central"

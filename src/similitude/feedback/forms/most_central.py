"""Most central: which of three stands between the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from similitude.feedback.forms.base import Edges, FileColumns
from similitude.feedback.forms.picking import OneOfThree
from similitude.types import Array


class MostCentral(OneOfThree):
    """The one whose two others are least alike."""

    name = "most_central"
    words = "questions for the most central of three items"
    says = "position of the central one"
    columns = (
        FileColumns((("central",), ("other1",), ("other2",)), said=0),
        FileColumns((("a",), ("b",), ("c",), ("central",)), "named"),
    )
    prefers = 1.0

    def in_words(self, shown: Sequence[str], response: Sequence[float]) -> str:
        """Which is most like the two others."""
        return f"of {', '.join(shown)}, {shown[int(response[0])]} is the most central"

    def comparisons(self, shown: Array, response: Array) -> Edges:
        """Each other is more like the central one than like the third: d(b,a) < d(b,c) and d(c,a) < d(c,b)."""
        central, b, c = self.parts(shown, response)
        near = np.stack([np.stack([b, central], 1), np.stack([c, central], 1)], 1)
        far = np.stack([np.stack([b, c], 1), np.stack([c, b], 1)], 1)
        return near.reshape(-1, 2), far.reshape(-1, 2), np.repeat(np.arange(len(shown)), 2)

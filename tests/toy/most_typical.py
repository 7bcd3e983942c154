"""Most typical: which of four stands for all of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from similitude.feedback.forms.base import Edges, FileColumns
from similitude.feedback.forms.picking import Picking
from similitude.types import Array

_OTHERS = np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]])


class MostTypical(Picking):
    """The one that is nearest to the three others, taken together."""

    name = page = "most_typical"
    words = "questions for the most typical of four items"
    shows, says = "a, b, c, d", "position of the most typical one"
    ask = "Which of the four is most typical of them all?"
    n_shown = 4
    script = Path(__file__).with_suffix(".js")
    columns = (FileColumns((("b",), ("c",), ("d",), ("typical",)), said=3),)

    def alternatives(self, shown: Array) -> Array:
        """Each item is spoken for by its pairs with the others."""
        others = shown[:, _OTHERS]
        return np.stack([np.broadcast_to(shown[:, :, None], others.shape), others], axis=-1)

    def comparisons(self, shown: Array, response: Array) -> Edges:
        """Each other is more like the typical one than like any third."""
        self.check_size(shown.shape[1] == 4 and response.shape[1] == 1, shown, response)
        place = self.places(response[:, 0], self.codes(4))
        line = np.arange(len(shown))
        typical, others = shown[line, place], shown[line[:, None], _OTHERS[place]]
        heads, thirds = others[:, [0, 0, 1, 1, 2, 2]], others[:, [1, 2, 0, 2, 0, 1]]
        near = np.stack([heads, np.broadcast_to(typical[:, None], heads.shape)], axis=-1)
        return near.reshape(-1, 2), np.stack([heads, thirds], axis=-1).reshape(-1, 2), np.repeat(line, 6)

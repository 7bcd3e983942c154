"""Best and worst: of a grid, which is most like the head and which is least like it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from similitude.feedback.columns import Rows
from similitude.feedback.forms.alternatives import Alternatives, chosen_first
from similitude.feedback.forms.base import Edges, Setup, check_three
from similitude.feedback.forms.picking import FromGrid, with_head
from similitude.types import Array

if TYPE_CHECKING:
    from similitude.feedback.simulation.mind import Mind, Said


class BestWorst(FromGrid):
    """The most and the least alike of a grid; what was not named lies between them.

    The chance of an answer is that of choosing the best one b of all m, and then the worst one w of the rest: with the
    values v = -d² (scaled as the loss scales it)

        P(b, w) = e^v_b / sum_j e^v_j · e^-v_w / sum_(j != b) e^-v_j,

    the sequential model of Marley & Louviere (2005, section 3). Their "maxdiff" model, one choice among all ordered
    pairs by v_b - v_w, would have people weigh m (m - 1) pairs at once; here one first looks for the one, then for the
    other, as the page asks it.
    """

    name = page = "best_worst"
    words = "choices of the most and the least similar item of a grid"
    shows, says = "head, then the grid", "positions of the most and of the least alike"
    fill_in = 'the names of the most and of the least alike: ["cat", "dog"], or their places from 1: [3, 1]'
    ask = "Which is most like the one on top, and which is least like it?"
    grid = 4
    settings = ("grid_size",)

    def n_picked(self, setup: Setup) -> int:
        """The most and the least alike."""
        return 2

    def picks(self, n_alternatives: int, wanted: int | None = None) -> int | None:
        """None: best and worst are two choices."""
        return None

    def check_setup(self, setup: Setup) -> None:
        """Something must lie between."""
        check_three(setup)

    def same_response(self, one: Sequence[float], other: Sequence[float]) -> bool:
        """Whether the same one is best, and the same one is worst."""
        return list(one) == list(other)

    def in_words(self, shown: Sequence[str], response: Sequence[float]) -> str:
        """Which was named as most and which as least like the head."""
        best, worst = (shown[int(place)] for place in response)
        return f"of {', '.join(shown[1:])}, {best} most and {worst} least like {shown[0]}"

    def every_response(self, width: int) -> Array:
        """Any two, in either order."""
        codes = self.codes(width)
        return np.array([(best, worst) for best in codes for worst in codes if best != worst])

    def comparisons(self, shown: Array, response: Array) -> Edges:
        """The best one is nearer to the head than all others, and all others are nearer than the worst one."""
        place = self._two(shown, response)
        rank = np.ones(shown.shape, np.intp)
        np.put_along_axis(rank, place, np.array([[0, 2]]), axis=1)
        row, near, far = np.nonzero(rank[:, :, None] < rank[:, None, :])
        keep = (near > 0) & (far > 0)
        return with_head(shown, row[keep], near[keep], far[keep])

    def chosen(self, shown: Array, response: Array) -> list[Alternatives]:
        """The nearest of all, then the farthest of the rest."""
        in_order = chosen_first(self.alternatives(shown), self._two(shown, response) - 1)
        row = np.arange(len(shown))
        best = [Alternatives(in_order, 1, row)]
        return [*best, Alternatives(in_order[:, 1:], 1, row, sign=1.0)] if shown.shape[1] > 3 else best

    def _two(self, shown: Array, response: Array) -> Array:
        self.check_size(response.shape[1] == 2, shown, response)
        return self.places(response, self.codes(shown.shape[1]))

    def count(self, shown: Rows, response: Rows) -> Array:
        """The best over all others, and all between over the worst."""
        return np.where(response.lengths > 0, 2 * (shown.lengths - 1) - 3, 0)

    def answer(self, mind: Mind, shown: Array) -> Said:
        """Name the nearest to the head, and then the farthest of the others; noise strikes each of the two."""
        value, line = self.value(mind.truth, shown), np.arange(len(shown))
        best = mind.value(value).argmax(axis=1)
        rest = mind.value(-value)
        rest[line, best] = -np.inf
        said = 1 + np.stack([best, rest.argmax(axis=1)], axis=1)
        return said.astype(np.int32), best.astype(np.int32), mind.clarity(value)

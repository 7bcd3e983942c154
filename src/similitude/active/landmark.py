"""The landmark design: every item is compared with the same few items (Kleindessner & von Luxburg 2017 call it so)."""

from __future__ import annotations

import numpy as np

from similitude.active.asked import Asked
from similitude.feedback.comparisons import Comparisons
from similitude.types import Ints


class Landmarks:
    """Questions (a; b, c) whose b and c are among the landmarks, pair by pair for every head.

    Landmarks are the items that most often stood beside a head so far, so that one call goes on where the last one
    ended; at first they are drawn. The pairs of a head are taken in the order of the later landmark in them: the set of
    landmarks is as small as it can be, and grows by itself.
    """

    def __init__(self, n_items: int, comparisons: Comparisons | None, asked: Asked, rng: np.random.Generator) -> None:
        seen = np.zeros(n_items)
        if comparisons is not None:
            beside = np.concatenate([comparisons.near[:, 1], comparisons.far[:, 1]])
            seen += np.bincount(beside, minlength=n_items)
        self.order = np.lexsort([rng.random(n_items), -seen])
        self.asked = asked

    def question(self, head: int) -> tuple[list[int], float] | None:
        """Return the first pair of landmarks that this head was not asked about."""
        landmarks = self.order[self.order != head].tolist()
        for k in range(1, len(landmarks)):
            for earlier in landmarks[:k]:
                shown = [head, earlier, landmarks[k]]
                if shown not in self.asked:
                    return shown, np.nan
        return None

    def learn(self, shown: Ints) -> None:
        """Nothing to learn."""

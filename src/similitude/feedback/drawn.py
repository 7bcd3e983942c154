"""Which answers are to questions that were drawn evenly from all, by the strategy that is recorded with them.

How well such answers are predicted says how well any would be; of chosen questions, those that a model was least sure
of, that cannot be said.
"""

from __future__ import annotations

import numpy as np

from similitude.feedback.comparisons import Comparisons
from similitude.feedback.forms import PIECES
from similitude.types import Bools

EVEN = ("random", "fallback")
"""Strategies that draw evenly from all questions."""

REPEAT = "repeat"
"""The strategy that asks an evenly drawn question of another rater."""


_OF_CHOICE = ("model", "score")


def describes_choice(comparisons: Comparisons, column: str) -> bool:
    """Whether a further column says how questions were chosen, as a strategy does: nothing that people differ by."""
    return comparisons.answers.strategy.recorded and column in _OF_CHOICE


def evenly_drawn(comparisons: Comparisons) -> Bools:
    """Which answers are to questions drawn evenly from all; a sheet is, since its pieces know no other way.

    So are answers of which it is not recorded how their questions were chosen.
    """
    strategy = comparisons.answers.strategy
    sheets = [piece.sheet.name for piece in PIECES.values()]
    even = np.array([label in EVEN for label in strategy.labels] + [True])[strategy.codes]
    form = comparisons.answers.form
    return even | np.array([label in sheets for label in form.labels] + [False])[form.codes]

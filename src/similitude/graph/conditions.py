"""Answers by condition or block, as a study writes them: how many there are, and how far two of them agree there.

Where a question means something else under another condition, two answers to it need not agree; within one they should.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from similitude.display.estimate import Estimate
from similitude.display.words import counted
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.extra import as_cells
from similitude.graph.repeats import Repeats, answer_voices, repeat_agreement
from similitude.graph.votes import count_votes
from similitude.types import Array

COLUMNS = ("condition", "block")
_MOST = 10


@dataclass(frozen=True)
class AnswersUnder:
    """The answers of one condition or block.

    Attributes
    ----------
    by, name : the column, and its value
    answers, raters : how many
    repeats : questions that were answered more than once there, and how often two answers agree
    """

    by: str
    name: str
    answers: int
    raters: int
    repeats: Repeats

    def figure(self) -> tuple[str, Estimate]:
        """How far two answers agree, beside how many there are."""
        of = f" of {counted(self.raters, 'rater')}" if self.raters else ""
        note = f"{counted(self.answers, 'answer')}{of}; the figure is how often two answers agree there"
        agreement = self.repeats.agreement
        if agreement.value is None:
            note = f"{counted(self.answers, 'answer')}{of}; {agreement.note}"
        return f"{self.by} {self.name}", replace(agreement, note=note)


def answers_under(c: Comparisons, level: float = 0.95) -> tuple[AnswersUnder, ...]:
    """Return the answers by condition and by block, where a column of that name has a few values."""
    found = []
    for by in COLUMNS:
        if by in c.answers.extra:
            cells = as_cells(c.answers.extra[by])
            names = sorted({str(cell) for cell in cells.tolist() if cell is not None})
            if 2 <= len(names) <= _MOST:
                found += [_under(c, by, name, cells.astype(str) == name, level) for name in names]
    return tuple(found)


def _under(c: Comparisons, by: str, name: str, here: Array, level: float) -> AnswersUnder:
    part = c.select(here)
    raters = len(np.unique(part.answers.rater.codes[part.answers.rater.codes >= 0]))
    repeats = repeat_agreement(answer_voices(part, count_votes(part)), level)
    return AnswersUnder(by, name, len(part.answers), raters, repeats)

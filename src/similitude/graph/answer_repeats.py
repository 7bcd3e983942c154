"""Whole answers given again: how often two people choose the same among all that could be chosen.

An odd-one-out answer is one choice among three, and counts once here; `repeats.py` counts the comparisons that follow
from it, of which a changed answer may leave half as they were.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from similitude.display.estimate import Estimate
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.forms.alternatives import Alternatives
from similitude.feedback.whole_answers import choices_of
from similitude.graph.repeats import FEWEST, estimated_agreement
from similitude.types import Floats

Indices = npt.NDArray[np.integer]


@dataclass(frozen=True)
class AnswerRepeats:
    """Questions that were answered more than once, each answer as a whole.

    Attributes
    ----------
    questions : how many
    answers : how many answers they have
    alternatives : the most answers that one of them allows
    agreement : how often two answers to the same question are the same
    selected : whether they agree so much less than by chance that answers must have been removed
    """

    questions: int
    answers: int
    alternatives: int
    agreement: Estimate
    selected: bool = False

    def told(self) -> Estimate:
        """How often answers agree, with how many there are and what chance would be."""
        if self.agreement.value is None:
            return self.agreement
        note = f"as a whole ({self.answers:,} answers); {1 / self.alternatives:.2g} is chance"
        return replace(self.agreement, note=note)


def answer_repeats(comparisons: Comparisons, level: float = 0.95) -> AnswerRepeats | None:
    """Count whole answers to the same questions; None where all answers are plain comparisons.

    Two questions are the same where they have the same alternatives, in whatever order. Rankings, which are several
    choices each, are left out.
    """
    choices = choices_of(comparisons)
    if not any(one.n_alternatives > 2 for one in choices):
        return None
    chosen = np.bincount(np.concatenate([one.row for one in choices]), minlength=comparisons.n_answers)
    single = [one.select(chosen[one.row] == 1) for one in choices]
    counted = [_agreeing(one, comparisons.n_items) for one in single if len(one)]
    size = np.concatenate([np.zeros(0), *(size for size, _ in counted)])
    agreeing = np.concatenate([np.zeros(0), *(agreeing for _, agreeing in counted)])
    most = max((math.comb(one.n_alternatives, one.picked) for one in single if len(one)), default=0)
    total, questions = float(size.sum()), len(size)
    if not questions:
        return AnswerRepeats(0, 0, most, Estimate(None, note="no question was answered twice"))
    mean = float(agreeing.sum() / total)
    variance = questions / max(questions - 1, 1) * float(((agreeing - mean * size) ** 2).sum())
    agreement, selected = estimated_agreement(mean, variance, questions, total, level, chance=1.0 / most)
    return AnswerRepeats(questions, int(total), most, agreement, selected)


def answer_ceiling(repeats: AnswerRepeats) -> Estimate:
    """Best reachable accuracy of whole answers, of M that a question allows: (1 + sqrt((M-1)(M a - 1))) / M.

    Two answers to a question agree with probability a = sum of p_s² over what can be said. Of all such p the largest is
    highest where the others are equal, which is the formula; for M = 2 it is that of `noise_ceiling`. It is concave in
    a and grows with M, so that over questions that differ it stays an upper bound with the mean of a and the largest M.
    """
    a, M = repeats.agreement, repeats.alternatives
    if a.value is None or a.low is None or a.high is None:
        return Estimate(None, note=f"{a.note}: how noisy whole answers are cannot be told")
    if repeats.answers < FEWEST:
        return Estimate(None, note=f"too few to tell: {repeats.answers} answers, a ceiling needs {FEWEST}")
    if repeats.selected:
        return Estimate(None, note="answers agree far less than by chance: were equal answers merged?")
    value, low, high = ((1 + math.sqrt(max((M - 1) * (M * share - 1), 0.0))) / M for share in (a.value, a.low, a.high))
    return Estimate(
        value, low, high, "no model that does not know who answers can predict more of these, each as a whole"
    )


def _agreeing(one: Alternatives, n_items: int) -> tuple[Floats, Floats]:
    """For each question asked again its number of answers, and n times the share of the others that agree, summed."""
    alternative = _alternatives(one, n_items)
    question = _numbered(np.sort(alternative, axis=1))
    said = _numbered(np.column_stack([question, np.sort(alternative[:, : one.picked], axis=1)]))
    size, alike = np.bincount(question).astype(float), np.bincount(said).astype(float)
    of_question = np.empty(len(alike), int)
    of_question[said] = question
    agreeing = np.bincount(of_question, alike * (alike - 1.0), len(size))
    again = size >= 2
    return size[again], agreeing[again] / (size[again] - 1.0)


def _alternatives(one: Alternatives, n_items: int) -> Indices:
    """(q, m) a number for each alternative: the same wherever the same pairs speak for it."""
    low, high = one.pairs.min(axis=-1).astype(np.int64), one.pairs.max(axis=-1)
    pairs = np.sort(low * n_items + high, axis=2)
    return _numbered(pairs.reshape(-1, pairs.shape[2])).reshape(pairs.shape[:2])


def _numbered(rows: Indices) -> Indices:
    """A number for each row, equal where rows are."""
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)

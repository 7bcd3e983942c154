"""The same question answered again: how often answers agree, and what that allows any model to reach."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import stats

from similitude.display.estimate import Estimate
from similitude.feedback.comparisons import Comparisons
from similitude.graph.votes import Votes
from similitude.types import Bools, Floats

Indices = npt.NDArray[np.integer]

FEWEST = 10
"""Answers to questions asked again, below which no noise ceiling is told."""

_SELECTED = 4.0  # standard deviations below one half at which agreement is no longer bad luck


@dataclass(frozen=True, eq=False)
class Voices:
    """What each speaker (an answer, or a rater) says about each edge: one row per speaker and edge.

    Attributes
    ----------
    speaker, edge : (k,) who speaks about which edge
    says : (k,) +1 where the first pair of the edge is called more alike, -1 where the second, 0 where undecided
    place : for each row of what was merged, the row here
    """

    speaker: Indices
    edge: Indices
    says: Floats
    place: Indices

    def __len__(self) -> int:
        return len(self.edge)

    def where(self, chosen: Bools) -> Voices:
        """Return some of the voices."""
        rows = np.flatnonzero(chosen)
        return Voices(self.speaker[rows], self.edge[rows], self.says[rows], np.arange(len(rows)))


def merge_voices(speaker: Indices, edge: Indices, says: Floats) -> Voices:
    """Merge all that one speaker says about one edge into one voice: the sign of the sum."""
    size = int(edge.max(initial=0)) + 1
    keys, place = np.unique(speaker.astype(np.int64) * size + edge, return_inverse=True)
    total = np.bincount(place, says, len(keys))
    return Voices(keys // size, keys % size, np.sign(np.round(total, 9)), place)


def answer_voices(comparisons: Comparisons, votes: Votes) -> Voices:
    """Return what each answer says about each edge, the undecided left out."""
    signed = np.where(votes.is_forward, 1.0, -1.0) * comparisons.weight
    voices = merge_voices(comparisons.answer, votes.edge, signed)
    return voices.where(voices.says != 0)


def of_one_rater(voices: Voices, rater: Indices) -> Voices:
    """Return the voices with the same edge told apart by rater (given for each answer), -1 being nobody's."""
    known = voices.where(rater[voices.speaker] >= 0)
    key = rater[known.speaker].astype(np.int64) * (int(known.edge.max(initial=0)) + 1) + known.edge
    return replace(known, edge=np.unique(key, return_inverse=True)[1])


@dataclass(frozen=True)
class Repeats:
    """Questions that were answered more than once.

    Attributes
    ----------
    questions : how many
    comparisons : how many comparisons answer them
    agreement : how often two answers to the same question agree
    selected : whether they agree so much less than by chance that answers must have been removed (as where equal
        answers were merged), so that they say nothing about noise
    """

    questions: int
    comparisons: int
    agreement: Estimate
    selected: bool = False

    def told(self, of: str) -> Estimate:
        """How often answers agree, with what is counted and how much of it (`of` whom)."""
        if self.agreement.value is None:
            return self.agreement
        return replace(self.agreement, note=f"on {of} ({self.comparisons:,} comparisons); 0.50 is chance")

    def asked_again(self) -> tuple[str, Estimate]:
        """How many questions were asked again; an answer about three items or more answers several."""
        made = f"comparisons made more than once, {self.comparisons:,} times in all; an answer may make several"
        return "questions asked again", Estimate(self.questions, note=made)


def repeat_agreement(voices: Voices, level: float = 0.95) -> Repeats:
    """How often two answers to the same question agree.

    For every answer the share of the *other* answers to the same question that agree with it, averaged over the
    answers. A question with f answers one way and b the other, n = f + b, adds (f(f-1) + b(b-1))/(n-1) to a sum
    over n answers. All that one answer says about one question counts once: an answer is no repeat of itself.
    """
    forward, backward = _sides(voices)
    size = forward + backward
    again = size >= 2
    total = float(size[again].sum())
    if not total:
        return Repeats(0, 0, Estimate(None, note="no question was answered twice"))
    agreeing = (forward * (forward - 1) + backward * (backward - 1))[again] / (size[again] - 1)
    mean = float(agreeing.sum() / total)
    return _estimated(mean, _variance(voices, forward, backward, mean), int(again.sum()), total, level)


def agreement_of_sides(forward: Floats, backward: Floats, many: Floats, level: float = 0.95) -> Repeats:
    """`repeat_agreement` where every answer speaks to one question, from counts alone.

    Parameters
    ----------
    forward, backward : answers one way and the other
    many : how many questions have these counts
    level : of the interval
    """
    again = forward + backward >= 2
    f, b, many = forward[again], backward[again], many[again]
    n = f + b
    total, questions = float(many @ n), int(many.sum())
    if not total:
        return Repeats(0, 0, Estimate(None, note="no question was answered twice"))
    agreeing = (f * (f - 1) + b * (b - 1)) / (n - 1)
    mean = float(many @ agreeing) / total
    by_question = questions / max(questions - 1, 1) * float(many @ (agreeing - mean * n) ** 2)
    by_answer = f * ((f - 1) / (n - 1) - mean) ** 2 + b * ((b - 1) / (n - 1) - mean) ** 2
    by_answer_less_pairs = float(many @ (4 * by_answer - _pairs(f, b, n, mean)))
    return _estimated(mean, max(by_question, by_answer_less_pairs), questions, total, level)


def _estimated(mean: float, variance: float, questions: int, total: float, level: float) -> Repeats:
    return Repeats(questions, int(total), *estimated_agreement(mean, variance, questions, total, level))


def estimated_agreement(
    mean: float, variance: float, questions: int, total: float, level: float, chance: float = 0.5
) -> tuple[Estimate, bool]:
    """Return a mean agreement with its interval, and whether it is surely below what chance would give.

    Parameters
    ----------
    mean : agreement
    variance : of the sum of agreements
    questions, total : how many, and how many answers they have together
    level : of the interval
    chance : how often answers agree that are given by chance
    """
    error = np.sqrt(variance) / total
    pairs = total - questions
    count = min(mean * (1 - mean) / error**2, pairs) if error > 0 else pairs
    score = float(stats.t.ppf(0.5 + level / 2, max(questions - 1, 1)))
    (low, _), (high, most) = wilson(np.full(2, mean), np.full(2, count), np.array([score, _SELECTED]))
    return Estimate(mean, float(low), float(high)), bool(most < chance)


def _sides(voices: Voices) -> tuple[Floats, Floats]:
    size = int(voices.edge.max(initial=-1)) + 1
    count = [np.bincount(voices.edge[sign * voices.says > 0], minlength=size).astype(np.float64) for sign in (1, -1)]
    return count[0], count[1]


def _variance(voices: Voices, forward: Floats, backward: Floats, mean: float) -> float:
    """Variance of the sum of agreements: the larger of two views of what is independent.

    Questions: sum over questions of (their sum - n · mean)². Answers, of which one may speak to many questions:
    each pair of answers belongs to both, so that the variance is sum_i (2 R_i)² - sum_pairs D², with R_i the sum of
    what answer i adds and D what a pair adds. D² is summed as if the questions of a pair of answers were
    independent, which subtracts too little and errs on the wide side.
    """
    size = forward + backward
    again = size >= 2
    f, b, n = forward[again], backward[again], size[again]
    by_question = (f * (f - 1) + b * (b - 1)) / (n - 1) - mean * n
    own = np.where(voices.says > 0, forward[voices.edge], backward[voices.edge])
    share = (own - 1) / np.maximum(size[voices.edge] - 1, 1) - mean
    by_answer = np.bincount(voices.speaker, np.where(again[voices.edge], share, 0.0))
    correction = len(n) / max(len(n) - 1, 1)
    return float(max(correction * (by_question**2).sum(), 4 * (by_answer**2).sum() - _pairs(f, b, n, mean).sum()))


def _pairs(f: Floats, b: Floats, n: Floats, mean: float) -> Floats:
    """D² summed over the pairs of answers to a question."""
    return ((f * (f - 1) + b * (b - 1)) / 2 * (1 - mean) ** 2 + f * b * mean**2) * 4 / (n - 1) ** 2


NO_NOISE = Estimate(None, note="the answers were cleaned: what contradicted them, by which noise is told, is gone")
"""The noise ceiling of what cleaning left."""


def noise_ceiling(repeats: Repeats) -> Estimate:
    """Best reachable accuracy with repeat agreement a: (1 + sqrt(2a - 1))/2; a <= 1/2 gives 1/2.

    If every question is answered the likelier way with probability p, two answers agree with probability
    a = p² + (1-p)², and the best model is right with probability p. The formula takes p to be the same for all
    questions. Where questions differ in difficulty, the root of the mean is more than the mean of the roots
    (Jensen): the formula is then an upper bound of what a model can reach, and a itself a lower one. It concerns
    the questions that were asked again, and models that do not know who answers: one fitted to each rater could do
    better where tastes differ.
    """
    a = repeats.agreement
    if a.value is None or a.low is None or a.high is None:
        return Estimate(None, note=f"{a.note}: how noisy the answers are cannot be told")
    if repeats.comparisons < FEWEST:
        why = f"{repeats.comparisons} answers to questions asked again, a ceiling needs {FEWEST}"
        return Estimate(None, note=f"too few to tell: {why}")
    if repeats.selected:
        return Estimate(None, note="answers agree far less than by chance: were equal answers merged?")
    value, low, high = ((1 + max(2 * share - 1, 0.0) ** 0.5) / 2 for share in (a.value, a.low, a.high))
    return Estimate(value, low, high, "no model that does not know who answers can predict more of these")


def wilson(share: Floats, count: Floats, score: float | Floats) -> tuple[Floats, Floats]:
    """Wilson's interval of shares of `count` draws, `score` standard deviations either way; NaN where count is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = (share + score**2 / (2 * count)) / (1 + score**2 / count)
        half = score * np.sqrt(share * (1 - share) / count + (score / (2 * count)) ** 2) / (1 + score**2 / count)
    return np.clip(centre - half, 0.0, 1.0), np.clip(centre + half, 0.0, 1.0)

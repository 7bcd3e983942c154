"""What reviewers ask for: Krippendorff's alpha, split-half and test-retest reliability, of answers and of distances.

Which of the two pairs of a question comes first is arbitrary, so shares are taken as deviations from one half and
correlations about 0. *Distances* are told here without a model: how often a pair of items was called less alike than
what it was compared with, (losses - wins) / (comparisons + 1). Intervals are by a jackknife over raters in twenty
groups (over answers, where raters were not recorded), on the scale of atanh, so that they stay within -1 and 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats

from similitude.display.estimate import Estimate
from similitude.graph.own_answers import by_content
from similitude.graph.repeats import Indices, Repeats, Voices, merge_voices
from similitude.graph.votes import Votes
from similitude.types import Bools, Floats

FEWEST = 20
"""Units (questions, pairs) below which no coefficient is told."""

NOBODY = "it is not recorded who answered, and this compares raters"
_SPLITS, _GROUPS = 10, 20


@dataclass(frozen=True)
class Coefficients:
    """How reliable answers and distances are; each None where it cannot be told, with the reason.

    Attributes
    ----------
    alpha : Krippendorff's alpha of the raters over the questions that two or more of them answered
    split_half_answers : correlation over questions of what two halves of the raters say, for the whole (Spearman-Brown)
    split_half_distances : the same over pairs of items, of the distances that two halves of the answers tell
    retest_answers : agreement of a rater with themselves beyond chance, 2a - 1, on questions that they answered again
    retest_distances : correlation of the distances that first and second halves of everybody's answers tell, for the
        whole (Spearman-Brown)
    """

    alpha: Estimate
    split_half_answers: Estimate
    split_half_distances: Estimate
    retest_answers: Estimate
    retest_distances: Estimate

    @classmethod
    def untold(cls, why: str) -> Coefficients:
        """Return coefficients of which none can be told."""
        return cls(*[Estimate(None, note=why)] * 5)

    def figures(self) -> list[tuple[str, Estimate]]:
        """Return each with its name."""
        return [
            ("Krippendorff's alpha", self.alpha),
            ("split-half, answers", self.split_half_answers),
            ("split-half, distances", self.split_half_distances),
            ("test-retest, answers", self.retest_answers),
            ("test-retest, distances", self.retest_distances),
        ]


def coefficients(voices: Voices, rater: Indices, votes: Votes, retest: Repeats, level: float = 0.95) -> Coefficients:
    """Measure all of them.

    Parameters
    ----------
    voices : what each answer says about each edge
    rater : for each answer its rater by order of the names, -1 where unknown
    votes : the edges
    retest : repeats of one and the same rater
    level : of the intervals
    """
    who = rater[voices.speaker]
    known = voices.where(who >= 0)
    people = merge_voices(rater[known.speaker], known.edge, known.says)
    answer, place = np.unique(voices.speaker, return_inverse=True)
    order = by_content(
        place, voices.edge, voices.says, rater[answer]
    )  # halves do not hang on the order in which answers came
    group = _groups(who, order)
    halves = [half[order] for half in _random_halves(len(answer))]
    later = _later(rater[answer])[place]
    net = _PairScores(voices, votes)
    return Coefficients(
        _alpha(people, level),
        _split_half_answers(people, level),
        _correlated(net, halves, group, level, "of the votes of pairs, answers halved at random"),
        _beyond_chance(retest) if len(people) else Estimate(None, note=NOBODY),
        _correlated(net, [later], group, level, "of first and second halves of everybody's answers"),
    )


def _groups(who: Indices, order: Indices) -> Indices:
    """Return for each voice the group that the jackknife leaves out with it: raters together, or single answers."""
    alone = int(who.max(initial=-1)) + 1 + order
    return np.asarray(np.unique(np.where(who >= 0, who, alone), return_inverse=True)[1] % _GROUPS)


def _random_halves(count: int) -> list[Bools]:
    rng = np.random.default_rng(0)
    return [rng.permutation(count) < count // 2 for _ in range(_SPLITS)]


def _later(rater: Indices) -> Bools:
    """Return which answers lie in the second half of their rater's."""
    order = np.argsort(rater, kind="stable")
    size = np.bincount(rater + 1)
    start = np.cumsum(size) - size
    rank = np.empty(len(rater), np.int64)
    rank[order] = np.arange(len(rater)) - start[rater[order] + 1]
    return rank >= size[rater + 1] / 2


def _alpha(people: Voices, level: float) -> Estimate:
    """Krippendorff's alpha of nominal answers, 1 - D_o / D_e, with either side of a question called first once.

    Then both sides are equally common, and with n answers by two raters or more D_e = n / (2 (n - 1)). D_o is the share
    of pairs of answers to one question that differ, each question weighted by its answers.
    """
    decided = people.where(people.says != 0)
    size = int(decided.edge.max(initial=-1)) + 1
    forward, backward = (np.bincount(decided.edge[sign * decided.says > 0], minlength=size) for sign in (1, -1))
    if not len(people):
        return Estimate(None, note=NOBODY)
    if int((forward + backward >= 2).sum()) < FEWEST:
        return Estimate(None, note=_few("questions that two raters answered"))
    whole = _disagreement(forward, backward)
    group = decided.speaker % _GROUPS

    def without(out: int) -> float:
        gone = group == out
        less = (np.bincount(decided.edge[gone & (sign * decided.says > 0)], minlength=size) for sign in (1, -1))
        return _disagreement(forward - next(less), backward - next(less))

    return _jackknifed(whole, without, group, level, "of raters beyond chance; 1 is perfect, 0 is chance")


def _disagreement(forward: Indices, backward: Indices) -> float:
    n = forward + backward
    f, b, n = forward[n >= 2], backward[n >= 2], n[n >= 2]
    total = float(n.sum())
    if total < 2:
        return np.nan
    observed = float((2.0 * f * b / (n - 1)).sum()) / total
    return 1.0 - observed * 2.0 * (total - 1.0) / total


def _split_half_answers(people: Voices, level: float) -> Estimate:
    """Spearman-Brown of the correlation about 0, over questions, of what two halves of the raters say on the whole."""
    raters, code = np.unique(people.speaker, return_inverse=True)
    size = int(people.edge.max(initial=-1)) + 1
    halves = [half[code] for half in _random_halves(len(raters))]
    group = code % _GROUPS

    def measured(kept: Bools) -> float:
        found = []
        for half in halves:
            sums = [np.bincount(people.edge[kept & own], people.says[kept & own], size) for own in (half, ~half)]
            counts = [np.bincount(people.edge[kept & own], minlength=size) for own in (half, ~half)]
            both = (counts[0] > 0) & (counts[1] > 0)
            if both.sum() < FEWEST:
                return np.nan
            found.append(_about_zero(sums[0][both] / counts[0][both], sums[1][both] / counts[1][both]))
        return _spearman_brown(float(np.mean(found)))

    if not len(people):
        return Estimate(None, note=NOBODY)
    everybody = np.ones(len(people), bool)
    whole = measured(everybody) if len(raters) > 1 else np.nan
    if np.isnan(whole):
        return Estimate(None, note=_few("questions that raters of both halves answered"))
    return _jackknifed(
        whole, lambda out: measured(group != out), group, level, "of halves of the raters, Spearman-Brown"
    )


class _PairScores:
    """Sums by which distances are told: for any choice of voices, of losses less wins and of comparisons, by pair."""

    def __init__(self, voices: Voices, votes: Votes) -> None:
        self.low, self.high, self.says = votes.low[voices.edge], votes.high[voices.edge], voices.says
        self.size = len(votes.pairs)

    def scores(self, chosen: Bools) -> tuple[Floats, Bools]:
        """Return the score of each pair, and which pairs were compared at all."""
        low, high, says = self.low[chosen], self.high[chosen], self.says[chosen]
        net = np.bincount(high, says, self.size) - np.bincount(low, says, self.size)
        count = np.bincount(low, minlength=self.size) + np.bincount(high, minlength=self.size)
        return net / (count + 1), count > 0


def _correlated(net: _PairScores, halves: list[Bools], group: Indices, level: float, note: str) -> Estimate:
    """Spearman-Brown of the correlation, over pairs of items, of the distances that two halves tell."""

    def measured(kept: Bools) -> float:
        found = []
        for half in halves:
            (first, one), (second, two) = net.scores(kept & half), net.scores(kept & ~half)
            both = one & two
            if both.sum() < FEWEST:
                return np.nan
            found.append(_about_zero(first[both] - first[both].mean(), second[both] - second[both].mean()))
        return _spearman_brown(float(np.mean(found)))

    whole = measured(np.ones(len(group), bool))
    if np.isnan(whole):
        return Estimate(None, note=_few("pairs of items that both halves compare"))
    return _jackknifed(whole, lambda out: measured(group != out), group, level, note)


def _beyond_chance(retest: Repeats) -> Estimate:
    a = retest.agreement
    if a.value is None or a.low is None or a.high is None or retest.questions < FEWEST:
        return Estimate(None, note=_few("questions that a rater answered again"))
    return Estimate(2 * a.value - 1, 2 * a.low - 1, 2 * a.high - 1, "of one rater with themselves, 2a - 1")


def _about_zero(x: Floats, y: Floats) -> float:
    scale = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / scale if scale > 0 else 0.0


def _spearman_brown(r: float) -> float:
    """Return the reliability of the whole from that of its halves: 2r / (1 + r); a negative one stays as it is."""
    return 2 * r / (1 + r) if r > 0 else r


def _jackknifed(whole: float, without: Callable[[int], float], group: Indices, level: float, note: str) -> Estimate:
    """Return a coefficient with the interval of a jackknife that leaves out a group at a time."""
    far = 1 - 1e-6
    left = np.array([without(int(out)) for out in np.unique(group)])
    left = np.arctanh(np.clip(left[np.isfinite(left)], -far, far))
    if len(left) < 3:
        return Estimate(whole, note=f"{note}; too few raters for an interval")
    error = np.sqrt((len(left) - 1) / len(left) * ((left - left.mean()) ** 2).sum())
    half = float(stats.t.ppf(0.5 + level / 2, len(left) - 1)) * error
    middle = np.arctanh(np.clip(whole, -far, far))
    return Estimate(whole, min(float(np.tanh(middle - half)), whole), max(float(np.tanh(middle + half)), whole), note)


def _few(what: str) -> str:
    return f"too few to tell: it needs {FEWEST} {what}"

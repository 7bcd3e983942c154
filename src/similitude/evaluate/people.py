"""How well representations agree with people, rater by rater, and how well any could: the noise ceiling.

Each rater has a dissimilarity of every pair that they judged: of tables as given, of answers the share of comparisons
in which the pair was called the less alike, less the share in which it was called the more alike. A representation has
Spearman's correlation with each rater; the figure is the mean over raters, its interval is over raters. Nobody knows
what the true order of pairs is, but no representation can agree better with all raters than their own mean does
(`upper`, which has seen the rater that it is compared with), and one that is as good as the mean of the others reaches
`lower` (Nili et al. 2014, PLoS Comput. Biol. 10:e1003553; the same as rsatoolbox's where all raters judged all pairs).

Where answers have no raters, people are one: each representation correlates with what all of them said together, and
the ceiling is the root of the reliability of that, r of two halves of the answers corrected to the whole (Spearman and
Brown).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from similitude.display.cards import card, figures, note
from similitude.display.estimate import Estimate
from similitude.evaluate.rank_agreement import every_pair
from similitude.evaluate.views import View, share_ranks
from similitude.feedback.comparisons import Comparisons
from similitude.graph.build import distinct_pairs
from similitude.types import Array, Floats

_FEWEST_RATERS, _FEWEST_PAIRS = 3, 10
_DIGITS = 12
_FEW_OWN = f"too few raters judged {_FEWEST_PAIRS} pairs or more"
_FEW = f"fewer than {_FEWEST_PAIRS} pairs were judged by others, too"


@dataclass(frozen=True, eq=False, repr=False)
class PeopleAgreement:
    """Two representations against people.

    Attributes
    ----------
    raters : how many there are; 0 where they are not known, and people are taken as one
    first, second : rank correlation of each with people, with an interval over raters
    difference : second less first, paired by rater
    lower, upper : the noise ceiling: a representation as good as people know lies between; of one without raters
        there is an upper end alone
    """

    raters: int
    first: Estimate
    second: Estimate
    difference: Estimate
    lower: Estimate
    upper: Estimate

    def lines(self) -> list[tuple[str, str]]:
        """Return each figure with its name, as they are printed."""
        who = f"{self.raters:,} raters" if self.raters else "all answers together"
        ceiling = f"{self.lower} to {self.upper}" if self.raters else str(self.upper)
        why = "" if self.upper.value is not None else f": {self.upper.note}"
        return [
            (f"rank correlation with {who}", f"{self.first} and {self.second}"),
            ("second less first, of that", str(self.difference)),
            ("noise ceiling of that", f"{ceiling}{why}"),
        ]

    def __repr__(self) -> str:
        return "<" + "; ".join(f"{name} {value}" for name, value in self.lines()) + ">"

    def _repr_html_(self) -> str:
        over = "Intervals are over raters." if self.raters else self.upper.note
        return card("Against people", figures(self.lines()), note(over))


@dataclass(frozen=True, eq=False)
class JudgedPairs:
    """What raters find of pairs.

    Attributes
    ----------
    pairs : (p, 2) the pairs
    rater, pair : (m,) who judged which
    value : (m,) how unlike the rater finds the pair
    """

    pairs: Array
    rater: Array
    pair: Array
    value: Floats

    @classmethod
    def of_tables(cls, tables: Floats) -> JudgedPairs:
        """Tables of several raters, as ranks within each."""
        pairs = every_pair(tables.shape[1])
        values = np.array([share_ranks(one) for one in tables[:, *pairs.T]])
        rater, pair = np.nonzero(np.isfinite(values))
        return cls(pairs, rater, pair, values[rater, pair])

    @classmethod
    def of_answers(cls, c: Comparisons, rater: Array) -> JudgedPairs:
        """Answers: losses less wins of each pair, as a share of both."""
        pairs, index = distinct_pairs(np.concatenate([c.near, c.far]), c.n_items)
        who = np.concatenate([rater, rater])
        said = np.repeat([-1.0, 1.0], len(c)) * np.tile(c.weight, 2)
        known = who >= 0
        key = who[known].astype(np.int64) * len(pairs) + index[known]
        keys, place = np.unique(key, return_inverse=True)
        total = np.bincount(place, np.tile(c.weight, 2)[known])
        value = np.bincount(place, said[known]) / np.maximum(total, 1e-300)
        return cls(pairs, keys // len(pairs), keys % len(pairs), value)

    def by_rater(self) -> list[Array]:
        """Rows of each rater."""
        order = np.argsort(self.rater, kind="stable")
        cuts = np.flatnonzero(np.diff(self.rater[order])) + 1
        return np.split(order, cuts) if len(order) else []

    def pooled(self) -> tuple[Floats, Array]:
        """(p,) the sum over raters, and how many there are."""
        total = np.bincount(self.pair, self.value, len(self.pairs)).astype(float)
        return total, np.bincount(self.pair, minlength=len(self.pairs))


def with_people(one: View, two: View, comparisons: Comparisons | None, level: float) -> PeopleAgreement | None:
    """Compare both with raters: those of answers, else those of a table of several; None where there are none."""
    tables = next((view.raters for view in (one, two) if view.raters is not None), None)
    if comparisons is not None:
        rater = comparisons.answers.rater.codes[comparisons.answer]
        if len(np.unique(rater[rater >= 0])) >= _FEWEST_RATERS:
            return _by_rater([one, two], JudgedPairs.of_answers(comparisons, rater), level)
        return _as_one([one, two], comparisons)
    if tables is None or len(tables) < _FEWEST_RATERS:
        return None
    owner = one if one.raters is not None else two
    items = owner.items
    return _by_rater([one, two], JudgedPairs.of_tables(tables[:, items[:, None], items]), level)


def _by_rater(views: Sequence[View], judged: JudgedPairs, level: float) -> PeopleAgreement:
    rows, (total, count) = judged.by_rater(), judged.pooled()
    far = [view.distances(judged.pairs) for view in views]
    found = np.array([[_spearman(d[judged.pair[own]], judged.value[own]) for own in rows] for d in far])
    lower, upper = [], []
    for mine in rows:
        own = mine[count[judged.pair[mine]] > 1]
        pair, value = judged.pair[own], judged.value[own]
        lower.append(_spearman((total[pair] - value) / (count[pair] - 1), value))
        upper.append(_spearman(total[pair] / count[pair], value))
    first, second, gap = (_mean(values, level, _FEW_OWN) for values in (*found, found[1] - found[0]))
    ends = (_mean(np.array(values), level, _FEW) for values in (lower, upper))
    return PeopleAgreement(len(rows), first, second, gap, *ends)


def _as_one(views: Sequence[View], c: Comparisons) -> PeopleAgreement:
    """People as one: by all answers, with a ceiling by halves of them."""
    whole = JudgedPairs.of_answers(c, np.zeros(len(c), int))
    found = [_spearman(view.distances(whole.pairs)[whole.pair], whole.value) for view in views]
    half = np.random.default_rng(0).permutation(np.arange(c.n_answers) % 2)[c.answer]
    halves = JudgedPairs.of_answers(c, half)
    total, count = halves.pooled()
    both = np.flatnonzero(count == 2)
    own = halves.rater == 0
    first = np.bincount(halves.pair[own], halves.value[own], len(total)).astype(float)[both]
    r = _spearman(first, total[both] - first)
    ceiling = Estimate(None, note="too few pairs were judged twice to tell")
    if np.isfinite(r) and r > 0:
        ceiling = Estimate(float(np.sqrt(2 * r / (1 + r))), note="from halves of the answers, no rater being known")
    one, two, gap = (Estimate(float(value)) for value in (*found, found[1] - found[0]))
    return PeopleAgreement(0, one, two, gap, Estimate(None, note="no rater is known"), ceiling)


def _spearman(x: Floats, y: Floats) -> float:
    known = np.isfinite(x) & np.isfinite(y)
    x, y = np.round(x[known], _DIGITS), np.round(y[known], _DIGITS)  # means of equal ranks are equal
    if len(x) < _FEWEST_PAIRS or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(stats.spearmanr(x, y).statistic)


def _mean(values: Floats, level: float, why: str) -> Estimate:
    """The mean over raters of whom there is a figure, with the interval of Student's t."""
    known = values[np.isfinite(values)]
    if len(known) < _FEWEST_RATERS:
        return Estimate(None, note=why)
    half = float(stats.t.ppf(0.5 + level / 2, len(known) - 1) * known.std(ddof=1) / np.sqrt(len(known)))
    mean = float(known.mean())
    return Estimate(mean, max(mean - half, -1.0), min(mean + half, 1.0), "over raters")

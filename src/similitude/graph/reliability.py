"""Who answers like the others, who at random, and who sees things differently: the reliability of each rater.

A rater is measured on each comparison that other raters made too, by the share of them who say the same; elsewhere by
whether the answers of the others imply the same. Someone who clicks at random agrees with anybody half the time,
whatever the form of question. But so may someone with eyes of their own: `own_answers` tells the two apart, `verdicts`
says what is to be made of it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from similitude.display.cards import card, grid, note, title_of
from similitude.display.figures import named
from similitude.display.words import counted, listed, shortened
from similitude.feedback.answers import Answers
from similitude.feedback.columns import frozen
from similitude.feedback.files.understanding import repeats
from similitude.graph.behaviour import is_hasty, is_patterned, median_time, sides
from similitude.graph.own_answers import MOST_RATERS, chance_spread, predicted_by_own
from similitude.graph.repeats import Indices, Voices, merge_voices, wilson
from similitude.graph.verdicts import (
    CONTRARY,
    DIFFERENT,
    ENOUGH,
    FEWEST,
    MIND,
    NO_AGREEMENT,
    RANDOM,
    SEEMS,
    UNTOLD,
    Evidence,
    judge,
    with_doubt,
    with_haste,
)
from similitude.graph.votes import Votes
from similitude.types import Array, Bools, Floats

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = 10  # raters in a notebook
_CLEARLY = 0.55  # lower end of the interval of a rater's own agreement that is beyond doubt, one half being chance


@dataclass(frozen=True, eq=False, repr=False)
class RaterTable:
    """Raters in order of their names; NaN where something cannot be told, and `note` says why.

    Attributes
    ----------
    names : who
    answers : number of answers, "can't tell" included
    agreement : how often others agree with the rater, 1/2 is chance
    low, high : its interval
    statements : how many independent statements it rests on; of one answer only those count that share no pair
    answered_by_others : share of the rater's comparisons so measured that others answered too; the rest are implied
    self_consistency : how often an answer is what the rater's own other answers imply, 1/2 is chance
    self_consistency_low, self_consistency_high : its interval
    verdict : "like the others", "answers at random", "sees things differently" or "cannot be told"
    cant_tell : share of "can't tell"
    seconds : median time of an answer
    side : share of the commonest position on the screen, of answers to questions of two or three alternatives
    side_p_value : probability of so uneven sides if positions are drawn at random
    rhythm_p_value : probability of so many or so few changes of side from one answer to the next
    note : what stands out, or why nothing can be told
    """

    names: tuple[str, ...]
    answers: Array
    agreement: Floats
    low: Floats
    high: Floats
    statements: Array
    answered_by_others: Floats
    self_consistency: Floats
    self_consistency_low: Floats
    self_consistency_high: Floats
    verdict: tuple[str, ...]
    cant_tell: Floats
    seconds: Floats
    side: Floats
    side_p_value: Floats
    rhythm_p_value: Floats
    note: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)

    @property
    def flagged(self) -> Bools:
        """Who answers at random, as far as can be told."""
        return np.array([verdict == RANDOM for verdict in self.verdict], bool)

    @property
    def judged(self) -> Bools:
        """Who said enough to be judged; nobody where there are fewer than three to compare."""
        enough = self.statements >= ENOUGH
        return enough & (enough.sum() >= FEWEST)

    @property
    def odd(self) -> Bools:
        """Who is worth a look: not like the others, and not just for want of answers."""
        said = np.array(self.verdict, object)
        return (said == RANDOM) | (said == DIFFERENT) | ((said == UNTOLD) & self.judged & ~self._in_noise)

    @property
    def _in_noise(self) -> Bools:
        return np.array([note == NO_AGREEMENT for note in self.note], bool)

    def who(self, verdict: str) -> list[str]:
        """Return the names of the raters of this verdict; of those who cannot be told, those worth a look."""
        rows = zip(self.names, self.verdict, self.odd, strict=True)
        return [name for name, said, is_odd in rows if said == verdict and (is_odd or verdict != UNTOLD)]

    def doubts(self) -> list[str]:
        """Return a sentence for each kind of rater that is worth a look."""
        contrary = "the contrary of the others (was the question read the wrong way round?)"
        kinds = [
            (("answers", "answer"), "at random", self.who(RANDOM)),
            (
                ("sees", "see"),
                "things differently (their answers hang together: no reason to leave them out)",
                self.differing(MIND),
            ),
            (
                ("seems", "seem"),
                "to see things differently (look at their answers and times before you decide)",
                self.differing(SEEMS),
            ),
            (("says", "say"), contrary, self.differing(CONTRARY)),
            (("disagrees", "disagree"), "with the others, and whether at random cannot be told", self.who(UNTOLD)),
        ]
        everybody = f"{NO_AGREEMENT}: most answer at random, or they do not see the same, and nobody can say who is who"
        return [everybody] * bool(self._in_noise.any()) + [
            named(f"{counted(len(who), 'rater')} {verbs[len(who) > 1]} {text}", who)
            for verbs, text, who in kinds
            if who
        ]

    def differing(self, how: str) -> list[str]:
        """Return who sees things differently, of those whose note begins so: `MIND`, `SEEMS` or `CONTRARY`."""
        rows = zip(self.names, self.verdict, self.note, strict=True)
        return [name for name, verdict, note in rows if verdict == DIFFERENT and note.startswith(how)]

    def to_frame(self) -> pd.DataFrame:
        """Return a table with one row per rater, those who agree least first."""
        import pandas as pd

        order = np.lexsort([np.arange(len(self)), self.agreement])
        table = {"rater": self.names} | {field: getattr(self, field) for field in _columns()[1:]}
        return pd.DataFrame(table).iloc[order].reset_index(drop=True)

    def to_list(self) -> list[dict[str, Any]]:
        """Return one dict per rater, fit for JSON."""
        columns = {name: np.asarray(getattr(self, name)).tolist() for name in _columns()}
        rows = zip(*columns.values(), strict=True)
        return [
            {key: None if value != value else value for key, value in zip(columns, row, strict=True)} for row in rows
        ]

    def __repr__(self) -> str:
        kinds = {"at random": self.who(RANDOM), "see things differently": self.who(DIFFERENT)}
        said = "; ".join(f"{kind}: {listed(who, len(who)) if who else 'none'}" for kind, who in kinds.items())
        return f"<{counted(len(self), 'rater')}; {said}>"

    def _repr_html_(self) -> str:
        order = np.lexsort([np.arange(len(self)), self.agreement])[:_SHOWN]
        rows = [
            (shortened(self.names[k]), f"{self.answers[k]:,}", *self._agreement(k),
             _share_in_words(self.self_consistency[k]), self.verdict[k], self.note[k])
            for k in order
        ]  # fmt: skip
        table = grid(("rater", "answers", "agreement", "interval", "with own answers", "", ""), rows, words=(0, 5, 6))
        rest = len(self) - len(rows)
        return card(title_of(repr(self)), table, note(f"and {rest:,} more, who agree more" if rest else ""))

    def _agreement(self, row: int) -> tuple[str, str]:
        if np.isnan(self.agreement[row]):
            return "unknown", ""
        return f"{self.agreement[row]:.2f}", f"{self.low[row]:.2f} to {self.high[row]:.2f}"


def _share_in_words(share: float) -> str:
    return "unknown" if np.isnan(share) else f"{share:.2f}"


def _columns() -> list[str]:
    return [field.name for field in fields(RaterTable)]


def rate_raters(answers: Answers, voices: Voices, votes: Votes, level: float = 0.95) -> RaterTable:
    """Measure each rater against the others.

    Parameters
    ----------
    answers : what was said
    voices : what each answer says about each edge
    votes : the edges
    level : of the intervals
    """
    names, who = raters_by_name(answers)
    count = len(names)
    voices = voices.where(who[voices.speaker] >= 0)
    rater = who[voices.speaker]
    copy = repeats(answers)
    shared, implied = _shared(voices, rater), _implied(voices, rater, votes, ~copy[voices.speaker])
    value = np.where(np.isnan(shared), implied, shared)
    agreement, statements = _mean(voices, rater, value, votes, count, copy)
    common = _share(rater[~np.isnan(value)], ~np.isnan(shared[~np.isnan(value)]), count)
    own, own_statements = _own(voices, rater, votes, _whom(agreement), copy, count)
    score = float(stats.norm.ppf(0.5 + level / 2))
    low, high = wilson(agreement, statements, score)
    own_low, own_high = wilson(own, own_statements, score)
    behaviour = _behaviour(answers, who, count)
    habits = is_hasty(behaviour["seconds"]), is_patterned(behaviour["side_p_value"], behaviour["rhythm_p_value"])
    verdict, note = judge(Evidence(agreement, statements, own, own_statements, *habits))
    # Who is predicted by their own other answers clearly better than by chance, and takes their time:
    note = with_doubt(note, (own_low > _CLEARLY) & ~habits[0])
    note = with_haste(verdict, note, habits[0], behaviour["seconds"])
    columns: dict[str, Array] = {"agreement": agreement, "low": low, "high": high}
    columns |= {"self_consistency": own, "self_consistency_low": own_low, "self_consistency_high": own_high}
    columns |= {"statements": statements.astype(np.int64), "answered_by_others": common} | behaviour
    told = {name: frozen(column) for name, column in columns.items()}
    return RaterTable(names=names, verdict=verdict, note=note, **told)


def _own(
    voices: Voices, rater: Indices, votes: Votes, whom: Indices, copy: Bools, n_raters: int
) -> tuple[Floats, Floats]:
    """Return how often each rater is predicted by their own other answers, and how many coins that is worth."""
    copied = np.bincount(rater, copy[voices.speaker], n_raters) > 0
    predicted = predicted_by_own(voices, rater, votes, whom, copied)
    own, statements = _mean(voices, rater, predicted, votes, n_raters, copy)
    measured = np.flatnonzero(statements >= ENOUGH)
    if not len(measured):
        return own, statements
    excess = chance_spread(voices, rater, votes, measured, copied) * 4 * statements
    return own, statements / max(float(np.nanmean(excess)), 1.0)


def _whom(agreement: Floats) -> Indices:
    """Return all raters; of very many those who agree least, and others to compare them with, evenly among the rest."""
    order = np.argsort(agreement, kind="stable")
    first, rest = order[: MOST_RATERS // 2], order[MOST_RATERS // 2 :]
    if len(order) <= MOST_RATERS:
        return np.sort(order)
    return np.sort(np.concatenate([first, rest[np.linspace(0, len(rest) - 1, MOST_RATERS // 2).astype(np.int64)]]))


def _behaviour(answers: Answers, who: Array, n_raters: int) -> dict[str, Array]:
    """Return what does not depend on the others: how many answers, how sure, how fast, and on which side."""
    known = who >= 0
    side, side_p_value, rhythm_p_value = sides(answers, who, n_raters)
    return {
        "answers": np.bincount(who[known], minlength=n_raters),
        "cant_tell": _share(who[known], answers.cant_tell[known], n_raters),
        "seconds": median_time(answers, who, n_raters),
        "side": side,
        "side_p_value": side_p_value,
        "rhythm_p_value": rhythm_p_value,
    }


def _share(who: Indices, value: Array, n_raters: int) -> Floats:
    """Return the mean of the values of each rater, NaN where there are none."""
    size = np.bincount(who, minlength=n_raters)
    total = np.bincount(who, value, n_raters)
    return np.divide(total, size, out=np.full(n_raters, np.nan), where=size > 0)


def raters_by_name(answers: Answers) -> tuple[tuple[str, ...], Array]:
    """Return the raters' names in order, and for each answer the place of its rater there, -1 where unknown."""
    labels = answers.rater.labels
    order = sorted(range(len(labels)), key=lambda code: labels[code])
    place = np.full(len(labels) + 1, -1, np.int64)
    place[order] = np.arange(len(labels))
    return tuple(labels[code] for code in order), place[answers.rater.codes]


def _shared(voices: Voices, rater: Indices) -> Floats:
    """For each voice the share of the other raters with a say on that edge who agree; NaN where there are none."""
    raters = merge_voices(rater, voices.edge, voices.says)
    size = int(voices.edge.max(initial=-1)) + 1
    forward = np.bincount(raters.edge, raters.says > 0, size)[voices.edge]
    backward = np.bincount(raters.edge, raters.says < 0, size)[voices.edge]
    own = raters.says[raters.place]
    agree = np.where(voices.says > 0, forward, backward) - (own == voices.says)
    others = forward + backward - (own != 0)
    return np.divide(agree, others, out=np.full(len(others), np.nan), where=others > 0)


def _implied(voices: Voices, rater: Indices, votes: Votes, counts: Bools) -> Floats:
    """For each voice 1 where the others' answers imply the same, 0 the contrary, NaN nothing.

    The others imply an order of the pairs: how often a pair was called more alike than what it was compared with,
    (wins - losses) / (wins + losses + 1), all that the rater said left out. Voices that do not count, rows that stand
    twice, imply nothing more.
    """
    near, far = _ends(voices, votes)
    vertex, who = np.concatenate([near, far]), np.concatenate([rater, rater])
    said = np.tile(counts.astype(float), 2)
    result = np.repeat([1.0, -1.0], len(near)) * said
    own, place = np.unique(who * len(votes.pairs) + vertex, return_inverse=True)
    net = np.bincount(vertex, result)[vertex] - np.bincount(place, result, len(own))[place]
    count = np.bincount(vertex, said)[vertex] - np.bincount(place, said, len(own))[place]
    score = np.where(count > 0, net / (count + 1), np.nan)
    gap = score[: len(near)] - score[len(near) :]
    return np.where(np.abs(gap) > 1e-12, (1 + np.sign(gap)) / 2, np.nan)


def _ends(voices: Voices, votes: Votes) -> tuple[Indices, Indices]:
    low, high = votes.low[voices.edge], votes.high[voices.edge]
    forward = voices.says > 0
    return np.where(forward, low, high), np.where(forward, high, low)


def _mean(
    voices: Voices, rater: Indices, value: Floats, votes: Votes, n_raters: int, copy: Bools
) -> tuple[Floats, Floats]:
    """Return each rater's mean and the number of independent statements behind it: a copied answer adds none."""
    known = ~np.isnan(value)
    part, who = voices.where(known), rater[known]
    mean = _share(who, value[known], n_raters)
    answer, statements = _statements(part, votes)
    owner = np.zeros(int(part.speaker.max(initial=-1)) + 1, np.int64)
    owner[part.speaker] = who
    return mean, np.asarray(np.bincount(owner[answer], statements * ~copy[answer], n_raters), np.float64)


def _statements(voices: Voices, votes: Votes) -> tuple[Indices, Floats]:
    """Return each answer and how many of its comparisons can be had that share no pair (at most).

    One for a triplet or an odd-one-out, four for four chosen out of twelve, half the pairs of a sheet of ratings:
    min(pairs called near, pairs called far, half of all pairs).
    """
    near, far = _ends(voices, votes)
    size = int(voices.speaker.max(initial=-1)) + 1

    def distinct(speaker: Indices, vertex: Indices) -> Indices:
        keys = np.sort(speaker * len(votes.pairs) + vertex)  # numpy's unique hashes, several times slower
        return np.bincount(keys[np.diff(keys, prepend=-1) > 0] // max(len(votes.pairs), 1), minlength=size)

    every = distinct(np.tile(voices.speaker, 2), np.concatenate([near, far])) // 2
    least = np.minimum(every, np.minimum(distinct(voices.speaker, near), distinct(voices.speaker, far)))
    answer = np.flatnonzero(least)
    return answer, least[answer].astype(float)

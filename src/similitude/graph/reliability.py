"""Who answers like the others, and who at random: the reliability of each rater.

A rater is measured on each comparison that other raters made too, by the share of them who say the same; elsewhere by
whether the answers of the others imply the same. Someone who clicks at random agrees with anybody half the time,
whatever the form of question.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from similitude.display.cards import card, grid, note, title_of
from similitude.display.words import counted, listed, shortened
from similitude.feedback.answers import Answers
from similitude.feedback.columns import frozen
from similitude.feedback.forms import FORMS
from similitude.feedback.forms.base import Form
from similitude.graph.repeats import Indices, Voices, merge_voices, wilson
from similitude.graph.votes import Votes
from similitude.types import Array, Bools, Floats

if TYPE_CHECKING:
    import pandas as pd

ENOUGH = 20  # independent statements below which nobody is judged
FEWEST = 3  # raters with that many statements, below which nobody can say who is the odd one
_CHANCE = 2.6  # standard deviations from one half within which agreement may be chance: all but 1 in 200 clickers
_NEAR = 0.4  # of the way from chance to typical: poor but honest raters lie beyond
_CONTRARY = 4.0  # standard deviations below one half that are no bad luck of a clicker
_SHOWN = 10  # raters in a notebook


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
    shared : share of the rater's comparisons so measured that others answered too; the rest are implied
    flagged : whether the rater is likely to have clicked at random
    cant_tell : share of "can't tell"
    seconds : median time of an answer
    side : share of the commonest position on the screen, of answers to questions of two or three alternatives
    side_p : probability of so uneven sides if positions are drawn at random
    note : what stands out, or why nothing can be told
    """

    names: tuple[str, ...]
    answers: Array
    agreement: Floats
    low: Floats
    high: Floats
    statements: Array
    shared: Floats
    flagged: Bools
    cant_tell: Floats
    seconds: Floats
    side: Floats
    side_p: Floats
    note: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)

    @property
    def judged(self) -> Bools:
        """Who said enough to be judged; nobody where there are fewer than three to compare."""
        enough = self.statements >= ENOUGH
        return enough & (enough.sum() >= FEWEST)

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
        who = [name for name, flag in zip(self.names, self.flagged, strict=True) if flag]
        return f"<{counted(len(self), 'rater')}; likely random: {listed(who, len(who)) if who else 'none'}>"

    def _repr_html_(self) -> str:
        order = np.lexsort([np.arange(len(self)), self.agreement])[:_SHOWN]
        rows = [(shortened(self.names[k]), f"{self.answers[k]:,}", *self._agreement(k), self.note[k]) for k in order]
        table = grid(("rater", "answers", "agreement", "interval", ""), rows, words=(0, 4))
        rest = len(self) - len(rows)
        return card(title_of(repr(self)), table, note(f"and {rest:,} more, who agree more" if rest else ""))

    def _agreement(self, row: int) -> tuple[str, str]:
        if np.isnan(self.agreement[row]):
            return "unknown", ""
        return f"{self.agreement[row]:.2f}", f"{self.low[row]:.2f} to {self.high[row]:.2f}"


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
    names, who = _by_name(answers)
    count = len(names)
    voices = voices.where(who[voices.speaker] >= 0)
    rater = who[voices.speaker]
    shared, implied = _shared(voices, rater), _implied(voices, rater, votes)
    value = np.where(np.isnan(shared), implied, shared)
    agreement, statements = _mean(voices, rater, value, votes, count)
    common = _share(rater[~np.isnan(value)], ~np.isnan(shared[~np.isnan(value)]), count)
    low, high = wilson(agreement, statements, float(stats.norm.ppf(0.5 + level / 2)))
    flagged, note = _judge(agreement, statements)
    columns: dict[str, Array] = {"agreement": agreement, "low": low, "high": high, "flagged": flagged}
    columns |= {"statements": statements.astype(np.int64), "shared": common} | _behaviour(answers, who, count)
    return RaterTable(names=names, note=note, **{name: frozen(column) for name, column in columns.items()})


def _behaviour(answers: Answers, who: Array, n_raters: int) -> dict[str, Array]:
    """Return what does not depend on the others: how many answers, how sure, how fast, and on which side."""
    known = who >= 0
    side, side_p = _sides(answers, who, n_raters)
    return {
        "answers": np.bincount(who[known], minlength=n_raters),
        "cant_tell": _share(who[known], answers.cant_tell[known], n_raters),
        "seconds": _median_time(answers, who, n_raters),
        "side": side,
        "side_p": side_p,
    }


def _share(who: Indices, value: Array, n_raters: int) -> Floats:
    """Return the mean of the values of each rater, NaN where there are none."""
    size = np.bincount(who, minlength=n_raters)
    total = np.bincount(who, value, n_raters)
    return np.divide(total, size, out=np.full(n_raters, np.nan), where=size > 0)


def _by_name(answers: Answers) -> tuple[tuple[str, ...], Array]:
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


def _implied(voices: Voices, rater: Indices, votes: Votes) -> Floats:
    """For each voice 1 where the others' answers imply the same, 0 the contrary, NaN nothing.

    The others imply an order of the pairs: how often a pair was called more alike than what it was compared with,
    (wins - losses) / (wins + losses + 1), all that the rater said left out.
    """
    near, far = _ends(voices, votes)
    vertex, who = np.concatenate([near, far]), np.concatenate([rater, rater])
    result = np.repeat([1.0, -1.0], len(near))
    own, place = np.unique(who * len(votes.pairs) + vertex, return_inverse=True)
    net = np.bincount(vertex, result)[vertex] - np.bincount(place, result, len(own))[place]
    count = np.bincount(vertex)[vertex] - np.bincount(place, minlength=len(own))[place]
    score = np.where(count > 0, net / (count + 1), np.nan)
    gap = score[: len(near)] - score[len(near) :]
    return np.where(np.abs(gap) > 1e-12, (1 + np.sign(gap)) / 2, np.nan)


def _ends(voices: Voices, votes: Votes) -> tuple[Indices, Indices]:
    low, high = votes.low[voices.edge], votes.high[voices.edge]
    forward = voices.says > 0
    return np.where(forward, low, high), np.where(forward, high, low)


def _mean(voices: Voices, rater: Indices, value: Floats, votes: Votes, n_raters: int) -> tuple[Floats, Floats]:
    """Return each rater's mean and the number of independent statements behind it."""
    known = ~np.isnan(value)
    part, who = voices.where(known), rater[known]
    mean = _share(who, value[known], n_raters)
    answer, statements = _statements(part, votes)
    owner = np.zeros(int(part.speaker.max(initial=-1)) + 1, np.int64)
    owner[part.speaker] = who
    return mean, np.asarray(np.bincount(owner[answer], statements, n_raters), np.float64)


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


def _judge(agreement: Floats, statements: Floats) -> tuple[Bools, tuple[str, ...]]:
    """Return who is flagged, and a note on each rater."""
    enough = statements >= ENOUGH
    note = np.where(enough, "", "too few questions that others answer or imply").astype(object)
    note[statements == 0] = "no question that others answer or imply"
    flagged = np.zeros(len(agreement), bool)
    if enough.sum() < FEWEST:
        note[enough] = "fewer than three raters to compare: nobody can say who is the odd one"
    else:
        flagged[enough] = _unlike_others(agreement[enough], statements[enough])
    contrary = flagged & (wilson(agreement, statements, _CONTRARY)[1] < 0.5)
    note[flagged] = "likely to have clicked at random"
    note[contrary] = "says the contrary of the others: was the question read the wrong way round?"
    return flagged, tuple(note.tolist())


def _unlike_others(agreement: Floats, statements: Floats) -> Bools:
    """Who agrees with the others as little as chance does, and less than a typical rater by more than chance allows.

    Not beyond chance, and less than two fifths of the way from one half to typical; and the distance to typical
    exceeds what Wilson's interval at level .05 / raters, the spread of raters and the error of the median allow
    together, so that a study without clickers is unlikely to have anybody flagged. Typical is the median of the
    raters, the spread beyond sampling comes from the median absolute deviation; the flagged are left out of both,
    until nobody more is.
    """
    strict = float(stats.norm.isf(0.05 / len(agreement)))
    half = wilson(agreement, statements, strict)[1] - agreement
    chance = wilson(agreement, statements, _CHANCE)[0] <= 0.5
    flagged, before = np.zeros(len(agreement), bool), -1
    while before < flagged.sum() <= len(agreement) / 2:
        before = flagged.sum()
        typical, variance = _typical(agreement[~flagged], statements[~flagged])
        below = typical - agreement > np.sqrt(half**2 + strict**2 * variance)
        flagged |= chance & below & (agreement - 0.5 < _NEAR * (typical - 0.5))
    return flagged


def _typical(agreement: Floats, statements: Floats) -> tuple[float, float]:
    """Return the median of the raters, and the variance about it of a rater known exactly."""
    middle = float(np.median(agreement))
    sampling = float(np.median(agreement * (1 - agreement) / statements))
    total = (1.4826 * float(np.median(np.abs(agreement - middle)))) ** 2
    return middle, max(total - sampling, 0.0) + np.pi / 2 * max(total, sampling) / len(agreement)


def _median_time(answers: Answers, who: Array, n_raters: int) -> Floats:
    median = np.full(n_raters, np.nan)
    if answers.time is None:
        return median
    known = np.flatnonzero(np.isfinite(answers.time) & (who >= 0))
    time, code = answers.time[known], who[known]
    order = np.lexsort([time, code])
    time, size = time[order], np.bincount(code, minlength=n_raters)
    start = np.cumsum(size) - size
    has = np.flatnonzero(size)
    first, second = start[has] + (size[has] - 1) // 2, start[has] + size[has] // 2
    median[has] = (time[first] + time[second]) / 2
    return median


def _sides(answers: Answers, who: Array, n_raters: int) -> tuple[Floats, Floats]:
    """Return the share of each rater's commonest position, and Pearson's test against equal shares.

    Of questions of two alternatives, or of three where there are none of two; elsewhere positions need not be equal.
    """
    nothing = np.full(n_raters, np.nan)
    if answers.side is None:
        return nothing, nothing
    forms = [FORMS.get(name, Form()) for name in answers.form.labels]  # one that is not known picks nothing
    sides = np.array([form.n_alternatives or 0 for form in forms])[answers.form.codes]
    known = (answers.side >= 0) & (who >= 0) & (sides > 0) & ~answers.cant_tell
    if not known.any():
        return nothing, nothing
    width = int(sides[known].min())
    known &= sides == width
    position = np.unique(answers.side[known], return_inverse=True)[1]
    bins = max(width, int(position.max()) + 1)
    table = np.bincount(who[known] * bins + position, minlength=n_raters * bins).reshape(n_raters, bins)
    size = table.sum(1)
    has = size > 0
    expected = np.maximum(size, 1)[:, None] / bins
    share = np.where(has, table.max(1) / np.maximum(size, 1), np.nan)
    surprise = stats.chi2.sf(((table - expected) ** 2 / expected).sum(1), bins - 1)
    return share, np.where(has, surprise, np.nan)
